//! Two alternatives: the ratio of their times, and the verdict from its interval, never from point values alone.

use super::assessment::{Assessment, Comparison, SeriesResult};
use super::placements::Placements;
use crate::estimate::ratio::{of_alternatives, of_few_rounds};
use crate::estimate::{Component, Estimate, Solution, Uncertain};
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
    /// A difference is not certain, and the interval is narrow.
    NoDifference,
    /// A difference is not certain, and the interval is too wide to call it none.
    Undecided,
}

/// Largest half-width of a ratio at which "no difference" is said.
pub const NARROW: f64 = 0.02;

/// A difference is sure if an interval wider by this factor does not contain 1. An interval of 95 % then has a level of 99 %:
/// of comparisons of identical code, one in twenty would otherwise be told to differ.
pub const SURE: f64 = 1.33;

/// The largest factor between the times of equal code that lies elsewhere, in what was seen: `memcpy` of 512 bytes takes 27 ticks in half of its
/// layouts and 33 in the others, a loop of 22 branches 1.28 to 1.54 times as long at one of two places. Where not all layouts were tried, a smaller
/// difference may be theirs.
pub const LAYOUTS_MAKE: f64 = 1.6;

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
    // No code takes no time, or less. Where a time cannot be told from zero, the sign of its noise must not decide.
    if ratio.value <= 0.0 || ratio.low <= 0.0 {
        return Verdict::Undecided;
    }
    // Ratios are widened as factors: an interval that reaches far above 1 may end close to zero below it.
    let widened =
        |end: f64| if end > 0.0 && end.is_finite() && ratio.value.is_finite() { ratio.value * (end / ratio.value).powf(SURE) } else { end };
    match (widened(ratio.high) < 1.0, widened(ratio.low) > 1.0) {
        (true, _) => Verdict::Faster,
        (_, true) => Verdict::Slower,
        _ if ratio.half_width() <= NARROW => Verdict::NoDifference,
        _ => Verdict::Undecided,
    }
}

impl Assessment {
    /// The verdict of a comparison; undecided if one of the times is not to be trusted.
    pub fn verdict(&self, comparison: &Comparison) -> Verdict {
        let mut compared = self.series.iter().filter(|series| [&comparison.a, &comparison.b].contains(&&series.name));
        let trusted = compared.all(|series| series.components.first().is_none_or(|first| series.trusts(&first.name)));
        if trusted { comparison.verdict } else { Verdict::Undecided }
    }
}

/// A series compared with another one by their first components; `None` if they have no ratio.
pub(super) fn compare(a: &SeriesResult, b: &SeriesResult, level: f64) -> Option<Comparison> {
    let ratio = ratio_of(a, b).or_else(|| of_few_rounds(first(a)?, first(b)?, 1.0, None))?.estimate(level);
    Some(Comparison { a: a.name.clone(), b: b.name.clone(), ratio, verdict: verdict(&ratio) })
}

/// Ratio of the first components of two series.
fn ratio_of(a: &SeriesResult, b: &SeriesResult) -> Option<Uncertain> {
    of_alternatives(first(a)?, first(b)?)
}

/// The first component of a series with its solution.
fn first(series: &SeriesResult) -> Option<(&Solution, &Component)> {
    Some((&series.solution, series.solution.components.first()?))
}

/// Adds to the intervals of all ratios how the placements differ.
pub(super) fn compare_placements(found: &mut Assessment, placements: &Placements, level: f64) {
    let Some((first, others)) = found.series.split_first() else { return };
    for comparison in &mut found.comparisons {
        let is_other = |series: &&SeriesResult| series.name == comparison.a;
        let Some((at, other)) = (1..).zip(others).find(|(_, series)| is_other(series)) else { continue };
        let differ = [(0, first), (at, other)].iter().any(|(at, series)| placements.layouts_differ(*at, series).is_some());
        let Some((ratio, (time, other_time))) = ratio_of(other, first).zip(mean_time(first).zip(mean_time(other))) else {
            continue;
        };
        // The mean of the ratios is not the ratio of the means, which times that differ between placements need. What a placement adds to
        // the ratio of the means is, to the first order, what its times depart from that ratio by. The ratio of the times from all rounds
        // together is another one: where each layout has a time of its own, the centre of a row is that of some of the layouts, and of other
        // ones for each alternative (memcpy of 512 bytes: 27.3 and 33.1 ticks in half of the layouts each; 1.040 instead of 1.000).
        let of_means = other_time / time;
        let in_placement = |placement: &Assessment| {
            let (first, others) = placement.series.split_first()?;
            let other = others.iter().find(is_other)?;
            let departure = (time_of(other)? - of_means * time_of(first)?) / time;
            // Few rounds show nothing of how they vary; a placement must not be left out for that, as slow layouts have the fewest.
            let budget = ratio_of(other, first).map_or_else(Vec::new, |ratio| ratio.budget);
            Some(Uncertain { value: of_means + departure, budget })
        };
        comparison.ratio = placements.divided_by_sample(ratio, level, differ, in_placement).estimate(level);
        comparison.verdict = verdict(&comparison.ratio);
    }
}

/// The first component of a series in the unit of the readings, as the mean of the placements where these differ.
fn mean_time(series: &SeriesResult) -> Option<f64> {
    series.components.first().map(|component| component.time.ticks.value)
}

/// The verdict for a ratio of code that may lack layouts: those in which it did not run may make a difference of [`LAYOUTS_MAKE`].
pub fn verdict_if(lacks_layouts: bool, ratio: &Estimate) -> Verdict {
    match verdict(ratio) {
        Verdict::Faster if lacks_layouts && ratio.high >= 1.0 / LAYOUTS_MAKE => Verdict::Undecided,
        Verdict::Slower if lacks_layouts && ratio.low <= LAYOUTS_MAKE => Verdict::Undecided,
        other => other,
    }
}

/// Takes back the differences that may be those of the layouts of the code, if it did not run in all of them.
pub(super) fn doubt_differences(comparisons: &mut [Comparison]) {
    comparisons.iter_mut().for_each(|found| found.verdict = verdict_if(true, &found.ratio));
}

/// The first component of a series in the unit of the readings, as the line shows it.
fn time_of(series: &SeriesResult) -> Option<f64> {
    first(series).map(|(_, component)| component.uncertain.value)
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
        let of = |value: f64| {
            let ratio = Estimate { value, low: value - 0.01, high: value + 0.01, level: 0.95 };
            Comparison { a: "a".into(), b: "b".into(), ratio, verdict: verdict(&ratio) }
        };
        let mut found = [0.6, 0.62, 1.0, 1.605, 1.63].map(of);
        doubt_differences(&mut found);
        let verdicts = found.map(|comparison| comparison.verdict);
        assert_eq!(verdicts, [Verdict::Faster, Verdict::Undecided, Verdict::NoDifference, Verdict::Undecided, Verdict::Slower]);
    }
}
