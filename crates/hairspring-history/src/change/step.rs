//! What is known of a step: its size, and the places where it may lie.

use super::fit::{Sums, is_level};
use super::multiscale::{penalty, quantile, thresholds};
use super::student::Student;
use super::tail::{MOST_POINTS, chance_above};
use hairspring_core::laws::normal_exceeded;
use hairspring_core::math::ln;
use std::ops::RangeInclusive;

/// A step of a series, on its scale. Places are numbers of points that were used.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The first point behind it.
    pub at: usize,
    /// The first points behind it that the interval of the place holds.
    pub place: RangeInclusive<usize>,
    /// By how much the level rises, and the half-width of its interval.
    pub size: f64,
    /// Half-width of the interval of the size.
    pub half: f64,
    /// Probability that points without a step look at least as much like one.
    pub chance: f64,
    /// Points of the level behind it.
    pub points_behind: usize,
}

/// What the intervals of a step are made with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Terms<'s> {
    /// Level of the intervals.
    pub level: f64,
    /// Student's variable of the variance.
    pub student: &'s Student,
    /// The number of points that the test looks at.
    pub of: usize,
}

/// The steps between levels that start at these places.
pub fn steps(sums: &Sums, starts: &[usize], terms: &Terms) -> Vec<Step> {
    let mut ends = starts.to_vec();
    ends.push(sums.count());
    ends.windows(3).map(|ends| step(sums, ends[0], ends[1], ends[2], terms)).collect()
}

fn step(sums: &Sums, from: usize, at: usize, to: usize, terms: &Terms) -> Step {
    let place = place(sums, from, at, to, terms);
    let size = sums.mean(at, to) - sums.mean(from, at);
    let factor = terms.student.factor(terms.level);
    let one = |at: usize| {
        let variance = 1.0 / sums.weight(from, at) + 1.0 / sums.weight(at, to);
        let there = sums.mean(at, to) - sums.mean(from, at);
        factor * variance.sqrt() + (there - size).abs()
    };
    let half = place.clone().map(one).fold(0.0, f64::max);
    let near = (from.max(at.saturating_sub(MOST_POINTS / 2)), to.min(at + MOST_POINTS / 2));
    let chance = chance(sums, near.0, near.1, terms);
    Step { at, place, size, half, chance, points_behind: to - at }
}

/// The places that the likelihood does not reject: the interval of Siegmund (1988), whose limit is
/// that of the larger of two independent exponential variables, whatever the size of the step.
fn place(sums: &Sums, from: usize, at: usize, to: usize, terms: &Terms) -> RangeInclusive<usize> {
    let limit = place_limit(terms);
    let cost = |at: usize| sums.about_mean(from, at) + sums.about_mean(at, to);
    let most = cost(at) + limit;
    let first = (from + 1..=at).find(|place| cost(*place) <= most).unwrap_or(at);
    let last = (at..to).rev().find(|place| cost(*place) <= most).unwrap_or(at);
    first..=last
}

fn place_limit(terms: &Terms) -> f64 {
    let known = -2.0 * ln(1.0 - terms.level.sqrt());
    let z = known.sqrt();
    let wider = terms.student.widened(z);
    wider * wider
}

/// Halvings of the search for a quantile.
const HALVINGS: usize = 16;

/// The probability by which the test rejects that there is one level from one place up to another.
pub fn chance(sums: &Sums, from: usize, to: usize, terms: &Terms) -> f64 {
    let (mut low, mut high) = (-2.0, 2.0);
    let fits = |quantile: f64| {
        is_level(sums, &thresholds(quantile, to - from, terms.of, terms.student), from, to)
    };
    while !fits(high) && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if fits(middle) { high = middle } else { low = middle }
    }
    chance_above(low, terms.of)
}

/// How often a step of the smallest size that could have been seen would have been.
const SEEN: f64 = 0.9;

/// The smallest step that the test would have found in nine of ten, if it lay before the last
/// `behind` points, and `before` points had the level before it.
pub fn smallest(
    variance: f64,
    before: usize,
    behind: usize,
    alarm: f64,
    terms: &Terms,
) -> Option<f64> {
    if before == 0 || behind == 0 {
        return None;
    }
    let limit = quantile(alarm, terms.of);
    let reach = |length: usize| {
        terms.student.widened(limit + penalty(length, terms.of)) / (length as f64).sqrt()
    };
    let spread = (1.0 / before as f64 + 1.0 / behind as f64).sqrt();
    let found =
        variance.sqrt() * (reach(before) + reach(behind) + normal_exceeded(1.0 - SEEN) * spread);
    found.is_finite().then_some(found)
}
