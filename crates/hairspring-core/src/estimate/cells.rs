//! The readings of a series that are used, as means of each row in each block of rounds: all that
//! is needed of them behind the choice of readings.

use super::{Moments, median};
use crate::grid::Grid;
use crate::observations::{RowId, SeriesId};
use crate::sheet::Sheet;

/// The cells of a series.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    /// The rows with enough readings.
    pub rows: Vec<RowId>,
    /// Rows with too few, which would make every block incomplete.
    pub starved: Vec<RowId>,
    /// Readings of each row that are used.
    pub used: Vec<f64>,
    /// Of the distances of the readings of each row in each block from a number near to them.
    cells: Vec<Vec<Moments>>,
    near: Vec<f64>,
}

impl Cells {
    /// The cells of all series.
    ///
    /// # Cost
    /// About 3 ns for each reading.
    pub fn all(sheet: &Sheet, grid: &Grid) -> Vec<Cells> {
        let width = grid.blocks.len();
        let mut cells = vec![Moments::default(); width * sheet.rows().len()];
        let mut near: Vec<Option<f64>> = vec![None; sheet.rows().len()];
        let mut block = 0;
        sheet.each_used(&(0..sheet.rounds), |reading, ticks, _| {
            if !grid.blocks[block].rounds.contains(&reading.round) {
                block = grid.block_of(reading.round);
            }
            let off = ticks - *near[reading.row as usize].get_or_insert(ticks);
            cells[reading.row as usize * width + block].add(&Moments::of(off));
        });
        let of = |series: SeriesId| {
            let rows = sheet.rows_of(series);
            let cells: Vec<Vec<Moments>> = rows
                .iter()
                .map(|row| cells[*row as usize * width..(*row as usize + 1) * width].to_vec())
                .collect();
            let near = rows.iter().map(|row| near[*row as usize].unwrap_or(0.0)).collect();
            let used: Vec<f64> =
                cells.iter().map(|row| row.iter().map(|cell| cell.count).sum()).collect();
            Cells { rows, starved: Vec::new(), used, cells, near }
        };
        (0..sheet.table.series_names().len() as SeriesId).map(of).collect()
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

    /// Has nothing but these blocks count as used.
    pub fn use_only(&mut self, blocks: &[usize]) {
        self.used = self
            .cells
            .iter()
            .map(|row| blocks.iter().map(|block| row[*block].count).sum())
            .collect();
    }

    /// The means of the rows in a block; that of all its readings for a row without one.
    pub fn means(&self, block: usize) -> Vec<f64> {
        let mean = |row: usize| {
            let cell = Some(self.cells[row][block])
                .filter(|cell| cell.count > 0.0)
                .unwrap_or_else(|| self.total(row));
            self.near[row] + cell.mean()
        };
        (0..self.rows.len()).map(mean).collect()
    }

    /// The mean and the number of the readings of each row that has some.
    pub fn totals(&self) -> impl Iterator<Item = (RowId, f64, usize)> {
        let total = |row: usize| (self.rows[row], self.total(row));
        let filled_rows = (0..self.rows.len())
            .map(total)
            .zip(&self.near)
            .filter(|((_, total), _)| total.count > 0.0);
        filled_rows.map(|((row, total), near)| (row, near + total.mean(), total.count as usize))
    }

    fn total(&self, row: usize) -> Moments {
        let mut total = Moments::default();
        self.cells[row].iter().for_each(|cell| total.add(cell));
        total
    }

    /// Variance of a single reading of a row around others of about the same time; `None` for too
    /// few.
    pub fn variance(&self, row: usize) -> Option<f64> {
        let (mut squares, mut dof) = (0.0, 0.0);
        for cell in self.cells[row].iter().filter(|cell| cell.count > 1.0) {
            squares += cell.around_mean();
            dof += cell.count - 1.0;
        }
        let singles: Vec<f64> =
            self.cells[row].iter().filter(|cell| cell.count == 1.0).map(|cell| cell.sum).collect();
        for pair in singles.chunks_exact(2) {
            squares += (pair[0] - pair[1]).powi(2) / 2.0;
            dof += 1.0;
        }
        (dof > 0.0).then(|| (squares / dof).max(0.0))
    }
}
