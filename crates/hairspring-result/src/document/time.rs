//! How a time stands to zero, and the unit that it is shown in.

use hairspring_core::estimate::Estimate;
use hairspring_core::judge;

/// How a time stands to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The interval lies above zero.
    Above,
    /// The interval contains zero.
    BelowResolution,
    /// The interval lies below zero.
    Negative,
}

/// Judges an estimate of a time.
pub fn standing(time: &Estimate) -> Standing {
    match (time.low > 0.0, time.high < 0.0) {
        (true, _) => Standing::Above,
        (_, true) => Standing::Negative,
        _ => Standing::BelowResolution,
    }
}

/// What a time is at the most in the unit that it is shown in; `None` where it can be told from zero.
pub(crate) fn bound(time: &judge::Time, level: f64) -> Option<f64> {
    time.bound.map(|bound| bound.shown).or_else(|| judge::upper_bound(&in_unit(time, level), 0.0))
}

/// Nanoseconds, where the rate is known, else the table's unit.
pub(crate) fn in_unit(time: &judge::Time, level: f64) -> Estimate {
    time.ns.as_ref().map_or(time.ticks, |ns| ns.estimate(level))
}
