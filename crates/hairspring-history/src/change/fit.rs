//! The piecewise constant fit: the fewest levels that the multiscale test does not reject, and
//! among those the one with the least sum of squares. Exact, by a dynamic programme.
//!
//! A level fits a stretch if it lies within the limits of every run in it; so the levels that fit
//! are an interval, which shrinks while the stretch grows. A start of a stretch whose interval is
//! empty is never looked at again, nor is any before it.

use super::scale::Scaled;

/// Sums of weights, and of weighted values and squares, up to each point.
#[derive(Debug, Clone)]
pub struct Sums {
    weight: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sums {
    /// The sums of points with these variances. The values are taken from their middle, so that
    /// differences of sums keep their digits.
    pub fn new(points: &[Scaled], variances: &[f64], middle: f64) -> Sums {
        let mut sums = Sums { weight: vec![0.0], first: vec![0.0], second: vec![0.0] };
        for (at, (point, variance)) in points.iter().zip(variances).enumerate() {
            let (weight, x) = (1.0 / variance, point.x - middle);
            sums.weight.push(sums.weight[at] + weight);
            sums.first.push(sums.first[at] + weight * x);
            sums.second.push(sums.second[at] + weight * x * x);
        }
        sums
    }

    /// The weight of the points from one place up to another.
    pub fn weight(&self, from: usize, to: usize) -> f64 {
        self.weight[to] - self.weight[from]
    }

    /// Their mean, from the middle.
    pub fn mean(&self, from: usize, to: usize) -> f64 {
        (self.first[to] - self.first[from]) / self.weight(from, to)
    }

    /// Their sum of squares about a level, over the variances.
    pub fn squares(&self, from: usize, to: usize, level: f64) -> f64 {
        let (first, second) =
            (self.first[to] - self.first[from], self.second[to] - self.second[from]);
        (second - level * (2.0 * first - level * self.weight(from, to))).max(0.0)
    }

    /// Their sum of squares about their mean.
    pub fn about_mean(&self, from: usize, to: usize) -> f64 {
        self.squares(from, to, self.mean(from, to))
    }

    /// Those of some of the points.
    pub fn part(&self, from: usize, to: usize) -> Sums {
        let of = |sums: &[f64]| sums[from..=to].to_vec();
        Sums { weight: of(&self.weight), first: of(&self.first), second: of(&self.second) }
    }

    /// The number of points.
    pub fn count(&self) -> usize {
        self.weight.len() - 1
    }
}

/// The levels that fit a stretch; none if the lower end is above the upper one.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const ALL: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };

    fn narrow(&mut self, low: f64, high: f64) {
        self.low = self.low.max(low);
        self.high = self.high.min(high);
    }

    fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

/// The best fit of the points up to a place.
#[derive(Debug, Clone, Copy)]
struct Best {
    levels: u32,
    squares: f64,
    from: usize,
}

/// Where the levels of the fit start; the first one at 0. `thresholds` are those of
/// [`super::multiscale::thresholds`], by length.
pub fn fit(sums: &Sums, thresholds: &[f64]) -> Vec<usize> {
    let n = sums.count();
    let mut ranges = vec![Range::ALL; n];
    let nothing = Best { levels: u32::MAX, squares: f64::INFINITY, from: 0 };
    let mut best = vec![nothing; n + 1];
    best[0] = Best { levels: 0, squares: 0.0, from: 0 };
    let mut first = 0;
    for to in 1..=n {
        first = narrow(sums, thresholds, &mut ranges, first, to);
        best[to] = (first..to)
            .map(|from| extended(sums, best[from], ranges[from], from, to))
            .fold(nothing, better);
    }
    starts(&best)
}

/// Narrows the levels of every stretch that ends here by the runs that end here. Gives the first
/// start that still has any.
fn narrow(sums: &Sums, thresholds: &[f64], ranges: &mut [Range], first: usize, to: usize) -> usize {
    let mut here = Range::ALL;
    for from in (first..to).rev() {
        let mean = sums.mean(from, to);
        let reach = thresholds[to - from] / sums.weight(from, to).sqrt();
        here.narrow(mean - reach, mean + reach);
        ranges[from].narrow(here.low, here.high);
        if ranges[from].is_empty() {
            return from + 1;
        }
    }
    first
}

/// The fit with one more level.
fn extended(sums: &Sums, before: Best, range: Range, from: usize, to: usize) -> Best {
    let mean = sums.mean(from, to);
    let level = if range.is_empty() { mean } else { mean.clamp(range.low, range.high) };
    let squares = before.squares + sums.squares(from, to, level);
    Best { levels: before.levels + 1, squares, from }
}

fn better(one: Best, other: Best) -> Best {
    if (other.levels, other.squares) < (one.levels, one.squares) { other } else { one }
}

fn starts(best: &[Best]) -> Vec<usize> {
    let (mut found, mut to) = (Vec::new(), best.len() - 1);
    while to > 0 {
        to = best[to].from;
        found.push(to);
    }
    found.reverse();
    found
}

/// Whether one level fits all points from one place up to another.
pub fn is_level(sums: &Sums, thresholds: &[f64], from: usize, to: usize) -> bool {
    let mut ranges = vec![Range::ALL; to];
    (from + 1..=to).all(|end| narrow(sums, thresholds, &mut ranges, from, end) == from)
}

#[cfg(test)]
mod tests;
