//! Ticks per second of a clock, measured against the system's unsteered clock over a whole run.

use super::{Clock, os};
use crate::observations::Rate;

/// Pairs tried at each end; the one that took least time is kept.
const TRIES: usize = 20;

/// Measures the rate of a clock between two moments: made at the start of a run, asked at its end.
#[derive(Debug, Clone, Copy)]
pub struct RateMeter {
    clock: Clock,
    start: Pair,
}

/// A reading of the clock between two readings of the wall clock.
#[derive(Debug, Clone, Copy)]
struct Pair {
    ticks: u64,
    wall_ns: f64,
    doubt_ns: f64,
}

impl RateMeter {
    /// Takes the first pair of readings.
    pub fn start(clock: Clock) -> RateMeter {
        RateMeter { clock, start: pair(&clock) }
    }

    /// The rate since the start. A clock whose interface defines its rate has that one.
    pub fn rate(&self) -> Rate {
        if let Some(hz) = self.clock.nominal_hz {
            return Rate { hz, uncertainty_ppm: 0.0, provenance: "defined by the interface".into() };
        }
        let end = pair(&self.clock);
        let span_ns = end.wall_ns - self.start.wall_ns;
        let hz = end.ticks.wrapping_sub(self.start.ticks) as f64 / span_ns * 1e9;
        let uncertainty_ppm = (self.start.doubt_ns.powi(2) + end.doubt_ns.powi(2)).sqrt() / span_ns * 1e6;
        Rate { hz, uncertainty_ppm, provenance: format!("measured against {} over {:.0} ms", wall_name(), span_ns / 1e6) }
    }
}

fn wall_name() -> &'static str {
    if cfg!(target_os = "linux") { "CLOCK_MONOTONIC_RAW" } else { "the system's monotonic clock" }
}

fn pair(clock: &Clock) -> Pair {
    let one = || {
        let before = os::wall_ns();
        let ticks = (clock.read)();
        let after = os::wall_ns();
        let width = after.saturating_sub(before) as f64;
        // The reading lies anywhere in between: a uniform doubt of width / sqrt(12).
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
    fn the_wall_clock_against_itself_runs_at_a_gigahertz() {
        let clock = Clock { name: "wall", description: "", read: os::wall_ns, nominal_hz: None };
        let meter = RateMeter::start(clock);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let rate = meter.rate();
        assert!((rate.hz / 1e9 - 1.0).abs() < 1e-4, "{rate:?}");
    }
}
