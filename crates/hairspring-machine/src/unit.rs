//! The core cycle as the unit of a lattice: which integer the ruler chain is on this machine.

use hairspring_engine::clock::Clock;
use hairspring_engine::estimate::lattice::{Lattice, lattice};
use hairspring_engine::estimate::{Estimate, Options, solve};
use hairspring_engine::reference::{CONTROL, LATTICE, RULER, chains};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the ruler chain is in core cycles, and how that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ruler {
    /// Core cycles of one copy of the ruler chain.
    pub cycles: u32,
    /// Core cycles of one copy of the control chain ([`CONTROL`]).
    pub control_cycles: Option<u32>,
    /// How it is known, in words.
    pub provenance: String,
}

/// Proves the ruler by the integer lattice of several chains; about 10 ms.
///
/// # Errors
/// Says why core cycles cannot be had here.
pub fn find_ruler(clock: Clock) -> Result<Ruler, String> {
    const TIME: Duration = Duration::from_millis(8);
    const TRIES: u64 = 4;
    let wanted: Vec<_> = chains().into_iter().filter(|chain| LATTICE.contains(&chain.name)).collect();
    if wanted.is_empty() {
        return Err(format!("no reference chain is built for {}", std::env::consts::ARCH));
    }
    for seed in 0..TRIES {
        let sampling = wanted.iter().fold(super::sampling::Sampling::new(clock), super::sampling::Sampling::with_chain);
        let table = sampling.run(TIME * (1 + 2 * seed as u32), seed);
        let slopes: Vec<Estimate> = wanted
            .iter()
            .filter_map(|chain| {
                let series = table.find_series(chain.name)?;
                solve(&table, series, &Options::default()).ok().map(|solution| solution.components[0].ticks)
            })
            .collect();
        if let Some(found) = lattice(&slopes, wanted.len()) {
            return name_ruler(&wanted.iter().map(|chain| chain.name).collect::<Vec<_>>(), &found);
        }
    }
    Err("the reference chains do not lie on an integer lattice here (machine too busy, or a core that renames them away)".into())
}

fn name_ruler(names: &[&str], found: &Lattice) -> Result<Ruler, String> {
    let integer = |wanted: &str| names.iter().position(|name| *name == wanted).and_then(|at| found.integers[at]);
    let list: Vec<String> = names.iter().zip(&found.units).map(|(name, units)| format!("{name} {units:.2}")).collect();
    let provenance = format!("integer lattice of dependent chains ({})", list.join(", "));
    let control_cycles = integer(CONTROL);
    integer(RULER).map(|cycles| Ruler { cycles, control_cycles, provenance }).ok_or_else(|| "the ruler chain is off the lattice".to_owned())
}
