//! The ratio of two times: that of two views of one vector, in which what both have in common
//! cancels; and [`apart`] for times of different runs.

use super::interval::{Contribution, Estimate, Source, Uncertain};
use super::solution::{Component, Solution, combined};
use super::variation::LayoutsAre;
use crate::observations::ClockSpread;

/// Ratio of component `a` of one solution to component `b` of another, from the rounds that both
/// have: common influences (core clock, rate of the clock, departures of equal rows) cancel, so
/// that the interval is narrower than those of the two times. `None` if `b` is not positive.
pub fn ratio(a: (&Solution, &Component), b: (&Solution, &Component)) -> Option<Uncertain> {
    quotient((a.0, a.1.unknown), (b.0, b.1.unknown), b.1.ticks.level, LayoutsAre::Fixed)
}

/// The same of two unknowns.
pub(crate) fn quotient(
    a: (&Solution, usize),
    b: (&Solution, usize),
    level: f64,
    layouts: LayoutsAre,
) -> Option<Uncertain> {
    let (above, below) = (a.0.vector.values[a.1], b.0.vector.values[b.1]);
    let value = above / below;
    let parts = [a.0.part(a.1, 1.0 / below), b.0.part(b.1, -value / below)];
    (value.is_finite() && below > 0.0).then(|| combined(value, &parts, level, layouts))
}

/// Ratio of the first components of two solutions, as the length of a chain beside that of the
/// reference chain, at a level.
pub fn of_first(a: &Solution, reference: &Solution, level: f64) -> Option<Estimate> {
    Some(
        ratio((a, a.components.first()?), (reference, reference.components.first()?))?
            .estimate(level),
    )
}

/// The entry in the budget of a time that follows the core clock: the larger of its movements
/// within this run, as a share, and between runs. `None` if it did not move.
pub fn moved(time: f64, within: f64, between: Option<ClockSpread>) -> Option<Contribution> {
    let (sd, dof) = match between {
        Some(between) if between.sd > within => (between.sd, f64::from(between.runs) - 1.0),
        // The clock has few levels, so large deviations from the mean are not more frequent than
        // small ones.
        _ => (within, f64::INFINITY),
    };
    (sd > 0.0).then(|| Contribution::standard(Source::CoreClock, time.abs() * sd, dof))
}

/// Ratio `new / old` of two times that were measured in different runs.
///
/// No common influences cancel, and differences between runs (addresses of code and data, the state
/// of the machine) are in neither interval. So the intervals are combined like systematic
/// contributions (Muller: linearly, not in quadrature): the low end is the low end of `new` over
/// the high end of `old`, and the high end is the high end of `new` over the low end of `old`. The
/// interval is up to 1.4 times as wide as in quadrature, and wider than that of [`ratio`]. Its
/// level is the lower one of the two.
///
/// If the interval of `old` contains zero, the ratio has no upper end; if `old` is not positive,
/// its value is infinite. `None` if the whole interval of `old` is negative, or a value is not
/// finite.
///
/// ```
/// use hairspring_core::Estimate;
/// use hairspring_core::estimate::ratio::apart;
/// let time = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half,
///     level: 0.95 };
/// let found = apart(&time(3.0, 0.03), &time(2.0, 0.02)).unwrap();
/// assert_eq!((found.value, found.low, found.high), (1.5, 2.97 / 2.02, 3.03 / 1.98));
/// ```
pub fn apart(new: &Estimate, old: &Estimate) -> Option<Estimate> {
    if !new.value.is_finite()
        || !old.value.is_finite()
        || new.low.is_nan()
        || new.high.is_nan()
        || old.low.is_nan()
    {
        return None;
    }
    if old.high.is_nan() || old.high <= 0.0 {
        return None;
    }
    let level = new.level.min(old.level);
    let value = if old.value > 0.0 { new.value / old.value } else { f64::INFINITY };
    if old.low <= 0.0 {
        let low = if new.low > 0.0 { new.low / old.high } else { f64::NEG_INFINITY };
        return Some(Estimate { value, low, high: f64::INFINITY, level });
    }
    let low = new.low / if new.low > 0.0 { old.high } else { old.low };
    let high = new.high / if new.high > 0.0 { old.low } else { old.high };
    Some(Estimate { value, low, high, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value, low, high, level: 0.95 }
    }

    #[test]
    fn ends_combine_the_worst_ends_of_both() {
        let ratio = apart(&within(9.0, 10.0, 11.0), &within(4.0, 5.0, 6.0)).unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (2.0, 1.5, 2.75));
        let negative = apart(&within(-1.0, 1.0, 3.0), &within(4.0, 5.0, 6.0)).unwrap();
        assert_eq!((negative.low, negative.high), (-0.25, 0.75));
        let other = Estimate { level: 0.9, ..within(4.0, 5.0, 6.0) };
        assert_eq!(apart(&within(9.0, 10.0, 11.0), &other).unwrap().level, 0.9);
    }

    #[test]
    fn old_time_below_resolution_gives_no_upper_end_whatever_its_sign() {
        let some = |old: f64| apart(&within(9.0, 10.0, 11.0), &within(-0.5, old, 0.5)).unwrap();
        for old in [0.1, -0.1, 0.0] {
            assert_eq!((some(old).low, some(old).high), (18.0, f64::INFINITY));
        }
        let both_below_resolution =
            apart(&within(-0.5, 0.1, 0.5), &within(-0.5, 0.1, 0.5)).unwrap();
        assert_eq!(
            (both_below_resolution.low, both_below_resolution.high),
            (f64::NEG_INFINITY, f64::INFINITY)
        );
        assert_eq!(apart(&within(1.0, 1.0, 1.0), &within(-3.0, -2.0, -1.0)), None);
        assert_eq!(apart(&within(1.0, f64::NAN, 1.0), &within(1.0, 1.0, 1.0)), None);
    }
}
