//! Ticks per second of a clock, measured against the system's unsteered clock over a whole run.

use super::{Clock, CoreWatch, CountsWhen, ReadFn, granularity, os};
use hairspring_core::observations::Rate;
use std::hint::black_box;
use std::sync::OnceLock;

/// Pairs taken at each end; the fastest pair is used.
const TRIES: usize = 20;
/// Time in which the approximate rate of a wrapping counter is measured at the start.
const SHORT_NS: f64 = 1e6;

/// Measures the rate of a clock between the start and the end of a run.
#[derive(Debug, Clone, Copy)]
pub struct RateMeter {
    clock: Clock,
    start: Pair,
    /// Approximate ticks per second, to know how often a wrapping counter has wrapped; 0 for
    /// others.
    about_hz: f64,
    /// The rate while the thread works, at the start, for a clock that does not always count.
    working: Option<Working>,
}

/// A reading of the clock between two readings of the wall clock.
#[derive(Debug, Clone, Copy)]
struct Pair {
    ticks: u64,
    wall_ns: f64,
    doubt_ns: f64,
}

impl RateMeter {
    /// Takes the first pair of readings. Cost: 20 pairs of reads; a millisecond more for a counter
    /// that wraps (up to 20 on a loaded CPU), and some 15 ms more for one that does not always
    /// count.
    pub fn start(clock: Clock) -> RateMeter {
        let is_part_time = clock.counts != CountsWhen::Always && clock.nominal_hz.is_none();
        let working = is_part_time.then(|| working(&clock));
        let start = pair(&clock);
        let mut meter =
            RateMeter { clock, start, about_hz: clock.nominal_hz.unwrap_or(0.0), working };
        if clock.width.wraps() && clock.nominal_hz.is_none() {
            meter.about_hz = about_hz(&clock);
        }
        meter
    }

    /// The rate since the start, or the rate that the clock's interface defines. For a clock that
    /// does not always count, it is the rate while the thread works.
    pub fn rate(&self) -> Rate {
        match (self.clock.nominal_hz, self.working) {
            (Some(hz), _) => {
                Rate { hz, uncertainty_ppm: 0.0, provenance: "defined by the interface".into() }
            }
            (None, Some(before)) => of_work(before, working(&self.clock)),
            (None, None) => self.measured(0.0),
        }
    }

    /// The measured rate since the start, even if the interface defines one. `quantum` is the
    /// quantum of the clock in ticks (0 if it is much shorter than a read), which adds to the
    /// uncertainty of the readings at both ends. The uncertainty is that of the comparison; it does
    /// not include the error of the wall clock.
    pub fn measured(&self, quantum: f64) -> Rate {
        let end = pair(&self.clock);
        let span_ns = end.wall_ns - self.start.wall_ns;
        let hz = self.hz_until(&end);
        // Each end lies anywhere within a quantum: a uniform distribution, as within a pair.
        let coarse_ns = quantum / hz.max(f64::MIN_POSITIVE) * 1e9 / 12f64.sqrt();
        let doubt =
            (self.start.doubt_ns.powi(2) + end.doubt_ns.powi(2) + 2.0 * coarse_ns.powi(2)).sqrt();
        let provenance = format!("measured against {} over {:.0} ms", wall_name(), span_ns / 1e6);
        Rate { hz, uncertainty_ppm: doubt / span_ns * 1e6, provenance }
    }

    fn hz_until(&self, end: &Pair) -> f64 {
        let span_s = (end.wall_ns - self.start.wall_ns) / 1e9;
        let width = self.clock.width;
        width.unwrapped(width.between(self.start.ticks, end.ticks), self.about_hz * span_s) / span_s
    }
}

/// The rate in the shortest of some short spans: in a span in which the thread waited, the counter
/// may have wrapped.
fn about_hz(clock: &Clock) -> f64 {
    let mut shortest = (f64::INFINITY, 0.0);
    for _ in 0..TRIES {
        let meter = RateMeter { clock: *clock, start: pair(clock), about_hz: 0.0, working: None };
        while os::wall_ns() as f64 - meter.start.wall_ns < SHORT_NS {}
        let end = pair(clock);
        let span_ns = end.wall_ns - meter.start.wall_ns;
        if span_ns < shortest.0 {
            shortest = (span_ns, meter.hz_until(&end));
        }
        if span_ns < 1.5 * SHORT_NS {
            break;
        }
    }
    shortest.1
}

/// Stretches of work in which the rate of a clock that does not always count is measured, and the
/// time of each.
const STRETCHES: usize = 8;
const STRETCH_NS: u64 = 1_000_000;
/// Stretches without work, of which the shortest is the time of the reads.
const EMPTY_STRETCHES: usize = 20;

/// The rate in a stretch of work.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Working {
    hz: f64,
    /// Standard uncertainty, as a share of the rate.
    doubt: f64,
    /// Nothing else had the counter meanwhile.
    is_intact: bool,
}

impl Working {
    /// The lowest rate that its readings allow. The error of each of both is uniform, with a limit
    /// of sqrt(3) standard deviations.
    fn at_least(self) -> f64 {
        self.hz * (1.0 - 6f64.sqrt() * self.doubt)
    }

    /// The highest rate that its readings allow.
    fn at_most(self) -> f64 {
        self.hz * (1.0 + 6f64.sqrt() * self.doubt)
    }
}

/// The rate of a clock from those at both ends of a run. If they differ, the core has changed its
/// clock. An end at which something else had the counter is left out, if the other one is intact.
fn of_work(before: Working, after: Working) -> Rate {
    let (ends, hz, apart) = match (before.is_intact, after.is_intact) {
        (true, false) => ("at the start", before.hz, 0.0),
        (false, true) => ("at the end", after.hz, 0.0),
        _ => (
            "at each end",
            f64::midpoint(before.hz, after.hz),
            (before.hz - after.hz).abs() / 12f64.sqrt(),
        ),
    };
    // The ends are read in the same way, so their errors do not cancel.
    let doubt = (apart / hz.max(f64::MIN_POSITIVE)).hypot(before.doubt.max(after.doubt));
    let provenance = format!(
        "measured against {} while the thread worked, for {} ms {ends} of the run",
        wall_name(),
        STRETCHES as u64 * STRETCH_NS / 1_000_000
    );
    Rate { hz, uncertainty_ppm: doubt * 1e6, provenance }
}

/// The rate while the thread works.
fn working(clock: &Clock) -> Working {
    let mut watch = CoreWatch::start(clock);
    let (step_ns, steps) = (wall_step_ns(), steps_of(STRETCH_NS));
    // Something that takes the counter for a while does not have it each time.
    let reads = (0..STRETCHES)
        .map(|_| watched(&mut watch, || time_of_reads(clock, step_ns)))
        .find_map(|(reads, is_intact)| is_intact.then_some(reads));
    let stretches: Vec<Working> = (0..STRETCHES)
        .map(|_| {
            let (stretch, is_intact) = watched(&mut watch, || stretch(clock, steps));
            stretch.rate(reads.unwrap_or(Stretch::NONE), step_ns, is_intact)
        })
        .collect();
    uninterrupted(&stretches)
}

/// The result, and whether nothing else had the counter and the thread stayed where it was.
fn watched<T>(watch: &mut Option<CoreWatch>, work: impl FnOnce() -> T) -> (T, bool) {
    if let Some(watch) = watch {
        watch.restart();
    }
    let result = work();
    (result, watch.as_mut().is_none_or(|watch| watch.belongs().is_ok()))
}

/// Work that takes time and nothing else.
fn work(steps: u32) {
    (0..steps).for_each(|step| {
        black_box(step);
    });
}

/// Steps of work that take about this time. There is no look at the wall clock in a stretch: it may
/// be a system call, which some clocks do not count.
fn steps_of(ns: u64) -> u32 {
    let timed = |steps| {
        let begin = os::wall_ns();
        work(steps);
        os::wall_ns().saturating_sub(begin)
    };
    let mut steps = 1_000;
    loop {
        // One of them is hardly interrupted, even beside other programs on the CPU.
        let elapsed = (0..5).map(|_| timed(steps)).min().unwrap_or(ns);
        if elapsed >= ns || steps > u32::MAX / 2 {
            return (f64::from(steps) * (ns as f64 / elapsed.max(1) as f64).clamp(0.5, 1.0)) as u32;
        }
        steps *= 2;
    }
}

/// The time between two readings, by both clocks.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    ticks: f64,
    wall_ns: f64,
    /// How long each of the readings took.
    widths: [f64; 2],
}

impl Stretch {
    /// Takes no time.
    const NONE: Stretch = Stretch { ticks: 0.0, wall_ns: 0.0, widths: [0.0; 2] };

    /// The rate without the time of the reads. A clock of the thread may count only a part of it,
    /// so that its rate would be too low. The readings are made in the same way, so that it is
    /// unknown only where in a reading the time lies by which it is longer than the shortest one.
    /// The wall clock moves in steps, at both ends of the stretch and of the reads alone.
    fn rate(self, reads: Stretch, step_ns: f64, is_intact: bool) -> Working {
        let [begin, end] =
            self.widths.map(|width| (width - reads.widths[0]).max(0.0) / 12f64.sqrt());
        let (ticks, wall_ns) = (self.ticks - reads.ticks, (self.wall_ns - reads.wall_ns).max(1.0));
        Working {
            hz: ticks * 1e9 / wall_ns,
            doubt: begin.hypot(end).hypot(step_ns / 3f64.sqrt()) / wall_ns,
            is_intact,
        }
    }
}

/// Some work between two readings, each between two of the wall clock.
fn stretch(clock: &Clock, steps: u32) -> Stretch {
    let begin = bracketed(clock);
    work(steps);
    let end = bracketed(clock);
    Stretch {
        ticks: clock.width.between(begin.ticks, end.ticks) as f64,
        wall_ns: end.wall_ns - begin.wall_ns,
        widths: [begin, end].map(|reading| reading.doubt_ns * 12f64.sqrt()),
    }
}

/// The time of the reads: of stretches without work, with the shortest readings.
fn time_of_reads(clock: &Clock, step_ns: f64) -> Stretch {
    reads_of(&(0..EMPTY_STRETCHES).map(|_| stretch(clock, 0)).collect::<Vec<_>>(), step_ns)
}

/// The mean of the shortest stretches: those that a wall clock in steps does not tell from the
/// shortest one, which seems shorter than it is.
fn reads_of(empty: &[Stretch], step_ns: f64) -> Stretch {
    let shortest = empty.iter().map(|stretch| stretch.wall_ns).fold(f64::INFINITY, f64::min);
    let alike: Vec<&Stretch> =
        empty.iter().filter(|stretch| stretch.wall_ns <= shortest + 2.0 * step_ns).collect();
    let mean = |of: fn(&Stretch) -> f64| {
        alike.iter().map(|stretch| of(stretch)).sum::<f64>() / alike.len().max(1) as f64
    };
    let width = empty.iter().flat_map(|stretch| stretch.widths).fold(f64::INFINITY, f64::min);
    Stretch {
        ticks: mean(|stretch| stretch.ticks),
        wall_ns: mean(|stretch| stretch.wall_ns),
        widths: [width; 2],
    }
}

/// The quantum of the wall clock.
fn wall_step_ns() -> f64 {
    static STEP: OnceLock<u64> = OnceLock::new();
    *STEP.get_or_init(|| granularity(os::wall_ns as ReadFn).quantum) as f64
}

/// The rate of the stretches without an interruption. An interruption within the work makes the
/// rate too low, one within a read makes it uncertain, so the stretch whose rate is certainly the
/// fastest had none, and neither had those whose rate may be the same. Their mean counts, because
/// the fastest of them is the one whose error is the largest. Left out, if there are others:
/// stretches in which something else had the counter, because what sets a counter makes it seem
/// fast.
fn uninterrupted(stretches: &[Working]) -> Working {
    let any_intact = stretches.iter().any(|stretch| stretch.is_intact);
    let counted = || stretches.iter().filter(|stretch| stretch.is_intact || !any_intact);
    let least_hz = counted().map(|stretch| stretch.at_least()).fold(0.0, f64::max);
    let alike: Vec<&Working> = counted().filter(|stretch| stretch.at_most() >= least_hz).collect();
    let weight = |stretch: &Working| stretch.doubt.max(f64::EPSILON).powi(-2);
    let weights: f64 = alike.iter().map(|stretch| weight(stretch)).sum();
    let sum: f64 = alike.iter().map(|stretch| weight(stretch) * stretch.hz).sum();
    // The time of the reads is the same in all of them, so the mean is known as well as the best of
    // them, not better.
    let doubt = alike.iter().map(|stretch| stretch.doubt).fold(1.0, f64::min);
    Working { hz: sum / weights.max(1.0), doubt, is_intact: any_intact }
}

/// Name of the clock that rates are measured against.
pub fn wall_name() -> &'static str {
    if cfg!(target_os = "linux") { "CLOCK_MONOTONIC_RAW" } else { "the system's monotonic clock" }
}

fn bracketed(clock: &Clock) -> Pair {
    let before = os::wall_ns();
    let ticks = (clock.read)();
    let after = os::wall_ns();
    let width = after.saturating_sub(before) as f64;
    // The reading lies anywhere in between: a uniform distribution with the standard deviation
    // width / sqrt(12).
    Pair { ticks, wall_ns: before as f64 + width / 2.0, doubt_ns: width.max(1.0) / 12f64.sqrt() }
}

fn pair(clock: &Clock) -> Pair {
    let mut best = bracketed(clock);
    for _ in 1..TRIES {
        let next = bracketed(clock);
        if next.doubt_ns < best.doubt_ns {
            best = next;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_of_the_wall_clock_is_one_gigahertz() {
        let clock = Clock::new("wall", "", os::wall_ns);
        let meter = RateMeter::start(clock);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let rate = meter.rate();
        assert!((rate.hz / 1e9 - 1.0).abs() < 1e-4, "{rate:?}");
    }

    #[test]
    fn rate_of_a_counter_that_wraps_many_times_is_found() {
        extern "C" fn low_bits() -> u64 {
            os::wall_ns() & 0xff_ffff
        }
        // 24 bits of nanoseconds wrap every 17 ms.
        let clock =
            Clock { width: crate::clock::Width::bits(24), ..Clock::new("low", "", low_bits) };
        let meter = RateMeter::start(clock);
        std::thread::sleep(std::time::Duration::from_millis(60));
        let rate = meter.rate();
        assert!((rate.hz / 1e9 - 1.0).abs() < 1e-3, "{rate:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn rate_of_a_clock_that_stops_in_a_sleep_is_that_of_work() {
        extern "C" fn of_thread() -> u64 {
            let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
            time.map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
        }
        let clock =
            Clock { counts: CountsWhen::WhileThreadRuns, ..Clock::new("thread", "", of_thread) };
        let meter = RateMeter::start(clock);
        std::thread::sleep(std::time::Duration::from_millis(200));
        let rate = meter.rate();
        assert!(
            rate.hz > 4e8
                && rate.hz < 1.05e9
                && rate.provenance.contains("while the thread worked"),
            "{rate:?}"
        );
        assert!(meter.measured(0.0).hz < 0.8 * rate.hz);
    }

    #[test]
    fn rate_of_a_counter_with_slow_reads_is_right_within_its_uncertainty() {
        fn wait(ns: u64) {
            let begin = os::wall_ns();
            while os::wall_ns() - begin < ns {}
        }
        extern "C" fn slow() -> u64 {
            wait(20_000);
            let reading = os::wall_ns();
            wait(20_000);
            reading
        }
        let clock = Clock { counts: CountsWhen::WhileCoreRuns, ..Clock::new("slow", "", slow) };
        let is_right = |rate: &Rate| {
            (rate.hz / 1e9 - 1.0).abs() * 1e6 < 3.0 * rate.uncertainty_ppm
                && rate.uncertainty_ppm < 50_000.0
        };
        // One in five may be disturbed: where another program runs between a reading and the wall
        // clock's, both ends of the rate show it.
        let rates: Vec<Rate> = (0..5).map(|_| RateMeter::start(clock).rate()).collect();
        assert!(rates.iter().filter(|rate| is_right(rate)).count() >= 4, "{rates:?}");
    }

    #[test]
    fn rate_of_a_clock_that_stands_still_in_a_part_of_its_reads_is_that_of_the_work() {
        thread_local! {
            static UNCOUNTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
        }
        extern "C" fn by_a_call() -> u64 {
            let begin = os::wall_ns();
            while os::wall_ns() - begin < 20_000 {}
            let now = os::wall_ns();
            UNCOUNTED.set(UNCOUNTED.get() + (now - begin));
            now - UNCOUNTED.get()
        }
        let clock =
            Clock { counts: CountsWhen::WhileThreadRuns, ..Clock::new("call", "", by_a_call) };
        let rate = RateMeter::start(clock).rate();
        let error_ppm = (rate.hz / 1e9 - 1.0).abs() * 1e6;
        // 20 us of a millisecond are 20,000 ppm.
        assert!(error_ppm < 3_000.0, "{rate:?}");
    }

    #[test]
    fn work_takes_about_the_time_that_is_asked_for() {
        let work_times = (0..20).map(|_| {
            let steps = steps_of(1_000_000);
            let begin = os::wall_ns();
            work(steps);
            os::wall_ns() - begin
        });
        let least_time = work_times.min().unwrap();
        assert!((300_000..2_000_000).contains(&least_time), "{least_time}");
    }

    fn working(hz: f64, doubt: f64, is_intact: bool) -> Working {
        Working { hz, doubt, is_intact }
    }

    #[track_caller]
    fn is_rate(stretches: &[Working], hz: f64) {
        let rate = uninterrupted(stretches);
        assert!((rate.hz / hz - 1.0).abs() < 1e-6, "{rate:?}");
    }

    #[test]
    fn stretches_in_which_something_else_had_the_counter_do_not_count() {
        is_rate(
            &[working(9e8, 0.0, true), working(1e9, 0.0, true), working(2e12, 0.0, false)],
            1e9,
        );
        is_rate(&[working(3e9, 0.0, false), working(1e9, 0.0, false)], 3e9);
    }

    #[test]
    fn stretch_with_an_interrupted_read_hardly_counts() {
        is_rate(&[working(1.01e9, 1e-2, true), working(1e9, 1e-5, true)], 1e9);
    }

    #[test]
    fn stretch_in_which_the_thread_waited_does_not_count() {
        // It is the longest one, so that its rate is known best.
        is_rate(&[working(1.7e8, 1e-5, true), working(1e9, 1e-4, true)], 1e9);
    }

    #[test]
    fn no_stretch_has_no_rate() {
        assert_eq!(uninterrupted(&[]).hz, 0.0);
        assert_eq!(uninterrupted(&[working(0.0, 1e-6, false)]).hz, 0.0);
    }

    /// A simulated core of one tick per ns, beside a wall clock that moves in steps. Reads take
    /// whole ns, and are interrupted sometimes.
    struct Simulated {
        now: f64,
        step: f64,
        chance: fastrand::Rng,
    }

    impl Simulated {
        fn wall(&mut self) -> f64 {
            self.now += 30.0 + f64::from(self.chance.u8(0..2));
            (self.now / self.step).floor() * self.step
        }

        /// A reading of the clock, its place by the wall clock, and how long it took.
        fn bracketed(&mut self) -> (f64, f64, f64) {
            let before = self.wall();
            self.now += 5.0;
            let ticks = self.now;
            let interrupted = if self.chance.u8(0..20) == 0 { 3_000.0 } else { 0.0 };
            self.now += interrupted;
            let after = self.wall();
            (ticks, f64::midpoint(before, after), after - before)
        }

        fn stretch(&mut self, work: f64) -> Stretch {
            let (begin, end) = (self.bracketed(), (self.now += work, self.bracketed()).1);
            Stretch { ticks: end.0 - begin.0, wall_ns: end.1 - begin.1, widths: [begin.2, end.2] }
        }

        fn working(&mut self) -> Working {
            let empty: Vec<Stretch> = (0..EMPTY_STRETCHES).map(|_| self.stretch(0.0)).collect();
            let reads = reads_of(&empty, self.step);
            let stretches: Vec<Working> = (0..STRETCHES)
                .map(|_| {
                    let work = 1e6 + self.chance.f64() * 100.0;
                    self.stretch(work.floor()).rate(reads, self.step, true)
                })
                .collect();
            uninterrupted(&stretches)
        }
    }

    #[test]
    fn rate_of_work_is_right_within_its_interval_beside_a_wall_clock_in_steps() {
        for step in [1.0, 16.0, 100.0] {
            let mut simulated = Simulated { now: 0.0, step, chance: fastrand::Rng::with_seed(7) };
            let held = (0..1_000)
                .filter(|_| {
                    let rate = of_work(simulated.working(), simulated.working());
                    (rate.hz / 1e9 - 1.0).abs() * 1e6 <= 1.96 * rate.uncertainty_ppm
                })
                .count();
            assert!(held >= 940, "{held} of 1,000 intervals with steps of {step} ns");
        }
    }

    #[test]
    fn end_of_a_run_at_which_the_counter_is_gone_does_not_halve_the_rate() {
        let (there, gone) = (working(1e9, 2e-6, true), working(0.0, 1e-6, false));
        let rate = of_work(there, gone);
        assert!(rate.hz == 1e9 && rate.provenance.contains("at the start"), "{rate:?}");
        assert_eq!(of_work(gone, there).hz, 1e9);
        assert!((of_work(there, there).uncertainty_ppm - 2.0).abs() < 1e-9);
    }

    #[test]
    fn quantum_adds_to_the_uncertainty_of_the_rate() {
        let clock = Clock { nominal_hz: Some(1e9), ..Clock::new("wall", "", os::wall_ns) };
        let meter = RateMeter::start(clock);
        std::thread::sleep(std::time::Duration::from_millis(10));
        assert_eq!(meter.rate().hz, 1e9);
        let (fine, coarse) = (meter.measured(0.0), meter.measured(1e6));
        assert!(coarse.uncertainty_ppm > 100.0 * fine.uncertainty_ppm, "{fine:?} {coarse:?}");
    }
}
