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
    /// The interval contains 1 and is narrow.
    NoDifference,
    /// The interval contains 1 and is too wide to call it no difference.
    Undecided,
}

/// Largest half-width of a ratio at which an interval that contains 1 means "no difference".
pub const NARROW: f64 = 0.02;

/// The verdict for a ratio.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::judge::{Verdict, verdict};
/// let ratio = |value, half| Estimate { value, low: value - half, high: value + half, level: 0.95 };
/// assert_eq!(verdict(&ratio(0.9, 0.01)), Verdict::Faster);
/// assert_eq!(verdict(&ratio(1.004, 0.005)), Verdict::NoDifference);
/// assert_eq!(verdict(&ratio(1.1, 0.3)), Verdict::Undecided);
/// ```
pub fn verdict(ratio: &Estimate) -> Verdict {
    match (ratio.high < 1.0, ratio.low > 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ if ratio.half_width() <= NARROW => Verdict::NoDifference,
        _ => Verdict::Undecided,
    }
}
