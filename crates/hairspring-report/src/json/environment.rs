//! The circumstances in JSON.

use super::figure::{E, finite};
use crate::document::{ClockInfo, Environment};
use hairspring_core::Estimate;
use hairspring_host::environment::Machine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where and with what the measurement was made. A figure that cannot be had is `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentJson {
    /// The machine that was measured.
    pub cpu: Option<CpuJson>,
    /// Why the machine is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_reason: Option<String>,
    /// Operating system and kernel.
    pub system: Option<String>,
    /// The clock.
    pub clock: Option<ClockJson>,
    /// Core clock during the run, in Hz: from the reference chain, not from the clock's rate.
    pub core_clock_hz: Option<E>,
    /// Why the core clock is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_clock_reason: Option<String>,
    /// The chain of known length that core cycles are counted with.
    pub reference: Option<ReferenceJson>,
    /// Why there is no reference chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_reason: Option<String>,
    /// Compiler and version.
    pub compiler: Option<String>,
    /// Flags given to the compiler.
    pub compiler_flags: Option<String>,
    /// CPU that the measuring thread was bound to.
    pub pinned_cpu: Option<usize>,
    /// Whether the thread's priority was raised.
    pub priority_raised: Option<bool>,
    /// Whether the memory was locked.
    pub memory_locked: Option<bool>,
}

/// A machine, as far as it tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuJson {
    /// Model name; in a virtual machine it may be masked.
    pub model: String,
    /// CPUs online.
    pub cpus: usize,
    /// Architecture.
    pub architecture: String,
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
}

impl From<&Machine> for CpuJson {
    fn from(machine: &Machine) -> Self {
        CpuJson {
            model: machine.cpu_model.clone(),
            cpus: machine.cpus,
            architecture: machine.architecture.clone(),
            hypervisor: machine.hypervisor,
        }
    }
}

/// A clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockJson {
    /// Name by which it is asked for.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// Ticks per second; never the frequency of the core.
    pub rate_hz: Option<f64>,
    /// Standard uncertainty of the rate, in parts per million.
    pub rate_uncertainty_ppm: Option<f64>,
    /// How the rate is known.
    pub rate_provenance: Option<String>,
    /// Quantum in ticks.
    pub granularity_ticks: Option<f64>,
    /// Cost of one read in ticks.
    pub read_cost_ticks: Option<f64>,
}

impl From<&ClockInfo> for ClockJson {
    fn from(clock: &ClockInfo) -> Self {
        let rate = clock.rate.as_ref();
        ClockJson {
            name: clock.name.clone(),
            description: clock.description.clone(),
            rate_hz: rate.and_then(|rate| finite(rate.hz)),
            rate_uncertainty_ppm: rate.and_then(|rate| finite(rate.uncertainty_ppm)),
            rate_provenance: rate.map(|rate| rate.provenance.clone()),
            granularity_ticks: clock.granularity_ticks.and_then(finite),
            read_cost_ticks: clock.read_cost_ticks.and_then(finite),
        }
    }
}

/// The reference chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceJson {
    /// Core cycles of one copy.
    pub cycles: f64,
    /// How that is known.
    pub provenance: String,
}

/// Why core cycles are missing, in words.
pub(super) fn no_cycles(environment: &Environment) -> String {
    environment.ruler.as_ref().err().cloned().unwrap_or_else(|| "the reference chain shares too few rounds with this series".into())
}

/// The circumstances as every document carries them, with the core clock of the run in Hz where it is known.
pub fn environment(environment: &Environment, core_hz: Option<&Estimate>) -> EnvironmentJson {
    let core_clock_hz = core_hz.and_then(E::of);
    let reference = environment.ruler.as_ref().ok();
    let no_core = || environment.ruler.as_ref().err().cloned().unwrap_or_else(|| "the clock's rate is unknown".into());
    EnvironmentJson {
        cpu: environment.machine.as_ref().map(CpuJson::from),
        cpu_reason: environment.machine.is_none().then(|| "the observations do not say where they were made".to_owned()),
        system: environment.machine.as_ref().map(|machine| machine.system.clone()),
        clock: environment.clock.as_ref().map(ClockJson::from),
        core_clock_hz,
        core_clock_reason: core_clock_hz.is_none().then(no_core),
        reference: reference.map(|ruler| ReferenceJson { cycles: ruler.cycles, provenance: ruler.provenance.clone() }),
        reference_reason: environment.ruler.as_ref().err().cloned(),
        compiler: environment.compiler.clone(),
        compiler_flags: environment.compiler_flags.clone(),
        pinned_cpu: environment.pinned_cpu,
        priority_raised: environment.priority_raised,
        memory_locked: environment.memory_locked,
    }
}
