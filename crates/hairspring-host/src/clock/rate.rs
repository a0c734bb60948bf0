//! Ticks per second of a clock, measured against the system's unsteered clock over a whole run.

use super::{Clock, CounterWatch, CountsWhen, os};
use hairspring_core::observations::Rate;
use std::hint::black_box;

/// Pairs taken at each end; the fastest pair is used.
const TRIES: usize = 20;
/// Time in which the approximate rate of a wrapping counter is measured at the start.
const SHORT_NS: f64 = 1e6;

/// Measures the rate of a clock between the start and the end of a run.
#[derive(Debug, Clone, Copy)]
pub struct RateMeter {
    clock: Clock,
    start: Pair,
    /// Approximate ticks per second, to know how often a wrapping counter has wrapped; 0 for others.
    about_hz: f64,
    /// Ticks per second while the thread works, at the start, for a clock that does not always count.
    working_hz: Option<f64>,
}

/// A reading of the clock between two readings of the wall clock.
#[derive(Debug, Clone, Copy)]
struct Pair {
    ticks: u64,
    wall_ns: f64,
    doubt_ns: f64,
}

impl RateMeter {
    /// Takes the first pair of readings. Cost: 20 pairs of reads; a millisecond more for a counter that wraps, and 8 ms more for
    /// one that does not always count.
    pub fn start(clock: Clock) -> RateMeter {
        let is_part_time = clock.counts != CountsWhen::Always && clock.nominal_hz.is_none();
        let working_hz = is_part_time.then(|| working_hz(&clock));
        let start = pair(&clock);
        let mut meter = RateMeter { clock, start, about_hz: clock.nominal_hz.unwrap_or(0.0), working_hz };
        if clock.width.wraps() && clock.nominal_hz.is_none() {
            while os::wall_ns() as f64 - start.wall_ns < SHORT_NS {}
            meter.about_hz = meter.hz_until(&pair(&clock));
        }
        meter
    }

    /// The rate since the start, or the rate that the clock's interface defines. For a clock that does not always count, it is
    /// the rate while the thread works.
    pub fn rate(&self) -> Rate {
        match (self.clock.nominal_hz, self.working_hz) {
            (Some(hz), _) => Rate { hz, uncertainty_ppm: 0.0, provenance: "defined by the interface".into() },
            (None, Some(before)) => of_work(before, working_hz(&self.clock)),
            (None, None) => self.measured(0.0),
        }
    }

    /// The measured rate since the start, even if the interface defines one. `quantum` is the quantum of the clock in ticks
    /// (0 if it is much shorter than a read), which adds to the uncertainty of the readings at both ends. The uncertainty is
    /// that of the comparison; it does not include the error of the wall clock.
    pub fn measured(&self, quantum: f64) -> Rate {
        let end = pair(&self.clock);
        let span_ns = end.wall_ns - self.start.wall_ns;
        let hz = self.hz_until(&end);
        // Each end lies anywhere within a quantum: a uniform distribution, as within a pair.
        let coarse_ns = quantum / hz.max(f64::MIN_POSITIVE) * 1e9 / 12f64.sqrt();
        let doubt = (self.start.doubt_ns.powi(2) + end.doubt_ns.powi(2) + 2.0 * coarse_ns.powi(2)).sqrt();
        let provenance = format!("measured against {} over {:.0} ms", wall_name(), span_ns / 1e6);
        Rate { hz, uncertainty_ppm: doubt / span_ns * 1e6, provenance }
    }

    fn hz_until(&self, end: &Pair) -> f64 {
        let span_s = (end.wall_ns - self.start.wall_ns) / 1e9;
        let width = self.clock.width;
        width.unwrapped(width.between(self.start.ticks, end.ticks), self.about_hz * span_s) / span_s
    }
}

/// Stretches of work in which the rate of a clock that does not always count is measured, and the time of each.
const STRETCHES: usize = 8;
const STRETCH_NS: u64 = 1_000_000;
/// Steps of work between two looks at the wall clock, which may be a system call that some clocks do not count.
const STEPS: u32 = 100_000;

/// The rate of a clock from those at both ends of a run. If they differ, the core has changed its clock.
fn of_work(before: f64, after: f64) -> Rate {
    let hz = f64::midpoint(before, after);
    let apart = (before - after).abs() / 12f64.sqrt() / hz.max(f64::MIN_POSITIVE) * 1e6;
    let provenance = format!(
        "measured against {} while the thread worked, for {} ms at each end of the run",
        wall_name(),
        STRETCHES as u64 * STRETCH_NS / 1_000_000
    );
    Rate { hz, uncertainty_ppm: apart, provenance }
}

/// Ticks per second while the thread works.
fn working_hz(clock: &Clock) -> f64 {
    let mut counter = (clock.counts == CountsWhen::WhileCoreRuns).then(CounterWatch::start).flatten();
    let stretch = || {
        let (begin, first) = (os::wall_ns(), (clock.read)());
        while os::wall_ns().saturating_sub(begin) < STRETCH_NS {
            (0..STEPS).for_each(|step| {
                black_box(step);
            });
        }
        let last = (clock.read)();
        let hz = clock.width.between(first, last) as f64 * 1e9 / os::wall_ns().saturating_sub(begin).max(1) as f64;
        (hz, first != 0 && last != 0) // a counter of the thread reads 0 while something else has it
    };
    fastest((0..STRETCHES).map(|_| {
        let (hz, is_there) = stretch();
        (hz, counter.as_mut().is_none_or(CounterWatch::is_intact) && is_there)
    }))
}

/// The rate of the stretch with the fewest interruptions, which is the fastest. Stretches in which something else had the counter
/// are left out, if there are others: what sets a counter makes it seem fast.
fn fastest(stretches: impl Iterator<Item = (f64, bool)>) -> f64 {
    let (intact, disturbed): (Vec<_>, Vec<_>) = stretches.partition(|(_, is_intact)| *is_intact);
    let counted = if intact.is_empty() { disturbed } else { intact };
    counted.iter().map(|(hz, _)| *hz).fold(0.0, f64::max)
}

/// Name of the clock that rates are measured against.
pub fn wall_name() -> &'static str {
    if cfg!(target_os = "linux") { "CLOCK_MONOTONIC_RAW" } else { "the system's monotonic clock" }
}

fn pair(clock: &Clock) -> Pair {
    let one = || {
        let before = os::wall_ns();
        let ticks = (clock.read)();
        let after = os::wall_ns();
        let width = after.saturating_sub(before) as f64;
        // The reading lies anywhere in between: a uniform distribution with the standard deviation width / sqrt(12).
        Pair { ticks, wall_ns: before as f64 + width / 2.0, doubt_ns: width.max(1.0) / 12f64.sqrt() }
    };
    let mut best = one();
    for _ in 1..TRIES {
        let next = one();
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
        let clock = Clock { width: crate::clock::Width::bits(24), ..Clock::new("low", "", low_bits) };
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
        let clock = Clock { counts: CountsWhen::WhileThreadRuns, ..Clock::new("thread", "", of_thread) };
        let meter = RateMeter::start(clock);
        std::thread::sleep(std::time::Duration::from_millis(200));
        let rate = meter.rate();
        assert!(rate.hz > 4e8 && rate.hz < 1.05e9 && rate.provenance.contains("while the thread worked"), "{rate:?}");
        assert!(meter.measured(0.0).hz < 0.8 * rate.hz);
    }

    #[test]
    fn stretches_in_which_something_else_had_the_counter_do_not_count() {
        assert_eq!(fastest([(9e8, true), (1e9, true), (2e12, false)].into_iter()), 1e9);
        assert_eq!(fastest([(3e9, false), (1e9, false)].into_iter()), 3e9);
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
