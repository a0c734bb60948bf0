//! Rows that tell what counting arrivals takes.

use super::{Branches, Row, Session};

/// Rows of one part that are also timed with each arrival counted twice.
const ROWS_COUNTED_TWICE: usize = 2;

impl Session<'_> {
    /// The whole call with its arrivals counted: beside the call itself it tells what counting
    /// takes.
    pub(super) fn counted(&self, whole: &Row, address: u64, bias: u64) -> Option<Row> {
        let at = self.graph.blocks.iter().position(|block| block.start == address)?;
        let counts = self.count(&whole.branches)?;
        let passes = counts.counts.blocks[at];
        if !self.ends.can_end(&self.graph, &self.code, &counts.counts, address) {
            return None;
        }
        let branches =
            Branches { counted: Some((address, passes, false)), ..whole.branches.clone() };
        let call = whole.call.counted_at(address.wrapping_add(bias));
        Some(Row {
            call,
            counts: self.count(&branches)?,
            undo: whole.undo.clone(),
            registers_left: None,
            branches,
        })
    }

    /// The longest parts once more, with each arrival counted twice: beside the same parts they
    /// tell what counting takes. Nothing else does, where only the shortest parts run without it.
    pub(super) fn counted_twice(&mut self, rows: &[Row]) -> Vec<Row> {
        let mut longest: Vec<(u64, u64, &Row)> = rows
            .iter()
            .filter_map(|row| {
                row.branches.counted.map(|(address, arrivals, _)| (address, arrivals, row))
            })
            .collect();
        longest.sort_by_key(|(_, arrivals, _)| std::cmp::Reverse(*arrivals));
        let twice = |(address, arrivals, row): (u64, u64, &Row)| {
            let branches =
                Branches { counted: Some((address, arrivals, true)), ..row.branches.clone() };
            Some(Row {
                call: row.call.counted_twice(),
                counts: self.count(&branches)?,
                undo: row.undo.clone(),
                registers_left: None,
                branches,
            })
        };
        let found_rows: Vec<Row> =
            longest.into_iter().take(ROWS_COUNTED_TWICE).filter_map(twice).collect();
        self.partial_rows += found_rows.len();
        found_rows
    }
}
