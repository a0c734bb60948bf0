//! Taking the measurements: the expressions in the inner loop, the measurements in the outer, so that a burst of other
//! activity falls on one measurement of each expression and not on all of one (Staelin and McVoy, section 7).

use super::result::GuardTrial;
use super::{Options, Subject};
use hairspring_core::estimate::experiments::Experiments;
use hairspring_host::chains::expressions::COPIES;
use hairspring_measure::harness::Harness;

/// Takes measurements, and remembers the trips that fill an interval.
pub struct Sampler<'a> {
    harness: &'a Harness,
    window_ns: f64,
    timing_ns: f64,
    guards: &'a [GuardTrial],
    trips: Vec<u64>,
}

impl<'a> Sampler<'a> {
    /// A sampler with intervals of `window_ns`, from each of which `timing_ns` is subtracted.
    pub fn new(harness: &'a Harness, window_ns: f64, timing_ns: f64, guards: &'a [GuardTrial]) -> Sampler<'a> {
        Sampler { harness, window_ns, timing_ns, guards, trips: vec![1; guards.len()] }
    }

    /// One try: times of one copy of each expression in nanoseconds, fewer than asked for where the budget ends before.
    pub fn collect(&mut self, subject: &mut impl Subject, options: &Options) -> Result<Vec<Experiments>, String> {
        let mut all = vec![Experiments::new(Vec::new(), 0.0); self.guards.len()];
        for _ in 0..options.measurements {
            for (expression, found) in all.iter_mut().enumerate() {
                if options.is_spent(subject.spent_ns()) {
                    return Ok(all);
                }
                let (copy_ns, bound_ns) = self.sample(subject, expression)?;
                found.values.push(copy_ns);
                (found.below, found.above) = (found.below.max(bound_ns), found.above.max(bound_ns));
            }
        }
        Ok(all)
    }

    /// Time of one copy, and what the quantum of the clock is in it.
    fn sample(&mut self, subject: &mut impl Subject, expression: usize) -> Result<(f64, f64), String> {
        let guarded = self.guards[expression].guarded;
        let mut body = |trips: u64| subject.run(expression, guarded, trips);
        let timed = self.harness.experiment(self.window_ns, self.trips[expression], &mut body).map_err(|e| e.to_string())?;
        self.trips[expression] = timed.trips;
        let copies = timed.trips as f64 * f64::from(COPIES);
        Ok(((timed.interval_ns - self.timing_ns) / copies, self.harness.quantum_ns / copies))
    }
}
