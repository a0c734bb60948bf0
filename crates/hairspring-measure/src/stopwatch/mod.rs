//! A stopwatch: a single time between two moments of a program, with its uncertainty. It is for
//! whole programs and long pieces of code; use the line fit for code that takes less time than a
//! read of the clock.
//!
//! Like the StopWatch routine (sections 2 and 3.3) it warms the cache, measures and subtracts its
//! own overhead, and raises the thread's priority if requested. In addition, the result includes
//! the spread of the overhead and the uncertainty of the rate, and a time that is indistinguishable
//! from zero is reported with its upper bound, never set to zero.
//!
//! ```
//! use hairspring_host::clock::default_clock;
//! use hairspring_measure::stopwatch::Stopwatch;
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
mod reach;

pub use elapsed::Elapsed;
pub use overhead::{EmptyRun, Moments, Overhead, overhead};

use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, CoreWatch, RateMeter, Width, granularity};
use hairspring_host::thread::RaisedPriority;
use hairspring_host::{Error, Result};
use reach::Reach;
use std::time::{Duration, Instant};

/// Number of empty runs that measure the overhead at the start, and the time that they may take.
const RUNS: usize = 10_000;
const MOST_TIME: Duration = Duration::from_millis(20);
/// Shortest time over which the rate of a clock is measured before the first result.
const RATE_TIME: Duration = Duration::from_millis(10);

/// The raw ticks between a start and a stop, including the overhead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Ticks; negative if the clock was set back in between.
    pub ticks: i64,
    /// Pairs of reads in it: 1, or the number of laps of a total.
    pub pairs: u32,
}

/// Only the two reads, so that the overhead is measured with the same code that causes it.
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
        reason: "it was not started, or has been stopped; call start first".into(),
    }
}

fn not_together(reason: String) -> Error {
    Error::Refused { what: "the span is worthless".into(), reason }
}

/// Ticks between two readings. A 64-bit counter may have been set back; a narrower one wraps and
/// never goes back.
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
    /// For a counter of the core.
    watch: Option<CoreWatch>,
    /// For a counter that wraps.
    reach: Option<Reach>,
}

impl Stopwatch {
    /// Creates a stopwatch and measures its overhead. Cost: 10 to 50 ms. The thread should be
    /// pinned to a CPU before ([`hairspring_host::thread::prepare_thread`]).
    ///
    /// # Errors
    /// [`Error::Refused`] if the clock cannot be enabled or does not count.
    pub fn new(clock: Clock) -> Result<Stopwatch> {
        clock.ready()?;
        let (meter, begin) = (RateMeter::start(clock), Instant::now());
        let quantum = granularity(&clock).quantum;
        let overhead = overhead(clock, quantum, RUNS, MOST_TIME);
        while clock.nominal_hz.is_none() && begin.elapsed() < RATE_TIME {
            std::hint::spin_loop();
        }
        let (reader, watch, reach) =
            (Reader { clock, started: None }, CoreWatch::start(&clock), Reach::new(&clock, &meter));
        Ok(Stopwatch {
            reader,
            overhead,
            quantum,
            meter,
            total: Span::default(),
            raised: None,
            watch,
            reach,
        })
    }

    /// Sets the overhead from empty runs, made in the same way as the stopwatch will be used: a
    /// call through another language has additional overhead.
    pub fn calibrate(&mut self, runs: &[EmptyRun]) {
        self.overhead = Overhead::from_runs(runs, self.quantum);
    }

    /// Raises the thread's priority until the next [`stop`](Stopwatch::stop), or until the
    /// stopwatch is dropped.
    ///
    /// # Errors
    /// [`Error::Refused`] if that is not allowed, with what to do.
    pub fn raise_priority(&mut self) -> Result<()> {
        if self.raised.is_none() {
            self.raised = Some(RaisedPriority::raise()?);
        }
        Ok(())
    }

    /// Starts, or restarts and discards the laps. The read of the clock is the last action.
    pub fn start(&mut self) {
        self.begin();
        self.reader.start();
    }

    fn begin(&mut self) {
        self.total = Span::default();
        if let Some(watch) = &mut self.watch {
            watch.restart();
        }
        if let Some(reach) = &mut self.reach {
            reach.restart();
        }
    }

    /// Time since the start or the last lap; the next lap begins. The time between the two reads of
    /// this call is in no lap.
    ///
    /// # Errors
    /// [`Error::Refused`] if it was not started, if the time is longer than
    /// [`longest_ns`](Stopwatch::longest_ns), or if the clock is the counter of a core or a thread,
    /// and the thread left that core or something else took the counter. The next lap begins then
    /// too.
    pub fn lap(&mut self) -> Result<Span> {
        let was_started = self.reader.started.is_some();
        let span = self.take();
        if was_started {
            self.reader.start();
        }
        span
    }

    /// Time since the start or the last lap. Stops the stopwatch and restores a raised priority.
    ///
    /// # Errors
    /// As [`lap`](Stopwatch::lap).
    pub fn stop(&mut self) -> Result<Span> {
        let span = self.take();
        self.raised = None;
        span
    }

    /// Starts a stopwatch whose caller reads the clock, with less code between the two reads, so
    /// that the overhead varies less between places of a program. The caller passes the readings to
    /// [`lap_between`](Stopwatch::lap_between) or [`stop_between`](Stopwatch::stop_between).
    pub fn arm(&mut self) {
        self.begin();
        self.reader.started = Some(0);
    }

    /// [`lap`](Stopwatch::lap) between two readings of the caller, after [`arm`](Stopwatch::arm).
    ///
    /// # Errors
    /// As [`lap`](Stopwatch::lap).
    pub fn lap_between(&mut self, start: u64, end: u64) -> Result<Span> {
        let was_started = self.reader.started.is_some();
        let span = self.take_between(start, end);
        self.reader.started = was_started.then_some(0);
        span
    }

    /// [`stop`](Stopwatch::stop) between two readings of the caller, after [`arm`](Stopwatch::arm).
    ///
    /// # Errors
    /// As [`lap`](Stopwatch::lap).
    pub fn stop_between(&mut self, start: u64, end: u64) -> Result<Span> {
        let span = self.take_between(start, end);
        self.raised = None;
        span
    }

    fn take_between(&mut self, start: u64, end: u64) -> Result<Span> {
        self.reader.started.take().ok_or_else(not_started)?;
        self.check()?;
        Ok(self.add(ticks(self.reader.clock.width, start, end)))
    }

    fn take(&mut self) -> Result<Span> {
        let ticks = self.reader.stop().ok_or_else(not_started)?;
        self.check()?;
        Ok(self.add(ticks))
    }

    /// Whether the readings of the span belong together.
    fn check(&mut self) -> Result<()> {
        let (watched, within) =
            (self.watch.as_mut().map(CoreWatch::belongs), self.reach.as_mut().map(Reach::check));
        watched
            .into_iter()
            .chain(within)
            .collect::<std::result::Result<(), String>>()
            .map_err(not_together)
    }

    fn add(&mut self, ticks: i64) -> Span {
        self.total = Span {
            ticks: self.total.ticks.saturating_add(ticks),
            pairs: self.total.pairs.saturating_add(1),
        };
        Span { ticks, pairs: 1 }
    }

    /// The sum of all laps since the start.
    pub fn total(&self) -> Span {
        self.total
    }

    /// A span in nanoseconds without the overhead, with its error budget. Call it after the
    /// measurement, because it reads the clock to improve the rate.
    pub fn elapsed(&self, span: Span) -> Elapsed {
        Elapsed::new(span, &self.overhead, self.quantum, &self.rate())
    }

    /// The overhead as it was measured at the start.
    pub fn overhead(&self) -> &Overhead {
        &self.overhead
    }

    /// The clock's rate as measured so far.
    pub fn rate(&self) -> Rate {
        self.meter.rate()
    }

    /// Longest measurable time in nanoseconds: half the period of a counter that wraps, or less
    /// where its core may become more than twice as fast. `None` if the counter does not wrap.
    pub fn longest_ns(&self) -> Option<f64> {
        self.reach.as_ref().map(Reach::longest_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    #[test]
    fn span_over_two_cores_is_refused_if_each_has_its_own_counter() {
        use hairspring_host::clock::CountsWhen;
        use hairspring_host::thread::{allowed_cpus, pin};
        let (Some(first), Some(last)) =
            (allowed_cpus().first().copied(), allowed_cpus().last().copied())
        else {
            return;
        };
        // A thread of its own, because it is bound.
        let spans = std::thread::spawn(move || {
            pin(first).unwrap();
            let mut stopwatch =
                Stopwatch::new(Clock { counts: CountsWhen::WhileCoreRuns, ..fake::clock(64) })
                    .unwrap();
            stopwatch.start();
            pin(last).unwrap();
            let moved = stopwatch.lap().map_err(|error| error.to_string());
            [moved, stopwatch.stop().map_err(|error| error.to_string())]
        });
        let [moved, after] = spans.join().unwrap();
        let expected = format!("the thread went from CPU {first} to CPU {last}");
        assert!(first == last || moved.unwrap_err().contains(&expected));
        assert!(after.is_ok(), "{after:?}");
    }

    #[test]
    fn span_on_a_counter_of_the_thread_that_was_taken_is_refused() {
        use hairspring_host::clock::CountsWhen;
        fake::set(fake::Settings::default());
        let mut stopwatch =
            Stopwatch::new(Clock { counts: CountsWhen::WhileThreadRuns, ..fake::clock(64) })
                .unwrap();
        stopwatch.start();
        fake::advance(100);
        assert!(stopwatch.lap().is_ok());
        // From now on it reads 0, as perf's counters do while another event has the counter.
        fake::set(fake::Settings { needs_enabling: true, ..fake::Settings::default() });
        assert!(stopwatch.lap().unwrap_err().to_string().contains("reads 0"));
        assert!(stopwatch.stop().is_err());
        assert_eq!(stopwatch.total().pairs, 1);
    }

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
    fn overhead_is_subtracted() {
        for per_read in [2, 40, 3_000] {
            let mut stopwatch = stopwatch(fake::Settings { per_read, ..fake::Settings::default() });
            assert!((stopwatch.overhead().total.mean - per_read as f64).abs() < 1e-9);
            let found = timed(&mut stopwatch, 12_345).ns;
            assert!((found.value - 12_345.0).abs() < 1e-6, "{found:?}");
        }
    }

    #[test]
    fn counter_may_wrap_during_a_span() {
        // The counter is at its end while the stopwatch runs, whatever the start-up took.
        let mut stopwatch = stopwatch(fake::Settings { bits: 32, ..fake::Settings::default() });
        for _ in 0..20 {
            assert!((timed(&mut stopwatch, 2_000_000_011).ns.value - 2_000_000_011.0).abs() < 1e-3);
        }
        assert!((stopwatch.longest_ns().unwrap() - 2f64.powi(31)).abs() < 1e-3);
    }

    #[test]
    fn span_in_which_a_counter_may_wrap_twice_is_refused_with_the_limit() {
        // 16 bits of nanoseconds wrap every 66 us.
        let mut stopwatch = stopwatch(fake::Settings { bits: 16, ..fake::Settings::default() });
        stopwatch.start();
        std::thread::sleep(Duration::from_millis(2));
        let refused = stopwatch.lap().unwrap_err().to_string();
        assert!(
            refused.contains("16 bits") && refused.contains("at most 0.0000328 s"),
            "{refused}"
        );
        std::thread::sleep(Duration::from_millis(2));
        assert!(stopwatch.stop().is_err(), "the next lap is too long as well");
        assert_eq!(stopwatch.total(), Span::default());
    }

    #[test]
    fn next_lap_begins_after_a_refused_one() {
        let mut stopwatch = stopwatch(fake::Settings { bits: 26, ..fake::Settings::default() });
        stopwatch.arm();
        std::thread::sleep(Duration::from_millis(50));
        assert!(stopwatch.lap_between(0, 1).unwrap_err().to_string().contains("26 bits"));
        assert_eq!(stopwatch.lap_between(10, 110).unwrap(), Span { ticks: 100, pairs: 1 });
    }

    #[test]
    fn overhead_is_subtracted_from_each_lap_and_from_the_total() {
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
    fn empty_span_is_below_resolution_with_a_bound() {
        let mut stopwatch =
            stopwatch(fake::Settings { quantum: 26, per_read: 37, ..fake::Settings::default() });
        let nothing = timed(&mut stopwatch, 0);
        let bound = nothing.below_resolution(0.95).expect("nothing is below resolution");
        assert!(bound > 5.0 && bound < 80.0, "{bound}");
        let much = timed(&mut stopwatch, 2_600);
        assert_eq!(much.below_resolution(0.95), None);
        assert!(much.ns.estimate(0.95).contains(2_600.0), "{much:?}");
    }

    #[test]
    fn spans_on_a_coarse_clock_are_covered_by_their_intervals() {
        let mut stopwatch =
            stopwatch(fake::Settings { quantum: 26, per_read: 37, ..fake::Settings::default() });
        let covered = (0..500).filter(|turn| {
            timed(&mut stopwatch, 1_000 + 7 * turn)
                .ns
                .estimate(0.95)
                .contains(1_000.0 + 7.0 * *turn as f64)
        });
        assert!(covered.count() >= 475);
    }

    #[test]
    fn calibrated_overhead_is_subtracted() {
        let mut stopwatch = stopwatch(fake::Settings { per_read: 40, ..fake::Settings::default() });
        stopwatch.calibrate(&[EmptyRun { read: 40, total: 65 }; 100]);
        assert!((timed(&mut stopwatch, 1_025).ns.value - 1_000.0).abs() < 1e-6);
    }

    #[test]
    fn laps_between_readings_of_the_caller_add_up() {
        let mut stopwatch = stopwatch(fake::Settings::default());
        assert!(
            stopwatch.lap_between(0, 1).is_err()
                && stopwatch.lap_between(0, 1).is_err()
                && stopwatch.stop_between(0, 1).is_err()
        );
        stopwatch.arm();
        assert_eq!(stopwatch.lap_between(10, 110).unwrap(), Span { ticks: 100, pairs: 1 });
        assert_eq!(stopwatch.stop_between(200, 500).unwrap(), Span { ticks: 300, pairs: 1 });
        assert_eq!(stopwatch.total(), Span { ticks: 400, pairs: 2 });
        assert!(stopwatch.stop_between(0, 1).is_err());
    }

    #[test]
    fn stopwatch_that_was_not_started_is_an_error() {
        let mut stopwatch = stopwatch(fake::Settings::default());
        assert!(stopwatch.lap().is_err());
        assert!(stopwatch.stop().unwrap_err().to_string().contains("call start first"));
        stopwatch.start();
        stopwatch.stop().unwrap();
        assert!(stopwatch.stop().is_err());
    }

    #[test]
    fn clock_set_back_gives_a_negative_span() {
        assert_eq!(ticks(Width::FULL, 1_000, 400), -600);
        assert_eq!(ticks(Width::bits(32), 0xffff_ffff, 1), 2);
    }
}
