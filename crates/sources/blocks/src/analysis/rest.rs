//! What a call takes beyond its parts, where parts of it were timed in place of the whole.

use super::{Analysis, BlocksFinding, Place};
use hairspring_core::judge::{Finding, Severity};

/// Share of a call from which what is in no part is worth a note.
const NOTED_SHARE: f64 = 0.05;

/// Share of a call in no part above which the parts tell little of it.
const MOST_SHARE: f64 = 0.5;
/// Widest range that says something.
const WIDEST_RANGE: f64 = 0.6;
/// Share of all runs without a time of their own from which nothing can be said.
const UNTOLD_SHARE: f64 = 0.02;

/// A doubt if the parts surely take longer than the calls, whose time no part is below. Else a note
/// if they surely take less: some code ran in no part, parts run on data that is in the caches, and
/// the quickest repeats of a part have the fewest branches that are mispredicted. It is a warning
/// where that is most of the time.
pub fn rest(analysis: &Analysis) -> Option<Finding> {
    // Calls without a time of their own have no shares.
    if !analysis.quality.is_carried() || analysis.own_call().is_none() {
        return None;
    }
    let (sum, half) = told(analysis);
    if sum - half > 1.0 + NOTED_SHARE {
        let kind = BlocksFinding::PartsBeyondCall {
            low_percent: 100.0 * (sum - half),
            high_percent: 100.0 * (sum + half),
        };
        return Some(Finding::new(Severity::Untrusted, kind));
    }
    let (low, high) = (1.0 - sum - half, (1.0 - sum + half).min(1.0));
    let kind = BlocksFinding::TimeInNoPart { low_percent: 100.0 * low, high_percent: 100.0 * high };
    let severity = if low > MOST_SHARE { Severity::Warning } else { Severity::Note };
    (low > NOTED_SHARE && high - low < WIDEST_RANGE && untold(analysis) <= UNTOLD_SHARE)
        .then(|| Finding::new(severity, kind))
}

/// The share of a call that all parts take together, and its half-width. It is that of the
/// function's own time: no part has the overhead of the whole call.
fn told(analysis: &Analysis) -> (f64, f64) {
    let components = &analysis.series().solution.components;
    let (mut sum, mut half) = (0.0, 0.0);
    for (at, part) in components.iter().enumerate() {
        let Some(share) = analysis.own_share(at).filter(|_| part.ticks.value != 0.0) else {
            continue;
        };
        sum += share;
        // The times are not independent: they are off together by what all rows have in common.
        half += (share * part.ticks.half_width() / part.ticks.value).abs();
    }
    (sum, half)
}

/// The share of the runs of parts whose time is in no component that can be told.
fn untold(analysis: &Analysis) -> f64 {
    let is_untold = |place: &Place| matches!(place, Place::Common | Place::Combined(_));
    let runs = |of: &dyn Fn(&Place) -> bool| -> f64 {
        analysis
            .places
            .iter()
            .zip(&analysis.totals)
            .filter(|(place, _)| of(place))
            .map(|(_, runs)| runs)
            .sum()
    };
    runs(&is_untold) / runs(&|_| true).max(1.0)
}
