//! The variance of a point: that of its own interval, and one between runs that the intervals do
//! not show. The second one is estimated for each machine, and for a series moderated by that of
//! its machine (Smyth 2004): a series of few points has nearly the machine's, one of many its own.

use super::scale::Scaled;
use hairspring_core::laws::{digamma, trigamma};
use hairspring_core::math::{exp, ln};

/// The share of the squared differences that is kept: the largest may be steps.
const KEPT: f64 = 0.8;
/// The mean of a squared normal variable among the smallest of this share.
const MEAN_KEPT: f64 = 0.437_724_595;
/// Variances smaller than this share of the middle one count as this share, as sums lose digits
/// otherwise.
const SMALLEST_SHARE: f64 = 1e-6;
/// No standard deviation is smaller than this share of the values: numbers are rounded.
const ROUNDING: f64 = 1e-9;
/// Halvings of the search for a variance.
const HALVINGS: usize = 60;

/// Two neighbours: the square of their difference, and the sum of their own variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    square: f64,
    own: f64,
}

/// The differences of neighbours.
pub fn differences(points: &[Scaled]) -> Vec<Difference> {
    let of = |pair: &[Scaled]| Difference {
        square: (pair[1].x - pair[0].x) * (pair[1].x - pair[0].x),
        own: pair[0].sd * pair[0].sd + pair[1].sd * pair[1].sd,
    };
    points.windows(2).map(of).collect()
}

/// The variance between runs by the differences of neighbours: the one with which the smaller ones
/// are as large as they should be.
pub fn by_differences(differences: &[Difference]) -> f64 {
    let kept = ((differences.len() as f64 * KEPT).ceil() as usize).max(1);
    let largest = differences.iter().map(|one| one.square).fold(0.0, f64::max);
    let excess = |variance: f64| {
        let ratio =
            |one: &Difference| one.square / (one.own + 2.0 * variance).max(f64::MIN_POSITIVE);
        let mut ratios: Vec<f64> = differences.iter().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios.iter().take(kept).sum::<f64>() / kept as f64 - MEAN_KEPT
    };
    if differences.is_empty() { 0.0 } else { zero_of(excess, largest) }
}

/// A point's distance from the level of its stretch, squared, and its own variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    /// The squared distance over the share of it that the level leaves.
    pub square: f64,
    /// Its own variance.
    pub own: f64,
}

/// The variance between runs with which the departures from the levels are as large as they should
/// be (Paule and Mandel 1982).
pub fn by_departures(departures: &[Departure], dof: f64) -> f64 {
    let largest: f64 = departures.iter().map(|one| one.square).sum();
    let excess = |variance: f64| {
        let ratio = |one: &Departure| one.square / (one.own + variance).max(f64::MIN_POSITIVE);
        departures.iter().map(ratio).sum::<f64>() - dof
    };
    if dof > 0.0 && !departures.is_empty() { zero_of(excess, 2.0 * largest / dof) } else { 0.0 }
}

/// Where a falling function of a variance is zero; 0 if it is nowhere above.
fn zero_of(excess: impl Fn(f64) -> f64, largest: f64) -> f64 {
    if largest <= 0.0 || excess(0.0) <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 4.0 * largest);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    high
}

/// The variance of each point with this one between runs, times a factor, but never below that of
/// its own interval.
pub fn variances(points: &[Scaled], between: f64, factor: f64, is_log: bool) -> Vec<f64> {
    let size = points.iter().map(|point| point.x.abs()).fold(0.0, f64::max);
    let rounding = if is_log { ROUNDING } else { (ROUNDING * size).max(f64::MIN_POSITIVE.sqrt()) };
    let least = rounding * rounding;
    let one = |point: &Scaled| {
        let own = point.sd * point.sd;
        (factor * (own + between)).max(own).max(least)
    };
    let mut found: Vec<f64> = points.iter().map(one).collect();
    let floor = SMALLEST_SHARE * middle(&found);
    found.iter_mut().for_each(|variance| *variance = variance.max(floor));
    found
}

fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

/// What the variance of a series of a machine is usually, over that of the machine: a middle, and
/// how many degrees of freedom that knowledge is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// The middle.
    pub factor: f64,
    /// Degrees of freedom; infinite if all series have the same.
    pub dof: f64,
}

/// Fewest series that show what is usual.
pub const FEWEST_SERIES: usize = 5;
/// More degrees of freedom than this are no longer told apart.
const MOST_DOF: f64 = 1e6;
/// A smaller factor comes from rounded values.
const SMALLEST_FACTOR: f64 = 1e-3;

/// What is usual among these factors, each with its degrees of freedom (the moment equations of
/// Smyth's `fitFDist`). `None` if there are too few.
pub fn usual(factors: &[(f64, f64)]) -> Option<Usual> {
    let used: Vec<(f64, f64)> = factors.iter().copied().filter(|(_, dof)| *dof >= 1.0).collect();
    if used.len() < FEWEST_SERIES {
        return None;
    }
    let shifted = |(factor, dof): &(f64, f64)| {
        ln(factor.max(SMALLEST_FACTOR)) - digamma(0.5 * dof) + ln(0.5 * dof)
    };
    let all: Vec<f64> = used.iter().map(shifted).collect();
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let spread = all.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / (count - 1.0);
    let by_chance = used.iter().map(|(_, dof)| trigamma(0.5 * dof)).sum::<f64>() / count;
    Some(from_moments(mean, spread - by_chance))
}

fn from_moments(mean: f64, more: f64) -> Usual {
    if more <= 1.0 / MOST_DOF {
        return Usual { factor: exp(mean), dof: f64::INFINITY };
    }
    let dof = 2.0 * inverse_trigamma(more);
    Usual { factor: exp(mean + digamma(0.5 * dof) - ln(0.5 * dof)), dof }
}

/// Where the trigamma function, which falls, has this value.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-3, MOST_DOF);
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    high
}

impl Usual {
    /// The factor of a series, and its degrees of freedom, from its own and what is usual.
    pub fn moderated(&self, factor: f64, dof: f64) -> (f64, f64) {
        if self.dof.is_infinite() {
            return (self.factor, f64::INFINITY);
        }
        let both = self.dof + dof;
        ((self.dof * self.factor + dof * factor) / both, both)
    }
}

#[cfg(test)]
mod tests;
