//! How calls begin and end: what the reads of the clock hide or add there is not the same in all
//! rows.
//!
//! A fence lets the first instructions of a call run beside the end of the read before it, so a
//! call that does next to nothing takes longer than what longer calls have in common; a call that
//! is ended early has no return. The source of the rows measures by how much, and for which rows it
//! may be so. Rows of a kind (the same exit, the same early end) are off together.

use crate::estimate::{Ending, Entry, Source};
use crate::limit::{Basis, limits};
use crate::observations::RowId;
use crate::stages::{Did, Need, Stage, State};
use std::collections::{BTreeMap, HashMap};

limits! {
    /// Degrees of freedom of the standard deviation between kinds.
    FEW_KINDS = 4.0, "degrees of freedom",
        Basis::Derived("a few functions of known length show it");
}

pub(crate) const STAGE: Stage = Stage {
    name: "ends",
    question: "What do the reads of the clock hide or add where calls begin and end?",
    needs: &[Need {
        what: "rows whose ends were measured",
        is_met: |state| !state.options.ends.is_empty(),
    }],
    limits: &[LIMITS],
    source: Some(Source::Ends),
    says: |_, _| Vec::new(),
};

/// Takes the middle of what the rows may be off from their readings.
pub(crate) fn take_off(state: &mut State) -> Did {
    let options = state.options;
    options.ends.iter().for_each(|ending| state.sheet.take_off(ending.row, ending.middle()));
    Did::something(format!("taken off {} rows", options.ends.len()))
}

/// Adds what is left: kinds are off independently, by their bounds in the worst case all in the
/// direction that moves an unknown.
pub(crate) fn widen(state: &mut State) -> Did {
    for series in state.all_series() {
        let endings = &state.options.ends;
        let Some(rows) = &state.systems[usize::from(series)] else { continue };
        let places: HashMap<RowId, usize> =
            rows.active_rows().enumerate().map(|(at, row)| (row, at)).collect();
        let Some(solution) =
            state.solutions[usize::from(series)].as_mut().and_then(|found| found.as_mut().ok())
        else {
            continue;
        };
        for unknown in 0..solution.vector.map.rows() {
            let left = left(&places, solution.vector.map.row(unknown), endings);
            left.into_iter().for_each(|entry| solution.add(unknown, entry));
        }
    }
    Did::something("what is not known of it is in the interval")
}

fn left(places: &HashMap<RowId, usize>, weights: &[f64], endings: &[Ending]) -> [Entry; 2] {
    let mut kinds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for ending in endings {
        let Some(at) = places.get(&ending.row) else { continue };
        let sums = kinds.entry(ending.kind).or_insert((0.0, 0.0));
        *sums = (sums.0 + weights[*at] * ending.half(), sums.1 + weights[*at] * ending.sd);
    }
    let bound: f64 = kinds.values().map(|(sum, _)| sum.abs()).sum();
    let sd = kinds.values().map(|(_, sum)| sum * sum).sum::<f64>().sqrt();
    [Entry::bound(Source::Ends, bound), Entry::standard(Source::Ends, sd, FEW_KINDS)]
}
