//! What a machine says of itself, as plain data.

use serde::{Deserialize, Serialize};

/// A machine, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the CPU; in a virtual machine it may be masked.
    pub cpu_model: String,
    /// CPUs online.
    pub cpus: usize,
    /// Architecture.
    pub architecture: String,
    /// Operating system and kernel.
    pub system: String,
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
}
