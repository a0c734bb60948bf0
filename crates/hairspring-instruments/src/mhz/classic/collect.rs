//! The measurements, with the expressions in the inner loop, so that a burst of other activity
//! disturbs one measurement of each expression and not all of one expression (Staelin and McVoy,
//! section 7).

use super::result::LoopChoice;
use super::{Options, Subject};
use hairspring_core::estimate::experiments::Experiments;
use hairspring_host::chains::expressions::COPIES;
use hairspring_measure::harness::Harness;

/// Takes measurements, and remembers the trips that fill an interval.
pub struct Sampler<'a> {
    harness: &'a Harness,
    window_ns: f64,
    timing_ns: f64,
    choices: &'a [LoopChoice],
    trips: Vec<u64>,
}

impl<'a> Sampler<'a> {
    /// A sampler with intervals of `window_ns`, from each of which `timing_ns` is subtracted.
    pub fn new(
        harness: &'a Harness,
        window_ns: f64,
        timing_ns: f64,
        choices: &'a [LoopChoice],
    ) -> Sampler<'a> {
        Sampler { harness, window_ns, timing_ns, choices, trips: vec![1; choices.len()] }
    }

    /// One try: times of one copy of each expression in nanoseconds. There are fewer than requested
    /// if the budget ends first.
    pub fn collect(
        &mut self,
        subject: &mut impl Subject,
        options: &Options,
    ) -> Result<Vec<Experiments>, String> {
        let mut all_experiments = vec![Experiments::new(Vec::new(), 0.0); self.choices.len()];
        for _ in 0..options.measurements {
            for (expression, experiments) in all_experiments.iter_mut().enumerate() {
                if options.is_spent(subject.spent_ns()) {
                    return Ok(all_experiments);
                }
                let (copy_ns, bound_ns) = self.sample(subject, expression)?;
                experiments.values.push(copy_ns);
                (experiments.below, experiments.above) =
                    (experiments.below.max(bound_ns), experiments.above.max(bound_ns));
            }
        }
        Ok(all_experiments)
    }

    /// Time of one copy, and the part of the clock's quantum in it.
    fn sample(
        &mut self,
        subject: &mut impl Subject,
        expression: usize,
    ) -> Result<(f64, f64), String> {
        let opaque = self.choices[expression].opaque;
        let mut body = |trips: u64| subject.run(expression, opaque, trips);
        let timed = self
            .harness
            .experiment(self.window_ns, self.trips[expression], &mut body)
            .map_err(|e| e.to_string())?;
        self.trips[expression] = timed.trips;
        let copies = timed.trips as f64 * f64::from(COPIES);
        Ok(((timed.interval_ns - self.timing_ns) / copies, self.harness.quantum_ns / copies))
    }
}
