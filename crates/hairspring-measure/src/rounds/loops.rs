//! Loops as rows: one loop for each number of copies in a trip, run with the trips that the row
//! says.

use super::Rig;
use hairspring_core::design::loops::LoopRow;
use hairspring_host::clock::ReadFn;

/// Rows that are loops; [`hairspring_core::design::loops::two_equations`] makes them, and the
/// readings belong to the counts of [`LoopRow::counts`].
#[derive(Debug, Clone)]
pub struct Loops<F> {
    /// The clock that is read before and after each loop.
    pub now: ReadFn,
    /// The rows.
    pub rows: Vec<LoopRow>,
    /// Runs the loop that a row describes.
    pub run: F,
}

impl<F: FnMut(LoopRow)> Rig for Loops<F> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        let wanted_row = self.rows[row];
        let start = (self.now)();
        (self.run)(wanted_row);
        (self.now)().wrapping_sub(start)
    }
}
