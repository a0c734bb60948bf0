//! Two alternatives: the ratio of their times, and the verdict from its interval, never from point
//! values alone.

use crate::estimate::{Estimate, coverage_factor, t_quantile};
use crate::limit::{Basis, WIDE_SHARE, limits};
use crate::math::pow;
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
    /// A difference is not certain, and one of more than 5 % is excluded; [`excludes`] says how
    /// small it is at most.
    NoDifference,
    /// A difference is not certain, and a larger one is not excluded.
    Undecided,
}

limits! {
    /// A verdict about a table that grows, and is looked at whenever its readings have doubled,
    /// needs an interval wider by this factor than one of 95 %. Each of fifteen looks, enough for
    /// 16,000 times as many readings as at the first, has a fifteenth of the 1 % of false claims.
    EVERY_LOOK = 1.85, "", Basis::Derived("Student's quantile at 99.93 % over that at 95 %, 31 \
                                           degrees of freedom; Bonferroni over 15 looks");
    /// A larger factor between two times of the same rounds is certain even if the times are in
    /// doubt.
    DOUBT_MAKES = 2.0, "", Basis::Derived("another thread on the core takes half of it at most, \
                                           and the rounds show it to both");
    /// The largest factor between the times of equal code that lies elsewhere: where not all
    /// layouts were tried, a smaller difference may be theirs.
    LAYOUTS_MAKE = 1.6, "", Basis::Seen("memcpy of 512 bytes and loops of 22 branches: up to \
                                         1.54; AMD family 26, Intel family 6, November 2026");
}

/// The level of a verdict: of comparisons of identical code, one in twenty would be said to differ
/// by an interval of 95 %.
pub(crate) const VERDICT_LEVEL: f64 = 0.99;
/// The level of the intervals for which [`EVERY_LOOK`] is derived.
const USUAL_LEVEL: f64 = 0.95;

/// How often a verdict is looked for before it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Once: when all readings are there.
    One,
    /// Whenever the readings have doubled. The rounds may end at a look because of what it shows,
    /// so all looks together claim falsely in 1 % at most.
    Every,
    /// Once, at the mean of so many runs, two or more: few runs know their spread badly.
    Runs(u32),
}

impl Looks {
    /// The interval of a ratio from which the verdict is read. It holds in 99 %, at all looks
    /// together. Ratios are widened as factors: an interval that reaches far above 1 may end close
    /// to zero below it.
    ///
    /// ```
    /// use hairspring_core::Estimate;
    /// use hairspring_core::judge::Looks;
    /// let ratio = Estimate { value: 1.0, low: 0.9, high: 1.2, level: 0.95 };
    /// let (one, every) = (Looks::One.interval(&ratio), Looks::Every.interval(&ratio));
    /// assert!(every.low < one.low && one.low < 0.9 && 1.2 < one.high && one.high < every.high);
    /// // Of two runs, the interval of 99 % is five times as wide as that of 95 %.
    /// assert!(Looks::Runs(2).interval(&ratio).high > 1.2 * every.high
    ///     && Looks::Runs(1_000).interval(&ratio).high < 1.001 * one.high);
    /// ```
    pub fn interval(self, ratio: &Estimate) -> Estimate {
        let by = self.width(ratio.level);
        let widened = |end: f64| {
            let is_factor =
                end > 0.0 && end.is_finite() && ratio.value > 0.0 && ratio.value.is_finite();
            if is_factor { ratio.value * pow(end / ratio.value, by) } else { end }
        };
        Estimate {
            value: ratio.value,
            low: widened(ratio.low),
            high: widened(ratio.high),
            level: VERDICT_LEVEL,
        }
    }

    /// By how much wider it is than an interval of this level.
    fn width(self, level: f64) -> f64 {
        match self {
            Looks::One => coverage_factor(VERDICT_LEVEL) / coverage_factor(level),
            Looks::Every => EVERY_LOOK * coverage_factor(USUAL_LEVEL) / coverage_factor(level),
            Looks::Runs(runs) => {
                let dof = f64::from(runs.max(2) - 1);
                t_quantile(VERDICT_LEVEL, dof) / t_quantile(level, dof)
            }
        }
    }
}

/// The verdict for a ratio.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::judge::{Looks, Verdict, verdict};
/// let ratio = |value, half| Estimate { value, low: value - half, high: value + half,
///     level: 0.95 };
/// assert_eq!(verdict(&ratio(0.9, 0.01), Looks::Every), Verdict::Faster);
/// assert_eq!(verdict(&ratio(1.004, 0.005), Looks::One), Verdict::NoDifference);
/// assert_eq!(verdict(&ratio(1.008, 0.005), Looks::One), Verdict::Slower);
/// assert_eq!(verdict(&ratio(1.008, 0.005), Looks::Every), Verdict::NoDifference);
/// assert_eq!(verdict(&ratio(1.1, 0.3), Looks::Every), Verdict::Undecided);
/// assert_eq!(verdict(&ratio(0.0, 0.01), Looks::Every), Verdict::Undecided);
/// ```
pub fn verdict(ratio: &Estimate, looks: Looks) -> Verdict {
    // No code takes no time, or less. Where a time is indistinguishable from zero, the sign of its
    // noise must not decide.
    if ratio.value <= 0.0 || ratio.low <= 0.0 {
        return Verdict::Undecided;
    }
    let Estimate { low, high, .. } = looks.interval(ratio);
    match (high < 1.0, low > 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ if excludes(&Estimate { low, high, ..*ratio }) <= WIDE_SHARE => Verdict::NoDifference,
        _ => Verdict::Undecided,
    }
}

/// The share by which two times differ at most: that of the end of the interval of their ratio
/// which is further from 1.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::judge::excludes;
/// let most = excludes(&Estimate { value: 1.0, low: 0.98, high: 1.03, level: 0.99 });
/// assert!((most - 0.03).abs() < 1e-9);
/// ```
pub fn excludes(ratio: &Estimate) -> f64 {
    f64::max(1.0 - ratio.low, ratio.high - 1.0)
}

/// The verdict of two times of the same rounds of which one is in doubt: a large factor is certain
/// all the same.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::judge::{Looks, Verdict, verdict_in_doubt};
/// let ratio = |value, half| Estimate { value, low: value - half, high: value + half,
///     level: 0.95 };
/// assert_eq!(verdict_in_doubt(&ratio(0.23, 0.05), Looks::Every), Verdict::Faster);
/// assert_eq!(verdict_in_doubt(&ratio(0.7, 0.01), Looks::Every), Verdict::Undecided);
/// ```
pub fn verdict_in_doubt(ratio: &Estimate, looks: Looks) -> Verdict {
    let Estimate { low, high, .. } = looks.interval(ratio);
    match verdict(ratio, looks) {
        Verdict::Faster if high < 1.0 / DOUBT_MAKES => Verdict::Faster,
        Verdict::Slower if low > DOUBT_MAKES => Verdict::Slower,
        _ => Verdict::Undecided,
    }
}

/// The verdict for a ratio of code that may lack layouts: those in which it did not run may make a
/// difference of [`LAYOUTS_MAKE`].
pub fn verdict_if(lacks_layouts: bool, ratio: &Estimate, looks: Looks) -> Verdict {
    match verdict(ratio, looks) {
        Verdict::Faster if lacks_layouts && ratio.high >= 1.0 / LAYOUTS_MAKE => Verdict::Undecided,
        Verdict::Slower if lacks_layouts && ratio.low <= LAYOUTS_MAKE => Verdict::Undecided,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_must_exceed_the_interval_by_the_factor_of_its_looks() {
        let at = |value: f64, looks| {
            verdict(
                &Estimate { value, low: value - 0.003, high: value + 0.003, level: 0.95 },
                looks,
            )
        };
        let (faster, same, slower) = (Verdict::Faster, Verdict::NoDifference, Verdict::Slower);
        assert_eq!(
            [0.995, 0.9965, 1.0035, 1.005].map(|value| at(value, Looks::One)),
            [faster, same, same, slower]
        );
        assert_eq!(
            [0.994, 0.995, 1.005, 1.006].map(|value| at(value, Looks::Every)),
            [faster, same, same, slower]
        );
    }

    #[test]
    fn the_level_of_an_interval_does_not_change_its_verdict() {
        let at = |level: f64| {
            let half = 0.001 * coverage_factor(level);
            Looks::Every.interval(&Estimate {
                value: 1.0,
                low: 1.0 / (1.0 + half),
                high: 1.0 + half,
                level,
            })
        };
        let (of_usual_level, of_other_level) = (at(0.95), at(0.5));
        assert!(
            (of_usual_level.high - of_other_level.high).abs() < 1e-5
                && (of_usual_level.low - of_other_level.low).abs() < 1e-5,
            "{of_usual_level:?} {of_other_level:?}"
        );
    }

    #[test]
    fn a_ratio_that_is_not_above_zero_decides_nothing() {
        let at = |value: f64, half: f64| {
            verdict(
                &Estimate { value, low: value - half, high: value + half, level: 0.95 },
                Looks::One,
            )
        };
        assert_eq!(
            [at(0.0, 0.0), at(-1.0, 0.33), at(-0.003, 0.017), at(0.003, 0.017), at(-0.1, 0.2)],
            [Verdict::Undecided; 5]
        );
        assert_eq!(at(0.03, 0.017), Verdict::Faster);
    }

    #[test]
    fn an_end_that_is_not_finite_decides_nothing() {
        let slower = Estimate { value: f64::INFINITY, low: 1.5, high: f64::INFINITY, level: 0.95 };
        assert_eq!(verdict(&slower, Looks::Every), Verdict::Slower);
        let open = Estimate { value: 2.0, low: 0.9, high: f64::INFINITY, level: 0.95 };
        assert_eq!(verdict(&open, Looks::Every), Verdict::Undecided);
    }

    #[test]
    fn a_small_difference_needs_all_layouts() {
        let of = |value: f64| {
            verdict_if(
                true,
                &Estimate { value, low: value - 0.01, high: value + 0.01, level: 0.95 },
                Looks::One,
            )
        };
        let verdicts = [0.6, 0.62, 1.0, 1.605, 1.63].map(of);
        assert_eq!(
            verdicts,
            [
                Verdict::Faster,
                Verdict::Undecided,
                Verdict::NoDifference,
                Verdict::Undecided,
                Verdict::Slower
            ]
        );
    }
}
