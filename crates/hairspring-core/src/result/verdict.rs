//! Two alternatives: the ratio of their times, and the verdict from its interval, never from point values alone.

use crate::estimate::Estimate;
use crate::limit::{Basis, SLIGHT_SHARE, limits};
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
    /// A difference is not certain, and one that matters is excluded.
    NoDifference,
    /// A difference is not certain, and one that matters is not excluded.
    Undecided,
}

limits! {
    /// A difference is sure if an interval wider by this factor does not contain 1. An interval of 95 % then has a level of 99 %:
    /// of comparisons of identical code, one in twenty would otherwise be said to differ.
    SURE_FACTOR = 1.33, "", Basis::Derived("Student's quantile at 99 % over that at 95 %");
    /// The largest factor between the times of equal code that lies elsewhere: where not all layouts were tried, a smaller difference may be theirs.
    LAYOUTS_MAKE = 1.6, "", Basis::Seen("memcpy of 512 bytes and loops of 22 branches: up to 1.54; AMD family 26, Intel family 6, November 2026");
}

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
/// assert_eq!(verdict(&ratio(0.0, 0.01)), Verdict::Undecided);
/// ```
pub fn verdict(ratio: &Estimate) -> Verdict {
    // No code takes no time, or less. Where a time is indistinguishable from zero, the sign of its noise must not decide.
    if ratio.value <= 0.0 || ratio.low <= 0.0 {
        return Verdict::Undecided;
    }
    // Ratios are widened as factors: an interval that reaches far above 1 may end close to zero below it.
    let widened = |end: f64| {
        if end > 0.0 && end.is_finite() && ratio.value.is_finite() { ratio.value * (end / ratio.value).powf(SURE_FACTOR) } else { end }
    };
    let (low, high) = (widened(ratio.low), widened(ratio.high));
    match (high < 1.0, low > 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ if low >= 1.0 - SLIGHT_SHARE && high <= 1.0 + SLIGHT_SHARE => Verdict::NoDifference,
        _ => Verdict::Undecided,
    }
}

/// The verdict for a ratio of code that may lack layouts: those in which it did not run may make a difference of [`LAYOUTS_MAKE`].
pub fn verdict_if(lacks_layouts: bool, ratio: &Estimate) -> Verdict {
    match verdict(ratio) {
        Verdict::Faster if lacks_layouts && ratio.high >= 1.0 / LAYOUTS_MAKE => Verdict::Undecided,
        Verdict::Slower if lacks_layouts && ratio.low <= LAYOUTS_MAKE => Verdict::Undecided,
        other => other,
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
    fn a_ratio_that_is_not_above_zero_decides_nothing() {
        let at = |value: f64, half: f64| verdict(&Estimate { value, low: value - half, high: value + half, level: 0.95 });
        assert_eq!([at(0.0, 0.0), at(-1.0, 0.33), at(-0.003, 0.017), at(0.003, 0.017), at(-0.1, 0.2)], [Verdict::Undecided; 5]);
        assert_eq!(at(0.03, 0.017), Verdict::Faster);
    }

    #[test]
    fn an_end_that_is_not_finite_decides_nothing() {
        let slower = Estimate { value: f64::INFINITY, low: 1.5, high: f64::INFINITY, level: 0.95 };
        assert_eq!(verdict(&slower), Verdict::Slower);
        let open = Estimate { value: 2.0, low: 0.9, high: f64::INFINITY, level: 0.95 };
        assert_eq!(verdict(&open), Verdict::Undecided);
    }

    #[test]
    fn a_small_difference_needs_all_layouts() {
        let of = |value: f64| verdict_if(true, &Estimate { value, low: value - 0.01, high: value + 0.01, level: 0.95 });
        let verdicts = [0.6, 0.62, 1.0, 1.605, 1.63].map(of);
        assert_eq!(verdicts, [Verdict::Faster, Verdict::Undecided, Verdict::NoDifference, Verdict::Undecided, Verdict::Slower]);
    }
}
