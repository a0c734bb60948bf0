//! How the times vary between blocks of rounds.

use crate::estimate::Source;
use crate::stages::{Did, Stage, State};

pub(crate) const STAGE: Stage = Stage {
    name: "noise",
    question: "How do the times vary from one block of rounds to the next?",
    needs: &[],
    limits: &[crate::estimate::VARIATION_LIMITS],
    source: Some(Source::Noise),
    says: |_, _| Vec::new(),
};

/// Gives each vector its values in the blocks. Few blocks may agree by chance, but not closer than
/// the quantum lets them for long; where the phases of the clock do not change, the quantum has an
/// entry of its own.
pub(crate) fn widen(state: &mut State) -> Did {
    let rounding = state.quantum.rounding();
    let mut solved = 0;
    for (rows, solution) in state.systems.iter().zip(&mut state.solutions) {
        let (Some(rows), Some(Ok(solution))) = (rows, solution) else { continue };
        let vector = &mut solution.vector;
        vector.blocks.clone_from(&rows.blocks);
        vector.in_blocks = solution.blocks.iter().map(|(_, unknowns)| unknowns.clone()).collect();
        if rows.stuck == 0.0 {
            let least_noise = |unknown: usize| {
                let weights = vector.map.row(unknown).iter().zip(&rows.active);
                weights.map(|(w, row)| w * w / rows.cells.used[*row].max(1.0)).sum::<f64>()
                    * rounding
            };
            vector.least_noise = (0..vector.values.len()).map(least_noise).collect();
        }
        solved += 1;
    }
    if solved == 0 {
        Did::nothing("there are no blocks: the scatter of single readings counts")
    } else {
        Did::something(format!("in {} blocks", state.grid.blocks.len()))
    }
}
