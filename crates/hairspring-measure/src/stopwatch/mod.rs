//! A stopwatch: the time between two moments of a program, once, with all that makes it uncertain. It is the tool for
//! whole programs and long pieces of code; what is shorter than the clock's own cost is for the line fit.
//!
//! As the StopWatch routine (sections 2 and 3.3) it warms the cache, measures its own overhead and takes it off, and
//! raises the thread's priority where asked. Beyond it: the overhead has a spread and the rate an uncertainty, which both
//! go into the result; and a time that cannot be told from zero is said to be so with its bound, never set to zero.
//!
//! ```
//! use hairspring_host::clock::default_clock;
//! use crate::stopwatch::Stopwatch;
//!
//! let mut stopwatch = Stopwatch::new(default_clock()).unwrap();
//! stopwatch.start();
//! std::hint::black_box((0..1_000).sum::<u64>());
//! let span = stopwatch.stop().unwrap();
//! let elapsed = stopwatch.elapsed(span);
//! println!("{} ns", elapsed.ns.estimate(0.95).value);
//! ```

mod elapsed;
mod overhead;

pub use elapsed::Elapsed;
pub use overhead::{Moments, Overhead, Run, overhead};

use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, RateMeter, Width, granularity};
use hairspring_host::thread::RaisedPriority;
use hairspring_host::{Error, Result};
use std::time::{Duration, Instant};

/// Runs with nothing in them that the overhead is measured over at the start, and the time that they may take.
const RUNS: usize = 10_000;
const MOST_TIME: Duration = Duration::from_millis(20);
/// Shortest time over which the rate of a clock is measured before the first result.
const RATE_TIME: Duration = Duration::from_millis(10);

/// What a stopwatch read: ticks between a start and a stop, raw, the overhead still in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Ticks; negative where the clock was set back in between.
    pub ticks: i64,
    /// Pairs of reads in it: 1, or the number of laps of a total.
    pub pairs: u32,
}

/// The two reads and nothing else, so that the overhead can be measured by the very code that it belongs to.
#[derive(Debug, Clone, Copy)]
struct Reader {
    clock: Clock,
    started: Option<u64>,
}

impl Reader {
    #[inline(never)]
    fn start(&mut self) {
        self.started = Some((self.clock.read)());
    }

    #[inline(never)]
    fn stop(&mut self) -> Option<i64> {
        let now = (self.clock.read)();
        self.started.take().map(|start| ticks(self.clock.width, start, now))
    }
}

fn not_started() -> Error {
    Error::Refused {
        what: "the stopwatch cannot be read".into(),
        reason: "it was not started, or is stopped already; call start first".into(),
    }
}

/// A full counter may have been set back; a narrower one wraps, and never goes back.
fn ticks(width: Width, from: u64, to: u64) -> i64 {
    if width.wraps() { width.between(from, to) as i64 } else { width.signed(from, to) }
}

/// A stopwatch on one clock, for one thread.
#[derive(Debug)]
pub struct Stopwatch {
    reader: Reader,
    overhead: Overhead,
    quantum: u64,
    meter: RateMeter,
    total: Span,
    raised: Option<RaisedPriority>,
}

impl Stopwatch {
    /// A stopwatch that knows its overhead. Cost: 10 to 50 ms. The thread should be settled on a CPU before
    /// ([`hairspring_host::thread::settle`]).
    ///
    /// # Errors
    /// [`Error::Refused`] where the clock cannot be enabled or does not count.
    pub fn new(clock: Clock) -> Result<Stopwatch> {
        clock.ready()?;
        let (meter, begin) = (RateMeter::start(clock), Instant::now());
        let quantum = granularity(&clock).quantum;
        let overhead = overhead(clock, quantum, RUNS, MOST_TIME);
        while clock.nominal_hz.is_none() && begin.elapsed() < RATE_TIME {
            std::hint::spin_loop();
        }
        Ok(Stopwatch { reader: Reader { clock, started: None }, overhead, quantum, meter, total: Span::default(), raised: None })
    }

    /// Takes the overhead from runs with nothing in them, made in the way in which the stopwatch is going to be used: a
    /// call through another language has an overhead of its own.
    pub fn calibrate(&mut self, runs: &[Run]) {
        self.overhead = Overhead::of(runs, self.quantum);
    }

    /// Raises the thread's priority until the next [`stop`](Stopwatch::stop), or until the stopwatch is dropped.
    ///
    /// # Errors
    /// [`Error::Refused`] where that is not allowed, with what to do.
    pub fn raise_priority(&mut self) -> Result<()> {
        if self.raised.is_none() {
            self.raised = Some(RaisedPriority::raise()?);
        }
        Ok(())
    }

    /// Starts, or starts again: laps are forgotten. The read of the clock is the last that happens.
    pub fn start(&mut self) {
        self.total = Span::default();
        self.reader.start();
    }

    /// Time since the start or the last lap, and on with the next one. What this call itself takes between its two reads
    /// is in no lap.
    ///
    /// # Errors
    /// [`Error::Refused`] where it was not started.
    pub fn lap(&mut self) -> Result<Span> {
        let span = self.take();
        self.reader.start();
        span
    }

    /// Time since the start or the last lap; then it stands. A raised priority is given back.
    ///
    /// # Errors
    /// [`Error::Refused`] where it was not started.
    pub fn stop(&mut self) -> Result<Span> {
        let span = self.take();
        self.raised = None;
        span
    }

    /// For callers who read the clock themselves, with nothing but their own call between the two reads: the less lies
    /// there, the less the overhead varies from one place of a program to another. Starts with the reading that is yet to come.
    pub fn arm(&mut self) {
        self.total = Span::default();
        self.reader.started = Some(0);
    }

    /// [`lap`](Stopwatch::lap) of such callers, from the one reading to the other; the next lap's first is yet to come.
    ///
    /// # Errors
    /// [`Error::Refused`] where it was not started.
    pub fn lap_between(&mut self, start: u64, end: u64) -> Result<Span> {
        let span = self.take_between(start, end)?;
        self.reader.started = Some(0);
        Ok(span)
    }

    /// [`stop`](Stopwatch::stop) of such callers.
    ///
    /// # Errors
    /// [`Error::Refused`] where it was not started.
    pub fn stop_between(&mut self, start: u64, end: u64) -> Result<Span> {
        let span = self.take_between(start, end);
        self.raised = None;
        span
    }

    fn take_between(&mut self, start: u64, end: u64) -> Result<Span> {
        self.reader.started.take().ok_or_else(not_started)?;
        Ok(self.add(ticks(self.reader.clock.width, start, end)))
    }

    fn take(&mut self) -> Result<Span> {
        let ticks = self.reader.stop().ok_or_else(not_started)?;
        Ok(self.add(ticks))
    }

    fn add(&mut self, ticks: i64) -> Span {
        self.total = Span { ticks: self.total.ticks.saturating_add(ticks), pairs: self.total.pairs.saturating_add(1) };
        Span { ticks, pairs: 1 }
    }

    /// All laps since the start together.
    pub fn total(&self) -> Span {
        self.total
    }

    /// A span in nanoseconds, the overhead taken off, with its error budget. To be called behind the measurement: it
    /// reads the clock to know the rate better.
    pub fn elapsed(&self, span: Span) -> Elapsed {
        Elapsed::of(span, &self.overhead, self.quantum, &self.rate())
    }

    /// The overhead as it was measured at the start.
    pub fn overhead(&self) -> &Overhead {
        &self.overhead
    }

    /// The clock's rate as it is known by now.
    pub fn rate(&self) -> Rate {
        self.meter.rate()
    }

    /// Longest time that can be told from a shorter one, in nanoseconds: the period of a counter that wraps. `None`
    /// where the counter does not.
    pub fn longest_ns(&self) -> Option<f64> {
        self.reader.clock.width.period().map(|ticks| ticks * 1e9 / self.rate().hz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    fn stopwatch(settings: fake::Settings) -> Stopwatch {
        fake::set(settings);
        Stopwatch::new(fake::clock(settings.bits)).unwrap()
    }

    fn timed(stopwatch: &mut Stopwatch, ns: u64) -> Elapsed {
        stopwatch.start();
        fake::advance(ns);
        let span = stopwatch.stop().unwrap();
        stopwatch.elapsed(span)
    }

    #[test]
    fn the_overhead_is_taken_off_whatever_it_is() {
        for per_read in [2, 40, 3_000] {
            let mut stopwatch = stopwatch(fake::Settings { per_read, ..fake::Settings::default() });
            assert!((stopwatch.overhead().total.mean - per_read as f64).abs() < 1e-9);
            let found = timed(&mut stopwatch, 12_345).ns;
            assert!((found.value - 12_345.0).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn a_counter_that_wraps_in_between_is_no_trouble() {
        // The counter is at its end while the stopwatch runs, whatever the start-up took.
        let mut stopwatch = stopwatch(fake::Settings { bits: 16, ..fake::Settings::default() });
        for _ in 0..20 {
            assert!((timed(&mut stopwatch, 30_011).ns.value - 30_011.0).abs() < 1e-6);
        }
        assert!((stopwatch.longest_ns().unwrap() - 65_536.0).abs() < 1e-6);
    }

    #[test]
    fn laps_add_up_and_each_has_its_own_overhead_taken_off() {
        let mut stopwatch = stopwatch(fake::Settings::default());
        stopwatch.start();
        fake::advance(100);
        let first = stopwatch.lap().unwrap();
        fake::advance(200);
        let second = stopwatch.stop().unwrap();
        assert_eq!((first.pairs, second.pairs, stopwatch.total().pairs), (1, 1, 2));
        let ns = |span| stopwatch.elapsed(span).ns.value.round();
        assert_eq!((ns(first), ns(second), ns(stopwatch.total())), (100.0, 200.0, 300.0));
    }

    #[test]
    fn what_cannot_be_told_from_zero_is_below_resolution_with_a_bound() {
        let mut stopwatch = stopwatch(fake::Settings { quantum: 26, per_read: 37, ..fake::Settings::default() });
        let nothing = timed(&mut stopwatch, 0);
        let bound = nothing.below_resolution(0.95).expect("nothing is below resolution");
        assert!(bound > 5.0 && bound < 80.0, "{bound}");
        let much = timed(&mut stopwatch, 2_600);
        assert_eq!(much.below_resolution(0.95), None);
        assert!(much.ns.estimate(0.95).contains(2_600.0), "{much:?}");
    }

    #[test]
    fn spans_on_a_coarse_clock_are_covered_by_their_intervals() {
        let mut stopwatch = stopwatch(fake::Settings { quantum: 26, per_read: 37, ..fake::Settings::default() });
        let covered =
            (0..500).filter(|turn| timed(&mut stopwatch, 1_000 + 7 * turn).ns.estimate(0.95).contains(1_000.0 + 7.0 * *turn as f64));
        assert!(covered.count() >= 475);
    }

    #[test]
    fn a_longer_way_to_the_clock_is_taken_off_as_well() {
        let mut stopwatch = stopwatch(fake::Settings { per_read: 40, ..fake::Settings::default() });
        stopwatch.calibrate(&[Run { read: 40, total: 65 }; 100]);
        assert!((timed(&mut stopwatch, 1_025).ns.value - 1_000.0).abs() < 1e-6);
    }

    #[test]
    fn callers_who_read_the_clock_themselves_have_the_same_laps() {
        let mut stopwatch = stopwatch(fake::Settings::default());
        assert!(stopwatch.stop_between(0, 1).is_err() && stopwatch.lap_between(0, 1).is_err());
        stopwatch.arm();
        assert_eq!(stopwatch.lap_between(10, 110).unwrap(), Span { ticks: 100, pairs: 1 });
        assert_eq!(stopwatch.stop_between(200, 500).unwrap(), Span { ticks: 300, pairs: 1 });
        assert_eq!(stopwatch.total(), Span { ticks: 400, pairs: 2 });
        assert!(stopwatch.stop_between(0, 1).is_err());
    }

    #[test]
    fn one_that_was_not_started_says_so() {
        let mut stopwatch = stopwatch(fake::Settings::default());
        assert!(stopwatch.stop().unwrap_err().to_string().contains("call start first"));
        stopwatch.start();
        stopwatch.stop().unwrap();
        assert!(stopwatch.stop().is_err());
    }

    #[test]
    fn a_clock_that_was_set_back_gives_a_negative_span() {
        assert_eq!(ticks(Width::FULL, 1_000, 400), -600);
        assert_eq!(ticks(Width::bits(32), 0xffff_ffff, 1), 2);
    }
}
