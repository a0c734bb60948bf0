//! The rounds in which the code of a table has settled, and what is said of those before.

use super::assessment::{Assessment, Question};
use super::{Finding, FindingKind, Severity};
use crate::estimate::{Settling, Source, Visits, settling};
use crate::observations::Observations;

/// Rounds of which nothing is said: in a new process the first ones nearly always find cold caches.
const FEW: u32 = 3;
/// Code that still becomes faster by a share at the end of the placements may do so by this many times as much.
const FURTHER: f64 = 2.0;

/// The table with the rounds before its code has settled left out; `None` if there are none. Readings that were taken one after the other
/// have no rounds of their own.
pub(super) fn settled(table: &Observations, question: &Question) -> Option<(Observations, Settling)> {
    let found = if question.options.visits == Visits::All { settling(table) } else { None }?;
    let mut rest = table.clone();
    rest.exclude_rounds(&found.unsettled(&table.placements()));
    Some((rest, found))
}

/// Adds the finding, and what is left to settle to the intervals.
pub(super) fn tell_settling(found: &mut Assessment, settling: &Settling) {
    let &Settling { rounds, of, first_factor, left } = settling;
    if rounds <= FEW && left == 0.0 {
        return;
    }
    let severity = if left > 0.0 { Severity::Warning } else { Severity::Note };
    let finding = Finding::new(severity, FindingKind::Settles { rounds, of, first_factor, left_percent: 100.0 * left });
    for series in &mut found.series {
        series.bound_by(FURTHER * left, Source::Neighbour);
        series.add(finding.clone());
    }
}
