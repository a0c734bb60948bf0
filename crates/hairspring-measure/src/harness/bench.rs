//! Overheads and several experiments (Staelin and McVoy, 6.2, 6.3 and 6.5).

use super::{Body, Harness, Timed, Trials};
use crate::error::Result;
use hairspring_core::design::enough::WINDOWS_NS;
use hairspring_core::estimate::Estimate;
use hairspring_core::estimate::experiments::Experiments;

/// Number of experiments for a median.
pub const MANY_EXPERIMENTS: u32 = 11;

/// Number of standard uncertainties of the clock's rate that an interval includes.
const RATE_SIGMAS: f64 = 2.0;

/// The paper's number of experiments for a timed interval of this length: eleven, or one if it is
/// longer than 100 ms. A single experiment has no spread, and so gives no confidence interval.
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
    /// No overheads, for bodies that take much longer.
    pub fn none() -> Overheads {
        let zero = Estimate { value: 0.0, low: 0.0, high: 0.0, level: 1.0 };
        Overheads { timing_ns: zero, loop_ns: zero }
    }
}

/// How to measure a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Minimum length of each interval in nanoseconds: the result of [`Harness::enough`], or the
    /// user's choice.
    pub window_ns: f64,
    /// Number of experiments; [`experiments_for`] is the paper's choice.
    pub experiments: u32,
    /// Overheads to subtract.
    pub overheads: Overheads,
}

impl Settings {
    /// Settings with the paper's number of experiments for this interval, and no overheads.
    pub fn for_window(window_ns: f64) -> Settings {
        Settings {
            window_ns,
            experiments: experiments_for(window_ns),
            overheads: Overheads::none(),
        }
    }
}

/// A body that was measured several times.
#[derive(Debug, Clone, PartialEq)]
pub struct Bench {
    /// The raw intervals.
    pub timed: Vec<Timed>,
    /// Time of one trip in nanoseconds without the overheads, never clamped at zero. Its bounds
    /// include the clock's quantum and the uncertainty of the overheads.
    pub trip_ns: Experiments,
}

impl Bench {
    /// Computes the time of one trip from intervals by a clock of this quantum in nanoseconds.
    /// Subtracts the overheads, and adds their uncertainty in each direction to the bounds.
    pub fn from_intervals(timed: Vec<Timed>, quantum_ns: f64, overheads: &Overheads) -> Bench {
        let Overheads { timing_ns, loop_ns } = overheads;
        let fewest = timed.iter().map(|one| one.trips).min().unwrap_or(1) as f64;
        let values = timed
            .iter()
            .map(|one| (one.interval_ns - timing_ns.value) / one.trips as f64 - loop_ns.value)
            .collect();
        let off = |timing: f64, trip: f64| (quantum_ns + timing) / fewest + trip;
        let below = off(timing_ns.high - timing_ns.value, loop_ns.high - loop_ns.value);
        let above = off(timing_ns.value - timing_ns.low, loop_ns.value - loop_ns.low);
        Bench { timed, trip_ns: Experiments { values, below, above } }
    }

    /// Time of one trip in nanoseconds. Its interval includes the spread of the experiments, the
    /// clock's quantum, and the uncertainties of the overheads and of the clock's rate (`rate_ppm`,
    /// in parts per million). A single experiment has no spread: its interval includes the rest,
    /// and its level is 0. `None` without experiments.
    pub fn trip(&self, level: f64, rate_ppm: f64) -> Option<Estimate> {
        let trip = self.trip_ns.median(level).or_else(|| self.trip_ns.alone())?;
        let off = RATE_SIGMAS * rate_ppm * 1e-6 * trip.value.abs();
        Some(Estimate { low: trip.low - off, high: trip.high + off, ..trip })
    }

    /// The shortest time of a trip in nanoseconds, without the timing overhead `timing_ns` but with
    /// the loop.
    pub fn least_ns(&self, timing_ns: f64) -> f64 {
        self.timed
            .iter()
            .map(|one| (one.interval_ns - timing_ns) / one.trips as f64)
            .fold(f64::INFINITY, f64::min)
    }

    /// The experiment with the median value; the lower one of the two middle values of an even
    /// number.
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
        Ok(trials.bench().unwrap_or_else(|| {
            Bench::from_intervals(Vec::new(), self.quantum_ns, &settings.overheads)
        }))
    }

    /// The timing overhead (6.2): the time of one read of the clock, measured as a body with one
    /// read in each trip. A timed interval includes the end of one read and the beginning of the
    /// next. The time includes the loop's own instructions.
    ///
    /// The overhead from [`hairspring_core::pipeline::solve`] also includes everything else that
    /// the rows have in common.
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
        self.bench(
            &Settings { experiments: MANY_EXPERIMENTS, ..Settings::for_window(window_ns) },
            &mut reads,
        )
    }
}
