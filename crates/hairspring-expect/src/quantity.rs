//! The value of a model: with its unit, its uncertainty, and the interval by Monte Carlo.

use crate::model::Steps;
use crate::monte_carlo::{MonteCarlo, monte_carlo};
use crate::unit::{Dimension, Unit, readable};
use hairspring_core::estimate::coverage_factor;
use hairspring_core::judge::{Expected, Reach, UNSTATED_SHARE};
use std::fmt::{Display, Formatter};

/// Confidence level of the stochastic half-widths in an expression.
pub const LEVEL: f64 = 0.95;

/// The value of a model, in nanoseconds, cycles, ticks and bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The value.
    pub value: f64,
    /// What it measures.
    pub dimension: Dimension,
    /// Half-width from stochastic inputs, added in quadrature; at 95 % confidence.
    pub stochastic: f64,
    /// Half-width from systematic inputs, added linearly.
    pub systematic: f64,
    /// Whether the expression states any uncertainty.
    pub is_stated: bool,
    /// The interval by Monte Carlo.
    pub monte_carlo: MonteCarlo,
}

impl Quantity {
    /// The value of a step.
    pub(crate) fn of(steps: &Steps, root: usize) -> Quantity {
        let ((stochastic, systematic), known_value) = (steps.half_widths(root), steps.known(root));
        Quantity {
            value: known_value.value,
            dimension: known_value.dimension,
            stochastic,
            systematic,
            is_stated: !known_value.slopes.is_empty(),
            monte_carlo: monte_carlo(steps, root),
        }
    }

    /// The half-widths to first order at a confidence level, in multiples of `unit` nanoseconds,
    /// cycles, ticks or bytes. A quantity without a stated uncertainty has one of 2 %.
    pub fn first_order(&self, level: f64, unit: f64) -> Reach {
        let assumed = if self.is_stated { 0.0 } else { UNSTATED_SHARE * self.value.abs() };
        let stochastic = self.stochastic * coverage_factor(level) / coverage_factor(LEVEL);
        Reach { stochastic: stochastic / unit, systematic: (self.systematic + assumed) / unit }
    }

    /// What is expected of a measurement at a confidence level, in multiples of `unit` nanoseconds,
    /// cycles, ticks or bytes. Where the two propagations do not agree, the ends by Monte Carlo
    /// count, each on its own side.
    pub fn expected(&self, level: f64, unit: f64) -> Expected {
        let MonteCarlo { low, high, agrees, .. } = self.monte_carlo;
        let half = self.first_order(level, unit);
        if agrees {
            return Expected::symmetric(self.value / unit, half);
        }
        let side = |distance: f64| {
            self.side(distance.max(0.0) / unit, coverage_factor(level) / coverage_factor(LEVEL))
        };
        Expected {
            value: self.value / unit,
            below: side(self.value - low),
            above: side(high - self.value),
        }
    }

    /// A side of the interval by Monte Carlo, in which the stochastic inputs have the same part as
    /// to first order. That part grows with the confidence level.
    fn side(&self, distance: f64, factor: f64) -> Reach {
        let whole = self.stochastic + self.systematic;
        let part = if whole > 0.0 { self.stochastic / whole } else { 0.0 };
        if distance.is_finite() {
            return Reach {
                stochastic: part * distance * factor,
                systematic: (1.0 - part) * distance,
            };
        }
        Reach { stochastic: 0.0, systematic: f64::INFINITY }
    }

    /// The unit that it is shown in best, and its size.
    pub fn unit(&self) -> (String, f64) {
        match readable(self.dimension, self.value.abs().max(self.stochastic + self.systematic)) {
            Some(Unit { name, size, .. }) => (name.to_owned(), size),
            None => (self.dimension.to_string(), 1.0),
        }
    }
}

/// The quantity as an expression that has the same value:
/// `4 us +- 2.8 us stochastic +- 1 us systematic`.
impl Display for Quantity {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (unit, size) = self.unit();
        let times = match () {
            () if unit.is_empty() => String::new(),
            // A power behind a number would be ambiguous.
            () if unit.contains(['^', '*']) => format!(" * {unit}"),
            () => format!(" {unit}"),
        };
        let number = |value: f64| {
            let scaled = value / size;
            let plain = scaled == 0.0 || (1e-6..1e15).contains(&scaled.abs());
            if plain { format!("{scaled}{times}") } else { format!("{scaled:e}{times}") }
        };
        f.write_str(&number(self.value))?;
        let none = self.is_stated && self.stochastic == 0.0 && self.systematic == 0.0;
        if self.stochastic > 0.0 || none {
            write!(f, " +- {} stochastic", number(self.stochastic))?;
        }
        if self.systematic > 0.0 {
            write!(f, " +- {} systematic", number(self.systematic))?;
        }
        Ok(())
    }
}
