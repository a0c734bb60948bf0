//! Errors of the readings themselves that their source doubts, such as an overloaded recorder: they
//! may follow the counts, so that neither repeats nor rows show them.

use crate::estimate::{Entry, Source};
use crate::stages::{Did, Need, Stage, State};

pub(crate) const STAGE: Stage = Stage {
    name: "readings",
    question: "By how much may readings be off that follow their counts?",
    needs: &[Need {
        what: "a bound by the source of the readings",
        is_met: |state| state.table.origin.reading_bound.is_some(),
    }],
    limits: &[],
    source: Some(Source::Readings),
    says: |_, _| Vec::new(),
};

/// Adds the worst case: every reading is off by the bound, in the direction that moves the time. A
/// regression has it already.
pub(crate) fn widen(state: &mut State) -> Did {
    let bound = state.table.origin.reading_bound.unwrap_or(0.0);
    for solution in state.solutions.iter_mut().flatten().flatten() {
        for unknown in 0..solution.vector.map.rows() {
            let worst = bound
                * solution.vector.map.row(unknown).iter().map(|weight| weight.abs()).sum::<f64>();
            solution.add(unknown, Entry::bound(Source::Readings, worst));
        }
    }
    Did::something(format!("{bound} {} each, in the worst direction", state.table_unit()))
}
