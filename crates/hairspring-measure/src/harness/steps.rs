//! The harness step by step, for loops that it cannot call, such as the body of a macro in the
//! user's function. The caller runs the requested trips and reports the times.
//! [`Harness::experiment`] and [`Harness::bench`] use the same steps.

use super::{Bench, Harness, Overheads, Settings, Timed};
use crate::error::{Error, Result};
use hairspring_core::design::loops::{Sizing, size};

/// Longest expected time of one run of a loop by the system's clock, in nanoseconds, in addition to
/// four times the wanted interval. It limits the search if the selected clock stands still.
const MOST_WALL_NS: f64 = 4e9;
/// Most trips of a loop.
pub(super) const MOST_TRIPS: u64 = 1 << 62;

/// One experiment (BENCH1, 6.4): more and more trips until an interval is long enough.
///
/// ```
/// use hairspring_measure::harness::Filling;
/// // A loop whose trips take 50 ns each, to be run for 1 ms.
/// let mut filling = Filling::new(1e6, 1);
/// let timed = loop {
///     let interval_ns = filling.trips() as f64 * 50.0;
///     if let Some(timed) = filling.ran(interval_ns, interval_ns).unwrap() {
///         break timed;
///     }
/// };
/// assert!(timed.interval_ns >= 0.95e6);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filling {
    window_ns: f64,
    trips: u64,
}

impl Filling {
    /// An experiment with an interval of `window_ns`. It begins with `trips`: 1, or the trips of a
    /// previous experiment.
    pub fn new(window_ns: f64, trips: u64) -> Filling {
        Filling { window_ns, trips: trips.max(1) }
    }

    /// Trips to run next.
    pub fn trips(&self) -> u64 {
        self.trips
    }

    /// Reports the time of these trips by the selected clock and by the system's clock, in
    /// nanoseconds. Returns the interval, or `None` if it was too short: then the new number of
    /// [`Filling::trips`] must run.
    ///
    /// # Errors
    /// [`Error::LoopTooShort`] if no number of trips fills the interval: the clock stands still, or
    /// the loop takes no time.
    pub fn ran(&mut self, interval_ns: f64, wall_ns: f64) -> Result<Option<Timed>> {
        let (trips, window_ns) = (self.trips, self.window_ns);
        let Sizing::Again(next) = size(trips, interval_ns, window_ns) else {
            return Ok(Some(Timed { trips, interval_ns }));
        };
        let expected_ns = wall_ns * next as f64 / trips as f64;
        if next > MOST_TRIPS || expected_ns > MOST_WALL_NS + 4.0 * window_ns {
            return Err(Error::LoopTooShort {
                wanted_ns: window_ns,
                reached_ns: interval_ns,
                trips,
                wall_ns,
            });
        }
        self.trips = next;
        Ok(None)
    }
}

/// Several experiments with the same body (BENCH, 6.5).
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    settings: Settings,
    quantum_ns: f64,
    filling: Filling,
    timed: Vec<Timed>,
}

impl Trials {
    /// Experiments on a harness, at least one.
    pub fn new(harness: &Harness, settings: &Settings) -> Trials {
        Trials {
            settings: *settings,
            quantum_ns: harness.quantum_ns,
            filling: Filling::new(settings.window_ns, 1),
            timed: Vec::new(),
        }
    }

    /// Trips to run next; `None` after the last experiment.
    pub fn trips(&self) -> Option<u64> {
        ((self.timed.len() as u64) < u64::from(self.settings.experiments.max(1)))
            .then_some(self.filling.trips())
    }

    /// Reports the time of these trips by the selected clock and by the system's clock, in
    /// nanoseconds. Has no effect after the last experiment.
    ///
    /// # Errors
    /// As [`Filling::ran`].
    pub fn ran(&mut self, interval_ns: f64, wall_ns: f64) -> Result<()> {
        if self.trips().is_none() {
            return Ok(());
        }
        if let Some(timed) = self.filling.ran(interval_ns, wall_ns)? {
            self.timed.push(timed);
            self.filling = Filling::new(self.settings.window_ns, timed.trips);
        }
        Ok(())
    }

    /// Raises the upper end of the loop overhead to `most_ns`, the longest time of an empty trip.
    pub fn saw_loop(&mut self, most_ns: f64) {
        let loop_ns = &mut self.settings.overheads.loop_ns;
        loop_ns.high = loop_ns.high.max(most_ns);
    }

    /// Number of completed experiments.
    pub fn done(&self) -> usize {
        self.timed.len()
    }

    /// The overheads that are subtracted.
    pub fn overheads(&self) -> Overheads {
        self.settings.overheads
    }

    /// Result of the experiments so far; `None` before the first.
    pub fn bench(&self) -> Option<Bench> {
        (!self.timed.is_empty()).then(|| {
            Bench::from_intervals(self.timed.clone(), self.quantum_ns, &self.settings.overheads)
        })
    }
}
