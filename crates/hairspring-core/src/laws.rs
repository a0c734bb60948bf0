//! Probabilities and quantiles of a few distributions, with the same digits on every target.
//!
//! The incomplete beta and gamma functions are those of the crate `special`, which computes with
//! `libm` everywhere. Quantiles are found by Newton's method between two bounds, from the
//! probability of the tail, so that small ones keep their digits.

use crate::math::{exp, ln, pow};
use special::{Beta, Error, Gamma};
use std::f64::consts::SQRT_2;

/// Steps of a search, each of which halves the range at the least.
const MOST_STEPS: usize = 200;

/// Probability that Student's variable is above `t`; NaN without degrees of freedom.
pub fn t_above(t: f64, dof: f64) -> f64 {
    if dof.is_nan() || dof <= 0.0 || t.is_nan() {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    let outside = beta(dof / (dof + t * t), 0.5 * dof, 0.5) / 2.0;
    if t < 0.0 { 1.0 - outside } else { outside }
}

/// What Student's variable is above with this probability, of at most a half.
pub fn t_exceeded(chance: f64, dof: f64) -> f64 {
    let from = normal_exceeded(chance);
    root(from, |t| t_above(t, dof) - chance, t_density(dof))
}

/// Density of Student's variable.
pub fn t_density(dof: f64) -> impl Fn(f64) -> f64 {
    let log_scale = Beta::ln_beta(0.5, 0.5 * dof) + 0.5 * ln(dof);
    move |t: f64| exp(-0.5 * (dof + 1.0) * ln(1.0 + t * t / dof) - log_scale)
}

/// What a standard normal variable is above with this probability.
pub fn normal_exceeded(chance: f64) -> f64 {
    -SQRT_2 * Error::inv_error(2.0 * chance - 1.0)
}

/// Probability that Fisher's ratio of two variances is above `f`; NaN if one of them has no degrees
/// of freedom.
pub fn f_above(f: f64, dof: f64, dof_below: f64) -> f64 {
    if f.is_nan() || !(dof > 0.0 && dof_below > 0.0 && (dof + dof_below).is_finite()) {
        return f64::NAN;
    }
    if f <= 0.0 {
        return 1.0;
    }
    if f.is_infinite() {
        return 0.0;
    }
    beta(dof_below / (dof_below + dof * f), 0.5 * dof_below, 0.5 * dof)
}

/// Probability of more than `least_events` of `of` events, each of which has this chance.
pub fn more_events(least_events: u64, of: u64, chance: f64) -> f64 {
    if least_events >= of {
        return 0.0;
    }
    beta(chance, (least_events + 1) as f64, (of - least_events) as f64)
}

/// What a chi-squared variable is below with this probability.
pub fn chi2_within(probability: f64, dof: f64) -> f64 {
    let half = 0.5 * dof;
    let density = |x: f64| exp((half - 1.0) * ln(x) - x - Gamma::ln_gamma(half).0);
    let cube = 1.0 - 2.0 / (9.0 * dof) - normal_exceeded(probability) * (2.0 / (9.0 * dof)).sqrt();
    let from = half * pow(cube.max(0.01), 3.0);
    2.0 * root(from, |x| probability - Gamma::inc_gamma(x, half), density)
}

/// Derivative of the logarithm of the gamma function.
pub fn digamma(x: f64) -> f64 {
    x.digamma()
}

/// Its second derivative.
pub fn trigamma(x: f64) -> f64 {
    x.trigamma()
}

/// The regularised incomplete beta function.
fn beta(x: f64, p: f64, q: f64) -> f64 {
    Beta::inc_beta(x, p, q, Beta::ln_beta(p, q))
}

/// Where a function that falls from above 0 to below it, for arguments from 0 on, is 0; `slope` is
/// by how much it falls.
pub fn root(from: f64, value: impl Fn(f64) -> f64, slope: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high, mut at) = (0.0, f64::INFINITY, from);
    for _ in 0..MOST_STEPS {
        let off = value(at);
        if off > 0.0 {
            low = at
        } else {
            high = at
        }
        let step = at + off / slope(at);
        let inside = step > low && step < high;
        let halved = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * at + 1.0 };
        let next = if inside { step } else { halved };
        if (next - at).abs() <= 2.0 * f64::EPSILON * at.abs() {
            return next;
        }
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-11, "{value} {expected}");
    }

    /// Closed forms: Student's distribution with one and two degrees of freedom.
    #[test]
    fn students_quantiles_are_those_of_closed_forms() {
        for chance in [0.25, 0.1, 0.025, 0.005, 1e-4, 5e-5] {
            near(t_exceeded(chance, 1.0), 1.0 / (std::f64::consts::PI * chance).tan());
            let two = (1.0 - 2.0 * chance) / (2.0 * chance * (1.0 - chance)).sqrt();
            near(t_exceeded(chance, 2.0), two);
        }
    }

    #[test]
    fn quantiles_are_inverse_to_probabilities() {
        for dof in [1.0, 1.3, 2.5, 7.0, 30.5, 100.0, 299.0] {
            for chance in [0.49, 0.25, 0.025, 1e-3, 1e-5] {
                near(t_above(t_exceeded(chance, dof), dof), chance);
                near(Gamma::inc_gamma(0.5 * chi2_within(chance, dof), 0.5 * dof), chance);
            }
        }
    }

    #[test]
    fn values_are_those_of_published_tables() {
        near(normal_exceeded(0.025), 1.959_963_984_540_054);
        near(normal_exceeded(0.5e-4), 3.890_591_886_413_1);
        near(t_exceeded(0.025, 10.0), 2.228_138_851_964_939);
        near(chi2_within(0.95, 10.0), 18.307_038_053_275_15);
        // Two of two and more: 1 - 0.7^5 - 5 * 0.3 * 0.7^4.
        near(more_events(1, 5, 0.3), 1.0 - 0.16807 - 0.36015);
        // Fisher's with two degrees of freedom above: (1 + 2 f / d)^(-d / 2).
        near(f_above(3.0, 2.0, 8.0), (1.0 + 6.0 / 8.0_f64).powi(-4));
        near(f_above(40.0, 2.0, 60.0), (1.0 + 80.0 / 60.0_f64).powi(-30));
    }

    #[test]
    fn what_has_no_probability_has_none() {
        assert!(f_above(1.0, 0.0, 5.0).is_nan() && f_above(f64::NAN, 1.0, 5.0).is_nan());
        assert!(f_above(1.0, f64::INFINITY, 5.0).is_nan() && t_above(1.0, -1.0).is_nan());
        assert_eq!((f_above(f64::INFINITY, 2.0, 5.0), f_above(0.0, 2.0, 5.0)), (0.0, 1.0));
        assert_eq!((more_events(5, 5, 0.3), more_events(9, 5, 0.3)), (0.0, 0.0));
        assert_eq!((t_above(f64::INFINITY, 3.0), t_above(0.0, 3.0)), (0.0, 0.5));
    }
}
