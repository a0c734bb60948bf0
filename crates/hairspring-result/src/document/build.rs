//! Makes the document of a measurement.

use super::figure::{Figure, Scale, finite};
use super::{
    BudgetEntry, Comparison, Component, Fit, LackOfFit, Method, MethodTable, ResultDocument,
    ResultSchema, Row, Series, Stage,
};
use crate::identity::code_hash;
use crate::measurement::{Measurement, Subject};
use hairspring_core::Estimate;
use hairspring_core::estimate::{self, Contribution, RowFit, Solution};
use hairspring_core::judge::methods::MethodTable as Methods;
use hairspring_core::judge::{ComponentResult, Finding, Looks, Outcome, SeriesResult, Verdict};
use hairspring_core::named::Named;

/// Largest number of counts for which the rows are listed.
const MOST_COUNTS: usize = 200_000;
/// Why two series have no ratio.
const NO_RATIO: &str = "too few rounds in common, or the first time is not above zero";

impl ResultDocument {
    /// The document of a measurement.
    pub fn new(measurement: &Measurement) -> ResultDocument {
        let (entries, scale) = (entries(measurement), Scale(measurement.ns_per_unit));
        ResultDocument {
            schema: ResultSchema::V2,
            command: measurement.command.clone(),
            origin: None,
            environment: measurement
                .environment
                .clone()
                .with_core_clock(measurement.assessment.core_hz.as_ref()),
            results: entries.iter().map(|entry| series(entry, measurement, scale)).collect(),
            comparisons: comparisons(measurement),
            baseline: None,
            complexity: Vec::new(),
            throughput: Vec::new(),
            expectation: None,
            methods: measurement.methods.iter().map(|table| methods(table, scale)).collect(),
            run: measurement.run.clone(),
        }
        .judged()
    }
}

/// A series with its subject and findings.
struct Entry<'a> {
    result: &'a SeriesResult,
    subject: Option<&'a Subject>,
    /// Findings of the assessment and of the subject, most severe first.
    findings: Vec<&'a Finding>,
}

impl Entry<'_> {
    /// Error budget of a component in the unit that its time is shown in.
    fn budget(&self, at: usize) -> &[Contribution] {
        match &self.result.components[at].time.ns {
            Some(ns) => &ns.budget,
            None => self
                .result
                .solution
                .components
                .get(at)
                .map_or(&[], |component| &component.uncertain.budget),
        }
    }
}

fn entries(measurement: &Measurement) -> Vec<Entry<'_>> {
    let entry = |result| {
        let result: &SeriesResult = result;
        let subject = measurement.subjects.iter().find(|subject| subject.name == result.name);
        let own = subject.map_or(&[][..], |subject| &subject.findings);
        let mut findings: Vec<&Finding> = result.findings.iter().chain(own).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        Entry { result, subject, findings }
    };
    measurement.assessment.series.iter().map(entry).collect()
}

/// The confidence level of all intervals.
fn level(measurement: &Measurement) -> f64 {
    let mut components = measurement.assessment.series.iter().flat_map(|series| &series.components);
    components.next().map_or(0.95, |component| component.time.ticks.level)
}

/// Columns of the counts that are not zero in every row.
fn present_columns(rows: &[RowFit]) -> Vec<usize> {
    let width = rows.first().map_or(0, |row| row.counts.len());
    (0..width).filter(|at| rows.iter().any(|row| row.counts[*at] != 0.0)).collect()
}

fn series(entry: &Entry, measurement: &Measurement, scale: Scale) -> Series {
    let (result, level, reason) =
        (entry.result, level(measurement), measurement.environment.no_cycles());
    let (mut components, mut budget) = (Named::new(), Named::new());
    let code = entry.subject.and_then(|subject| subject.code.as_ref());
    for (at, part) in result.components.iter().enumerate() {
        let name = free_name(&part.name, &components);
        budget.insert(name.clone(), part_budget(entry.budget(at), part.time.ns.is_some(), level));
        components.insert(name, component(part, entry, at, level, &reason, scale));
    }
    Series {
        name: result.name.clone(),
        code: code.cloned(),
        measures: None,
        code_hash: code.map(|code| code_hash(code)),
        bytes_per_copy: entry.subject.and_then(|subject| subject.bytes_per_copy).and_then(finite),
        disassembly: entry
            .subject
            .map(|subject| subject.disassembly.clone())
            .filter(|lines| !lines.is_empty()),
        components,
        overhead: result.overhead.as_ref().map(|time| Figure::new(time, level, &reason)),
        overhead_reason: result
            .overhead
            .is_none()
            .then(|| "the counts cannot separate it from a component".to_owned()),
        fit: fit(&result.solution, scale),
        budget,
        stages: result.stages.iter().map(Stage::from).collect(),
        findings: entry.findings.iter().map(|finding| (*finding).clone()).collect(),
        trusted: true,
    }
    .judged()
}

/// The name, with a number appended if it is taken.
fn free_name(name: &str, taken: &Named<Component>) -> String {
    let mut candidates =
        std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name} ({n})")));
    candidates.find(|candidate| !taken.contains_key(candidate)).unwrap_or_default()
}

fn component(
    part: &ComponentResult,
    entry: &Entry,
    at: usize,
    level: f64,
    reason: &str,
    scale: Scale,
) -> Component {
    let subject = entry.subject.filter(|_| at == 0);
    let (row_influence_ns, row_influence_ticks) = scale.split(part.row_influence);
    Component {
        figure: Figure::new(&part.time, level, reason),
        trusted: true,
        serves: part.serves,
        mode: subject.and_then(|subject| subject.mode),
        mode_reason: subject
            .map(|subject| subject.mode_reason.clone())
            .filter(|reason| !reason.is_empty()),
        row_influence_ns,
        row_influence_ticks,
        runs: None,
    }
}

/// The error budget of a time, for a document.
pub fn part_budget(entries: &[Contribution], in_ns: bool, level: f64) -> Vec<BudgetEntry> {
    let line = |entry: &Contribution| {
        let half = Some(finite(entry.half_width(level)));
        BudgetEntry {
            source: entry.source,
            half_width_ns: half.filter(|_| in_ns),
            half_width_ticks: half.filter(|_| !in_ns),
        }
    };
    entries.iter().map(line).collect()
}

impl From<&Outcome> for Stage {
    fn from(outcome: &Outcome) -> Stage {
        Stage {
            stage: outcome.stage.to_owned(),
            question: outcome.question.to_owned(),
            did: outcome.did.clone(),
            acted: outcome.acted,
            left_out: outcome.left_out,
            moved_percent: finite(100.0 * outcome.moved),
            widened_percent: finite(100.0 * outcome.widened),
        }
    }
}

fn fit(solution: &Solution, scale: Scale) -> Fit {
    let (rows, left_out) = solution.rows_used();
    let (residual_ns, residual_ticks) = scale.split(solution.residual_sd);
    let present = present_columns(&solution.rows);
    let listed =
        solution.rows.len() * present.len().max(1) <= MOST_COUNTS && !solution.rows.is_empty();
    let columns = if listed && present.len() + 1 == solution.columns.len() {
        solution.columns[..present.len()].to_vec()
    } else {
        Vec::new()
    };
    let detail = if listed {
        solution.rows.iter().map(|row| row_json(row, &present, scale)).collect()
    } else {
        Vec::new()
    };
    Fit {
        rows,
        left_out,
        rank: solution.rank.pivots.len(),
        unknowns: solution.columns.len(),
        lack_of_fit: solution.lack_of_fit.as_ref().map(|lack| lack_of_fit(lack, scale)),
        lack_of_fit_reason: solution
            .lack_of_fit
            .is_none()
            .then(|| "too few rows, repeats or readings to check the line".to_owned()),
        residual_ns,
        residual_ticks,
        readings: solution.readings,
        readings_used: solution.readings_used,
        columns,
        rows_detail: detail,
        rows_detail_reason: (!listed).then(|| "there are too many rows to list".to_owned()),
    }
}

fn lack_of_fit(lack: &estimate::LackOfFit, scale: Scale) -> LackOfFit {
    let (departure_ns, departure_ticks) = scale.split(lack.sd);
    LackOfFit { f: finite(lack.f), dof: lack.dof, p: finite(lack.p), departure_ns, departure_ticks }
}

fn row_json(row: &RowFit, present: &[usize], scale: Scale) -> Row {
    let (location_ns, location_ticks) = scale.split(row.location);
    let (sd_ns, sd_ticks) = scale.split(row.sd.unwrap_or(f64::NAN));
    let (residual_ns, residual_ticks) = scale.split(row.residual);
    Row {
        counts: present.iter().map(|at| row.counts[*at]).collect(),
        readings: row.readings,
        used: row.used,
        location_ns,
        location_ticks,
        sd_ns,
        sd_ticks,
        residual_ns,
        residual_ticks,
        left_out: row.left_out,
    }
}

fn comparisons(measurement: &Measurement) -> Vec<Comparison> {
    let Some((first, others)) = measurement.assessment.series.split_first() else {
        return Vec::new();
    };
    let compare = |a: &String| {
        let comparison =
            measurement.assessment.comparisons.iter().find(|comparison| comparison.a == *a);
        let ratio = comparison.and_then(|comparison| comparison.ratio.if_finite());
        Comparison {
            a: a.clone(),
            b: first.name.clone(),
            ratio,
            at_every_look: ratio.map(|ratio| Looks::Every.interval(&ratio)),
            ratio_reason: ratio.is_none().then(|| NO_RATIO.to_owned()),
            verdict: comparison.map_or(Verdict::Undecided, |comparison| comparison.verdict),
        }
    };
    others.iter().map(|series| compare(&series.name)).collect()
}

fn methods(table: &Methods, scale: Scale) -> MethodTable {
    let rows = table.rows.iter().map(|row| {
        let e: Option<Estimate> = row.value.scaled(scale.0.unwrap_or(1.0)).if_finite();
        let (sd_ns, sd_ticks) = scale.split(row.sd);
        Method {
            technique: row.technique.clone(),
            time_ns: scale.0.is_some().then_some(e),
            ticks: scale.0.is_none().then_some(e),
            sd_ns,
            sd_ticks,
            distance_percent: finite(row.distance_percent),
        }
    });
    MethodTable { name: table.subject.clone(), rows: rows.collect() }
}
