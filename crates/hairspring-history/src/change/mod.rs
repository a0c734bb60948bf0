//! Steps in series of points whose errors are known.
//!
//! [`find`] takes the points of many series, each with its interval. The variance of a point is
//! that of its interval and one between runs, which the points show ([`noise`]). The fit has the
//! fewest levels that a multiscale test does not reject ([`multiscale`], [`mod@fit`]), and the
//! level of that test is such that few steps of all series are false.
//!
//! ```
//! use hairspring_history::change::{Input, Options, Reading, find};
//!
//! let reading = |value: f64| Reading { value, low: value - 0.2, high: value + 0.2, level: 0.95 };
//! let values = [10.0, 10.1, 9.9, 10.0, 10.1, 10.0, 9.9, 12.1, 11.9, 12.0, 12.1, 11.9];
//! let input = Input { machine: 0, readings: values.map(reading).to_vec() };
//! let found = find(&[input], &Options::default());
//! assert_eq!(found[0].steps.len(), 1);
//! assert_eq!(found[0].steps[0].at, 7);
//! ```

pub mod fit;
mod found;
mod many;
pub mod multiscale;
pub mod noise;
mod odd;
pub mod scale;
#[cfg(test)]
mod simulated;
mod step;
mod student;
pub mod tail;
mod tail_table;
#[cfg(test)]
mod tests;

pub use many::find;
pub use scale::Scale;
pub use student::Student;

/// A point of a series: a value with its interval. Without one, its ends are NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// The value.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
}

impl Reading {
    /// Half-width of the interval in standard deviations.
    fn factor(&self) -> f64 {
        hairspring_core::estimate::coverage_factor(self.level)
    }
}

/// A series: its points in order, and the machine that they were measured on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Input {
    /// A number for each machine.
    pub machine: usize,
    /// The points.
    pub readings: Vec<Reading>,
}

/// How steps are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The share of false steps among those found.
    pub false_discoveries: f64,
    /// Level of all intervals.
    pub level: f64,
    /// The smallest step that could have been seen is that before so many of the last points.
    pub behind: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { false_discoveries: 0.05, level: 0.95, behind: 3 }
    }
}

/// What was found in a series. Readings are named by their numbers; sizes are on the scale of the
/// series ([`Found::size`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The scale.
    pub scale: Scale,
    /// The levels between the steps.
    pub levels: Vec<Level>,
    /// The steps.
    pub steps: Vec<FoundStep>,
    /// Single readings far from their neighbours on both sides, which are left out.
    pub odd: Vec<usize>,
    /// Readings without a number, or with an endless interval.
    pub unusable: Vec<usize>,
    /// The last reading beside what was expected of it.
    pub forecast: Option<Forecast>,
    /// The smallest step that would have been seen in nine of ten.
    pub smallest: Option<f64>,
    /// Standard deviation of a reading in the middle of all.
    pub noise: f64,
    /// The part of it that the intervals do not have.
    pub between: f64,
    /// Degrees of freedom of the noise.
    pub dof: f64,
}

/// A level of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Its first reading.
    pub from: usize,
    /// Its last reading.
    pub to: usize,
    /// Its mean on the scale.
    pub x: f64,
    /// Half-width of the interval of the mean.
    pub half: f64,
    /// The number of readings in it.
    pub points: usize,
}

/// A step of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundStep {
    /// The last reading before it, at its likeliest place.
    pub before: usize,
    /// The first reading behind it, at its likeliest place.
    pub at: usize,
    /// The interval of its place: it lies behind this reading ...
    pub after: usize,
    /// ... and not behind this one.
    pub up_to: usize,
    /// By how much the level rises.
    pub size: f64,
    /// Half-width of the interval of the size.
    pub half: f64,
    /// Probability that readings without a step look at least as much like one.
    pub chance: f64,
    /// Readings of the level behind it.
    pub points_behind: usize,
}

/// The last reading beside what was expected of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The reading.
    pub reading: usize,
    /// Its place on the scale.
    pub x: f64,
    /// Where it was expected.
    pub expected: f64,
    /// Half-width of the interval that it was expected in.
    pub half: f64,
    /// Probability that it lies so far away by chance.
    pub chance: f64,
}

impl Forecast {
    /// Whether it lies where it was expected.
    pub fn is_inside(&self) -> bool {
        (self.x - self.expected).abs() <= self.half
    }
}
