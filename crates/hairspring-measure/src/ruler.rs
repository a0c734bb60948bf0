//! The core cycle as the unit of a lattice: finds the length of the reference chain in core cycles on this machine.

use crate::lattice::{Lattice, lattice, lattice_of_first};
use crate::sampling::Sampling;
use hairspring_core::estimate::ratio::of_first;
use hairspring_core::estimate::{Estimate, Options, Solution};
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;
use hairspring_host::chains::{CONTROLS, Chain, ChainRole, LATTICE, RULER, chains};
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
/// Confidence level of the ratios of chains.
const LEVEL: f64 = 0.95;
/// Largest distance from a whole number, as a share of the length and in cycles, at which the length of a control counts as that
/// number. Long chains are measured more precisely than by a share, and would otherwise be near a whole number by chance.
const WHOLE: (f64, f64) = (0.01, 0.05);
/// Time of the first rounds. Every further try doubles the time so far and uses all of the rounds ...
const FIRST: Duration = Duration::from_millis(12);
/// ... up to 384 ms in all, which is less than the default budgets.
const TRIES: u32 = 6;

/// Finds the length of the reference chain from the integer lattice of several chains, and the lengths of the controls.
/// Takes about 15 ms, and up to half a second where something else uses the core: the tries end when all lengths are whole
/// numbers. On a core that is never quiet, the reference chain alone is taken for the unit.
///
/// # Errors
/// Why core cycles are not available here.
pub fn find_ruler(clock: Clock) -> Result<Ruler, String> {
    let all = chains();
    let (wanted, others): (Vec<&Chain>, Vec<&Chain>) = all
        .iter()
        .filter(|chain| LATTICE.contains(&chain.role) || CONTROLS.contains(&chain.role))
        .partition(|chain| LATTICE.contains(&chain.role));
    if wanted.is_empty() {
        return Err(format!("no reference chain is built for {}", std::env::consts::ARCH));
    }
    let sampling = wanted.iter().fold(Sampling::new(clock), |sampling, chain| sampling.with_chain(chain));
    let sampling = others.iter().fold(sampling, |sampling, chain| sampling.with_copies(chain, &CONTROL_COPIES));
    let mut samples = sampling.start(0);
    let mut best: Option<Ruler> = None;
    for attempt in 0..TRIES {
        let table = samples.run(FIRST * 2u32.pow(attempt.saturating_sub(1)));
        let found = ruler_of(table, &wanted, &others)?;
        if found.is_some() && best.as_ref().map(|best| best.controls.len()) < found.as_ref().map(|found| found.controls.len()) {
            best = found;
        }
        if best.is_none() && attempt + 1 == TRIES {
            best = ruler_beside_a_neighbour(table, &wanted)?;
        }
        // A control that is never a whole number is left out after half of the tries.
        let complete = best.as_ref().is_some_and(|best| best.controls.len() == others.len() + 1);
        if complete || best.is_some() && attempt + 1 >= TRIES / 2 {
            break;
        }
    }
    best.ok_or_else(|| {
        "the reference chains do not lie on an integer lattice here (machine too busy, or a core that renames them away)".into()
    })
}

/// The length of the reference chain on a core that is never quiet, from the chain itself. Controls that are part of the lattice are
/// the only ones: the lengths of others are not known.
fn ruler_beside_a_neighbour(table: &Observations, wanted: &[&Chain]) -> Result<Option<Ruler>, String> {
    let options = Options::default();
    let by_all = |chain: &Chain| solve(table, table.find_series(chain.name)?, &options).ok();
    let slopes = in_references(&by_all, wanted).and_then(|slopes| slopes.into_iter().collect::<Option<Vec<Estimate>>>());
    let found = slopes.and_then(|slopes| lattice_of_first(&slopes));
    found.map(|found| name_ruler(wanted, &found)).transpose()
}

/// The lengths of chains, as ratios to the first, the reference chain. They do not change with the core clock.
fn in_references(solve: &dyn Fn(&Chain) -> Option<Solution>, chains: &[&Chain]) -> Option<Vec<Option<Estimate>>> {
    let reference = solve(chains.first().filter(|chain| chain.role == RULER)?)?;
    Some(chains.iter().map(|chain| of_first(&solve(chain)?, &reference, LEVEL)).collect())
}

/// The lengths of the chains of a table; `None` if they are no whole numbers.
fn ruler_of(table: &Observations, wanted: &[&Chain], others: &[&Chain]) -> Result<Option<Ruler>, String> {
    ruler_by(&|chain| solve(table, table.find_series(chain.name)?, &Options::default()).ok(), wanted, others).transpose()
}

/// The lengths by one way of solving a chain.
fn ruler_by(solve: &dyn Fn(&Chain) -> Option<Solution>, wanted: &[&Chain], others: &[&Chain]) -> Option<Result<Ruler, String>> {
    let mut slopes = in_references(solve, &[wanted, others].concat())?;
    let lengths = slopes.split_off(wanted.len());
    let slopes: Vec<Estimate> = slopes.into_iter().collect::<Option<_>>()?;
    let found = lattice(&slopes, wanted.len())?;
    let unit = slopes[0].value / found.units[0];
    let control = |(chain, length): (&&Chain, &Option<Estimate>)| Some((chain.name.to_owned(), whole(length.as_ref()?.value / unit)?));
    Some(name_ruler(wanted, &found).map(|mut ruler| {
        ruler.controls.extend(others.iter().zip(&lengths).filter_map(control));
        ruler
    }))
}

/// The whole number that is nearest to a length, if it is close enough.
fn whole(cycles: f64) -> Option<u32> {
    let nearest = cycles.round();
    ((1.0..=64.0).contains(&nearest) && (cycles - nearest).abs() < WHOLE.1.min(WHOLE.0 * nearest)).then_some(nearest as u32)
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

    /// Lengths of the lattice's chains and of the controls in core cycles.
    fn length(chain: &Chain) -> f64 {
        match chain.role {
            ChainRole::Multiply => 3.0,
            ChainRole::Simple => 1.0,
            ChainRole::SimpleMultiply | ChainRole::FloatMultiply => 4.0,
            ChainRole::SimpleMultiplySimple | ChainRole::Load => 5.0,
            _ => 14.0,
        }
    }

    /// Readings at a clock that has these ticks per cycle in a round.
    fn table(rate: impl Fn(u32) -> f64, all: &[&Chain]) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        for round in 0..256u32 {
            for chain in all {
                let series = table.series(chain.name);
                for copies in [32u32, 64, 128, 256] {
                    let row = table.row(series, &[f64::from(copies)]);
                    let wobble = f64::from((round * 7 + copies / 32 * 13) % 11) / 10.0;
                    table.push(row, round, rate(round) * (length(chain) * f64::from(copies) + 60.0 + wobble));
                }
            }
        }
        table
    }

    #[test]
    fn a_clock_in_steps_does_not_hide_the_lattice() {
        let all = chains();
        let of = |roles: &[ChainRole]| all.iter().filter(|chain| roles.contains(&chain.role)).collect::<Vec<&Chain>>();
        let wanted = of(&LATTICE);
        let others: Vec<&Chain> = of(&CONTROLS).into_iter().filter(|chain| !LATTICE.contains(&chain.role)).collect();
        // Three quarters of the rounds at one clock, the others at a clock that is half as fast.
        let table = table(|round| if round % 128 < 96 { 0.7 } else { 1.4 }, &[wanted.clone(), others.clone()].concat());
        let found = ruler_of(&table, &wanted, &others).unwrap().unwrap();
        assert_eq!((found.cycles, found.controls.len()), (3, others.len() + 1), "{found:?}");
        assert!(
            found
                .controls
                .iter()
                .all(|(name, cycles)| { all.iter().any(|chain| chain.name == name && length(chain) == f64::from(*cycles)) })
        );
    }

    #[test]
    fn only_lengths_close_to_whole_numbers_are_accepted() {
        assert_eq!((whole(3.996), whole(13.04), whole(1.0)), (Some(4), Some(13), Some(1)));
        assert_eq!((whole(4.65), whole(14.86), whole(0.2), whole(500.0), whole(f64::NAN)), (None, None, None, None, None));
    }
}
