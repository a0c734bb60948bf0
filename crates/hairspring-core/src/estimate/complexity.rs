//! How a time grows with an argument: one linear model for each order of growth, and which of them
//! the times exclude.
//!
//! A model is `time = intercept + slope * f(n)`, with neither below zero. Its errors are shares of
//! the time, because what a model leaves out (caches, branches, the allocator) is a share of it:
//! the line is fitted by least squares of the relative residuals. The variance of these residuals
//! estimates the error of the model and of the measurement together, and is never taken below that
//! of the measured intervals. A model is excluded where this variance exceeds the one of the best
//! model by more than Fisher's ratio allows at the level: with few arguments, few orders are.

use super::interval::{Estimate, f_tail, t_quantile};
use crate::math::{log2, pow};

/// Different values of an argument that a verdict takes: a line has two unknowns, and a variance
/// takes two more.
pub const FEWEST_VALUES: usize = 4;

/// An order of growth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// O(1).
    Constant,
    /// O(log n).
    Logarithmic,
    /// O(sqrt n).
    SquareRoot,
    /// O(n).
    Linear,
    /// O(n log n).
    Linearithmic,
    /// O(n^2).
    Quadratic,
    /// O(n^3).
    Cubic,
}

impl Order {
    /// All orders, the slowest growth first.
    pub const ALL: [Order; 7] = [
        Order::Constant,
        Order::Logarithmic,
        Order::SquareRoot,
        Order::Linear,
        Order::Linearithmic,
        Order::Quadratic,
        Order::Cubic,
    ];

    /// What the slope is multiplied with; logarithms are to the base 2.
    pub fn of(self, n: f64) -> f64 {
        match self {
            Order::Constant => 0.0,
            Order::Logarithmic => log2(n),
            Order::SquareRoot => n.sqrt(),
            Order::Linear => n,
            Order::Linearithmic => n * log2(n),
            Order::Quadratic => n * n,
            Order::Cubic => pow(n, 3.0),
        }
    }

    /// Its notation, such as `O(n log n)`.
    pub fn notation(self) -> &'static str {
        match self {
            Order::Constant => "O(1)",
            Order::Logarithmic => "O(log n)",
            Order::SquareRoot => "O(sqrt n)",
            Order::Linear => "O(n)",
            Order::Linearithmic => "O(n log n)",
            Order::Quadratic => "O(n^2)",
            Order::Cubic => "O(n^3)",
        }
    }
}

/// A time at a value of the argument.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The argument, at least 1.
    pub n: f64,
    /// The time, above zero.
    pub time: Estimate,
}

/// A model beside the times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Its order.
    pub order: Order,
    /// The time that does not grow, in the unit of the times.
    pub intercept: Estimate,
    /// The time for each unit of `order.of(n)`; none of O(1).
    pub slope: Option<Estimate>,
    /// Standard deviation of the times from the model, as a share of the time.
    pub residual: f64,
    /// Whether the times exclude it at the level.
    pub is_excluded: bool,
}

/// All models, the one with the smallest residual first; but O(1) before all, where the times do
/// not exclude it: a growth is claimed only if they show one, and a model whose slope may be zero
/// is O(1). `None` for fewer than [`FEWEST_VALUES`] values of the argument, or where a time or an
/// argument is not a number in its range.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::complexity::{Order, Point, growth};
/// let point = |n: f64| {
///     let value = 12.0 + 0.5 * n;
///     let half = 0.002 * value;
///     Point { n, time: Estimate { value, low: value - half, high: value + half, level: 0.95 } }
/// };
/// let models = growth(&[16.0, 64.0, 256.0, 1024.0, 4096.0].map(point), 0.95).unwrap();
/// assert_eq!(models[0].order, Order::Linear);
/// let slope = models[0].slope.unwrap();
/// assert!(slope.low < 0.5 && 0.5 < slope.high);
/// assert!(models.iter().all(|model| model.order != Order::Quadratic || model.is_excluded));
/// ```
///
/// Cost: linear in the number of points.
pub fn growth(points: &[Point], level: f64) -> Option<Vec<Growth>> {
    let is_usable = |point: &Point| {
        let Point { n, time } = point;
        n.is_finite() && *n >= 1.0 && time.value.is_finite() && time.value > 0.0
    };
    if !points.iter().all(is_usable) || different(points) < FEWEST_VALUES {
        return None;
    }
    let measured = measured_variance(points);
    let mut models: Vec<Line> =
        Order::ALL.iter().filter_map(|order| Line::through(points, *order, measured)).collect();
    models.sort_by(|a, b| a.variance.total_cmp(&b.variance));
    let best = *models.first()?;
    let mut models: Vec<Growth> = models.iter().map(|line| line.growth(&best, level)).collect();
    models.retain(|model| model.slope.is_none_or(|slope| slope.low > 0.0));
    models.sort_by_key(|model| model.order != Order::Constant || model.is_excluded);
    Some(models)
}

fn different(points: &[Point]) -> usize {
    let mut values: Vec<f64> = points.iter().map(|point| point.n).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}

/// Mean variance of the measured times, as shares. A half-width that is not finite says nothing.
fn measured_variance(points: &[Point]) -> f64 {
    let of_point = |Point { time, .. }: &Point| {
        let share = time.half_width() / time.value / t_quantile(time.level, f64::INFINITY);
        Some(share * share).filter(|variance| variance.is_finite())
    };
    let all: Vec<f64> = points.iter().filter_map(of_point).collect();
    all.iter().sum::<f64>() / all.len().max(1) as f64
}

/// A fitted line.
#[derive(Debug, Clone, Copy)]
struct Line {
    order: Order,
    intercept: f64,
    slope: f64,
    /// Variances of both for a unit variance of the relative residuals.
    spread: [f64; 2],
    /// Variance of the relative residuals.
    variance: f64,
    dof: f64,
}

/// Sums for a line through relative times: each point is divided by its time, so that all are 1.
#[derive(Default)]
struct Sums {
    one: f64,
    steps: f64,
    squares: f64,
    times: f64,
    products: f64,
}

impl Sums {
    /// `scale` keeps the numbers in the same range whatever the order.
    fn of(points: &[Point], order: Order, scale: f64) -> Sums {
        points.iter().fold(Sums::default(), |sums, point| {
            let (a, b) = (1.0 / point.time.value, order.of(point.n) / scale / point.time.value);
            Sums {
                one: sums.one + a * a,
                steps: sums.steps + a * b,
                squares: sums.squares + b * b,
                times: sums.times + a,
                products: sums.products + b,
            }
        })
    }

    fn determinant(&self) -> f64 {
        self.one * self.squares - self.steps * self.steps
    }
}

impl Line {
    /// The line with no part below zero; `None` where the order is that of a constant one.
    fn through(points: &[Point], order: Order, measured: f64) -> Option<Line> {
        let scale = points.iter().map(|point| order.of(point.n)).fold(0.0, f64::max);
        if order == Order::Constant {
            let sums = Sums::of(points, order, 1.0);
            let line = Line::new(order, sums.times / sums.one, 0.0, [1.0 / sums.one, 0.0]);
            return Some(line.with_residuals(points, 1.0, measured));
        }
        let sums = Sums::of(points, order, scale);
        let determinant = sums.determinant();
        let intercept = (sums.squares * sums.times - sums.steps * sums.products) / determinant;
        let slope = (sums.one * sums.products - sums.steps * sums.times) / determinant;
        if !(slope.is_finite() && slope > 0.0) {
            return None;
        }
        let line = if intercept >= 0.0 {
            let spread = [sums.squares / determinant, sums.one / determinant / (scale * scale)];
            Line::new(order, intercept, slope / scale, spread)
        } else {
            let spread = [0.0, 1.0 / sums.squares / (scale * scale)];
            Line::new(order, 0.0, sums.products / sums.squares / scale, spread)
        };
        Some(line.with_residuals(points, 2.0, measured))
    }

    fn new(order: Order, intercept: f64, slope: f64, spread: [f64; 2]) -> Line {
        Line { order, intercept, slope, spread, variance: 0.0, dof: 0.0 }
    }

    /// The line with the variance of its relative residuals, which is at least that of the times.
    fn with_residuals(self, points: &[Point], unknowns: f64, measured: f64) -> Line {
        let dof = points.len() as f64 - unknowns;
        let square = |point: &Point| {
            let share = self.at(point.n) / point.time.value - 1.0;
            share * share
        };
        let variance = points.iter().map(square).sum::<f64>() / dof;
        Line { variance: variance.max(measured), dof, ..self }
    }

    fn at(&self, n: f64) -> f64 {
        self.intercept + self.slope * self.order.of(n)
    }

    fn growth(&self, best: &Line, level: f64) -> Growth {
        let factor = t_quantile(level, self.dof);
        let estimate = |value: f64, spread: f64| {
            let half = factor * (spread * self.variance).sqrt();
            Estimate { value, low: (value - half).max(0.0), high: value + half, level }
        };
        let ratio = self.variance / best.variance;
        Growth {
            order: self.order,
            intercept: estimate(self.intercept, self.spread[0]),
            slope: (self.order != Order::Constant).then(|| estimate(self.slope, self.spread[1])),
            residual: self.variance.sqrt(),
            is_excluded: ratio > 1.0 && f_tail(ratio, self.dof, best.dof) < 1.0 - level,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZES: [f64; 8] = [8.0, 32.0, 100.0, 300.0, 1000.0, 3000.0, 10_000.0, 30_000.0];

    fn measured(n: f64, value: f64) -> Point {
        let half = 0.01 * value;
        Point { n, time: Estimate { value, low: value - half, high: value + half, level: 0.95 } }
    }

    /// Errors of up to 2 %, the same for all orders.
    const ERRORS: [f64; 8] = [1.0, 0.985, 1.02, 0.99, 1.01, 1.0, 0.98, 1.015];

    fn points(order: Order, intercept: f64, slope: f64) -> Vec<Point> {
        let time = |n: f64| intercept + slope * order.of(n);
        SIZES.iter().zip(ERRORS).map(|(n, error)| measured(*n, time(*n) * error)).collect()
    }

    #[test]
    fn every_order_is_found() {
        for order in Order::ALL {
            let models = growth(&points(order, 20.0, 3.0), 0.95).unwrap();
            assert_eq!(models[0].order, order);
            assert!(!models[0].is_excluded && models[0].residual < 0.03, "{models:?}");
            let far = |other: &Growth| {
                other.order.of(1e4) > 30.0 * order.of(1e4).max(1.0) && !other.is_excluded
            };
            assert!(!models.iter().any(far), "{models:?}");
        }
    }

    #[test]
    fn neighbouring_orders_are_not_excluded_by_few_values() {
        let few: Vec<Point> = points(Order::Linear, 0.0, 3.0).into_iter().skip(4).collect();
        let models = growth(&few, 0.95).unwrap();
        let is_open = |order| models.iter().any(|model| model.order == order && !model.is_excluded);
        assert!(is_open(Order::Linear) && is_open(Order::Linearithmic), "{models:?}");
    }

    #[test]
    fn slopes_hold_the_truth() {
        let [model, ..] = growth(&points(Order::Linear, 20.0, 3.0), 0.95).unwrap()[..] else {
            panic!()
        };
        let slope = model.slope.unwrap();
        assert!(slope.low < 3.0 && 3.0 < slope.high && slope.half_width() < 0.1, "{slope:?}");
    }

    #[test]
    fn a_time_that_falls_is_constant_at_best() {
        let falling: Vec<Point> = SIZES.iter().map(|n| measured(*n, 100.0 / n)).collect();
        let models = growth(&falling, 0.95).unwrap();
        assert!(models.len() == 1 && models[0].order == Order::Constant, "{models:?}");
    }

    #[test]
    fn what_is_no_series_of_times_has_no_growth() {
        let good = points(Order::Linear, 20.0, 3.0);
        assert!(growth(&good[..3], 0.95).is_none() && growth(&[], 0.95).is_none());
        assert!(growth(&[good[0]; 9], 0.95).is_none());
        for (n, value) in
            [(f64::NAN, 1.0), (0.5, 1.0), (8.0, 0.0), (8.0, f64::NAN), (f64::INFINITY, 1.0)]
        {
            let mut bad = good.clone();
            bad[0] = measured(n, value);
            assert!(growth(&bad, 0.95).is_none(), "{n} {value}");
        }
    }

    /// Sum of the squared relative residuals of a line.
    fn loss(points: &[Point], order: Order, intercept: f64, slope: f64) -> f64 {
        let of_point = |point: &Point| {
            let share = (intercept + slope * order.of(point.n)) / point.time.value - 1.0;
            share * share
        };
        points.iter().map(of_point).sum()
    }

    proptest! {
        /// No line near the fitted one, with no part below zero, lies nearer to the times.
        #[test]
        fn the_line_is_the_best_one(
            values in proptest::collection::vec(1.0..1e6f64, 4..9),
            at in 1usize..7,
            step in -0.1..0.1f64,
            other in -0.1..0.1f64,
        ) {
            let points: Vec<Point> =
                SIZES.iter().zip(&values).map(|(n, value)| measured(*n, *value)).collect();
            let order = Order::ALL[at];
            let models = growth(&points, 0.95).unwrap();
            let found = models.iter().find(|model| model.order == order);
            let Some(model) = found else { return Ok(()) };
            let (intercept, slope) = (model.intercept.value, model.slope.unwrap().value);
            let moved = (
                (intercept + step * points[0].time.value).max(0.0),
                (slope * (1.0 + other)).max(0.0),
            );
            let near = loss(&points, order, moved.0, moved.1);
            let best = loss(&points, order, intercept, slope);
            prop_assert!(best <= near * (1.0 + 1e-9) + 1e-12, "{best} {near}");
        }
    }
}
