//! The core cycle as the unit of a lattice: finds the length of the reference chain in core cycles
//! on this machine.

use crate::proof::{Fit, Length, prove};
use crate::sampling::Sampling;
use hairspring_core::estimate::{Options, Solution};
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

/// Copies of the controls that are not part of the lattice: few, because copies of the longest take
/// many cycles.
const CONTROL_COPIES: [u32; 4] = [32, 64, 96, 128];
/// Confidence level of the ratios of chains.
const LEVEL: f64 = 0.95;
/// Time of the first rounds. Every further try doubles the time so far and uses all of the rounds
/// ...
const FIRST_TIME: Duration = Duration::from_millis(12);
/// ... up to 384 ms in all, which is less than the default budgets.
const TRIES: u32 = 6;

/// Finds the length of the reference chain from the integer lattice of several chains, and the
/// lengths of the controls that are proved (see [`prove`]). Takes about 15 ms, and up to half a
/// second where something else uses the core: the tries end when all lengths are whole numbers. On
/// a core that is never quiet, the reference chain alone is taken for the unit.
///
/// # Errors
/// Why core cycles are not available here.
pub fn find_ruler(clock: Clock) -> Result<Ruler, String> {
    let all_chains = chains();
    let (lattice_chains, other_chains): (Vec<&Chain>, Vec<&Chain>) = all_chains
        .iter()
        .filter(|chain| LATTICE.contains(&chain.role) || CONTROLS.contains(&chain.role))
        .partition(|chain| LATTICE.contains(&chain.role));
    if lattice_chains.is_empty() {
        return Err(format!("no reference chain is built for {}", std::env::consts::ARCH));
    }
    let sampling = lattice_chains
        .iter()
        .fold(Sampling::new(clock), |sampling, chain| sampling.with_chain(chain));
    let sampling = other_chains
        .iter()
        .fold(sampling, |sampling, chain| sampling.with_copies(chain, &CONTROL_COPIES));
    let (mut samples, measured_chains) =
        (sampling.start(0), [lattice_chains, other_chains].concat());
    let most_controls =
        measured_chains.iter().filter(|chain| CONTROLS.contains(&chain.role)).count();
    let mut best: Option<Ruler> = None;
    for attempt in 0..TRIES {
        let table = samples.run(FIRST_TIME * 2u32.pow(attempt.saturating_sub(1)));
        let ruler = ruler_of(table, &measured_chains, Fit::Close);
        if ruler.is_some()
            && best.as_ref().map(|best| best.controls.len())
                < ruler.as_ref().map(|ruler| ruler.controls.len())
        {
            best = ruler;
        }
        if best.is_none() && attempt + 1 == TRIES {
            best = ruler_of(table, &measured_chains, Fit::Lengthened);
        }
        // A control that is never a whole number is left out after half of the tries.
        let complete = best.as_ref().is_some_and(|best| best.controls.len() == most_controls);
        if complete || best.is_some() && attempt + 1 >= TRIES / 2 {
            break;
        }
    }
    best.ok_or_else(|| {
        "the reference chains do not lie on an integer lattice here (machine too busy, or a core \
         that renames them away)"
            .into()
    })
}

/// The lengths of the chains of a table; `None` if the lattice is not there.
fn ruler_of(table: &Observations, chains: &[&Chain], fit: Fit) -> Option<Ruler> {
    let solved = |chain: &&Chain| {
        Some((chain.role, solve(table, table.find_series(chain.name)?, &Options::default()).ok()?))
    };
    let solved: Vec<(ChainRole, Solution)> = chains.iter().map(solved).collect::<Option<_>>()?;
    let lines: Vec<(ChainRole, &Solution)> =
        solved.iter().map(|(role, solution)| (*role, solution)).collect();
    let lengths = prove(&lines, LEVEL, fit)?;
    let proved = |role: ChainRole| {
        chains
            .iter()
            .position(|chain| chain.role == role)
            .and_then(|at| Some((at, lengths[at].integer?)))
    };
    let control =
        |role: ChainRole| proved(role).map(|(at, cycles)| (chains[at].name.to_owned(), cycles));
    let measured = |(chain, length): (&&Chain, &Length)| {
        LATTICE.contains(&chain.role).then(|| format!("{} {:.2}", chain.name, length.cycles.value))
    };
    let list: Vec<String> = chains.iter().zip(&lengths).filter_map(measured).collect();
    Some(Ruler {
        cycles: proved(RULER)?.1,
        controls: CONTROLS.into_iter().filter_map(control).collect(),
        provenance: format!("integer lattice of dependent chains ({})", list.join(", ")),
    })
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
    fn table(rate: impl Fn(u32) -> f64, all_chains: &[&Chain]) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        for round in 0..256u32 {
            for chain in all_chains {
                let series = table.series(chain.name);
                for copies in [32u32, 64, 128, 256] {
                    let row = table.row(series, &[f64::from(copies)]);
                    let wobble = f64::from((round * 7 + copies / 32 * 13) % 11) / 10.0;
                    table.push(
                        row,
                        round,
                        rate(round) * (length(chain) * f64::from(copies) + 60.0 + wobble),
                    );
                }
            }
        }
        table
    }

    #[test]
    fn a_clock_in_steps_does_not_hide_the_lattice() {
        let all_chains = chains();
        let of = |roles: &[ChainRole]| {
            all_chains.iter().filter(|chain| roles.contains(&chain.role)).collect::<Vec<&Chain>>()
        };
        let lattice_chains = of(&LATTICE);
        let other_chains: Vec<&Chain> =
            of(&CONTROLS).into_iter().filter(|chain| !LATTICE.contains(&chain.role)).collect();
        // Three quarters of the rounds at one clock, the others at a clock that is half as fast.
        let table = table(
            |round| if round % 128 < 96 { 0.7 } else { 1.4 },
            &[lattice_chains.clone(), other_chains.clone()].concat(),
        );
        let ruler =
            ruler_of(&table, &[lattice_chains, other_chains.clone()].concat(), Fit::Close).unwrap();
        assert_eq!((ruler.cycles, ruler.controls.len()), (3, other_chains.len() + 1), "{ruler:?}");
        assert!(ruler.controls.iter().all(|(name, cycles)| {
            all_chains.iter().any(|chain| chain.name == name && length(chain) == f64::from(*cycles))
        }));
    }
}
