//! Coarser parts: trips of loops, where blocks do not add up.

use super::{CountRow, Quality, SERIES, Unknowns};
use crate::graph::{Graph, Loop, block_name};
use hairspring_core::estimate::{Ending, Options};
use hairspring_core::judge::{ComponentResult, Question, assess};
use hairspring_core::observations::{Observations, RowId};

/// A part of the function with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// The loop whose trip it is.
    pub blocks: Vec<usize>,
    /// The block where a trip begins.
    pub header: usize,
    /// Trips in all whole calls.
    pub trips: f64,
    /// Time of one trip, without the trips of inner loops.
    pub time: ComponentResult,
    /// Half-width of the interval as a share of the value.
    pub relative: f64,
    /// How well a sum of trips describes the rows.
    pub quality: Quality,
}

/// Relative half-width above which the time of a trip is meaningless.
const SAYS_NOTHING: f64 = 0.25;

/// The loops whose trips have a meaningful time: every row is modelled as a sum of trips and the
/// part common to all calls. The departure from the rows is in the intervals.
///
/// Empty if that sum is wrong, too: if the rows depart from it, nothing checks it, the common part
/// would be negative, or all trips would take longer than all calls.
pub fn regions(
    graph: &Graph,
    rows: &[CountRow],
    table: &Observations,
    unknowns: Unknowns,
    question: &Question,
    all_calls: f64,
) -> Vec<Region> {
    let loops = graph.loops();
    let Some((coarse, ids)) = coarser(graph, &loops, rows, table, unknowns) else {
        return Vec::new();
    };
    let Ok(assessment) = assess(&coarse, &question_of(question, &ids)) else { return Vec::new() };
    let Some(series) = assessment.series.first() else { return Vec::new() };
    let quality = Quality::from_solution(&series.solution, coarse.rows().len());
    let whole = || rows.iter().filter(|row| row.is_whole());
    let trips = |found_loop: &Loop| {
        whole().map(|row| row.counts.blocks[found_loop.header] as f64).sum::<f64>()
    };
    let time = |found_loop: &Loop| {
        series.components.iter().find(|part| part.name == loop_name(found_loop))
    };
    let in_loops: f64 =
        loops.iter().filter_map(|found| Some(trips(found) * time(found)?.time.ticks.value)).sum();
    let is_negative = series.overhead.as_ref().is_some_and(|overhead| overhead.ticks.high < 0.0);
    if !quality.is_carried() || is_negative || in_loops > all_calls {
        return Vec::new();
    }
    let region = |found_loop: &Loop| {
        let time = time(found_loop)?.clone();
        let estimate = time.time.ticks;
        let (header, blocks, trips) =
            (found_loop.header, found_loop.blocks.clone(), trips(found_loop));
        let relative = estimate.half_width() / estimate.value.abs();
        (estimate.low > 0.0 && relative < SAYS_NOTHING).then_some(Region {
            blocks,
            header,
            trips,
            time,
            relative,
            quality,
        })
    };
    loops.iter().filter_map(region).collect()
}

fn loop_name(region: &Loop) -> String {
    format!("loop at {}", block_name(region.header))
}

/// A table, and for each row of the other one its row in this.
type Coarser = (Observations, Vec<Option<RowId>>);

/// The same readings, with trips of loops as counts; `None` where there are no loops.
fn coarser(
    graph: &Graph,
    loops: &[Loop],
    rows: &[CountRow],
    table: &Observations,
    unknowns: Unknowns,
) -> Option<Coarser> {
    let main = table.find_series(SERIES)?;
    if loops.is_empty() {
        return None;
    }
    let mut coarse = Observations::new(loops.iter().map(loop_name).collect());
    coarse.origin = table.origin.clone();
    let of_block = |counts: &[f64], block: usize| match unknowns {
        Unknowns::Blocks => counts[block],
        Unknowns::Edges => graph
            .edges
            .iter()
            .zip(counts)
            .filter(|(edge, _)| edge.from == block)
            .map(|(_, count)| count)
            .sum(),
    };
    let mut ids = Vec::with_capacity(table.rows().len());
    for (at, row) in table.rows().iter().enumerate() {
        let is_own = row.series == main && at >= rows.len();
        if is_own || rows.get(at).is_some_and(|row| !row.is_whole()) {
            // A trip that was ended early does not count; a function of the page has no trips, and
            // not what calls have in common.
            ids.push(None);
            continue;
        }
        let series = coarse.series(&table.series_names()[row.series as usize]);
        let mut counts: Vec<f64> =
            loops.iter().map(|found| of_block(&row.counts, found.header)).collect();
        if row.series == main {
            ids.push(Some(coarse.row_apart(series, &counts)));
            continue;
        }
        // A chain counts its copies in the first column.
        counts.fill(0.0);
        counts[0] = row.counts[0];
        ids.push(Some(coarse.row(series, &counts)));
    }
    for reading in table.readings() {
        if let Some(id) = ids[reading.row as usize] {
            coarse.push_flagged(id, reading.round, reading.ticks, reading.flags);
        }
    }
    Some((coarse, ids))
}

/// The same question about the rows of the coarser table.
fn question_of(question: &Question, ids: &[Option<RowId>]) -> Question {
    let row =
        |ending: &Ending| Some(Ending { row: ids.get(ending.row as usize).copied()??, ..*ending });
    let ends = question.options.ends.iter().filter_map(row).collect();
    Question { options: Options { ends, ..question.options.clone() }, ..question.clone() }
}
