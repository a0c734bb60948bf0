//! What the machine does not offer or the operating system refuses, with the reason and what to do next.

/// Result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the machine cannot do what was asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The clock asked for is not offered by this machine.
    #[error("clock `{name}` is not available: {reason}; available here: {available}")]
    ClockUnavailable {
        /// The name asked for.
        name: String,
        /// Why it is not to be had.
        reason: String,
        /// The names that can be used.
        available: String,
    },
    /// The CPU asked for does not exist, or this process may not use it.
    #[error("CPU {cpu} is not available: this process may use the CPUs {available}")]
    CpuUnavailable {
        /// The number asked for.
        cpu: usize,
        /// Those that can be used.
        available: String,
    },
    /// A request to the operating system was refused.
    #[error("{what}: {reason}")]
    Refused {
        /// What was asked.
        what: String,
        /// What the system answered and what to do.
        reason: String,
    },
}

impl Error {
    /// Whether the request itself is at fault: it names a clock or a CPU that this machine does not have.
    pub fn is_bad_request(&self) -> bool {
        matches!(self, Error::ClockUnavailable { .. } | Error::CpuUnavailable { .. })
    }
}
