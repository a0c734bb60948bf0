//! When a measurement may end: the intervals are narrow enough, and nothing else used the core.

use super::{Assessment, Question, assess, code, flag_shared_rounds};
use crate::estimate::{Options, Source};
use crate::observations::Observations;

/// Whether the half-width of every body and every ratio is at most `precision` times its value. Flags the rounds in which
/// something else used the core first. Costs as much as an assessment.
pub fn precise_enough(table: &mut Observations, level: f64, precision: f64) -> bool {
    let options = Options { level, ..Options::default() };
    flag_shared_rounds(table, &options);
    assess(table, &Question { options, ..Question::default() })
        .is_ok_and(|found| alone_on_the_core(&found) && widest(&found, level) <= precision)
}

fn alone_on_the_core(found: &Assessment) -> bool {
    let mut findings = found.series.iter().flat_map(|series| &series.findings);
    !findings.any(|finding| finding.is(code::CORE_SHARED))
}

/// Largest relative half-width of the bodies and of the ratios. Leaves out what a fence hides: a longer run does not
/// reduce it.
fn widest(found: &Assessment, level: f64) -> f64 {
    let bodies = found.series.iter().filter_map(|series| series.components.first()).map(|body| {
        body.time.cycles.as_ref().map_or(body.time.ticks.relative(), |cycles| cycles.without(Source::Fence).estimate(level).relative())
    });
    bodies.chain(found.comparisons.iter().map(|comparison| comparison.ratio.relative())).fold(0.0, f64::max)
}
