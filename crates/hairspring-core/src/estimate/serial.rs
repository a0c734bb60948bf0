//! Errors of readings that follow one another: their correlation, and what it does to a regression
//! whose counts rise in the same order.
//!
//! The errors are taken as a first-order process. Its correlation is not one number but has a
//! probability for each value: that of the residuals by restricted maximum likelihood, which does
//! not lean towards 0 with few readings (Harville 1977; for autocorrelation Cheang and Reinsel
//! 2000), times a prior. The interval is that of the mixture of Student's distributions. Negative
//! correlations would make it narrower; these count as 0.

use super::algebra::{Cholesky, Matrix, dot};
use super::interval::t_quantile;
use crate::laws::{root, t_above, t_density};
use crate::limit::{Basis, limits};
use crate::math::{exp, ln};

limits! {
    /// A correlation of neighbouring errors above this is high: a drift would look the same.
    HIGH_CORRELATION = 0.5, "", Basis::Derived("the interval is 1.7 times as wide");
    /// Fewest degrees of freedom with which correlations are looked for. That fewer readings are
    /// not checked is said anyway.
    FEWEST_IN_ORDER = 8.0, "degrees of freedom",
        Basis::Derived("Criterion takes at least ten samples");
}

/// Probability, before the readings are seen, that errors are independent. The rest is spread
/// evenly over all correlations.
const INDEPENDENT_PRIOR: f64 = 0.4;
/// What a negative correlation weighs in the prior, beside a positive one.
const NEGATIVE_PRIOR: f64 = 0.3;

/// A smaller probability does not matter.
const NO_WEIGHT: f64 = 1e-9;

/// The correlations that are tried.
const GRID: [f64; 33] = [
    -0.4, -0.35, -0.3, -0.25, -0.2, -0.15, -0.1, -0.05, 0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35,
    0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.96, 0.97, 0.98, 0.99,
];

/// What is known of the correlation of neighbouring errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Serial {
    /// Its mean.
    pub correlation: f64,
    /// Probability that it is high.
    pub high: f64,
    /// By how much the standard deviation of each unknown is larger than that with independent
    /// errors, and its degrees of freedom.
    pub wider: Vec<(f64, f64)>,
}

/// A regression whose readings follow one another.
pub(crate) struct InOrder<'a> {
    /// The counts of each reading.
    pub rows: Vec<&'a [f64]>,
    /// Its residual.
    pub residuals: Vec<f64>,
    /// The inverse of the normal matrix.
    pub inverse: &'a Matrix,
}

/// Sums of products of the counts and the residual of readings, with those of the same reading and
/// of the one before. With these, each correlation takes no further pass.
struct Products {
    /// Of the first reading.
    first: Matrix,
    /// Of all but the first.
    later: Matrix,
    /// Of all but the last.
    earlier: Matrix,
    /// Of each reading and the one before, in both orders.
    crossed: Matrix,
}

impl InOrder<'_> {
    /// The correlation of the errors, and what it does at a level of confidence; `None` if there
    /// are too few readings.
    pub fn serial(&self, level: f64) -> Option<Serial> {
        let dof = self.rows.len().checked_sub(self.inverse.rows())? as f64;
        if dof < FEWEST_IN_ORDER {
            return None;
        }
        let squares: f64 = self.residuals.iter().map(|residual| residual * residual).sum();
        let plain: Vec<f64> =
            (0..self.inverse.rows()).map(|j| squares / dof * self.inverse[(j, j)]).collect();
        let products = self.products();
        let whitened: Vec<(f64, f64)> =
            GRID.iter().map(|rho| products.whitened(*rho)).collect::<Option<_>>()?;
        let likelihoods = GRID.iter().zip(&whitened).map(|(rho, (squares, log_det))| {
            0.5 * ln(1.0 - rho * rho) - 0.5 * log_det - 0.5 * dof * ln(*squares)
        });
        let weights = posterior(&likelihoods.collect::<Vec<f64>>())?;
        let mean = |value: &dyn Fn(f64) -> f64| -> f64 {
            weights.iter().zip(GRID).map(|(weight, rho)| weight * value(rho)).sum()
        };
        let factor = |at: usize, j: usize| {
            let rho = GRID[at];
            if weights[at] < NO_WEIGHT || rho <= 0.0 {
                return 1.0;
            }
            let sigma2 = whitened[at].0 / (1.0 - rho * rho) / dof;
            (sigma2 * self.spread(j, rho) / plain[j]).max(1.0).sqrt()
        };
        let wider = |j: usize| {
            let sds = (0..GRID.len()).map(|at| factor(at, j)).collect();
            Mixture { weights: &weights, sds, dof }.as_student(level)
        };
        Some(Serial {
            correlation: mean(&|rho| rho),
            high: mean(&|rho| f64::from(u8::from(rho > HIGH_CORRELATION))),
            wider: (0..plain.len()).map(wider).collect(),
        })
    }

    fn products(&self) -> Products {
        let width = self.inverse.rows() + 1;
        let none = || Matrix::zeros(width, width);
        let mut products =
            Products { first: none(), later: none(), earlier: none(), crossed: none() };
        let last = self.rows.len() - 1;
        let mut before = vec![0.0; width];
        for (at, (row, residual)) in self.rows.iter().zip(&self.residuals).enumerate() {
            let now: Vec<f64> = row.iter().copied().chain([*residual]).collect();
            add(if at == 0 { &mut products.first } else { &mut products.later }, &now, &now);
            if at < last {
                add(&mut products.earlier, &now, &now);
            }
            add(&mut products.crossed, &now, &before);
            add(&mut products.crossed, &before, &now);
            before = now;
        }
        products
    }

    /// Variance of an unknown with this correlation and errors of variance 1.
    fn spread(&self, unknown: usize, rho: f64) -> f64 {
        let (mut sum, mut carried, mut before) = (0.0, 0.0, 0.0);
        for row in &self.rows {
            let weight = dot(self.inverse.row(unknown), row);
            carried = rho * (carried + before);
            sum += weight * (weight + 2.0 * carried);
            before = weight;
        }
        sum
    }
}

impl Products {
    /// Sum of squares of the fit to readings less what their neighbours tell of them, and the
    /// logarithm of the determinant of its normal matrix.
    fn whitened(&self, rho: f64) -> Option<(f64, f64)> {
        let (rho2, width) = (rho * rho, self.first.rows() - 1);
        let element = |j: usize, l: usize| {
            (1.0 - rho2) * self.first[(j, l)] + self.later[(j, l)] + rho2 * self.earlier[(j, l)]
                - rho * self.crossed[(j, l)]
        };
        let factor = Cholesky::new(&Matrix::from_fn(width, width, element))?;
        let right: Vec<f64> = (0..width).map(|j| element(j, width)).collect();
        let log_det = 2.0 * factor.diagonal().map(ln).sum::<f64>();
        let squares = element(width, width) - dot(&factor.solve(right.clone()), &right);
        Some((squares, log_det)).filter(|(squares, _)| *squares > 0.0)
    }
}

/// Adds the products of two rows.
fn add(sums: &mut Matrix, one: &[f64], other: &[f64]) {
    for (j, a) in one.iter().enumerate() {
        other.iter().enumerate().for_each(|(l, b)| sums[(j, l)] += a * b);
    }
}

/// Probabilities of the correlations, by the logarithms of their likelihoods.
fn posterior(likelihoods: &[f64]) -> Option<Vec<f64>> {
    let best_likelihood = likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = likelihoods
        .iter()
        .zip(prior())
        .map(|(likelihood, prior)| prior * exp(likelihood - best_likelihood))
        .collect();
    let sum: f64 = weights.iter().sum();
    (sum > 0.0 && sum.is_finite()).then(|| weights.iter().map(|weight| weight / sum).collect())
}

/// The prior of the correlations: each has the part of the line that is nearest to it.
fn prior() -> Vec<f64> {
    let last = GRID.len() - 1;
    let part = |at: usize| (GRID[last.min(at + 1)] - GRID[at.saturating_sub(1)]) / 2.0;
    let weight = |at: usize| part(at) * if GRID[at] > 0.0 { 1.0 } else { NEGATIVE_PRIOR };
    let sum: f64 = (0..GRID.len()).map(weight).sum();
    let independent = |at: usize| if GRID[at] == 0.0 { INDEPENDENT_PRIOR } else { 0.0 };
    (0..GRID.len())
        .map(|at| (1.0 - INDEPENDENT_PRIOR) * weight(at) / sum + independent(at))
        .collect()
}

/// A mixture of Student's distributions around the same middle.
struct Mixture<'a> {
    weights: &'a [f64],
    sds: Vec<f64>,
    dof: f64,
}

impl Mixture<'_> {
    /// Half-width of the interval at a level.
    fn half_width(&self, level: f64) -> f64 {
        let parts =
            || self.weights.iter().zip(&self.sds).filter(|(weight, _)| **weight >= NO_WEIGHT);
        let outside = |half: f64| -> f64 {
            parts().map(|(weight, sd)| 2.0 * weight * t_above(half / sd, self.dof)).sum()
        };
        let density = t_density(self.dof);
        let slope = |half: f64| -> f64 {
            parts().map(|(weight, sd)| 2.0 * weight / sd * density(half / sd)).sum()
        };
        root(t_quantile(level, self.dof), |half| outside(half) - (1.0 - level), slope)
    }

    /// The standard deviation and degrees of freedom of the distribution that has the same interval
    /// at a level, and at one five times as sure.
    fn as_student(&self, level: f64) -> (f64, f64) {
        let surer = 1.0 - (1.0 - level) / 5.0;
        let half = self.half_width(level);
        let ratio = self.half_width(surer) / half;
        let dof =
            bisected(1.0, self.dof, |dof| t_quantile(surer, dof) > ratio * t_quantile(level, dof));
        (half / t_quantile(level, dof), dof)
    }
}

/// Where a condition ends that holds below.
fn bisected(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prior_is_one_probability() {
        assert!((prior().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(prior().iter().all(|one| *one > 0.0));
    }

    #[test]
    fn a_mixture_of_one_is_students_distribution() {
        let mixture = Mixture { weights: &[1.0], sds: vec![2.0], dof: 12.0 };
        let (sd, dof) = mixture.as_student(0.95);
        assert!((sd - 2.0).abs() < 1e-3 && (dof - 12.0).abs() < 0.1, "{sd} {dof}");
        let wide = Mixture { weights: &[0.9, 0.1], sds: vec![1.0, 5.0], dof: 100.0 };
        let (sd, dof) = wide.as_student(0.95);
        let half = t_quantile(0.95, dof) * sd;
        assert!(half > 2.0 && half < 10.0 && dof < 20.0, "{half} {dof}");
    }
}
