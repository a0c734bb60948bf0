//! The document of `mhz`: the core clock of every requested CPU, and the rate of the clock.

use super::levels::Level;
use crate::budget::rate_budget;
use crate::mhz::classic::ClassicResult;
use crate::mhz::{ChainUnits, CoreClock, OfRuns};
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source};
use hairspring_result::Environment;
use hairspring_result::Finding;
use hairspring_result::document::{FigureEntry, figure_budget};
use serde::Serialize;
use serde_json::Value;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MhzSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/mhz/2")]
    V2,
}

/// The core clock of one or several CPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring core clock"))]
pub struct MhzDocument {
    /// Name and version of this format.
    pub schema: MhzSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// One entry for each CPU.
    pub results: Vec<CoreClockJson>,
    /// The result of the fifth paper's method, if it was requested: its expressions, tries and
    /// votes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classic: Option<Value>,
}

/// The core clock of a CPU.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CoreClockJson {
    /// Number of the CPU.
    pub cpu: usize,
    /// Core clock in Hz; if it stepped, the level with the longest time.
    pub core_hz: Option<Estimate>,
    /// The error budget of the core clock, in Hz.
    pub core_hz_budget: Vec<FigureEntry>,
    /// Why there is no core clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_hz_reason: Option<String>,
    /// The core clock that other runs may have: the same value, with its movement between the runs
    /// of the last week on this machine in the interval. `null` if several CPUs are measured, and
    /// until there are four runs.
    pub any_run_core_hz: Option<Estimate>,
    /// Its error budget, in Hz.
    pub any_run_core_hz_budget: Vec<FigureEntry>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_run_core_hz_reason: Option<String>,
    /// Ticks per second of the clock that the chains were timed with: not the core's clock.
    pub tick_hz: Option<Estimate>,
    /// The error budget of that rate.
    pub tick_hz_budget: Vec<FigureEntry>,
    /// Name of that clock.
    pub clock: Option<String>,
    /// Where its rate comes from.
    pub tick_provenance: Option<String>,
    /// Core cycles for each tick.
    pub cycles_per_tick: Option<f64>,
    /// Whether the chains exclude a common factor; if not, the core clock is known only up to it.
    pub factor_known: Option<bool>,
    /// Levels of the core clock during the run, the most frequent first.
    pub levels: Vec<LevelJson>,
    /// Chains and their integer lengths.
    pub chains: Vec<ChainUnitsJson>,
    /// Rounds of all chains.
    pub rounds: Option<u32>,
    /// Total time, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// A level of the core clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelJson {
    /// Core clock at this level, in Hz.
    pub core_hz: Option<Estimate>,
    /// Share of the run, from 0 to 1.
    pub share: f64,
}

/// A chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChainUnitsJson {
    /// Its name.
    pub name: String,
    /// Length of one copy in core cycles.
    pub cycles: Option<Estimate>,
    /// Its integer length; `null` for a chain off the lattice, which was left out.
    pub integer: Option<u32>,
}

impl From<&Level> for LevelJson {
    fn from(level: &Level) -> Self {
        LevelJson { core_hz: level.value.if_finite(), share: level.share }
    }
}

impl From<&ChainUnits> for ChainUnitsJson {
    fn from(chain: &ChainUnits) -> Self {
        ChainUnitsJson {
            name: chain.name.clone(),
            cycles: chain.cycles.if_finite(),
            integer: chain.integer,
        }
    }
}

/// The document: for every CPU its core clock, or why it was not found.
pub fn mhz(
    cpus: &[(usize, Result<CoreClock, String>)],
    classic: Option<&ClassicResult>,
    circumstances: &Environment,
) -> MhzDocument {
    MhzDocument {
        schema: MhzSchema::V2,
        command: "mhz".into(),
        environment: circumstances.clone(),
        results: cpus.iter().map(|(cpu, found)| core_clock(*cpu, found.as_ref())).collect(),
        classic: classic.and_then(|classic| serde_json::to_value(classic).ok()),
    }
}

/// The error budget of a core clock.
fn budget(clock: &CoreClock) -> Vec<FigureEntry> {
    let movement = match clock.levels.len() {
        0 | 1 => "one level in this run; another run may have another one",
        _ => {
            "stepped in this run: the figure is its most frequent level, and another run may have \
             another one"
        }
    };
    entries(&clock.budget, clock.core_hz.level, movement)
}

/// The error budget of the core clock of other runs.
fn budget_of_runs(of_runs: &OfRuns) -> Vec<FigureEntry> {
    let mut all_entries = entries(&of_runs.budget, of_runs.hz.level, "the same in all runs");
    let moved = all_entries
        .iter_mut()
        .filter(|entry| entry.source == Source::CoreClock && entry.half_width != Some(0.0));
    moved.for_each(|entry| {
        entry.note = Some(format!("how it moved between {} runs on this machine", of_runs.runs))
    });
    all_entries
}

/// Contributions as entries; `movement` says why the movement of the core clock is none of them.
fn entries(budget: &[Contribution], level: f64, movement: &str) -> Vec<FigureEntry> {
    let absent = [
        (Source::Quantum, "averages out: readings begin at all phases of the clock"),
        (Source::Fence, "the line fit separates it from the lengths of the chains"),
        (Source::Departure, "the chains lie on their lattice as closely as their noise allows"),
        (
            Source::Controls,
            "disturbed stretches are left out, and the chains show no further effect",
        ),
        (Source::CoreClock, movement),
    ];
    figure_budget(budget, level, &absent)
}

/// Why the core clock of other runs is not known.
const NO_RUNS: &str = "the history of this machine has fewer than four runs, or is off, or \
                       several CPUs were measured";

fn core_clock(cpu: usize, clock: Result<&CoreClock, &String>) -> CoreClockJson {
    let known_clock = clock.ok();
    let of_runs = known_clock.and_then(|clock| clock.of_runs.as_ref());
    CoreClockJson {
        cpu,
        core_hz: known_clock.and_then(|clock| clock.core_hz.if_finite()),
        core_hz_budget: known_clock.map_or_else(Vec::new, budget),
        core_hz_reason: clock.err().cloned(),
        any_run_core_hz: of_runs.and_then(|of_runs| of_runs.hz.if_finite()),
        any_run_core_hz_budget: of_runs.map_or_else(Vec::new, budget_of_runs),
        any_run_core_hz_reason: of_runs
            .is_none()
            .then(|| clock.err().map_or_else(|| NO_RUNS.to_owned(), Clone::clone)),
        tick_hz: known_clock
            .and_then(|clock| Estimate::of_rate(&clock.rate, clock.core_hz.level).if_finite()),
        tick_hz_budget: known_clock.map_or_else(Vec::new, |clock| {
            rate_budget(&clock.rate, clock.rate.hz, clock.core_hz.level)
        }),
        clock: known_clock.map(|clock| clock.clock.clone()),
        tick_provenance: known_clock.map(|clock| clock.rate.provenance.clone()),
        cycles_per_tick: known_clock.map(|clock| clock.core_hz.value / clock.rate.hz),
        factor_known: known_clock.map(|clock| clock.factor_known),
        levels: known_clock
            .map_or_else(Vec::new, |clock| clock.levels.iter().map(LevelJson::from).collect()),
        chains: known_clock
            .map_or_else(Vec::new, |clock| clock.chains.iter().map(ChainUnitsJson::from).collect()),
        rounds: known_clock.map(|clock| clock.rounds),
        elapsed_ms: known_clock.map(|clock| clock.elapsed.as_secs_f64() * 1e3),
        findings: known_clock.map_or_else(Vec::new, |clock| clock.findings.clone()),
    }
}
