//! Code that is slow at times by its own doing: the question with its slow evaluations, and what is said of them.

use super::assessment::{Assessment, Question};
use super::{Finding, FindingKind, Severity};
use crate::estimate::{Options, Slow, Source, Visits, slow_evaluations};
use crate::observations::Observations;

/// The slow evaluations of a table. None where the readings of a row were taken one after the other: what slows the core slows all of them, and
/// those that are left out are told by each other.
pub(super) fn slow(table: &Observations, question: &Question) -> Vec<Slow> {
    if question.options.visits == Visits::All { slow_evaluations(table) } else { Vec::new() }
}

/// The question, with the readings of slow evaluations.
pub(super) fn with_slow(question: &Question, slow: &[Slow]) -> Question {
    let slow_evaluations = slow.iter().filter(|slow| slow.counts).map(|slow| slow.series).collect();
    Question { options: Options { slow_evaluations, ..question.options.clone() }, ..question.clone() }
}

/// What was left out is told if it may make the time longer by this share, and is a warning from the second one on.
const TOLD: [f64; 2] = [0.01, 0.05];

/// Adds the finding of slow evaluations to the series of this name. Widens its interval by those that were left out and may be its own.
pub(super) fn tell_slow(found: &mut Assessment, name: &str, slow: &Slow) {
    let (share_percent, longer_percent) = (100.0 * slow.share, 100.0 * slow.longer);
    for series in found.series.iter_mut().filter(|series| series.name == name) {
        if slow.counts {
            series.add(Finding::new(Severity::Warning, FindingKind::SlowEvaluations { share_percent, longer_percent }));
            continue;
        }
        series.bound_by(slow.longer, Source::Neighbour);
        if slow.longer > TOLD[0] {
            let severity = if slow.longer > TOLD[1] { Severity::Warning } else { Severity::Note };
            series.add(Finding::new(severity, FindingKind::SlowLeftOut { share_percent, longer_percent }));
        }
    }
}
