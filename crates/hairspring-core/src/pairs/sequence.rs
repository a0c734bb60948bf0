//! A confidence sequence: an interval of the mean of values that come one after the other. It may
//! be looked at behind every value, and all looks together hold with the stated confidence.
//!
//! It is the sequential t-test of Wang and Ramdas (2023, "Anytime-valid t-tests and confidence
//! sequences for Gaussian means with unknown variance"), also the Bayes factor of the t-test with
//! the right Haar prior of the standard deviation and a normal prior of the effect in units of it:
//! a martingale of expectation 1 in the statistics that do not depend on the scale. By Ville's
//! inequality it ever reaches `1 / alpha` in a share of at most `alpha`. The interval holds all
//! means for which it has not reached that.

use crate::math::pow;
use crate::result::VERDICT_LEVEL;

/// Variance of the prior of the mean, in variances of a value: the effect for which the interval is
/// narrowest. At 99 % the interval is finite from 4 values on, and within 5 % of the narrowest one
/// from 5 to 30.
const EFFECT: f64 = 10.0;

/// The moments of the values so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sequence {
    values: u32,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
}

impl Sequence {
    /// Takes a further value. One that is not finite says nothing, and is not counted.
    pub fn push(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        self.values += 1;
        let step = value - self.mean;
        self.mean += step / f64::from(self.values);
        self.squares += step * (value - self.mean);
    }

    /// Number of values.
    pub fn values(&self) -> u32 {
        self.values
    }

    /// Mean of the values.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Half-width of the interval of this level; infinite for too few values.
    ///
    /// ```
    /// use hairspring_core::pairs::Sequence;
    /// let mut sequence = Sequence::default();
    /// for value in [1.0, 1.2, 0.9, 1.1] {
    ///     assert!(sequence.half_width(0.99).is_infinite());
    ///     sequence.push(value);
    /// }
    /// assert!(sequence.half_width(0.99) < 1.0);
    /// ```
    pub fn half_width(&self, level: f64) -> f64 {
        let values = f64::from(self.values);
        let wider = 1.0 + values * EFFECT;
        let reached = pow(wider.sqrt() / (1.0 - level), 2.0 / values);
        if self.values < 2 || reached.is_nan() || reached >= wider {
            return f64::INFINITY;
        }
        let squared_t = (reached - 1.0) / (1.0 - reached / wider);
        (squared_t * self.squares / values).sqrt()
    }
}

/// The fewest values whose interval of this level is finite.
pub fn fewest(level: f64) -> u32 {
    let is_finite = |values: &u32| {
        let sequence = Sequence { values: *values, mean: 0.0, squares: 1.0 };
        sequence.half_width(level).is_finite()
    };
    (2..=MOST_FEWEST).find(is_finite).unwrap_or(MOST_FEWEST)
}

/// More values are never needed, even for a level of 1 - 1e-15.
const MOST_FEWEST: u32 = 30;

/// The level of each of so many comparisons, at which all together claim falsely in one of a
/// hundred runs at most.
pub fn level_of_each(comparisons: usize) -> f64 {
    1.0 - (1.0 - VERDICT_LEVEL) / comparisons.max(1) as f64
}
