//! The readings of a series that are used, as means of each row in each block of rounds: all that is needed of them behind the choice of
//! readings.

use super::median;
use crate::grid::Grid;
use crate::observations::{RowId, SeriesId};
use crate::sheet::Sheet;

/// Sums over the readings of a row in a block, of their distances from a number near to them.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    count: f64,
    sum: f64,
    squares: f64,
}

/// The cells of a series.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// The rows with enough readings.
    pub rows: Vec<RowId>,
    /// Rows with too few, which would make every block incomplete.
    pub starved: Vec<RowId>,
    /// Readings of each row that are used.
    pub used: Vec<f64>,
    /// All readings of the series, and those that are used.
    pub readings: (usize, usize),
    cells: Vec<Vec<Cell>>,
    near: Vec<f64>,
}

impl Cells {
    /// # Cost
    /// About 10 ns for each reading.
    pub fn new(sheet: &Sheet, grid: &Grid, series: SeriesId) -> Cells {
        let rows = sheet.rows_of(series);
        let all = rows.iter().map(|row| sheet.places_of(*row).len()).sum();
        let mut cells =
            Cells { rows: Vec::new(), starved: Vec::new(), used: Vec::new(), readings: (all, 0), cells: Vec::new(), near: Vec::new() };
        for row in rows {
            cells.push(row, sheet, grid);
        }
        cells.readings.1 = cells.used.iter().sum::<f64>() as usize;
        cells
    }

    fn push(&mut self, row: RowId, sheet: &Sheet, grid: &Grid) {
        let mut all = vec![Cell::default(); grid.blocks.len()];
        let (mut block, mut near) = (0, None);
        for sample in sheet.row(row).filter(|sample| sample.is_used) {
            block = grid.block_of(sample.round, block);
            let Some(cell) = all.get_mut(block) else { continue };
            let off = sample.ticks - *near.get_or_insert(sample.ticks);
            *cell = Cell { count: cell.count + 1.0, sum: cell.sum + off, squares: cell.squares + off * off };
        }
        self.rows.push(row);
        self.used.push(all.iter().map(|cell| cell.count).sum());
        self.cells.push(all);
        self.near.push(near.unwrap_or(0.0));
    }

    /// Median number of readings of a row that are used.
    pub fn typical(&self) -> usize {
        if self.used.is_empty() { 0 } else { median(&mut self.used.clone()) as usize }
    }

    /// Sets the rows apart that have fewer readings than this.
    pub fn set_starved_apart(&mut self, enough: usize) {
        for at in (0..self.rows.len()).rev() {
            if self.used[at] < enough as f64 {
                self.starved.push(self.rows.remove(at));
                self.used.remove(at);
                self.near.remove(at);
                self.cells.remove(at);
            }
        }
    }

    /// The blocks in which every row has a reading.
    pub fn complete(&self) -> Vec<usize> {
        let blocks = self.cells.first().map_or(0, Vec::len);
        (0..blocks).filter(|block| self.cells.iter().all(|row| row[*block].count > 0.0)).collect()
    }

    /// The means of the rows in a block; that of all its readings for a row without one.
    pub fn means(&self, block: usize) -> Vec<f64> {
        let mean = |row: usize| {
            let cell = Some(self.cells[row][block]).filter(|cell| cell.count > 0.0).unwrap_or_else(|| self.total(row));
            self.near[row] + cell.sum / cell.count
        };
        (0..self.rows.len()).map(mean).collect()
    }

    fn total(&self, row: usize) -> Cell {
        let add =
            |sum: Cell, cell: &Cell| Cell { count: sum.count + cell.count, sum: sum.sum + cell.sum, squares: sum.squares + cell.squares };
        self.cells[row].iter().fold(Cell::default(), add)
    }

    /// Variance of a single reading of a row around others of about the same time; `None` for too few.
    pub fn variance(&self, row: usize) -> Option<f64> {
        let (mut squares, mut dof) = (0.0, 0.0);
        for cell in self.cells[row].iter().filter(|cell| cell.count > 1.0) {
            squares += cell.squares - cell.sum * cell.sum / cell.count;
            dof += cell.count - 1.0;
        }
        let singles: Vec<f64> = self.cells[row].iter().filter(|cell| cell.count == 1.0).map(|cell| cell.sum).collect();
        for pair in singles.chunks_exact(2) {
            squares += (pair[0] - pair[1]).powi(2) / 2.0;
            dof += 1.0;
        }
        (dof > 0.0).then(|| (squares / dof).max(0.0))
    }
}
