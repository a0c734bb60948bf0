//! Means of the rows in blocks of rounds (batch means): their variation shows the real uncertainty, including correlated noise.

use crate::estimate::Cells;
use crate::grid::Grid;
use crate::limit::{Basis, limits};
use crate::observations::SeriesId;
use crate::stages::quantum;
use crate::stages::rows::Rows;
use crate::stages::{Did, Stage, State};
use std::sync::Arc;

limits! {
    /// Fewest repeats of the rows, and blocks with readings of all, for an interval from the variation between rounds.
    MIN_ROUNDS = 4.0, "rounds", Basis::Derived("Student's quantile is 3.2 for three degrees of freedom, and 4.3 for two");
    /// Most rows that count as a repeated design. A table with more is a sample of many different counts.
    MOST_REPEATED_ROWS = 2000.0, "rows", Basis::Size("time of the factorisation");
    /// A row has too few readings if it has fewer than one in so many of the typical number.
    STARVED = 4.0, "", Basis::Derived("it would make three of four blocks incomplete");
    /// Visits are few, and among many rows some always lack one: a run has fewer and longer blocks, but at least these.
    FEWEST_BLOCKS = 6.0, "blocks", Basis::Derived("five degrees of freedom");
}

pub(crate) const STAGE: Stage = Stage {
    name: "blocks",
    question: "What did each row take in each block of rounds?",
    needs: &[],
    limits: &[LIMITS, crate::grid::LIMITS],
    source: None,
    says: |_, _| Vec::new(),
};

/// Averages the rows of all series. A series that was not repeated has none.
pub(crate) fn average(state: &mut State) -> Did {
    let mut all = cells(state);
    while state.options.visits.are_visits()
        && all.iter().any(|cells| is_repeated(cells) && cells.complete().len() < state.grid.blocks.len())
    {
        let blocks = state.grid.blocks.len() / 2;
        if blocks < FEWEST_BLOCKS as usize {
            break;
        }
        state.grid = Arc::new(Grid::new(state.table, state.sheet.rounds, blocks, state.grid.spans.len() == 1));
        all = cells(state);
    }
    let mut repeated = 0;
    for (series, mut cells) in all.into_iter().enumerate() {
        state.systems[series] = None;
        if !is_repeated(&cells) {
            continue;
        }
        cells.set_starved_apart(enough(&cells));
        // A row without a reading in a block of visits has the mean of all its readings there.
        let blocks = if state.options.visits.are_visits() { (0..state.grid.blocks.len()).collect() } else { cells.complete() };
        if blocks.len() >= MIN_ROUNDS as usize {
            let is_slow = state.slow.iter().any(|slow| slow.counts && usize::from(slow.series) == series);
            let variances: Vec<f64> = (0..cells.rows.len()).filter_map(|row| cells.variance(row)).collect();
            let stuck = quantum::stuck(state, &cells.rows, &variances);
            state.systems[series] = Some(Rows::new(state, cells, blocks, is_slow, stuck));
            repeated += 1;
        }
    }
    match repeated {
        0 => Did::nothing("no series was repeated often enough"),
        _ => Did::something(format!("{} blocks in {} placements", state.grid.blocks.len(), state.grid.spans.len())),
    }
}

fn cells(state: &State) -> Vec<Cells> {
    let of = |series: SeriesId| Cells::new(&state.sheet, &state.grid, series);
    let mut all: Vec<Cells> = state.all_series().map(of).collect();
    all.iter_mut().for_each(|cells| cells.readings.1 = cells.used.iter().sum::<f64>() as usize);
    all
}

fn is_repeated(cells: &Cells) -> bool {
    cells.typical() >= MIN_ROUNDS as usize && cells.rows.len() <= MOST_REPEATED_ROWS as usize
}

/// Readings that a row needs.
fn enough(cells: &Cells) -> usize {
    cells.typical().div_ceil(STARVED as usize).max(2)
}
