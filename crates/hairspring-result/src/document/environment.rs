//! The circumstances of a measurement.

use super::figure::finite;
use crate::identity::Identity;
use hairspring_core::Estimate;
use hairspring_core::machine::Machine;
use hairspring_core::observations::{Origin, Rate, Unit};
use serde::{Deserialize, Serialize};

/// Where and with what the measurement was made. An unavailable figure is `null`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Environment {
    /// When, where and by which version it was made; `null` in documents of version 0.1.0.
    pub identity: Option<Identity>,
    /// The machine that was measured.
    pub cpu: Option<Cpu>,
    /// Why the machine is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_reason: Option<String>,
    /// Operating system and kernel.
    pub system: Option<String>,
    /// The clock.
    pub clock: Option<Clock>,
    /// Core clock during the run, in Hz: from the reference chain, not from the clock's rate.
    pub core_clock_hz: Option<Estimate>,
    /// Why the core clock is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_clock_reason: Option<String>,
    /// The core clock at which `stated_clock_ns` gives times, in Hz: stated by the user, not
    /// measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_clock_hz: Option<f64>,
    /// The chain of known length by which core cycles are counted.
    pub reference: Option<Reference>,
    /// Why there is no reference chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_reason: Option<String>,
    /// Compiler and version.
    pub compiler: Option<String>,
    /// Flags given to the compiler.
    pub compiler_flags: Option<String>,
    /// Fingerprint of the program with the benchmarks: another one for another build. `None` if the
    /// code was compiled for the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// CPU that the measuring thread was bound to.
    pub pinned_cpu: Option<usize>,
    /// Whether the thread's priority was raised.
    pub priority_raised: Option<bool>,
    /// Whether the memory was locked.
    pub memory_locked: Option<bool>,
}

/// A machine, as far as it reports itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// Model name; in a virtual machine it may be masked.
    pub model: String,
    /// Family of its cores by numbers that a hypervisor does not mask: `6-207` (family and model on
    /// x86), `0x41-0xd0c` (implementer and part on ARM). Documents of earlier versions do not have
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// CPUs online.
    pub cpus: usize,
    /// Architecture.
    pub architecture: String,
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
}

/// A clock.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Clock {
    /// Its name in `--clock`.
    pub name: String,
    /// Description in one sentence.
    pub description: String,
    /// Ticks per second; never the frequency of the core.
    pub rate_hz: Option<f64>,
    /// Standard uncertainty of the rate, in parts per million.
    pub rate_uncertainty_ppm: Option<f64>,
    /// Where the rate comes from.
    pub rate_provenance: Option<String>,
    /// Quantum in ticks.
    pub granularity_ticks: Option<f64>,
    /// Cost of one read in ticks.
    pub read_cost_ticks: Option<f64>,
}

impl Clock {
    /// A clock of which only the name and the description are known.
    pub fn named(name: impl Into<String>, description: impl Into<String>) -> Clock {
        Clock { name: name.into(), description: description.into(), ..Clock::default() }
    }

    /// Adds the rate.
    #[must_use]
    pub fn with_rate(mut self, rate: &Rate) -> Clock {
        self.rate_hz = finite(rate.hz);
        self.rate_uncertainty_ppm = finite(rate.uncertainty_ppm);
        self.rate_provenance = Some(rate.provenance.clone());
        self
    }

    /// Adds the quantum and the cost of a read, in ticks; a quantum of 0 means unknown.
    #[must_use]
    pub fn with_reading(mut self, quantum: u64, read_cost_ticks: f64) -> Clock {
        self.granularity_ticks = (quantum > 0).then_some(quantum as f64);
        self.read_cost_ticks = finite(read_cost_ticks);
        self
    }
}

/// The reference chain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reference {
    /// Core cycles of one copy.
    pub cycles: f64,
    /// Where the length comes from.
    pub provenance: String,
}

impl Environment {
    /// Unknown circumstances, for observations from elsewhere; `no_cycles` says why there are no
    /// core cycles.
    pub fn unknown(no_cycles: &str) -> Environment {
        Environment {
            cpu_reason: Some("the observations do not say where they were made".into()),
            reference_reason: Some(no_cycles.to_owned()),
            ..Environment::default()
        }
    }

    /// Fingerprint of the machine, if it is known.
    pub fn host(&self) -> Option<&str> {
        self.identity.as_ref()?.host.as_deref()
    }

    /// Adds the machine.
    #[must_use]
    pub fn on(mut self, machine: &Machine) -> Environment {
        self.cpu = Some(Cpu {
            model: machine.cpu_model.clone(),
            family: machine.family.clone(),
            cpus: machine.cpus,
            architecture: machine.architecture.clone(),
            hypervisor: machine.hypervisor,
        });
        self.cpu_reason = None;
        self.system = Some(machine.system.clone());
        self
    }

    /// Adds the reference chain, or the reason why there is none.
    #[must_use]
    pub fn with_reference(mut self, reference: Result<Reference, String>) -> Environment {
        self.reference_reason = reference.as_ref().err().cloned();
        self.reference = reference.ok();
        self
    }

    /// Adds the clock and the reference chain that the observations state.
    #[must_use]
    pub fn with_origin(mut self, origin: &Origin) -> Environment {
        let name =
            origin.clock.clone().or_else(|| origin.rate.as_ref().map(|_| "not named".to_owned()));
        self.clock = name.map(|name| {
            let clock = Clock {
                granularity_ticks: origin.granularity.and_then(finite),
                ..Clock::named(name, "")
            };
            let in_ticks = origin.unit == Unit::Ticks;
            let clock = if in_ticks { clock } else { Clock { granularity_ticks: None, ..clock } };
            match origin.rate.as_ref().filter(|_| in_ticks) {
                Some(rate) => clock.with_rate(rate),
                None => clock,
            }
        });
        let Some((series, cycles)) = &origin.reference else { return self };
        self.with_reference(Ok(Reference {
            cycles: *cycles,
            provenance: format!("series `{series}` of the observations"),
        }))
    }

    /// Adds the core clock of the run, or the reason why it is unknown.
    #[must_use]
    pub fn with_core_clock(mut self, hz: Option<&Estimate>) -> Environment {
        self.core_clock_hz = hz.and_then(|hz| hz.if_finite());
        let reason = || {
            self.reference_reason.clone().unwrap_or_else(|| "the clock's rate is unknown".into())
        };
        self.core_clock_reason = self.core_clock_hz.is_none().then(reason);
        self
    }

    /// Why a time has no core cycles.
    pub fn no_cycles(&self) -> String {
        self.reference_reason
            .clone()
            .unwrap_or_else(|| "the reference chain shares too few rounds with this series".into())
    }
}
