//! The timing harness of lmbench 2.0 (Staelin and McVoy, section 6): it finds how long to measure
//! and how many trips that takes, measures its own overheads, and repeats the experiment.
//!
//! It times a loop with a given number of trips, for code that cannot be laid out in straight-line
//! rows: system calls, or loops of the user. For straight-line rows, the line fit over
//! [`super::rounds::Rounds`] needs neither sizes nor overheads: it solves for them.

mod bench;
mod enough;
mod loop_overhead;
mod steps;
#[cfg(test)]
mod tests;

pub use bench::{Bench, MANY_EXPERIMENTS, Overheads, Settings, experiments_for};
pub use loop_overhead::{LoopOverhead, LoopWatch};
pub use steps::{Filling, Trials};

use crate::error::Result;
use hairspring_host::clock::{Clock, ReadFn};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A loop over the code to be timed; the argument is the number of trips.
pub type Body<'a> = dyn FnMut(u64) + 'a;

/// A clock with the properties that are needed to measure with it.
#[derive(Debug, Clone, Copy)]
pub struct Harness {
    /// Reads the clock.
    pub now: ReadFn,
    /// Nanoseconds per tick.
    pub ns_per_tick: f64,
    /// Its quantum in nanoseconds; 0 if unknown.
    pub quantum_ns: f64,
}

/// One timed interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Trips of the loop in the interval.
    pub trips: u64,
    /// Length of the interval in nanoseconds, including the overhead of the clock reads. Negative
    /// if the clock went backwards.
    pub interval_ns: f64,
}

impl Harness {
    /// A harness on a clock of the machine, with its ticks per second and its quantum in ticks.
    pub fn new(clock: Clock, hz: f64, quantum: u64) -> Harness {
        let ns_per_tick = 1e9 / hz;
        Harness { now: clock.read, ns_per_tick, quantum_ns: quantum as f64 * ns_per_tick }
    }

    /// Times a number of trips of a loop.
    pub fn time(&self, trips: u64, body: &mut Body) -> Timed {
        let start = (self.now)();
        body(trips);
        let ticks = (self.now)().wrapping_sub(start) as i64;
        Timed { trips, interval_ns: ticks as f64 * self.ns_per_tick }
    }

    /// Times a number of trips of a loop by this clock and by the system's clock, in nanoseconds.
    fn watched(&self, trips: u64, body: &mut Body) -> (f64, f64) {
        let begin = Instant::now();
        let timed = self.time(trips, body);
        (timed.interval_ns, begin.elapsed().as_nanos() as f64)
    }

    /// One experiment (BENCH1, 6.4): runs the loop with more and more trips until an interval is
    /// long enough. It starts with `trips`: 1, or the trips of a previous experiment.
    ///
    /// # Errors
    /// [`crate::Error::LoopTooShort`] if no number of trips fills the interval: the clock stands
    /// still, or the loop takes no time.
    pub fn experiment(&self, window_ns: f64, trips: u64, body: &mut Body) -> Result<Timed> {
        let mut filling = Filling::new(window_ns, trips);
        loop {
            let (interval_ns, wall_ns) = self.watched(filling.trips(), body);
            if let Some(timed) = filling.ran(interval_ns, wall_ns)? {
                return Ok(timed);
            }
        }
    }
}
