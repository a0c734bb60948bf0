//! Overheads and several experiments (Staelin and McVoy, 6.2, 6.3 and 6.5).

use super::{Body, Harness, Timed, Trials};
use crate::error::Result;
use hairspring_core::design::enough::WINDOWS_NS;
use hairspring_core::estimate::Estimate;
use hairspring_core::estimate::experiments::Experiments;

/// Experiments of which the median is taken.
pub const MANY_EXPERIMENTS: u32 = 11;

/// Standard uncertainties of the clock's rate that an interval carries.
const RATE_SIGMAS: f64 = 2.0;

/// How many experiments the paper makes with an interval of so many nanoseconds: eleven, or a single one where the
/// interval is longer than 100 ms. A single one has no spread; ask for more to get an interval.
pub fn experiments_for(window_ns: f64) -> u32 {
    if window_ns > WINDOWS_NS[WINDOWS_NS.len() - 1] { 1 } else { MANY_EXPERIMENTS }
}

/// What is subtracted from the measured times, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overheads {
    /// Time of one read of the clock, once for each interval.
    pub timing_ns: Estimate,
    /// Time of the loop itself, once for each trip.
    pub loop_ns: Estimate,
}

impl Overheads {
    /// Nothing is subtracted, for bodies beside which the overheads are negligible.
    pub fn none() -> Overheads {
        let zero = Estimate { value: 0.0, low: 0.0, high: 0.0, level: 1.0 };
        Overheads { timing_ns: zero, loop_ns: zero }
    }
}

/// How to measure a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How long each interval must last, in nanoseconds: the answer of [`Harness::enough`], or the user's own.
    pub window_ns: f64,
    /// Experiments; [`experiments_for`] is the paper's choice.
    pub experiments: u32,
    /// What to subtract.
    pub overheads: Overheads,
}

impl Settings {
    /// The paper's number of experiments with this interval; nothing is subtracted.
    pub fn of(window_ns: f64) -> Settings {
        Settings { window_ns, experiments: experiments_for(window_ns), overheads: Overheads::none() }
    }
}

/// A body that was measured several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Bench {
    /// The intervals as they were read.
    pub timed: Vec<Timed>,
    /// Time of one trip in nanoseconds, overheads subtracted, never clamped at zero. Its bound carries the clock's quantum
    /// and the doubt of the overheads.
    pub trip_ns: Experiments,
}

impl Bench {
    /// Time of one trip from intervals by a clock of this quantum, in nanoseconds. Overheads are subtracted, and what they may
    /// be off by, each in its own direction, is kept.
    pub fn of(timed: Vec<Timed>, quantum_ns: f64, overheads: &Overheads) -> Bench {
        let Overheads { timing_ns, loop_ns } = overheads;
        let fewest = timed.iter().map(|one| one.trips).min().unwrap_or(1) as f64;
        let values = timed.iter().map(|one| (one.interval_ns - timing_ns.value) / one.trips as f64 - loop_ns.value).collect();
        let off = |timing: f64, trip: f64| (quantum_ns + timing) / fewest + trip;
        let below = off(timing_ns.high - timing_ns.value, loop_ns.high - loop_ns.value);
        let above = off(timing_ns.value - timing_ns.low, loop_ns.value - loop_ns.low);
        Bench { timed, trip_ns: Experiments { values, below, above } }
    }

    /// Time of one trip in nanoseconds with all that it may be off by: the spread of the experiments, the clock's quantum, the
    /// doubt of the overheads, and of the clock's rate, in parts per million. The level is 0 where there is a single
    /// experiment, which has no spread: then the interval has all the rest. `None` where there is none.
    pub fn trip(&self, level: f64, rate_ppm: f64) -> Option<Estimate> {
        let found = self.trip_ns.median(level).or_else(|| self.trip_ns.alone())?;
        let off = RATE_SIGMAS * rate_ppm * 1e-6 * found.value.abs();
        Some(Estimate { low: found.low - off, high: found.high + off, ..found })
    }

    /// The shortest time of a trip with nothing subtracted but what the timing may be, in nanoseconds.
    pub fn least_ns(&self, timing_ns: f64) -> f64 {
        self.timed.iter().map(|one| (one.interval_ns - timing_ns) / one.trips as f64).fold(f64::INFINITY, f64::min)
    }

    /// The experiment whose value is the median; of an even number the lower one of the middle.
    pub fn median_experiment(&self) -> Option<&Timed> {
        let mut order: Vec<usize> = (0..self.timed.len()).collect();
        order.sort_by(|a, b| self.trip_ns.values[*a].total_cmp(&self.trip_ns.values[*b]));
        order.get(order.len().saturating_sub(1) / 2).map(|at| &self.timed[*at])
    }
}

impl Harness {
    /// Several experiments with the same body (BENCH, 6.5).
    ///
    /// # Errors
    /// As [`Harness::experiment`].
    pub fn bench(&self, settings: &Settings, body: &mut Body) -> Result<Bench> {
        let mut trials = Trials::new(self, settings);
        while let Some(trips) = trials.trips() {
            let (interval_ns, wall_ns) = self.watched(trips, body);
            trials.ran(interval_ns, wall_ns)?;
        }
        Ok(trials.bench().unwrap_or_else(|| Bench::of(Vec::new(), self.quantum_ns, &settings.overheads)))
    }

    /// The overhead of the timing (6.2): the time to read the clock, measured as a body of its own. It is the end of one
    /// read and the beginning of the next, which is what lies within an interval. Each trip is one read, and the loop's own
    /// instructions run beside it.
    ///
    /// The engine's own way is the overhead that [`hairspring_core::estimate::solve`] finds, which holds whatever else the rows have
    /// in common, too.
    ///
    /// # Errors
    /// As [`Harness::experiment`].
    pub fn timing_overhead(&self, window_ns: f64) -> Result<Bench> {
        let now = self.now;
        let mut reads = |trips: u64| {
            for _ in 0..trips {
                std::hint::black_box(now());
            }
        };
        self.bench(&Settings { experiments: MANY_EXPERIMENTS, ..Settings::of(window_ns) }, &mut reads)
    }
}
