//! What this machine can and cannot give: the smallest time that can be measured, the units of the
//! core that something else uses now, what the step of the clock costs, and what to change.
//! `verify` ends with it.

pub mod change;
pub mod document;
pub mod smallest;
pub mod text;

use crate::lines::{InCycles, core_hz, lengths, lines};
use crate::verify::Standing;
use change::{Change, Facts};
use hairspring_core::estimate::Estimate;
use hairspring_core::observations::{Pauses, Rate};
use hairspring_host::chains::{CONTROLS, ChainRole, LATTICE, RULER, chains, role_of};
use hairspring_host::clock::{Clock, Reading, granularity};
use hairspring_host::interference::StealMeter;
use hairspring_measure::proof::{Fit, Length};
use hairspring_measure::rounds::pauses;
use hairspring_measure::sampling::Sampling;
use smallest::Smallest;
use std::time::{Duration, Instant};

/// Time for the chains.
const CHAINS: Duration = Duration::from_millis(350);
/// Time for which pauses are watched for.
const WATCH_TIME: Duration = Duration::from_millis(30);

/// A kind of units of the core, by the chain that uses it.
#[derive(Debug, Clone, PartialEq)]
pub struct Role {
    /// Its name.
    pub name: &'static str,
    /// The chain.
    pub chain: String,
    /// Core cycles of a copy.
    pub cycles: Estimate,
    /// The shortest and the longest length in parts of the run, but for a tenth of them on either
    /// side.
    pub parts: (f64, f64),
    /// The whole number that it is proved to take.
    pub integer: Option<u32>,
    /// What the chain is worth here.
    pub standing: Standing,
}

impl Role {
    /// Whether something else uses these units now.
    pub fn is_shared(&self) -> bool {
        self.standing.is_slowed()
    }
}

/// What this machine can and cannot give.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Name of the clock.
    pub clock: String,
    /// Its resolution and read cost.
    pub reading: Reading,
    /// Its rate.
    pub rate: Rate,
    /// Core clock in Hz.
    pub core_hz: Estimate,
    /// The smallest times that can be measured.
    pub smallest: Smallest,
    /// Kinds of units.
    pub roles: Vec<Role>,
    /// Share of the readings that nobody else disturbed; `None` where the reads of the clock do not
    /// show it.
    pub quiet_share: Option<f64>,
    /// Pauses of the CPU, in ticks.
    pub pauses: Pauses,
    /// Time that the hypervisor gave to others, in milliseconds; `None` where it does not say.
    pub stolen_ms: Option<f64>,
    /// What to change.
    pub changes: Vec<Change>,
}

/// Finds out what this machine can give, on the CPU that the calling thread is bound to, in about
/// two seconds.
///
/// # Errors
/// Why nothing can be measured here: there are no chains for this architecture, the clock does not
/// move, or the chains lie on no lattice.
pub fn diagnose(clock: Clock, cpu: usize, level: f64) -> Result<Diagnosis, String> {
    let (reading, stolen) = (granularity(&clock), StealMeter::start(cpu));
    if reading.quantum == 0 {
        return Err(format!(
            "clock `{}` does not move: choose another one (--clock; `hairspring clocks` lists \
             them)",
            clock.name
        ));
    }
    let cores = Units::measure(clock, level)?;
    let smallest = Smallest::measure(clock, cores.core_hz.value, cores.ruler_cycles, level)
        .ok_or("the rows of a chain cannot be solved: the machine is too busy")?;
    let begin = Instant::now();
    let pauses = pauses(clock.read, clock.width, reading.quantum, WATCH_TIME, &|| begin.elapsed());
    let mut diagnosis = Diagnosis {
        clock: clock.name.to_owned(),
        reading,
        rate: cores.rate,
        core_hz: cores.core_hz,
        smallest,
        roles: cores.roles,
        quiet_share: cores.quiet_share,
        pauses,
        stolen_ms: stolen.stolen_ms(),
        changes: Vec::new(),
    };
    diagnosis.changes = change::changes(&diagnosis, &Facts::here(cpu));
    Ok(diagnosis)
}

/// The units of the core.
struct Units {
    rate: Rate,
    core_hz: Estimate,
    ruler_cycles: f64,
    roles: Vec<Role>,
    quiet_share: Option<f64>,
}

impl Units {
    fn measure(clock: Clock, level: f64) -> Result<Units, String> {
        let wanted_chains: Vec<_> = chains()
            .into_iter()
            .filter(|chain| LATTICE.contains(&chain.role) || CONTROLS.contains(&chain.role))
            .collect();
        if wanted_chains.is_empty() {
            return Err(format!(
                "no chains of known length are built for {}",
                std::env::consts::ARCH
            ));
        }
        let table =
            wanted_chains.iter().fold(Sampling::new(clock), Sampling::with_chain).run(CHAINS, 1);
        let rate = table.origin.rate.clone().ok_or("the clock has no rate")?;
        let lines = lines(&table, level)?;
        let lattice =
            lengths(&lines, level, Fit::Close).or_else(|| lengths(&lines, level, Fit::Lengthened));
        let lattice = lattice.ok_or(
            "the chains do not lie on an integer lattice: the machine is too busy, or its core \
             renames them away",
        )?;
        let (ruler, cycles) = lines
            .iter()
            .zip(&lattice)
            .find_map(|(line, length)| {
                (role_of(&line.name) == Some(RULER)).then_some((line, f64::from(length.integer?)))
            })
            .ok_or("the ruler chain is off the lattice")?;
        let quiet_share =
            InCycles::new(&table, cycles, level).and_then(|measured| measured.quiet_share());
        let all_chains: Vec<(ChainRole, &str, &Length)> = lines
            .iter()
            .zip(&lattice)
            .filter_map(|(line, length)| Some((role_of(&line.name)?, line.name.as_str(), length)))
            .collect();
        Ok(Units {
            core_hz: core_hz(ruler, cycles, &rate).estimate(level),
            ruler_cycles: cycles,
            rate,
            roles: roles(&all_chains),
            quiet_share,
        })
    }
}

/// The reference chain and the controls, in the order of their list.
fn roles(all_chains: &[(ChainRole, &str, &Length)]) -> Vec<Role> {
    let of = |wanted_role: ChainRole| {
        let (role, chain, length) = all_chains.iter().find(|(role, ..)| *role == wanted_role)?;
        let standing = if *role == RULER { Standing::Whole } else { Standing::of(length) };
        let Length { cycles, parts, integer, .. } = (*length).clone();
        Some(Role {
            name: role.name(),
            chain: (*chain).to_owned(),
            cycles,
            parts,
            integer,
            standing,
        })
    };
    std::iter::once(RULER).chain(CONTROLS).filter_map(of).collect()
}
