//! Errors: what the machine does not offer or the operating system refuses, with the reason and
//! what to do next.

/// Result of a function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the machine cannot do what was requested.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This machine does not offer the requested clock.
    #[error("clock `{name}` is not available: {reason}; available here: {available}")]
    ClockUnavailable {
        /// The requested name.
        name: String,
        /// Why it is not available.
        reason: String,
        /// The names of the available clocks.
        available: String,
    },
    /// The requested CPU does not exist, or this process may not use it.
    #[error("CPU {cpu} is not available: this process may use the CPUs {available}")]
    CpuUnavailable {
        /// The requested number.
        cpu: usize,
        /// The numbers of the CPUs that this process may use.
        available: String,
    },
    /// The operating system refused a request.
    #[error("{what}: {reason}")]
    Refused {
        /// What failed.
        what: String,
        /// The error of the system, and what to do.
        reason: String,
    },
}

impl Error {
    /// Whether the request is wrong: it names a clock or a CPU that is not available on this
    /// machine.
    pub fn is_bad_request(&self) -> bool {
        matches!(self, Error::ClockUnavailable { .. } | Error::CpuUnavailable { .. })
    }
}
