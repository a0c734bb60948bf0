//! The multiscale test of Frick, Munk and Sieling (2014): a level fits a stretch of points if the
//! mean of every run of neighbours in it lies within its threshold of the level.
//!
//! The statistic of a run of `l` out of `n` points is `|sum| / sd - sqrt(2 ln(e n / l))`. The test
//! rejects where the largest one is above a quantile, which depends on the level and on `n` alone.

use super::student::Student;
use super::tail::chance_above;
use hairspring_core::math::{erfc, ln};

/// The part of a threshold that pays for the number of runs of this length.
pub fn penalty(length: usize, of: usize) -> f64 {
    (2.0 * (1.0 + ln(of as f64 / length as f64))).sqrt()
}

/// Probability that a normal variable is further from zero than `z`.
pub fn outside(z: f64) -> f64 {
    erfc(z / std::f64::consts::SQRT_2)
}

/// The quantile that the largest statistic of `n` points exceeds with this probability.
pub fn quantile(chance: f64, n: usize) -> f64 {
    let (mut low, mut high) = (-2.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if chance_above(middle, n) > chance {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Thresholds by the length of a run, from a quantile: what the mean of a run may be away from the
/// level, in standard deviations of the mean. `of` is the number of points that the test looks at.
pub fn thresholds(quantile: f64, longest: usize, of: usize, student: &Student) -> Vec<f64> {
    let one = |length: usize| student.widened(quantile + penalty(length.max(1), of));
    (0..=longest).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_inverse_to_the_tail() {
        for n in [2, 10, 100, 2_000] {
            for chance in [0.2, 0.05, 1e-3, 1e-6] {
                let found = chance_above(quantile(chance, n), n);
                assert!((found / chance - 1.0).abs() < 1e-6, "{n} {chance} {found}");
            }
        }
    }
}
