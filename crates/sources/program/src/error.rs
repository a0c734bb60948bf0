//! Errors of the benchmarks of a program.

use thiserror::Error;

/// An error with its reason.
#[derive(Debug, Error)]
pub enum Error {
    /// The observations cannot be solved.
    #[error(transparent)]
    Core(#[from] hairspring_core::Error),
    /// The machine does not offer the requested clock or CPU.
    #[error(transparent)]
    Host(#[from] hairspring_host::Error),
    /// There is nothing to measure.
    #[error("no benchmark to run")]
    Empty,
    /// A line needs more rows.
    #[error("benchmark `{name}` has {rows} rows: at least {least} are needed")]
    TooFewRows {
        /// Name of the benchmark.
        name: String,
        /// Its rows.
        rows: usize,
        /// Rows that are needed.
        least: usize,
    },
    /// Data cannot be flushed from the caches here.
    #[error("benchmark `{name}` runs on cold data: {reason}")]
    NoFlush {
        /// Name of the benchmark.
        name: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// The code ended the measurement, for example by an exception; its language reports the
    /// reason.
    #[error("benchmark `{name}` failed")]
    Failed {
        /// Name of the benchmark.
        name: String,
    },
    /// A file could not be written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        reason: std::io::Error,
    },
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;
