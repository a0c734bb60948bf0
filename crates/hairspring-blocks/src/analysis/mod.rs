//! From counts and times to what can be said of the parts.

mod missing;
mod regions;
mod structure;

pub use missing::{Missing, missing};
pub use regions::{Region, regions};
pub use structure::{Structure, identical};

use crate::error::Result;
use crate::graph::{Counts, Graph, block_name};
use hairspring_engine::estimate::{LeftOut, RowFit, Solution};
use hairspring_engine::judge::{Assessment, Finding, FindingKind, Question, SeriesResult, Severity, assess};
use hairspring_engine::observations::Observations;

/// Series that holds the function.
pub const SERIES: &str = "function";

/// What is solved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknowns {
    /// The time of every block.
    Blocks,
    /// The time of every block for each way that it is left: costs that differ between a branch taken and not taken.
    Edges,
}

/// A row: what ran between two reads of the clock.
#[derive(Debug, Clone, PartialEq)]
pub struct CountRow {
    /// Its counts.
    pub counts: Counts,
    /// The block where it ended early; `None` for a whole call.
    pub until: Option<usize>,
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

/// How well a sum of the parts describes the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Share of the variation between rows that it explains, at most 1.
    pub explained: f64,
    /// Standard deviation of the rows' systematic departure from it, as a share of the mean row.
    pub departure: f64,
    /// Whether the numbers of its parts can be believed.
    pub carried: bool,
}

/// Departure from which on the sum of the parts is no description of the rows.
const NOT_ADDITIVE: f64 = 0.05;
/// Variation that must be explained, where there is any.
const EXPLAINED: f64 = 0.9;
/// Variation between rows, as a share of their mean, below which there is none to explain.
const NO_VARIATION: f64 = 0.02;

impl Quality {
    /// That of a solution.
    pub fn of(solution: &Solution) -> Quality {
        let rows: Vec<(f64, f64)> = solution
            .rows
            .iter()
            .filter(|row| row.left_out != Some(LeftOut::Interference) && row.residual.is_finite())
            .map(|row| (row.location, row.residual))
            .collect();
        let count = rows.len().max(1) as f64;
        let mean = rows.iter().map(|row| row.0).sum::<f64>() / count;
        let around: f64 = rows.iter().map(|row| (row.0 - mean).powi(2)).sum();
        let left: f64 = rows.iter().map(|row| row.1.powi(2)).sum();
        let varies = (around / count).sqrt() > NO_VARIATION * mean;
        // Rows that were left out count: a model that holds only without them does not describe them.
        let departure = match solution.rows.is_empty() {
            true => solution.lack_of_fit.map_or(0.0, |lack| lack.sd) / solution.largest,
            false => (left / count).sqrt() / mean,
        };
        let explained = if around > 0.0 { 1.0 - left / around } else { 1.0 };
        Quality { explained, departure, carried: departure < NOT_ADDITIVE && (!varies || explained > EXPLAINED) }
    }
}

/// Where the time of an unknown is to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It never ran.
    NeverRan,
    /// It is a component by itself, of this index.
    Alone(usize),
    /// It always runs as often as others, and their sum is the component of this index.
    With(usize),
    /// It is in one or several combinations; the first has this index.
    Combined(usize),
    /// It is told apart from nothing that all calls have in common.
    Common,
}

/// All that was found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// What was solved for.
    pub unknowns: Unknowns,
    /// Edges whose counts do not follow from those of the blocks: where there are any, blocks do not suffice.
    pub undetermined: Vec<String>,
    /// The engine's answer.
    pub assessment: Assessment,
    /// How well the parts add up.
    pub quality: Quality,
    /// Where to find each unknown.
    pub places: Vec<Place>,
    /// Unknowns that run equally often in every row, by their index.
    pub groups: Vec<Vec<usize>>,
    /// How often each unknown ran, in all whole calls.
    pub totals: Vec<f64>,
    /// Whole calls.
    pub calls: usize,
    /// Mean time of a whole call, in the table's unit, the overhead included.
    pub mean_call: f64,
    /// Coarser parts, where they add up.
    pub regions: Vec<Region>,
    /// What is missing.
    pub missing: Vec<Missing>,
    /// Doubts.
    pub findings: Vec<Finding>,
    /// Names of the unknowns.
    pub names: Vec<String>,
}

impl Analysis {
    /// The function's series.
    pub fn series(&self) -> &SeriesResult {
        &self.assessment.series[0]
    }

    /// Share of the time of all whole calls that a component takes; the shares add up to 1, the overhead's with them.
    pub fn share(&self, component: usize) -> f64 {
        let solution = &self.series().solution;
        let part = &solution.components[component];
        part.ticks.value * self.runs(&part.parts[0].0) / (self.mean_call * self.calls as f64)
    }

    fn runs(&self, name: &str) -> f64 {
        self.names.iter().position(|known| known == name).map_or(self.calls as f64, |at| self.totals[at])
    }
}

/// Solves the rows of a table whose components are the unknowns, and says what can be said.
///
/// # Errors
/// Fewer rows than unknowns.
pub fn analyse(graph: &Graph, rows: &[CountRow], unknowns: Unknowns, table: &Observations, question: &Question) -> Result<Analysis> {
    let assessment = assess(table, question)?;
    let names = unknowns.names(graph);
    let solution = &assessment.series[0].solution;
    let mut quality = Quality::of(solution);
    // A time that is surely negative shows that the sum is a wrong one, however well it fits.
    quality.carried &= !solution.components.iter().any(|part| !part.is_difference() && part.ticks.high < 0.0);
    let whole: Vec<&CountRow> = rows.iter().filter(|row| row.until.is_none()).collect();
    let totals = (0..names.len()).map(|at| whole.iter().map(|row| unknowns.counts(&row.counts)[at]).sum()).collect();
    let columns: Vec<Vec<f64>> = rows.iter().map(|row| unknowns.counts(&row.counts)).collect();
    let places = names.iter().map(|name| place(solution, name)).collect();
    let structure = Structure::of(graph);
    Ok(Analysis {
        unknowns,
        undetermined: structure.undetermined.iter().map(|at| graph.edge_name(&graph.edges[*at])).collect(),
        quality,
        places,
        groups: identical(&columns),
        totals,
        calls: whole.len(),
        mean_call: mean_call(solution, rows),
        regions: regions(graph, rows, table, unknowns, question),
        missing: missing(graph, rows, &structure),
        findings: findings(&assessment.series[0], &quality),
        names,
        assessment,
    })
}

fn place(solution: &Solution, name: &str) -> Place {
    let holds = |at: &usize| solution.components[*at].parts.iter().any(|(part, _)| part == name);
    let mut found = (0..solution.components.len()).filter(holds);
    let Some(first) = found.next() else {
        return if solution.columns.iter().any(|column| column == name) { Place::Common } else { Place::NeverRan };
    };
    let parts = &solution.components[first].parts;
    match (parts.len(), found.next()) {
        (1, None) => Place::Alone(first),
        (_, None) if parts.iter().all(|(_, coefficient)| *coefficient == 1.0) && is_merged(solution, first) => Place::With(first),
        _ => Place::Combined(first),
    }
}

/// Whether the parts of a component all run equally often: each depends on the first alone.
fn is_merged(solution: &Solution, component: usize) -> bool {
    let parts = &solution.components[component].parts;
    let depends_on_first = |name: &str| {
        let dependent = solution.rank.dependent.iter().find(|(column, _)| solution.columns[*column] == name);
        dependent.is_some_and(|(_, sum)| sum.terms.len() == 1)
    };
    parts[1..].iter().all(|(name, _)| depends_on_first(name))
}

/// Mean over the whole calls, in the table's unit. The table has its rows in the order of the calls.
fn mean_call(solution: &Solution, rows: &[CountRow]) -> f64 {
    let is_whole = |row: &RowFit| rows.get(row.row as usize).is_some_and(|row| row.until.is_none());
    let whole: Vec<f64> = solution.rows.iter().filter(|row| row.location.is_finite() && is_whole(row)).map(|row| row.location).collect();
    whole.iter().sum::<f64>() / whole.len().max(1) as f64
}

/// The engine's findings, with what this model says in its own words.
fn findings(result: &SeriesResult, quality: &Quality) -> Vec<Finding> {
    use FindingKind::{BelowResolution, NeverRan, NonLinear, RankDeficient, WideInterval};
    let shown_elsewhere = |finding: &&Finding| {
        matches!(finding.kind, NonLinear { .. } | RankDeficient { .. } | NeverRan { .. } | BelowResolution { .. } | WideInterval { .. })
    };
    let mut all: Vec<Finding> = result.findings.iter().filter(|finding| !shown_elsewhere(finding)).cloned().collect();
    if !quality.carried {
        let kind = FindingKind::NotAdditive { explained_percent: 100.0 * quality.explained, departure_percent: 100.0 * quality.departure };
        all.push(Finding::new(Severity::Untrusted, kind));
    }
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}
