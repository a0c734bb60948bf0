//! The counts of rows, from the branches that were followed.

use super::{Branches, Prepared, Row, Session};
use crate::analysis::{CountRow, Counted};
use crate::count::{Begun, Counter, Cut};
use crate::error::{Error, Result};
use crate::graph::Counts;
use crate::measure::instructions;
use crate::trace::{Partial, Started};
use std::collections::BTreeMap;

impl Session<'_> {
    /// The branches of a partial call.
    pub(super) fn branches_of(started: &Started, partial: &Partial) -> Branches {
        let bias = started.target.bias;
        let until = partial.until.wrapping_sub(bias);
        Branches {
            counts_of_all: in_file(&partial.branches, bias),
            entries: partial.entries,
            begin: started.begin.at.wrapping_sub(bias),
            counted: (partial.passes > 1).then_some((until, partial.passes, false)),
            end: Some((partial.from.wrapping_sub(bias), until)),
        }
    }

    /// Whether a jump can be put where a partial call ends.
    pub(super) fn can_end(&self, started: &Started, partial: &Partial) -> bool {
        let until = partial.until.wrapping_sub(started.target.bias);
        let counts = self.count(&Self::branches_of(started, partial));
        counts.is_some_and(|row| self.ends.can_end(&self.graph, &self.code, &row.counts, until))
    }

    pub(super) fn count(&self, branches: &Branches) -> Option<CountRow> {
        let last = |at: usize| {
            let block = &self.graph.blocks[at];
            instructions(&self.code, block.start, block.end).last().copied().unwrap_or(block.start)
        };
        let start_of = |address: u64| {
            self.graph.blocks.binary_search_by_key(&address, |block| block.start).ok()
        };
        let cut = match branches.end {
            Some((from, until)) => Some(Cut { from: start_of(from)?, until: start_of(until)? }),
            None => None,
        };
        let begun = Begun { block: start_of(branches.begin)?, entries: branches.entries };
        let counts = Counter::new(&self.graph, last).count(&branches.counts_of_all, begun, cut)?;
        let counted = branches.counted.and_then(|(address, arrivals, twice)| {
            Some(Counted { block: start_of(address)?, arrivals, twice })
        });
        Some(CountRow { counts, until: cut.map(|cut| cut.until), counted })
    }

    /// The counts of a whole call by the graph that is known.
    pub fn count_of(&self, whole: &Prepared) -> Option<Counts> {
        self.count(&whole.rows.first()?.branches).map(|row| row.counts)
    }

    /// The counts of all rows by the final graph.
    pub(super) fn recount(&mut self, all_prepared: &mut [Prepared]) -> Result<()> {
        let mut whole_calls = std::mem::take(&mut self.whole_calls);
        for row in
            all_prepared.iter_mut().chain(&mut whole_calls).flat_map(|one| one.rows.iter_mut())
        {
            row.counts = self.count(&row.branches).ok_or_else(|| {
                Error::system(
                    "count the blocks",
                    "a branch led to an address where no block begins",
                )
            })?;
        }
        self.whole_calls = whole_calls;
        let whole = all_prepared
            .iter()
            .chain(&self.whole_calls)
            .flat_map(|one| &one.rows)
            .filter(|row| row.counts.is_whole());
        let instructions = |row: &Row| -> u64 {
            row.counts
                .counts
                .blocks
                .iter()
                .zip(&self.graph.blocks)
                .map(|(count, block)| count * u64::from(block.instructions))
                .sum()
        };
        self.traced.instructions = whole.map(instructions).sum();
        Ok(())
    }
}

pub(super) fn in_file(
    branches: &BTreeMap<(u64, u64), u64>,
    bias: u64,
) -> BTreeMap<(u64, u64), u64> {
    branches
        .iter()
        .map(|((site, to), times)| ((site.wrapping_sub(bias), to.wrapping_sub(bias)), *times))
        .collect()
}
