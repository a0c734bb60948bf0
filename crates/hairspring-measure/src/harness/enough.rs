//! The published search for the interval that a clock needs (Staelin and McVoy, 6.1).

use super::{Body, Harness};
use crate::error::Result;
use hairspring_core::design::enough::{Enough, LAST_WINDOW_NS, Trial, WINDOWS_NS, jiggled};

impl Harness {
    /// The time needed for an accuracy of 1 % ("compute_enough"): the first of [`WINDOWS_NS`] at
    /// which 100.0, 100.5, 101.0 and 101.5 % of the work take the same shares of the time, within
    /// 0.1 %; if none does, one second, unproven.
    ///
    /// No interval longer than `limit_ns` is tried or returned; infinity means the paper's limits.
    /// A search that fails takes about six times the sum of the intervals tried, at most about a
    /// second.
    ///
    /// # Errors
    /// As [`Harness::experiment`].
    pub fn enough(&self, limit_ns: f64, body: &mut Body) -> Result<Enough> {
        let (mut trials, mut trips) = (Vec::new(), 1);
        for window_ns in WINDOWS_NS.into_iter().filter(|window_ns| *window_ns <= limit_ns) {
            let reference = self.experiment(window_ns, trips, body)?;
            trips = reference.trips;
            let times_ns = jiggled(trips).map(|steps| self.time(steps, body).interval_ns);
            let trial = Trial::new(window_ns, trips, reference.interval_ns, times_ns);
            trials.push(trial);
            if trial.passes() {
                return Ok(Enough { window_ns, proven: true, trials });
            }
        }
        Ok(Enough { window_ns: LAST_WINDOW_NS.min(limit_ns), proven: false, trials })
    }
}
