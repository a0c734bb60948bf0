//! Why a measurement could not be made.

/// Result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a measurement could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No number of trips of a loop fills a timed interval.
    #[error(
        "{trips} trips of the loop took {reached_ns:.0} ns by the clock in use and {wall_ns:.0} ns by the system's, where \
         {wanted_ns:.0} ns are wanted: the clock stands still, or the compiler removed the body of the loop; take another \
         clock, or have the result of the body used"
    )]
    LoopTooShort {
        /// Time that the timed interval was to last, in nanoseconds.
        wanted_ns: f64,
        /// What the clock in use said, in nanoseconds.
        reached_ns: f64,
        /// Trips that were run.
        trips: u64,
        /// What the system's clock said, in nanoseconds.
        wall_ns: f64,
    },
    /// The observations cannot be solved.
    #[error(transparent)]
    Core(#[from] hairspring_core::Error),
    /// The machine does not offer what was asked.
    #[error(transparent)]
    Host(#[from] hairspring_host::Error),
}
