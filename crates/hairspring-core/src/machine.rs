//! The description of a machine, as plain data.

use serde::{Deserialize, Serialize};

/// A machine, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the CPU; a hypervisor may mask it.
    pub cpu_model: String,
    /// Family of its cores by their numbers, which no hypervisor masks by itself: `6-207` (family
    /// and model on x86), `0x41-0xd0c` (implementer and part on ARM).
    #[serde(default)]
    pub family: Option<String>,
    /// Number of CPUs online.
    pub cpus: usize,
    /// Architecture.
    pub architecture: String,
    /// Operating system and kernel.
    pub system: String,
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
}
