//! Means of the rows in blocks of rounds (batch means): their variation shows the real uncertainty,
//! including correlated noise.

use crate::estimate::Cells;
use crate::finding::words::counted;
use crate::grid::Grid;
use crate::limit::{Basis, limits};
use crate::stages::{Did, Stage, State};
use std::sync::Arc;

limits! {
    /// Fewest repeats of the rows, and blocks with readings of all, for an interval from the
    /// variation between rounds.
    MIN_ROUNDS = 4.0, "rounds",
        Basis::Derived("Student's quantile is 3.2 for three degrees of freedom, and 4.3 for two");
    /// Most rows that count as a repeated design. A table with more is a sample of many different
    /// counts.
    MOST_REPEATED_ROWS = 2000.0, "rows", Basis::Size("time of the factorisation");
    /// Groups of repeats are few, and among many rows some always lack one: a run has fewer and
    /// longer blocks, but at least these.
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

/// Averages the rows of all series.
pub(crate) fn average(state: &mut State) -> Did {
    state.cells = Cells::all(&state.sheet, &state.grid);
    while state.options.repeats.are_consecutive()
        && state.cells.iter().any(|cells| lacks_blocks(cells, &state.grid))
    {
        let Some(grid) = longer_blocks(state) else { break };
        state.grid = Arc::new(grid);
        state.cells = Cells::all(&state.sheet, &state.grid);
    }
    state.are_cells_old = false;
    Did::something(format!(
        "{} in {}",
        counted(state.grid.blocks.len() as u64, "block", "blocks"),
        groups(&state.grid)
    ))
}

/// Half as many blocks; `None` where they would be too few, or where each span has as few as it can
/// have.
fn longer_blocks(state: &State) -> Option<Grid> {
    let before = state.grid.blocks.len();
    let grid = (before / 2 >= FEWEST_BLOCKS as usize)
        .then(|| state.grid.in_blocks(state.table, state.sheet.rounds, before / 2))?;
    (grid.blocks.len() < before).then_some(grid)
}

/// The spans, in words.
pub(crate) fn groups(grid: &Grid) -> String {
    counted(grid.spans.len() as u64, "group of placements", "groups of placements")
}

/// The same once more, if other readings count now.
pub(crate) fn average_again(state: &mut State) -> Did {
    if state.are_cells_old { average(state) } else { Did::nothing("the same readings count") }
}

fn lacks_blocks(cells: &Cells, grid: &Grid) -> bool {
    is_repeated(cells) && cells.complete().len() < grid.blocks.len()
}

/// Whether the rows were repeated often enough for an interval from the variation between rounds.
pub(crate) fn is_repeated(cells: &Cells) -> bool {
    cells.typical() >= MIN_ROUNDS as usize && cells.rows.len() <= MOST_REPEATED_ROWS as usize
}

#[cfg(test)]
mod tests {
    use crate::estimate::{Options, Repeats};
    use crate::observations::Observations;

    /// Repeats in so many placements of ten rounds, of which the last row lacks every second one.
    fn with_gaps(placements: u32) -> usize {
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.placements = (1..placements).map(|at| 10 * at).collect();
        let series = table.series("code");
        for (round, copies) in
            (0..10 * placements).flat_map(|round| (1..6).map(move |copies| (round, copies)))
        {
            let row = table.row(series, &[f64::from(copies)]);
            if copies < 5 || round / 10 % 2 == 0 {
                table.push(row, round, f64::from(100 * copies + 40 + round * 7 % 5));
            }
        }
        let options = Options { repeats: Repeats::Calm, ..Options::default() };
        crate::pipeline::state_of(&table, &options).grid.blocks.len()
    }

    #[test]
    fn repeats_that_lack_a_row_have_two_blocks_in_each_placement_at_least() {
        assert_eq!(with_gaps(1), 10, "no row lacks a round");
        assert_eq!(with_gaps(12), 24, "as few as there can be");
    }
}
