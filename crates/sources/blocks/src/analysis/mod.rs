//! Computes the times of the parts from counts and times of rows.

mod by_line;
mod data;
mod kinds;
mod missing;
mod negative;
mod paths;
mod quality;
mod regions;
mod rest;
mod structure;
mod together;

pub use by_line::{At, Line, by_line};
pub use data::depends_on_data;
pub use kinds::BlocksFinding;
pub use missing::{Missing, missing};
pub use negative::family_level;
pub use paths::{Path, paths};
pub use quality::Quality;
pub use regions::{Region, regions};
pub use rest::rest;
pub use structure::{Structure, identical};

use crate::error::Result;
use crate::graph::{Counts, Graph, block_name};
use hairspring_core::estimate::{RowFit, Solution};
use hairspring_core::judge::{Assessment, Finding, Question, SeriesResult, Severity, assess, code};
use hairspring_core::observations::Observations;
use negative::negative;
use std::collections::{HashMap, HashSet};
use together::Calls;

/// Series that holds the function.
pub const SERIES: &str = "function";

/// Name of the column for the functions of known length that measure the overhead.
pub const PAGE_CHAIN: &str = "chain of the page";

/// What is solved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknowns {
    /// The time of every block.
    Blocks,
    /// The time of every block for each edge that leaves it, which may differ between a branch
    /// taken and not taken.
    Edges,
}

/// A row: what ran between two reads of the clock.
#[derive(Debug, Clone, PartialEq)]
pub struct CountRow {
    /// Its counts.
    pub counts: Counts,
    /// The block where it ended early; `None` for a whole call.
    pub until: Option<usize>,
    /// The arrivals that were counted while it ran.
    pub counted: Option<Counted>,
}

/// Arrivals that are counted while a row runs, which takes time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// At this block.
    pub block: usize,
    /// How many there are.
    pub arrivals: u64,
    /// Each is counted twice, so that the row differs from that of the same call by the time of
    /// counting them alone.
    pub twice: bool,
}

impl Counted {
    /// How often something is counted.
    pub fn times(self) -> f64 {
        self.arrivals as f64 * if self.twice { 2.0 } else { 1.0 }
    }
}

impl CountRow {
    /// Whether it is a call as the program makes it.
    pub fn is_whole(&self) -> bool {
        self.until.is_none() && self.counted.is_none()
    }
}

/// Name of the column for the time that counting an arrival at a block takes.
pub fn counter_name(block: usize) -> String {
    format!("counter at {}", block_name(block))
}

/// Whether a column is of what the page runs, not of the function.
fn is_of_page(column: &str) -> bool {
    column == PAGE_CHAIN || column.starts_with("counter at ")
}

impl Unknowns {
    /// Names of the unknowns.
    pub fn names(self, graph: &Graph) -> Vec<String> {
        match self {
            Unknowns::Blocks => (0..graph.blocks.len()).map(block_name).collect(),
            Unknowns::Edges => graph.edges.iter().map(|edge| graph.edge_name(edge)).collect(),
        }
    }

    /// The counts of a row.
    pub fn counts(self, row: &Counts) -> Vec<f64> {
        let counts = match self {
            Unknowns::Blocks => &row.blocks,
            Unknowns::Edges => &row.edges,
        };
        counts.iter().map(|count| *count as f64).collect()
    }
}

/// Where the time of an unknown is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It never ran.
    NeverRan,
    /// It is a single component, of this index.
    Alone(usize),
    /// It always runs as often as others, and their sum is the component of this index.
    With(usize),
    /// Its counts depend on those of others or vary with them, and what they take together is the
    /// component of this index.
    Together(usize),
    /// It is in one or several combinations; the first has this index.
    Combined(usize),
    /// It cannot be told apart from what all calls have in common.
    Common,
}

/// The result of the analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// What was solved for.
    pub unknowns: Unknowns,
    /// Edges whose counts do not follow from those of the blocks: if there are any, blocks do not
    /// suffice.
    pub undetermined: Vec<String>,
    /// The engine's answer.
    pub assessment: Assessment,
    /// How well the parts add up.
    pub quality: Quality,
    /// Where to find each unknown.
    pub places: Vec<Place>,
    /// The first unknown of each component; `None` for the overhead.
    pub leads: Vec<Option<usize>>,
    /// Unknowns that run equally often in every row, by their index.
    pub groups: Vec<Vec<usize>>,
    /// Whether parts are told together with others that come with them: the lead of each component
    /// is its first part.
    pub told_together: bool,
    /// How often each unknown ran, in all whole calls.
    pub totals: Vec<f64>,
    /// Whole calls.
    pub calls: usize,
    /// Mean time of a whole call, in the table's unit, including the overhead.
    pub mean_call: f64,
    /// Times of whole calls by their path.
    pub paths: Vec<Path>,
    /// Coarser parts, if they add up.
    pub regions: Vec<Region>,
    /// Doubts.
    pub findings: Vec<Finding>,
    /// Names of the unknowns.
    pub names: Vec<String>,
    /// Unknowns that can be told apart, with the overhead ...
    pub told_apart: usize,
    /// ... and all of them.
    pub unknown_count: usize,
}

impl Analysis {
    /// The function's series.
    pub fn series(&self) -> &SeriesResult {
        &self.assessment.series[0]
    }

    /// Mean time of a whole call in the table's unit, without the overhead where that is known.
    /// `None` where nothing is left of it.
    pub fn own_call(&self) -> Option<f64> {
        let overhead = self.series().solution.overhead.map_or(0.0, |overhead| overhead.value);
        Some(self.mean_call - overhead).filter(|own| *own > 0.0)
    }

    /// Share of the function's own time in all whole calls that a component takes, as reports show
    /// it: parts that tell everything add up to all of it, however short the calls are. `None`
    /// where [`Analysis::share`] is, and where nothing is left of the calls.
    pub fn own_share(&self, component: usize) -> Option<f64> {
        Some(self.share(component)? * self.mean_call / self.own_call()?)
    }

    /// Share of the time of all whole calls as they were timed, with the overhead, that a component
    /// takes: doubts are as grave as what they are about is large beside what was timed. `None` for
    /// a difference of times, and for a combination whose parts do not run in proportion to their
    /// coefficients: these are not parts of the time.
    pub fn share(&self, component: usize) -> Option<f64> {
        const ABOUT_SHARE: f64 = 0.05;
        let part = &self.series().solution.components[component];
        let runs = self.leads[component].map_or(self.calls as f64, |at| {
            self.runs_together(component).unwrap_or(self.totals[at])
        });
        let fits = |(name, coefficient): &(String, f64)| {
            (self.runs(name) / (coefficient * runs) - 1.0).abs() < ABOUT_SHARE
        };
        let is_part = !part.is_difference() && (self.told_together || part.parts.iter().all(fits));
        is_part.then(|| part.ticks.value * runs / (self.mean_call * self.calls as f64))
    }

    /// How often a component ran whose parts are told together, in the mean of those that are in no
    /// other one: they come with a run of the first part about that often, not exactly.
    fn runs_together(&self, component: usize) -> Option<f64> {
        let all_components = &self.series().solution.components;
        let is_in_others = |name: &str| {
            all_components
                .iter()
                .enumerate()
                .any(|(at, other)| at != component && other.parts.iter().any(|part| part.0 == name))
        };
        let own_parts =
            || all_components[component].parts.iter().filter(|(name, _)| !is_in_others(name));
        let (runs, times): (f64, f64) = own_parts()
            .fold((0.0, 0.0), |sum, (name, times)| (sum.0 + self.runs(name), sum.1 + times));
        (self.told_together && times > 0.0).then(|| runs / times)
    }

    /// How often an unknown ran in all whole calls; the overhead is in each of them.
    fn runs(&self, name: &str) -> f64 {
        self.names
            .iter()
            .position(|known| known == name)
            .map_or(self.calls as f64, |at| self.totals[at])
    }

    /// The size of a component as a share of the time of all whole calls as they were timed,
    /// whatever its sign; of one run in each call where it does not run in proportion to them.
    pub fn size(&self, component: usize) -> f64 {
        let value = self.series().solution.components[component].ticks.value;
        self.share(component).unwrap_or(value / self.mean_call).abs()
    }

    /// Adds a finding, if there is one.
    pub fn doubt(&mut self, finding: Option<Finding>) {
        self.findings.extend(finding);
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    }
}

/// Solves the rows of a table whose components are the unknowns, and judges the solution. The mean
/// time of whole calls is given where they are no rows with readings.
///
/// # Errors
/// Fewer rows than unknowns.
pub fn analyse(
    graph: &Graph,
    structure: &Structure,
    rows: &[CountRow],
    unknowns: Unknowns,
    table: &Observations,
    question: &Question,
    measured_call: Option<f64>,
) -> Result<Analysis> {
    let mut assessment = assess(table, question)?;
    let series = &mut assessment.series[0];
    let (told_apart, unknown_count) = without_page_chain(series);
    let names = unknowns.names(graph);
    let solution = &series.solution;
    let quality = Quality::new(solution, rows.len(), measured_call.is_some());
    let columns: Vec<Vec<f64>> = rows.iter().map(|row| unknowns.counts(&row.counts)).collect();
    let totals = totals(rows, &columns, names.len());
    let mut places = Finder::new(solution).places(&names);
    let whole = rows.iter().filter(|row| row.is_whole()).count();
    let mean_call = measured_call.unwrap_or_else(|| mean_call(solution, rows));
    let groups = identical(&columns);
    let calls = Calls {
        totals: &totals,
        number: whole as f64,
        mean: mean_call,
        in_parts: measured_call.is_some(),
    };
    let told_together = quality.is_carried()
        && tell_together(series, &mut places, (table, rows), &names, &groups, calls, question);
    let solution = &series.solution;
    let mut analysis = Analysis {
        unknowns,
        undetermined: structure.undetermined_names(graph),
        quality,
        places,
        leads: leads(solution, &names),
        groups,
        told_together,
        totals,
        calls: whole,
        mean_call,
        paths: paths(solution, rows),
        regions: Vec::new(),
        findings: Vec::new(),
        names,
        told_apart,
        unknown_count,
        assessment,
    };
    let all_calls = analysis.mean_call * analysis.calls as f64;
    analysis.regions = regions(graph, rows, table, unknowns, question, all_calls);
    judge(&mut analysis);
    Ok(analysis)
}

/// How often each unknown ran, in all whole calls; `columns` has its counts in each row.
fn totals(rows: &[CountRow], columns: &[Vec<f64>], unknowns: usize) -> Vec<f64> {
    let mut totals = vec![0.0; unknowns];
    for (_, counts) in rows.iter().zip(columns).filter(|(row, _)| row.is_whole()) {
        totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
    }
    totals
}

/// The first unknown of each component.
fn leads(solution: &Solution, names: &[String]) -> Vec<Option<usize>> {
    let index: HashMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    solution.components.iter().map(|part| index.get(part.parts[0].0.as_str()).copied()).collect()
}

/// Adds the doubts, and what negative times say of the quality.
fn judge(analysis: &mut Analysis) {
    let negative = negative(analysis);
    if negative.as_ref().is_some_and(|finding| finding.severity == Severity::Untrusted) {
        analysis.quality = analysis.quality.with_negative();
    }
    analysis.findings = findings(analysis.series(), &analysis.quality);
    analysis.doubt(negative);
}

/// How often something ran in all whole calls.
pub fn runs_in_whole_calls(rows: &[CountRow], runs: impl Fn(&Counts) -> u64) -> f64 {
    rows.iter().filter(|row| row.is_whole()).map(|row| runs(&row.counts) as f64).sum()
}

/// Drops the columns of what the page runs from the components; returns how many unknowns can be
/// told apart without it, and how many there are.
fn without_page_chain(result: &mut SeriesResult) -> (usize, usize) {
    let solution = &mut result.solution;
    let less = solution.columns.iter().filter(|column| is_of_page(column)).count();
    let is_kept: Vec<bool> = solution
        .components
        .iter()
        .map(|component| component.parts.iter().any(|(name, _)| !is_of_page(name)))
        .collect();
    let mut is_kept_next = is_kept.iter();
    solution.components.retain(|_| *is_kept_next.next().unwrap_or(&true));
    let mut is_kept_next = is_kept.iter();
    result.components.retain(|_| *is_kept_next.next().unwrap_or(&true));
    // A column of the page that depends on others is no pivot.
    let told_apart = solution
        .rank
        .pivots
        .iter()
        .filter(|column| !is_of_page(&solution.columns[**column]))
        .count();
    (told_apart, solution.columns.len() - less)
}

/// Puts what can be told together in place of the components, where these are not known well by
/// themselves; returns whether it did.
fn tell_together(
    series: &mut SeriesResult,
    places: &mut [Place],
    data: (&Observations, &[CountRow]),
    names: &[String],
    groups: &[Vec<usize>],
    calls: Calls,
    question: &Question,
) -> bool {
    let Some(times) = together::tell(&series.solution, data, names, calls, question) else {
        return false;
    };
    (series.solution.components, series.components) = times.into_iter().unzip();
    let components = &series.solution.components;
    let index: HashMap<&str, usize> =
        names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let unknowns = |at: usize| {
        components[at].parts.iter().filter_map(|(name, _)| index.get(name.as_str()).copied())
    };
    let runs = |at: &usize| unknowns(*at).next().map_or(0.0, |lead| calls.totals[lead]);
    for (unknown, place) in
        places.iter_mut().enumerate().filter(|(_, place)| **place != Place::NeverRan)
    {
        let holders = (0..components.len()).filter(|at| unknowns(*at).any(|part| part == unknown));
        // Where it comes with several, most of its runs are in the one that runs most. A difference
        // is no time of it.
        let is_time = |at: &usize| !components[*at].is_difference();
        let Some(at) =
            holders.max_by(|a, b| is_time(a).cmp(&is_time(b)).then(runs(a).total_cmp(&runs(b))))
        else {
            *place = Place::Common;
            continue;
        };
        *place = match components[at].parts.len() {
            _ if !is_time(&at) => Place::Combined(at),
            1 => Place::Alone(at),
            _ if groups.iter().any(|group| unknowns(at).all(|part| group.contains(&part))) => {
                Place::With(at)
            }
            _ => Place::Together(at),
        };
    }
    true
}

/// Where the parts of a solution are, by name.
struct Finder<'a> {
    solution: &'a Solution,
    /// Components that a part is in.
    holders: HashMap<&'a str, Vec<usize>>,
    columns: HashSet<&'a str>,
    /// Parts that depend on a single other part: their counts are a multiple of its counts.
    on_one: HashSet<&'a str>,
}

impl<'a> Finder<'a> {
    fn new(solution: &'a Solution) -> Finder<'a> {
        let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, component) in solution.components.iter().enumerate() {
            component.parts.iter().for_each(|(name, _)| holders.entry(name).or_default().push(at));
        }
        let on_one = solution.rank.dependent.iter().filter(|(_, sum)| sum.terms.len() == 1);
        let on_one = on_one.map(|(column, _)| solution.columns[*column].as_str()).collect();
        Finder {
            solution,
            holders,
            columns: solution.columns.iter().map(String::as_str).collect(),
            on_one,
        }
    }

    fn places(&self, names: &[String]) -> Vec<Place> {
        names.iter().map(|name| self.place(name)).collect()
    }

    fn place(&self, name: &str) -> Place {
        let Some(holders) = self.holders.get(name) else {
            return if self.columns.contains(name) { Place::Common } else { Place::NeverRan };
        };
        let first = holders[0];
        let parts = &self.solution.components[first].parts;
        let merged =
            || parts.iter().all(|(_, coefficient)| *coefficient == 1.0) && self.is_merged(first);
        match holders.len() {
            1 if parts.len() == 1 => Place::Alone(first),
            1 if merged() => Place::With(first),
            _ => Place::Combined(first),
        }
    }

    /// Whether the parts of a component all run equally often: each depends on the first alone.
    fn is_merged(&self, component: usize) -> bool {
        self.solution.components[component].parts[1..]
            .iter()
            .all(|(name, _)| self.on_one.contains(name.as_str()))
    }
}

/// Mean over the whole calls, in the table's unit. The table has its rows in the order of the
/// calls.
fn mean_call(solution: &Solution, rows: &[CountRow]) -> f64 {
    let is_whole = |row: &RowFit| rows.get(row.row as usize).is_some_and(|row| row.is_whole());
    let whole: Vec<f64> = solution
        .rows
        .iter()
        .filter(|row| row.location.is_finite() && is_whole(row))
        .map(|row| row.location)
        .collect();
    whole.iter().sum::<f64>() / whole.len().max(1) as f64
}

/// The engine's findings, without those that this model reports itself.
fn findings(result: &SeriesResult, quality: &Quality) -> Vec<Finding> {
    const SHOWN_ELSEWHERE: [&str; 6] = [
        code::NON_LINEAR,
        code::RANK_DEFICIENT,
        code::NEVER_RAN,
        code::BELOW_RESOLUTION,
        code::WIDE_INTERVAL,
        code::NEGATIVE,
    ];
    let shown_elsewhere = |finding: &&Finding| SHOWN_ELSEWHERE.contains(&finding.code.as_ref());
    let mut all_findings: Vec<Finding> = result
        .findings
        .iter()
        .filter(|finding| !shown_elsewhere(finding))
        .cloned()
        .map(with_lenient_control)
        .collect();
    for finding in all_findings.iter_mut().filter(|finding| finding.is(code::NOT_CHECKED)) {
        finding.severity =
            if quality.carried.is_none() { Severity::Untrusted } else { finding.severity };
    }
    if quality.carried == Some(false) && !quality.negative {
        let percent = |share: Option<f64>| share.map(|share| 100.0 * share);
        let kind = BlocksFinding::NotAdditive {
            explained_percent: percent(quality.explained),
            departure_percent: percent(quality.departure),
        };
        all_findings.push(Finding::new(Severity::Untrusted, kind));
    }
    all_findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all_findings
}

/// Reduces the severity of a control chain error that is smaller than the accuracy expected of a
/// block's cycles.
fn with_lenient_control(finding: Finding) -> Finding {
    const ASKED_SHARE: f64 = 0.02;
    let off = |finding: &Finding| {
        Some((finding.number("control_cycles")? / finding.number("expected_cycles")? - 1.0).abs())
    };
    if finding.is(code::CORE_SHARED) && off(&finding).is_some_and(|off| off < ASKED_SHARE) {
        Finding { severity: finding.severity.min(Severity::Warning), ..finding }
    } else {
        finding
    }
}

#[cfg(test)]
pub(crate) mod tests;
