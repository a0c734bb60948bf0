//! Propagation by Monte Carlo, beside that to first order: stochastic inputs are drawn, systematic
//! ones stand at their bounds.

use crate::model::{Kind, Step, Steps};
use crate::quantity::LEVEL;
use hairspring_core::estimate::coverage_factor;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use statrs::distribution::{ContinuousCDF, Normal};

/// The interval by Monte Carlo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonteCarlo {
    /// Lower end; infinite if the model has no bounds.
    pub low: f64,
    /// Upper end; infinite if the model has no bounds.
    pub high: f64,
    /// Draws of all stochastic inputs.
    pub draws: usize,
    /// Whether it agrees with the propagation to first order.
    pub agrees: bool,
}

/// Draws at most, and at least.
const MOST_DRAWS: usize = 5_000;
const FEWEST_DRAWS: usize = 1_000;
/// Steps that may be computed in all: bounds the time for a long expression.
const MOST_COMPUTED: usize = 20_000_000;
/// With more systematic inputs than this, not all combinations of their bounds are tried.
const MOST_COMBINED: usize = 4;
const CORNERS: usize = 1 << MOST_COMBINED;
/// Difference from the propagation to first order at which the two agree, as a share of the
/// half-width; what chance adds to the ends comes on top.
const TOLERANCE: f64 = 0.05;
/// Standard deviation of an end of the interval, times the square root of the number of draws, as a
/// share of the half-width.
const END_NOISE: f64 = 1.36;

/// The interval of a step.
pub fn monte_carlo(steps: &Steps, root: usize) -> MonteCarlo {
    let mut random = Pcg64::seed_from_u64(13);
    let corners = corners(steps, root, &mut random);
    let varies = steps.sources().iter().any(|source| source.kind == Kind::Stochastic);
    let affordable = MOST_COMPUTED / (corners.len() * (root + 1));
    let draws = if varies { affordable.clamp(FEWEST_DRAWS, MOST_DRAWS) } else { 1 };
    let (mut scratch, mut results) = (Vec::new(), vec![Vec::with_capacity(draws); corners.len()]);
    for _ in 0..draws {
        let drawn_deviations: Vec<f64> = steps
            .sources()
            .iter()
            .map(|source| deviation(source.kind, &mut random) * source.half)
            .collect();
        for (corner, results) in corners.iter().zip(&mut results) {
            let deviations: Vec<f64> = drawn_deviations
                .iter()
                .zip(corner)
                .map(|(drawn, bound)| bound.unwrap_or(*drawn))
                .collect();
            results.push(compute(steps, root, &deviations, &mut scratch));
        }
    }
    let tail = if varies { (1.0 - LEVEL) / 2.0 } else { 0.0 };
    let ends: Vec<(f64, f64)> = results.iter_mut().map(|results| ends(results, tail)).collect();
    if ends.iter().any(|(low, high)| low.is_nan() || high.is_nan()) {
        return MonteCarlo { low: f64::NEG_INFINITY, high: f64::INFINITY, draws, agrees: false };
    }
    let low = ends.iter().map(|(low, _)| *low).fold(f64::INFINITY, f64::min);
    let high = ends.iter().map(|(_, high)| *high).fold(f64::NEG_INFINITY, f64::max);
    MonteCarlo { low, high, draws, agrees: agrees(steps, root, low, high, draws) }
}

/// Whether the ends are those of the propagation to first order.
fn agrees(steps: &Steps, root: usize, low: f64, high: f64, draws: usize) -> bool {
    let ((stochastic, systematic), value) = (steps.half_widths(root), steps.known(root).value);
    let half = stochastic + systematic;
    let chance = 4.0 * END_NOISE / (draws as f64).sqrt() * stochastic;
    let tolerance = TOLERANCE * half + chance + 1e-9 * value.abs();
    (value - half - low).abs() <= tolerance && (value + half - high).abs() <= tolerance
}

/// A deviation of a stochastic input, in half-widths; of a systematic one none.
fn deviation(kind: Kind, random: &mut Pcg64) -> f64 {
    match kind {
        // The open interval: the quantile of 0 is infinite.
        Kind::Stochastic => {
            Normal::standard().inverse_cdf(random.random_range(f64::EPSILON..1.0))
                / coverage_factor(LEVEL)
        }
        Kind::Systematic => 0.0,
    }
}

/// Combinations of the bounds of systematic inputs; `None` for an input that is drawn.
fn corners(steps: &Steps, root: usize, random: &mut Pcg64) -> Vec<Vec<Option<f64>>> {
    let sources = steps.sources();
    let systematic: Vec<usize> =
        (0..sources.len()).filter(|at| sources[*at].kind == Kind::Systematic).collect();
    let takes_all = systematic.len() <= MOST_COMBINED;
    let count = if takes_all { 1 << systematic.len() } else { CORNERS };
    let slope = |at: usize| steps.known(root).slopes.get(at).copied().unwrap_or_default();
    let mut corner = |number: usize| {
        let mut bounds = vec![None; sources.len()];
        for (bit, at) in systematic.iter().enumerate() {
            let up = match number {
                _ if takes_all => number >> bit & 1 == 1,
                // The two that are worst for a straight line come first.
                0 => slope(*at) > 0.0,
                1 => slope(*at) <= 0.0,
                _ => random.random(),
            };
            bounds[*at] = Some(if up { sources[*at].half } else { -sources[*at].half });
        }
        bounds
    };
    (0..count).map(&mut corner).collect()
}

/// The value of a step with these deviations of the sources.
fn compute(steps: &Steps, root: usize, deviations: &[f64], values: &mut Vec<f64>) -> f64 {
    values.clear();
    for step in &steps.all()[..=root] {
        let value = match *step {
            Step::Constant(value) => value,
            Step::Uncertain(at, source) => values[at] + deviations[source],
            Step::Add(a, b) => values[a] + values[b],
            Step::Subtract(a, b) => values[a] - values[b],
            Step::Multiply(a, b) => values[a] * values[b],
            Step::Divide(a, b) => values[a] / values[b],
            Step::Power(base, by) => values[base].powf(by),
        };
        values.push(value);
    }
    values[root]
}

/// The ends that leave out this share of the results on either side; NaN if any result is no
/// number.
fn ends(results: &mut [f64], tail: f64) -> (f64, f64) {
    if results.iter().any(|result| result.is_nan()) {
        return (f64::NAN, f64::NAN);
    }
    results.sort_by(f64::total_cmp);
    let cut = (tail * results.len() as f64).round() as usize;
    let last = results.len() - 1;
    (results[cut.min(last)], results[last - cut.min(last)])
}
