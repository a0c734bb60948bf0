//! Errors of measurements.

/// Result of a function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a measurement could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No number of trips of a loop makes a timed interval long enough.
    #[error(
        "{trips} trips of the loop took {reached_ns:.0} ns by the selected clock and {wall_ns:.0} \
         ns by the system's clock, but {wanted_ns:.0} ns are needed: the clock stands still, or \
         the compiler removed the body of the loop; use another clock, or make sure that the \
         result of the body is used"
    )]
    LoopTooShort {
        /// Required length of the timed interval, in nanoseconds.
        wanted_ns: f64,
        /// Length measured by the selected clock, in nanoseconds.
        reached_ns: f64,
        /// Number of trips that were run.
        trips: u64,
        /// Length measured by the system's clock, in nanoseconds.
        wall_ns: f64,
    },
    /// The observations cannot be solved.
    #[error(transparent)]
    Core(#[from] hairspring_core::Error),
    /// The machine cannot do what was requested.
    #[error(transparent)]
    Host(#[from] hairspring_host::Error),
}
