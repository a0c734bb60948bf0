//! A measurement against what was expected of it: the sanity check (Muller, step 7).

use crate::estimate::{Estimate, coverage_factor};
use crate::math::hypot;
use serde::{Deserialize, Serialize};

/// Uncertainty of an expectation that states none, as a share of its value. It is also the
/// precision that a measurement needs before it can agree with an expectation that is narrower.
pub const UNSTATED_SHARE: f64 = 0.02;

/// How far an expected value may be off. Stochastic contributions have been added in quadrature,
/// systematic ones linearly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// From stochastic contributions, at the confidence level of the measurement.
    pub stochastic: f64,
    /// From systematic contributions: a bound.
    pub systematic: f64,
}

impl Reach {
    /// From all contributions.
    pub fn total(&self) -> f64 {
        self.stochastic + self.systematic
    }
}

/// An expected value. Its two sides differ if the model is far from a straight line within its
/// uncertainties.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The value, in the unit of the measurement.
    pub value: f64,
    /// How far a measurement may lie below it ...
    pub below: Reach,
    /// ... and above it.
    pub above: Reach,
}

/// The verdict about a measurement and its expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Agreement {
    /// The two differ by no more than their uncertainties.
    Agrees,
    /// The two differ by more than their uncertainties.
    Deviates,
    /// The measurement is not precise enough to say, or not to be trusted.
    Undecided,
}

/// A measurement beside its expectation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Against {
    /// Measured minus expected.
    pub difference: f64,
    /// Half-width of the interval of the difference, both uncertainties included.
    pub half_width: f64,
    /// Measured over expected; `None` for an expectation of zero.
    pub factor: Option<f64>,
    /// By how many standard deviations the difference is larger than the systematic bounds allow;
    /// `None` without any stochastic uncertainty.
    pub sigmas: Option<f64>,
    /// The verdict.
    pub agreement: Agreement,
}

impl Expected {
    /// An expectation with the same half-width on both sides.
    pub fn symmetric(value: f64, half: Reach) -> Expected {
        Expected { value, below: half, above: half }
    }

    /// The value with its interval.
    pub fn interval(&self, level: f64) -> Estimate {
        Estimate {
            value: self.value,
            low: self.value - self.below.total(),
            high: self.value + self.above.total(),
            level,
        }
    }
}

/// Compares a measurement with its expectation. Of both, the side that faces the other one counts.
/// The measurement's half-width and the stochastic part of the expectation add in quadrature, the
/// systematic part adds linearly. A measurement agrees only if it is at least as precise as the
/// expectation.
pub fn against(measured: &Estimate, expected: &Expected) -> Against {
    let difference = measured.value - expected.value;
    // Of an interval that is not symmetric, the side that faces the expectation counts.
    let own_width = if difference > 0.0 {
        measured.value - measured.low
    } else {
        measured.high - measured.value
    };
    let side = if difference > 0.0 { &expected.above } else { &expected.below };
    let stochastic = hypot(own_width, side.stochastic);
    let half_width = stochastic + side.systematic;
    let beyond = (difference.abs() - side.systematic).max(0.0);
    let sd = stochastic / coverage_factor(measured.level);
    let wanted_width = side.total().max(UNSTATED_SHARE * expected.value.abs());
    let agreement = match () {
        () if !difference.is_finite() || !half_width.is_finite() => Agreement::Undecided,
        () if difference.abs() > half_width => Agreement::Deviates,
        () if own_width > wanted_width => Agreement::Undecided,
        () => Agreement::Agrees,
    };
    Against {
        difference,
        half_width,
        factor: Some(measured.value / expected.value).filter(|factor| factor.is_finite()),
        sigmas: Some(beyond / sd).filter(|sigmas| sigmas.is_finite()),
        agreement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(value: f64, half: f64) -> Estimate {
        Estimate { value, low: value - half, high: value + half, level: 0.95 }
    }

    fn bounded(value: f64, systematic: f64) -> Expected {
        Expected::symmetric(value, Reach { stochastic: 0.0, systematic })
    }

    fn judged(value: f64, half: f64, stochastic: f64, systematic: f64) -> Against {
        against(
            &measured(value, half),
            &Expected::symmetric(10.0, Reach { stochastic, systematic }),
        )
    }

    #[test]
    fn verdict_follows_from_both_uncertainties() {
        assert_eq!(judged(10.1, 0.05, 0.0, 0.2).agreement, Agreement::Agrees);
        assert_eq!(judged(10.3, 0.05, 0.0, 0.2).agreement, Agreement::Deviates);
        // 0.3 and 0.4 are 0.5 in quadrature.
        assert_eq!(judged(10.49, 0.3, 0.4, 0.0).agreement, Agreement::Agrees);
        assert_eq!(judged(10.51, 0.3, 0.4, 0.0).agreement, Agreement::Deviates);
        // A bound adds linearly.
        assert_eq!(judged(10.69, 0.3, 0.0, 0.4).agreement, Agreement::Agrees);
        assert_eq!(judged(9.29, 0.3, 0.0, 0.4).agreement, Agreement::Deviates);
    }

    #[test]
    fn measurement_wider_than_the_expectation_decides_nothing() {
        assert_eq!(judged(10.1, 1.0, 0.0, 0.5).agreement, Agreement::Undecided);
        assert_eq!(judged(10.1, 0.21, 0.0, 0.0).agreement, Agreement::Undecided);
        assert_eq!(judged(10.1, 0.19, 0.0, 0.0).agreement, Agreement::Agrees);
        assert_eq!(judged(f64::NAN, 0.19, 0.0, 0.0).agreement, Agreement::Undecided);
        assert_eq!(judged(10.1, f64::INFINITY, 0.0, 0.0).agreement, Agreement::Undecided);
        // Far off, it deviates however wide it is.
        assert_eq!(judged(50.0, 5.0, 0.0, 0.5).agreement, Agreement::Deviates);
    }

    #[test]
    fn factor_and_sigmas_are_those_of_the_difference() {
        // Muller measured 10 us where 2 us were expected.
        let five = against(&measured(10.0, 1.959_964), &bounded(2.0, 1.0));
        assert_eq!(five.factor, Some(5.0));
        assert!((five.sigmas.unwrap() - 7.0).abs() < 1e-4, "{five:?}");
        assert_eq!(judged(10.0, 0.0, 0.0, 0.0).sigmas, None);
        assert_eq!(against(&measured(1.0, 0.1), &bounded(0.0, 0.0)).factor, None);
    }

    #[test]
    fn lopsided_interval_counts_on_the_side_of_the_expectation() {
        let below = Estimate { value: 0.1, low: 0.0, high: 3.0, level: 0.95 };
        assert_eq!(against(&below, &bounded(2.0, 0.0)).agreement, Agreement::Undecided);
        assert_eq!(against(&below, &bounded(4.0, 0.0)).agreement, Agreement::Deviates);
    }

    #[test]
    fn lopsided_expectation_counts_on_the_side_of_the_measurement() {
        let (near, far) = (
            Reach { stochastic: 0.0, systematic: 1.0 },
            Reach { stochastic: 0.0, systematic: 30.0 },
        );
        let expected = Expected { value: 10.0, below: near, above: far };
        let verdict = |value| against(&measured(value, 0.1), &expected).agreement;
        assert_eq!(
            [8.0, 9.5, 39.0, 41.0].map(verdict),
            [Agreement::Deviates, Agreement::Agrees, Agreement::Agrees, Agreement::Deviates]
        );
        let interval = expected.interval(0.95);
        assert_eq!((interval.low, interval.high), (9.0, 40.0));
    }
}
