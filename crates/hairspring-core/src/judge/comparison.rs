//! Verdicts on two alternatives, from the interval of their ratio, never from point values alone.

use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// What the interval of a ratio `a / b` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// `a` takes less time.
    Faster,
    /// `a` takes more time.
    Slower,
    /// No difference is sure, and the interval is narrow.
    NoDifference,
    /// No difference is sure, and the interval is too wide to call it none.
    Undecided,
}

/// Largest half-width of a ratio at which "no difference" is said.
pub const NARROW: f64 = 0.02;

/// A difference is sure if an interval wider by this factor does not contain 1. An interval of 95 % then has a level of 99 %:
/// of comparisons of identical code, one in twenty would otherwise be told to differ.
pub const SURE: f64 = 1.33;

/// The verdict for a ratio.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::judge::{Verdict, verdict};
/// let ratio = |value, half| Estimate { value, low: value - half, high: value + half, level: 0.95 };
/// assert_eq!(verdict(&ratio(0.9, 0.01)), Verdict::Faster);
/// assert_eq!(verdict(&ratio(1.004, 0.005)), Verdict::NoDifference);
/// assert_eq!(verdict(&ratio(1.006, 0.005)), Verdict::NoDifference);
/// assert_eq!(verdict(&ratio(1.1, 0.3)), Verdict::Undecided);
/// ```
pub fn verdict(ratio: &Estimate) -> Verdict {
    // A ratio without a finite value or end has only the other end to go by.
    let widened = |end: f64| if (ratio.value - end).is_finite() { ratio.value + SURE * (end - ratio.value) } else { end };
    match (widened(ratio.high) < 1.0, widened(ratio.low) > 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ if ratio.half_width() <= NARROW => Verdict::NoDifference,
        _ => Verdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_must_exceed_the_interval_by_a_third() {
        let at = |value: f64| verdict(&Estimate { value, low: value - 0.003, high: value + 0.003, level: 0.95 });
        assert_eq!(
            [0.995, 0.9965, 1.0035, 1.005].map(at),
            [Verdict::Faster, Verdict::NoDifference, Verdict::NoDifference, Verdict::Slower]
        );
    }

    #[test]
    fn an_end_that_is_not_finite_decides_nothing() {
        let slower = Estimate { value: f64::INFINITY, low: 1.5, high: f64::INFINITY, level: 0.95 };
        assert_eq!(verdict(&slower), Verdict::Slower);
        let open = Estimate { value: 2.0, low: 0.9, high: f64::INFINITY, level: 0.95 };
        assert_eq!(verdict(&open), Verdict::Undecided);
    }
}
