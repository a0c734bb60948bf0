//! Whether a time is above, at or below zero, and the unit that it is shown in.

use hairspring_core::estimate::Estimate;
use hairspring_core::judge;

/// Where the interval of a time lies relative to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The interval lies above zero.
    Above,
    /// The interval contains zero.
    BelowResolution,
    /// The interval lies below zero.
    Negative,
}

/// Where the interval of an estimate lies relative to zero.
pub fn standing(time: &Estimate) -> Standing {
    match (time.low > 0.0, time.high < 0.0) {
        (true, _) => Standing::Above,
        (_, true) => Standing::Negative,
        _ => Standing::BelowResolution,
    }
}

/// The upper bound of a time below resolution, in the unit that it is shown in; else `None`.
pub(crate) fn bound(time: &judge::Time, level: f64) -> Option<f64> {
    time.bound.map(|bound| bound.shown).or_else(|| judge::upper_bound(&in_unit(time, level), 0.0))
}

/// Nanoseconds, where the rate is known, else the table's unit.
pub(crate) fn in_unit(time: &judge::Time, level: f64) -> Estimate {
    time.ns.as_ref().map_or(time.ticks, |ns| ns.estimate(level))
}
