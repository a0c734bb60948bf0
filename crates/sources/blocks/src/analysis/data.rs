//! Blocks whose time may depend on the data: those that call functions, and those with string
//! instructions.

use super::{Analysis, BlocksFinding, CountRow};
use crate::graph::{Graph, block_name};
use hairspring_core::judge::{Finding, Severity};

/// A lack of fit with a smaller probability is not noise.
const SIGNIFICANT_PROBABILITY: f64 = 0.001;
/// Departure beyond noise, as a share of the mean call, that gives a warning, and one that gives a
/// note.
const WARNING: f64 = 0.003;
const NOTE: f64 = 0.001;

/// The doubt about blocks whose time may depend on the data, where the rows depart from the sum by
/// more than noise. `repeated` are the blocks that hold a repeated string instruction.
pub fn depends_on_data(
    graph: &Graph,
    rows: &[CountRow],
    repeated: &[usize],
    analysis: &Analysis,
) -> Option<Finding> {
    let lack =
        analysis.series().solution.lack_of_fit.filter(|lack| lack.p < SIGNIFICANT_PROBABILITY)?;
    let departure = lack.sd / analysis.mean_call;
    let ran = |at: usize| rows.iter().any(|row| row.counts.blocks[at] > 0);
    let suspected =
        |at: &usize| ran(*at) && (!graph.blocks[*at].calls.is_empty() || repeated.contains(at));
    let named = |at: usize| match (&graph.blocks[at].calls[..], repeated.contains(&at)) {
        ([], _) => format!("{} repeats a string instruction", block_name(at)),
        (calls, false) => format!("{} calls {}", block_name(at), calls.join(" and ")),
        (calls, true) => format!(
            "{} calls {} and repeats a string instruction",
            block_name(at),
            calls.join(" and ")
        ),
    };
    let blocks: Vec<String> = (0..graph.blocks.len()).filter(suspected).map(named).collect();
    let severity = if departure > WARNING { Severity::Warning } else { Severity::Note };
    let is_found = departure > NOTE && !blocks.is_empty();
    let kind = BlocksFinding::DependsOnData {
        blocks,
        departure_percent: 100.0 * departure,
        lack_of_fit_f: lack.f,
    };
    is_found.then(|| Finding::new(severity, kind))
}
