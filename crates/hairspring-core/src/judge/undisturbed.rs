//! The assessment from undisturbed readings: whether it may replace that from all readings, and what it says about the neighbour.

use super::assessment::{Assessment, ComponentResult, Question, SeriesResult, assess_by, sort};
use super::solver::Solver;
use super::{Finding, FindingKind, Severity};
use crate::estimate::{Options, Source};
use crate::observations::Observations;

/// A time from undisturbed readings may be below that from all readings by this many times the excess of the control chains,
/// and by this share. A larger distance means that the time of the code itself varies, and that its short cases were taken
/// for undisturbed readings.
const MOST_BELOW: (f64, f64) = (3.0, 0.01);
/// A time from undisturbed readings may be above that from all readings by this share.
const MOST_ABOVE: f64 = 0.005;

/// A time from the undisturbed readings of a calm core may differ from that from all readings by this share ...
const MOST_OFF: f64 = 0.002;
/// ... of which this much needs no bound: times from all readings are off by as much where the core clock steps.
const USUALLY_OFF: f64 = 0.0005;

/// The assessment that replaces the one from all readings, and its solver: of a calm core, or beside a neighbour.
pub(super) fn from_undisturbed<'a>(
    all: &Solver<'a>,
    found: &Assessment,
    table: &Observations,
    question: &Question,
    chains: &Options,
) -> Option<(Assessment, Solver<'a>)> {
    let by = |solver: &Solver| assess_by(solver, table, question, chains, Some(found)).ok();
    let of_calm_core = || {
        let solver = all.calm(chains)?;
        Some((agreeing(by(&solver)?, found, question.options.level)?, solver))
    };
    let beside_neighbour = || {
        let solver = all.undisturbed(chains)?;
        let better = by(&solver).filter(|better| may_replace(better, found, &solver, all.excess()))?;
        Some((with_neighbour(better, found, &solver, all.excess()), solver))
    };
    of_calm_core().or_else(beside_neighbour)
}

/// Whether the assessment from undisturbed readings replaces that from all readings. Whole rounds are
/// chosen by the guards of chains, which the code cannot change, so they need no comparison.
fn may_replace(quiet: &Assessment, all: &Assessment, solver: &Solver, excess: f64) -> bool {
    if solver.leaves_out_rounds() { has_cycles(quiet) } else { is_plausible(quiet, all, excess) }
}

/// Whether the undisturbed readings of every series give core cycles, and a time that differs from that of all readings by
/// no more than a neighbour explains.
fn is_plausible(quiet: &Assessment, all: &Assessment, excess: f64) -> bool {
    if !has_cycles(quiet) {
        return false;
    }
    let body = |series: &SeriesResult| series.components.first().map(|body| body.time.ticks.value);
    quiet.series.iter().zip(&all.series).all(|(quiet, all)| {
        let (Some(quiet), Some(all)) = (body(quiet), body(all)) else { return false };
        let longer = all / quiet - 1.0;
        longer > -MOST_ABOVE && longer < MOST_BELOW.0 * excess + MOST_BELOW.1
    })
}

fn has_cycles(found: &Assessment) -> bool {
    found.series.iter().flat_map(|series| &series.components).all(|component| component.time.cycles.is_some())
}

/// The assessment from the undisturbed readings of a calm core, if every time lies within the interval of the one from all readings.
/// What it differs by is a bound, beyond a usual difference: the readings that are left out may be short cases of the code.
fn agreeing(mut calm: Assessment, all: &Assessment, level: f64) -> Option<Assessment> {
    for (series, all) in calm.series.iter_mut().zip(&all.series) {
        if series.components.len() != all.components.len() {
            return None;
        }
        for (component, all) in series.components.iter_mut().zip(&all.components) {
            let off = difference(component, all, level)?;
            component.time.bound_by((off - USUALLY_OFF).max(0.0), Source::Neighbour);
        }
        keep_clock_steps(series, all);
    }
    Some(calm)
}

/// The difference of a time from the same from all readings, as a share; `None` if it is too large.
fn difference(component: &ComponentResult, all: &ComponentResult, level: f64) -> Option<f64> {
    let cycles = |component: &ComponentResult| component.time.cycles.as_ref().map(|cycles| cycles.estimate(level));
    let (value, all) = (cycles(component)?.value, cycles(all)?);
    let off = (value / all.value - 1.0).abs();
    (all.contains(value) && off <= MOST_OFF).then_some(off)
}

/// Adds the finding about the neighbour.
fn with_neighbour(mut quiet: Assessment, all: &Assessment, solver: &Solver, excess: f64) -> Assessment {
    let kind = FindingKind::Neighbour { quiet_percent: solver.quiet_share().map(|share| 100.0 * share), excess_percent: 100.0 * excess };
    let neighbour = Finding::new(Severity::Note, kind);
    for (series, all) in quiet.series.iter_mut().zip(&all.series) {
        series.findings.push(neighbour.clone());
        keep_clock_steps(series, all);
    }
    quiet
}

/// Takes the finding about steps of the core clock from all readings, because the undisturbed ones are converted to its mean.
fn keep_clock_steps(series: &mut SeriesResult, all: &SeriesResult) {
    let is_stepped = |finding: &&Finding| finding.is(super::code::FREQUENCY_STEPPED);
    series.findings.retain(|finding| !is_stepped(&finding));
    series.findings.extend(all.findings.iter().filter(is_stepped).cloned());
    sort(&mut series.findings);
}
