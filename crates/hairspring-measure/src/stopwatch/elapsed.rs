//! A span as a time with its error budget.

use super::{Overhead, Span};
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::observations::Rate;

/// A span of a stopwatch as a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Elapsed {
    /// The raw span.
    pub span: Span,
    /// The time in nanoseconds without the overhead; never clamped, so it can be negative. Its
    /// budget has the spread of the overhead ([`Source::Noise`]), the clock's quantum, and the
    /// rate.
    pub ns: Uncertain,
}

impl Elapsed {
    /// The time of a span whose overhead, quantum (in ticks) and rate are known (StopWatch, the
    /// timing equation of section 2: ticks at the end less ticks at the start less overhead, over
    /// the rate).
    pub fn new(span: Span, overhead: &Overhead, quantum: u64, rate: &Rate) -> Elapsed {
        let (ns, pairs) = (1e9 / rate.hz, f64::from(span.pairs));
        let ticks = span.ticks as f64 - pairs * overhead.total.mean;
        // The overhead of these pairs is unknown: it varies like the measured overheads.
        let spread = overhead.total.sd * pairs.sqrt();
        let dof = (overhead.total.used.max(2) - 1) as f64;
        // The difference of two readings, each anywhere within its quantum, has a triangular
        // distribution.
        let coarse = quantum as f64 * (pairs / 6.0).sqrt();
        let rate = ticks.abs() * rate.uncertainty_ppm * 1e-6;
        let budget = [
            (Source::Noise, spread, dof),
            (Source::Quantum, coarse, f64::INFINITY),
            (Source::Rate, rate, f64::INFINITY),
        ];
        let budget = budget.into_iter().filter(|(_, sd, _)| *sd > 0.0);
        let budget =
            budget.map(|(source, sd, dof)| Contribution::standard(source, sd * ns, dof)).collect();
        Elapsed { span, ns: Uncertain { value: ticks * ns, budget } }
    }

    /// Upper bound in nanoseconds if the time is indistinguishable from zero at this confidence
    /// level; `None` otherwise.
    pub fn below_resolution(&self, level: f64) -> Option<f64> {
        let estimate = self.ns.estimate(level);
        (estimate.low <= 0.0 && estimate.high >= 0.0).then_some(estimate.high)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EmptyRun, Moments};
    use super::*;

    fn overhead(mean: f64, sd: f64) -> Overhead {
        let total = Moments { mean, sd, median: mean, used: 1_001, all: 1_001 };
        let none = Moments { mean: 0.0, sd: 0.0, median: 0.0, used: 1_001, all: 1_001 };
        Overhead { total, read: none, calibrator: none }
    }

    fn rate(hz: f64, uncertainty_ppm: f64) -> Rate {
        Rate { hz, uncertainty_ppm, provenance: "invented".into() }
    }

    #[test]
    fn budget_has_overhead_quantum_and_rate() {
        let elapsed = Elapsed::new(
            Span { ticks: 2_000_070, pairs: 1 },
            &overhead(70.0, 3.0),
            12,
            &rate(2e9, 10.0),
        );
        assert!((elapsed.ns.value - 1e6).abs() < 1e-6);
        let part = |source| elapsed.ns.part(source, 0.95) / 1.96;
        assert!((part(Source::Noise) - 1.5).abs() < 0.01);
        assert!((part(Source::Quantum) - 6.0 / 6f64.sqrt()).abs() < 0.01);
        assert!((part(Source::Rate) - 10.0).abs() < 0.01);
    }

    #[test]
    fn span_shorter_than_the_overhead_is_negative() {
        let elapsed =
            Elapsed::new(Span { ticks: 60, pairs: 1 }, &overhead(70.0, 8.0), 1, &rate(1e9, 0.0));
        assert!((elapsed.ns.value + 10.0).abs() < 1e-9);
        let bound = elapsed.below_resolution(0.95).unwrap();
        assert!(bound > 0.0 && bound < 10.0, "{bound}");
    }

    #[test]
    fn moments_ignore_interrupted_runs() {
        let runs: Vec<EmptyRun> = (0..1_000)
            .map(|at| EmptyRun {
                read: 30,
                total: if at % 100 == 7 { 90_000 } else { 70 + at % 3 },
            })
            .collect();
        let overhead = Overhead::from_runs(&runs, 1);
        assert!(
            (overhead.total.mean - 71.0).abs() < 0.1 && overhead.total.sd < 1.0,
            "{overhead:?}"
        );
        assert_eq!((overhead.total.used, overhead.total.all), (990, 1_000));
        assert!((overhead.calibrator.mean - 41.0).abs() < 0.1);
    }
}
