//! The core cycle as the unit of a lattice: finds the length of the reference chain in core cycles on this machine.

use crate::sampling::Sampling;
use hairspring_core::estimate::lattice::{Lattice, lattice};
use hairspring_core::estimate::{Estimate, Options, Quiet, solve};
use hairspring_core::observations::Observations;
use hairspring_host::chains::{CONTROLS, Chain, ChainRole, LATTICE, RULER, chains, name};
use hairspring_host::clock::Clock;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The lengths of the reference chain and of the control chains in core cycles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ruler {
    /// Core cycles of one copy of the reference chain.
    pub cycles: u32,
    /// Core cycles of one copy of each of the [`CONTROLS`] that takes a whole number of cycles.
    pub controls: Vec<(String, u32)>,
    /// How the length was found, in words.
    pub provenance: String,
}

/// Copies of the controls that are not part of the lattice: few, because copies of the longest take many cycles.
const CONTROL_COPIES: [u32; 4] = [32, 64, 96, 128];
/// Largest distance from a whole number, as a share, at which the length of a control counts as that number.
const WHOLE: f64 = 0.01;

/// Finds the length of the reference chain from the integer lattice of several chains, and the lengths of the controls.
/// Takes about 15 ms; repeats with more time if the length of a control is not a whole number, because something else used
/// the core.
///
/// # Errors
/// Why core cycles are not available here.
pub fn find_ruler(clock: Clock) -> Result<Ruler, String> {
    const TIME: Duration = Duration::from_millis(12);
    const TRIES: u64 = 4;
    let all = chains();
    let (wanted, others): (Vec<&Chain>, Vec<&Chain>) = all
        .iter()
        .filter(|chain| LATTICE.contains(&chain.role) || CONTROLS.contains(&chain.role))
        .partition(|chain| LATTICE.contains(&chain.role));
    if wanted.is_empty() {
        return Err(format!("no reference chain is built for {}", std::env::consts::ARCH));
    }
    let mut best: Option<Ruler> = None;
    for seed in 0..TRIES {
        let sampling = wanted.iter().fold(Sampling::new(clock), |sampling, chain| sampling.with_chain(chain));
        let sampling = others.iter().fold(sampling, |sampling, chain| sampling.with_copies(chain, &CONTROL_COPIES));
        let table = sampling.run(TIME * (1 + 2 * seed as u32), seed);
        let slopes: Vec<Estimate> = wanted.iter().filter_map(|chain| slope(&table, chain)).collect();
        let (slopes, found) = match lattice(&slopes, wanted.len()) {
            Some(found) => (slopes, Some(found)),
            None => undisturbed(&table, &wanted).map_or((slopes, None), |slopes| (slopes.clone(), lattice(&slopes, wanted.len()))),
        };
        if let Some(found) = found {
            let mut ruler = name_ruler(&wanted, &found)?;
            let unit = slopes[0].value / found.units[0];
            ruler
                .controls
                .extend(others.iter().filter_map(|chain| Some((chain.name.to_owned(), whole(slope(&table, chain)?.value / unit)?))));
            if best.as_ref().is_none_or(|best| best.controls.len() < ruler.controls.len()) {
                best = Some(ruler);
            }
        }
        if best.as_ref().is_some_and(|best| best.controls.len() == others.len() + 1) {
            break;
        }
    }
    best.ok_or_else(|| {
        "the reference chains do not lie on an integer lattice here (machine too busy, or a core that renames them away)".into()
    })
}

/// The slopes from undisturbed readings, for a neighbour on the core that lengthens chains so that they are not whole numbers.
/// The length of the reference chain is estimated from the chain of simple operations, each of which takes one cycle.
fn undisturbed(table: &Observations, wanted: &[&Chain]) -> Option<Vec<Estimate>> {
    let slope_of = |role: ChainRole| wanted.iter().find(|chain| chain.role == role).and_then(|chain| slope(table, chain));
    let cycles = (slope_of(RULER)?.value / slope_of(ChainRole::Simple)?.value).round().max(1.0);
    let quiet = Quiet::from_table(table, name(RULER), cycles)?;
    let solved = |chain: &&Chain| quiet.solve(table, table.find_series(chain.name)?, &Options::default());
    wanted.iter().map(|chain| solved(chain).map(|solution| solution.components[0].ticks)).collect()
}

fn slope(table: &Observations, chain: &Chain) -> Option<Estimate> {
    let series = table.find_series(chain.name)?;
    solve(table, series, &Options::default()).ok().map(|solution| solution.components[0].ticks)
}

/// The whole number that is nearest to a length, if it is close enough.
fn whole(cycles: f64) -> Option<u32> {
    let nearest = cycles.round();
    ((1.0..=64.0).contains(&nearest) && (cycles / nearest - 1.0).abs() < WHOLE).then_some(nearest as u32)
}

fn name_ruler(chains: &[&Chain], found: &Lattice) -> Result<Ruler, String> {
    let place = |role: ChainRole| chains.iter().position(|chain| chain.role == role);
    let integer = |role: ChainRole| place(role).and_then(|at| found.integers[at]);
    let list: Vec<String> = chains.iter().zip(&found.units).map(|(chain, units)| format!("{} {units:.2}", chain.name)).collect();
    let provenance = format!("integer lattice of dependent chains ({})", list.join(", "));
    let controls = CONTROLS.into_iter().filter_map(|role| Some((chains[place(role)?].name.to_owned(), integer(role)?))).collect();
    integer(RULER).map(|cycles| Ruler { cycles, controls, provenance }).ok_or_else(|| "the ruler chain is off the lattice".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lengths_close_to_whole_numbers_are_accepted() {
        assert_eq!((whole(3.996), whole(13.05), whole(1.0)), (Some(4), Some(13), Some(1)));
        assert_eq!((whole(4.65), whole(3.15), whole(0.2), whole(500.0), whole(f64::NAN)), (None, None, None, None, None));
    }
}
