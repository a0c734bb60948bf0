//! Methods beside the line fit, for comparison with it (Moreno and Fischmeister, Table 1).

mod method;
mod table;

pub use method::{Departure, Measured, Method, Shown};
pub use table::{LINE, MethodRow, MethodTable, beside_tools, departs, doubts, methods};

use crate::observations::{Observations, RowId, SeriesId};

/// Declares the modules of the methods beside the line fit, and the table of them, from one list of
/// names.
macro_rules! methods {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// The methods that are shown beside the line fit, in the order in which they are shown.
        pub const METHODS: &[Method] = &[$($name::METHOD,)*];
    };
}

methods! {
    differential,
    direct,
    through_origin,
}

/// The means of the rows of a series in blocks of rounds, from the readings that the pipeline uses
/// for it.
struct Means<'t> {
    table: &'t Observations,
    rows: Vec<RowId>,
    /// The means of all rows in each block.
    blocks: Vec<Vec<f64>>,
    /// The readings in use of each row, with their rounds.
    readings: Vec<Vec<(u32, f64)>>,
}

impl Means<'_> {
    /// `None` for fewer than two blocks in which all rows have readings.
    fn of(table: &Observations, series: SeriesId) -> Option<Means<'_>> {
        let (rows, blocks, readings) = crate::pipeline::block_means(table, series)?;
        (blocks.len() > 1).then_some(Means { table, rows, blocks, readings })
    }

    /// The number of copies of a row in which only the first component ran.
    fn copies_alone(&self, row: RowId) -> Option<f64> {
        let (copies, others) = self.table.rows()[row as usize].counts.split_first()?;
        (*copies > 0.0 && others.iter().all(|count| *count == 0.0)).then_some(*copies)
    }

    /// The readings of a row, with their rounds.
    fn readings(&self, row: RowId) -> Vec<(u32, f64)> {
        self.rows
            .iter()
            .position(|known| *known == row)
            .map_or_else(Vec::new, |at| self.readings[at].clone())
    }
}
