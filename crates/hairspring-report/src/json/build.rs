//! From a document to its JSON.

use super::environment::{environment, no_cycles};
use super::figure::{E, Figure, Scale, finite};
use super::result::{
    BudgetJson, ComparisonJson, ComponentJson, FitJson, LackOfFitJson, MethodJson, MethodTableJson, ResultDocument, ResultSchema, RowJson,
    RunJson, SeriesJson,
};
use super::words::VerdictWord;
use crate::document::{Document, Entry, MethodTable, NO_RATIO, Run};
use hairspring_engine::estimate::{Contribution, LackOfFit, RowFit, Solution};
use hairspring_engine::judge::ComponentResult;
use indexmap::IndexMap;

/// Counts in the rows' detail, above which the rows are not listed.
const MOST_COUNTS: usize = 200_000;

/// The JSON document of a measurement.
pub fn result(document: &Document) -> ResultDocument {
    let (entries, scale) = (document.entries(), Scale(document.ns_per_unit));
    ResultDocument {
        schema: ResultSchema::V1,
        command: document.command.clone(),
        environment: environment(&document.environment, document.assessment.core_hz.as_ref()),
        results: entries.iter().map(|entry| series(entry, document, scale)).collect(),
        comparisons: comparisons(document),
        baseline: None,
        methods: document.methods.iter().map(|table| methods(table, scale)).collect(),
        run: document.run.as_ref().map(run),
    }
}

/// Several documents of one run as one: results and comparisons one after the other, circumstances of the first. `None`
/// where there is none.
pub fn joined(documents: impl IntoIterator<Item = ResultDocument>) -> Option<ResultDocument> {
    documents.into_iter().reduce(|mut all, one| {
        all.results.extend(one.results);
        all.comparisons.extend(one.comparisons);
        all.methods.extend(one.methods);
        all.run = joined_runs(all.run, one.run);
        all
    })
}

/// Rounds and times together; why they ended, where all ended alike.
pub(super) fn joined_runs(all: Option<RunJson>, one: Option<RunJson>) -> Option<RunJson> {
    let (Some(all), Some(one)) = (&all, &one) else { return all.or(one) };
    let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    Some(RunJson {
        rounds: all.rounds.saturating_add(one.rounds),
        measured_ms: sum(all.measured_ms, one.measured_ms),
        elapsed_ms: sum(all.elapsed_ms, one.elapsed_ms),
        stop: if all.stop == one.stop { all.stop.clone() } else { "differs from benchmark to benchmark".to_owned() },
        stolen_ms: sum(all.stolen_ms, one.stolen_ms),
        processes: all.processes,
    })
}

fn series(entry: &Entry, document: &Document, scale: Scale) -> SeriesJson {
    let (result, level, reason) = (entry.result, document.level(), no_cycles(&document.environment));
    let (mut components, mut budget) = (IndexMap::new(), IndexMap::new());
    for (at, part) in result.components.iter().enumerate() {
        let name = free_name(&part.name, &components);
        budget.insert(name.clone(), part_budget(entry.budget(at), part.time.ns.is_some(), level));
        components.insert(name, component(part, entry, at, (level, &reason, scale)));
    }
    SeriesJson {
        name: result.name.clone(),
        code: entry.subject.and_then(|subject| subject.code.clone()),
        bytes_per_copy: entry.subject.and_then(|subject| subject.bytes_per_copy).and_then(finite),
        disassembly: entry.subject.map(|subject| subject.disassembly.clone()).filter(|lines| !lines.is_empty()),
        components,
        overhead: result.overhead.as_ref().map(|time| Figure::of(time, level, &reason)),
        overhead_reason: result.overhead.is_none().then(|| "the counts do not tell it from a component".to_owned()),
        fit: fit(&result.solution, scale),
        budget,
        findings: entry.findings.iter().map(|finding| (*finding).into()).collect(),
    }
}

/// The name, with a number behind it where it stands there already.
fn free_name(name: &str, taken: &IndexMap<String, ComponentJson>) -> String {
    let mut candidates = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} ({n})")));
    candidates.find(|candidate| !taken.contains_key(candidate)).unwrap_or_default()
}

fn component(part: &ComponentResult, entry: &Entry, at: usize, (level, reason, scale): (f64, &str, Scale)) -> ComponentJson {
    let subject = entry.subject.filter(|_| at == 0);
    let (row_influence_ns, row_influence_ticks) = scale.split(part.row_influence);
    ComponentJson {
        figure: Figure::of(&part.time, level, reason),
        mode: subject.and_then(|subject| subject.mode),
        mode_reason: subject.map(|subject| subject.mode_reason.clone()).filter(|reason| !reason.is_empty()),
        row_influence_ns,
        row_influence_ticks,
        runs: None,
    }
}

pub(super) fn part_budget(entries: &[Contribution], in_ns: bool, level: f64) -> Vec<BudgetJson> {
    let line = |entry: &Contribution| {
        let half = Some(finite(entry.half_width(level)));
        BudgetJson { source: entry.source.into(), half_width_ns: half.filter(|_| in_ns), half_width_ticks: half.filter(|_| !in_ns) }
    };
    entries.iter().map(line).collect()
}

fn fit(solution: &Solution, scale: Scale) -> FitJson {
    let (rows, left_out) = solution.rows_used();
    let (residual_ns, residual_ticks) = scale.split(solution.residual_sd);
    let present = crate::plot::present_columns(&solution.rows);
    let listed = solution.rows.len() * present.len().max(1) <= MOST_COUNTS && !solution.rows.is_empty();
    let columns =
        if listed && present.len() + 1 == solution.columns.len() { solution.columns[..present.len()].to_vec() } else { Vec::new() };
    let detail = if listed { solution.rows.iter().map(|row| row_json(row, &present, scale)).collect() } else { Vec::new() };
    FitJson {
        rows,
        left_out,
        rank: solution.rank.pivots.len(),
        unknowns: solution.columns.len(),
        lack_of_fit: solution.lack_of_fit.as_ref().map(|lack| lack_of_fit(lack, scale)),
        lack_of_fit_reason: solution.lack_of_fit.is_none().then(|| "too few rows, repeats or readings to check the line".to_owned()),
        residual_ns,
        residual_ticks,
        readings: solution.readings,
        readings_used: solution.readings_used,
        columns,
        rows_detail: detail,
        rows_detail_reason: (!listed).then(|| "there are too many rows to list".to_owned()),
    }
}

fn lack_of_fit(lack: &LackOfFit, scale: Scale) -> LackOfFitJson {
    let (departure_ns, departure_ticks) = scale.split(lack.sd);
    LackOfFitJson { f: finite(lack.f), dof: lack.dof, p: finite(lack.p), departure_ns, departure_ticks }
}

fn row_json(row: &RowFit, present: &[usize], scale: Scale) -> RowJson {
    let (location_ns, location_ticks) = scale.split(row.location);
    let (sd_ns, sd_ticks) = scale.split(row.sd.unwrap_or(f64::NAN));
    let (residual_ns, residual_ticks) = scale.split(row.residual);
    RowJson {
        counts: present.iter().map(|at| row.counts[*at]).collect(),
        readings: row.readings,
        used: row.used,
        location_ns,
        location_ticks,
        sd_ns,
        sd_ticks,
        residual_ns,
        residual_ticks,
        left_out: row.left_out.map(Into::into),
    }
}

fn comparisons(document: &Document) -> Vec<ComparisonJson> {
    let Some((first, others)) = document.assessment.series.split_first() else { return Vec::new() };
    let compare = |a: &String| {
        let found = document.comparison(a);
        let ratio = found.and_then(|comparison| E::of(&comparison.ratio));
        ComparisonJson {
            a: a.clone(),
            b: first.name.clone(),
            ratio,
            ratio_reason: ratio.is_none().then(|| NO_RATIO.to_owned()),
            verdict: found.map_or(VerdictWord::Undecided, |comparison| comparison.verdict.into()),
        }
    };
    others.iter().map(|series| compare(&series.name)).collect()
}

fn methods(table: &MethodTable, scale: Scale) -> MethodTableJson {
    let rows = table.rows.iter().map(|row| {
        let e = E::of(&row.value.scaled(scale.0.unwrap_or(1.0)));
        let (sd_ns, sd_ticks) = scale.split(row.sd);
        MethodJson {
            technique: row.technique.clone(),
            time_ns: scale.0.is_some().then_some(e),
            ticks: scale.0.is_none().then_some(e),
            sd_ns,
            sd_ticks,
            distance_percent: finite(row.distance_percent),
        }
    });
    MethodTableJson { name: table.subject.clone(), rows: rows.collect() }
}

fn run(run: &Run) -> RunJson {
    RunJson {
        rounds: run.rounds,
        measured_ms: finite(run.measured_ms),
        elapsed_ms: finite(run.elapsed_ms),
        stop: run.stop.clone(),
        stolen_ms: run.stolen_ms.and_then(finite),
        processes: None,
    }
}
