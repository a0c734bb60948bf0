//! One error type for the engine: what went wrong, with which value, against which limit, and what to do next.

/// Result of an engine call.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong in the engine. The text says what, which value, which limit and the next step.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of an observation file cannot be used.
    #[error("line {line}: {reason}")]
    BadObservation {
        /// Line number, the first line being 1.
        line: u64,
        /// What is wrong with it and what is expected.
        reason: String,
    },
    /// The observation file as a whole cannot be used.
    #[error("{0}")]
    BadTable(String),
    /// Too few usable observations for the number of unknowns.
    #[error("{usable} usable rows of different counts for {unknowns} unknowns ({detail}): add rows with other counts")]
    TooFewRows {
        /// Rows that could be used.
        usable: usize,
        /// Unknowns that the system has, the overhead included.
        unknowns: usize,
        /// What the rows are.
        detail: String,
    },
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
    /// A request to the operating system was refused.
    #[error("{what}: {reason}")]
    Refused {
        /// What was asked.
        what: String,
        /// What the system answered and what to do.
        reason: String,
    },
}
