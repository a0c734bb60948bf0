//! The steps of all series of a history, as a document.

mod entry;
mod kinds;
mod select;

pub use kinds::HistoryFinding;
pub use select::{Chosen, Wanted, choose};

use crate::change::{Found, Input, Options, find};
use crate::document::{Counts, HistoryDocument, HistorySchema, SeriesEntry};
use crate::order::Ordered;
use crate::store::{Run, Store, StoreError};
use hairspring_core::judge::{Finding, Severity};
use std::collections::BTreeSet;

/// How a history is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// The verb.
    pub command: String,
    /// The file.
    pub database: String,
    /// How steps are looked for.
    pub options: Options,
    /// Steps for the worse up to this share are within the limit.
    pub threshold: f64,
    /// A step is new if its level has at most so many points.
    pub new_points: usize,
    /// Whether the points are in the document.
    pub with_points: bool,
    /// Which series are shown. All are looked at.
    pub wanted: Wanted,
}

/// Judges a history whose runs are in this order.
///
/// # Errors
/// It cannot be read.
pub fn judge(
    store: &dyn Store,
    runs: &[Run],
    order: &Ordered,
    terms: &Terms,
) -> Result<HistoryDocument, StoreError> {
    let chosen = choose(&store.series()?, &store.points()?, runs, &order.order);
    let inputs: Vec<Input> = chosen.iter().map(Chosen::input).collect();
    let found = find(&inputs, &terms.options);
    drop(inputs);
    let series = entries(&chosen, &found, runs, terms);
    let findings = findings(&series, &chosen, order);
    let counts = counts(&series);
    Ok(HistoryDocument {
        schema: HistorySchema::V1,
        command: terms.command.clone(),
        identity: None,
        database: terms.database.clone(),
        runs: runs.len(),
        commits: commits(runs),
        level: terms.options.level,
        false_discoveries_percent: 100.0 * terms.options.false_discoveries,
        threshold_percent: 100.0 * terms.threshold,
        new_points: terms.new_points,
        counts,
        series: shown(series, &chosen, terms),
        findings,
    })
}

fn commits(runs: &[Run]) -> usize {
    runs.iter().filter_map(|run| run.commit.as_deref()).collect::<BTreeSet<_>>().len()
}

fn entries(chosen: &[Chosen], found: &[Found], runs: &[Run], terms: &Terms) -> Vec<SeriesEntry> {
    let mut all: Vec<SeriesEntry> = chosen
        .iter()
        .zip(found)
        .map(|(series, found)| entry::entry(series, found, runs, terms))
        .collect();
    entry::name_steps_of_hosts(&mut all, chosen);
    entry::judge_new(&mut all, terms);
    all
}

fn counts(series: &[SeriesEntry]) -> Counts {
    let steps = || series.iter().flat_map(|one| &one.steps);
    Counts {
        series: series.len(),
        steps: steps().count(),
        past: steps().filter(|step| step.past).count(),
        of_host: steps().filter(|step| step.new && step.of_host).count(),
        outside: series.iter().filter(|one| one.last.as_ref().is_some_and(|l| l.outside)).count(),
    }
}

/// The series that are wanted, those with new steps first.
fn shown(series: Vec<SeriesEntry>, chosen: &[Chosen], terms: &Terms) -> Vec<SeriesEntry> {
    let mut shown: Vec<SeriesEntry> = series
        .into_iter()
        .zip(chosen)
        .filter(|(_, chosen)| terms.wanted.takes(chosen))
        .map(|(entry, _)| entry)
        .collect();
    let rank = |one: &SeriesEntry| {
        let any = |test: fn(&crate::document::StepEntry) -> bool| one.steps.iter().any(test);
        (!any(|step| step.past), !any(|step| step.new))
    };
    shown.sort_by_key(rank);
    shown
}

/// Fewest points in which a step can be seen at all.
const FEWEST_POINTS: usize = 4;

fn findings(series: &[SeriesEntry], chosen: &[Chosen], order: &Ordered) -> Vec<Finding> {
    let mut all = Vec::new();
    let mut say = |severity, finding| all.push(Finding::new(severity, finding));
    if order.unknown > 0 {
        say(Severity::Warning, HistoryFinding::CommitsUnknown { runs: order.unknown });
    }
    if order.without > 0 {
        say(Severity::Note, HistoryFinding::RunsWithoutCommit { runs: order.without });
    }
    let short = chosen.iter().filter(|one| one.points.len() < FEWEST_POINTS).count();
    if short > 0 {
        let fewest = FEWEST_POINTS;
        say(Severity::Note, HistoryFinding::FewPoints { series: short, fewest });
    }
    let odd: usize = series.iter().map(|one| one.odd.len()).sum();
    if odd > 0 {
        say(Severity::Note, HistoryFinding::OddPoints { points: odd });
    }
    let unused: usize = series.iter().map(|one| one.unused).sum();
    if unused > 0 {
        say(Severity::Note, HistoryFinding::PointsUnused { points: unused });
    }
    all
}

#[cfg(test)]
mod tests;
