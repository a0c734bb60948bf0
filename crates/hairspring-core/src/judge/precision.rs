//! When a measurement may end: the intervals are narrow enough, and nothing else used the core. A finding says where they are not.

use super::assessment::{ComponentResult, SeriesResult};
use super::checks::WIDE;
use super::comparison::NARROW;
use super::{
    Assessment, Context, Finding, FindingKind, Question, Severity, Verdict, assess, below_finding, code, flag_shared_rounds,
    precision_finding, wide_finding,
};
use crate::estimate::{Options, Quiet, Source};
use crate::observations::Observations;

/// The differences between placements make an interval wide if they alone would make it this share as wide.
const MOSTLY: f64 = 0.7;
/// A ratio whose interval is wider than a verdict needs, but by this factor at most, is worth more rounds: what is left to chance shrinks with
/// their square root. A factor of 2.5 was too little behind a slow compiler: the first 100 ms of equal sorts beside a busy process give a
/// half-width of 7 to 10 %, and another second decides.
const IN_REACH: f64 = 5.0;

/// What further rounds would be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The half-width of every body and every ratio is at most the requested share of its value.
    Precise,
    /// Some interval is too wide, or the table cannot be solved yet.
    Wide,
    /// Some interval is so wide that it gets a finding, because the time of the code differs from placement to placement, or the code has
    /// not settled at the end of a placement. More and longer placements make it narrower.
    Varied,
    /// It is not decided whether two alternatives differ, and more rounds may decide it.
    Undecided,
    /// Something else uses the core, and there are too few undisturbed readings.
    Disturbed,
}

/// Whether the half-width of every body and every ratio is at most `precision` times its value, and what hinders it. Flags the
/// rounds in which something else used the core first. Costs as much as an assessment.
pub fn progress(table: &mut Observations, level: f64, precision: f64) -> Progress {
    let options = Options { level, ..Options::default() };
    flag_shared_rounds(table, &options);
    let Ok(found) = assess(table, &Question { options, ..Question::default() }) else { return Progress::Wide };
    let is_precise = widest(&found, level) <= precision;
    let has = |kind: &str| found.series.iter().flat_map(|series| &series.findings).any(|finding| finding.is(kind));
    if has(code::CORE_SHARED) || !is_precise && has(code::NEIGHBOUR) {
        Progress::Disturbed
    } else if is_precise {
        Progress::Precise
    } else if is_varied(&found, level) || is_unsettled(&found) {
        Progress::Varied
    } else if is_undecided(&found) {
        Progress::Undecided
    } else {
        Progress::Wide
    }
}

/// Whether a body's interval is wide, and mostly for the differences between placements.
fn is_varied(found: &Assessment, level: f64) -> bool {
    let bodies = found.series.iter().filter_map(|series| series.components.first());
    let mut times = bodies.filter_map(|body| body.time.cycles.as_ref().or(body.time.ns.as_ref()));
    times.any(|time| {
        let estimate = time.estimate(level);
        estimate.relative() > WIDE[0] && time.part(Source::Placement, level) > MOSTLY * estimate.half_width()
    })
}

/// Whether the code still becomes faster at the end of the placements.
fn is_unsettled(found: &Assessment) -> bool {
    let mut findings = found.series.iter().flat_map(|series| &series.findings);
    findings.any(|finding| finding.is(code::SETTLES) && finding.severity > Severity::Note)
}

/// Whether a verdict is missing for an interval that is too wide, and more rounds may make it narrow enough.
fn is_undecided(found: &Assessment) -> bool {
    let mut open = found.comparisons.iter().filter(|comparison| comparison.verdict == Verdict::Undecided);
    open.any(|comparison| comparison.ratio.half_width() <= IN_REACH * NARROW)
}

/// The same after rounds that were added to a table with the progress `before`. Where guards show that the core is still in use most
/// of the time, it says so at a tenth of the cost: without assessment, and without flags.
pub fn progress_since(before: Progress, table: &mut Observations, level: f64, precision: f64) -> Progress {
    let is_hopeless = before == Progress::Disturbed && Quiet::by_reference(table).is_some_and(|quiet| quiet.is_never());
    if is_hopeless { before } else { progress(table, level, precision) }
}

/// Largest relative half-width of the bodies and of the ratios. Leaves out what a fence hides: a longer run does not
/// reduce it.
fn widest(found: &Assessment, level: f64) -> f64 {
    let bodies = found.series.iter().filter_map(|series| series.components.first()).map(|body| {
        body.time.cycles.as_ref().map_or(body.time.ticks.relative(), |cycles| cycles.without(Source::Fence).estimate(level).relative())
    });
    bodies.chain(found.comparisons.iter().map(|comparison| comparison.ratio.relative())).fold(0.0, f64::max)
}

/// Sets the findings about the widths of a series' intervals and about its bounds, which are now known with all of their parts.
pub(super) fn tell_widths(series: &mut SeriesResult, question: &Question, context: &Context) {
    let level = question.options.level;
    series.findings.retain(|finding| !finding.is(code::WIDE_INTERVAL) && !finding.is(code::BELOW_RESOLUTION));
    let wide = series.components.iter().filter_map(|component| wide_finding(&component.name, &component.time.judged(level)));
    let below =
        series.components.iter().filter_map(|component| Some(below_finding(&component.name, component.time.bound?.shown, context.unit)));
    let all: Vec<Finding> = wide.chain(below).chain(missed_precision(&series.components, question)).collect();
    all.into_iter().for_each(|finding| series.add(finding));
}

/// A finding if the requested precision was missed.
fn missed_precision(components: &[ComponentResult], question: &Question) -> Option<Finding> {
    let body = components.first()?;
    let time = &body.time;
    let judged = time.judged(question.options.level);
    let fence = time.cycles.as_ref().map_or(0.0, |cycles| cycles.part(Source::Fence, question.options.level));
    let missed = precision_finding(&body.name, &judged, question.precision?)?;
    // A longer run does not reduce what a fence hides.
    let kind = FindingKind::FenceHides { cycles: 2.0 * fence };
    Some(if fence > judged.half_width() / 2.0 { Finding::new(Severity::Warning, kind) } else { missed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{CALM, Core, STALLS};
    use rand::{Rng, SeedableRng};

    const LEVEL: f64 = 0.95;

    fn is_never_quiet(table: &Observations) -> bool {
        Quiet::from_table(table, "reference", 3.0).unwrap().is_never()
    }

    #[test]
    fn rounds_go_on_while_a_core_is_never_quiet_and_end_once_it_is() {
        // The neighbour hardly ever stalls.
        let mut taken = Core { stalls: (300.0, 9_000.0), ..STALLS }.table(1.0, 1);
        assert!(is_never_quiet(&taken) && !is_never_quiet(&STALLS.table(1.0, 1)));
        for before in [Progress::Wide, Progress::Disturbed] {
            assert_eq!(progress_since(before, &mut taken, LEVEL, 0.005), Progress::Disturbed);
            assert_eq!(progress_since(before, &mut CALM.table(1.0, 1), LEVEL, 0.005), Progress::Precise);
        }
    }

    /// Two equal alternatives of 100 ticks whose readings scatter by up to this share of their own time.
    fn alternatives(scatter: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(7);
        let rows: Vec<(u32, f64)> = ["a", "b"]
            .iter()
            .flat_map(|name| {
                let series = table.series(name);
                [1.0, 2.0, 4.0, 8.0].map(|copies| (table.row(series, &[copies]), 100.0 * copies + 60.0))
            })
            .collect();
        for round in 0..400 {
            for (row, ticks) in &rows {
                table.push(*row, round, ticks * (1.0 + scatter * (random.random::<f64>() - 0.5)));
            }
        }
        table
    }

    #[test]
    fn verdict_that_is_nearly_decided_is_worth_more_rounds() {
        let mut seen = [0; 3];
        for tenth in 1..90 {
            let mut table = alternatives(0.05 * f64::from(tenth));
            let half = assess(&table, &Question::default()).unwrap().comparisons[0].ratio.half_width();
            let found = progress(&mut table, LEVEL, 1e-6);
            let (expected, kind) = match half {
                _ if half <= NARROW => (Progress::Wide, 0),
                _ if half <= IN_REACH * NARROW => (Progress::Undecided, 1),
                _ => (Progress::Wide, 2),
            };
            seen[kind] += 1;
            assert_eq!(found, expected, "{half}");
        }
        assert!(seen.iter().all(|count| *count > 2), "{seen:?}");
    }
}
