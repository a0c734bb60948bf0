//! The description of a machine, as plain data.

use serde::{Deserialize, Serialize};

/// A machine, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the CPU; a hypervisor may mask it.
    pub cpu_model: String,
    /// Number of CPUs online.
    pub cpus: usize,
    /// Architecture.
    pub architecture: String,
    /// Operating system and kernel.
    pub system: String,
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
}
