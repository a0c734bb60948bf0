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
    #[error("{} of different counts for {} ({detail}): {advice}", some(*.usable, "usable row"), some(*.unknowns, "unknown"))]
    TooFewRows {
        /// Rows that could be used.
        usable: usize,
        /// Unknowns that the system has, the overhead included.
        unknowns: usize,
        /// What the rows are.
        detail: String,
        /// What to do.
        advice: &'static str,
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

/// What to do about [`Error::TooFewRows`] where nothing is known of the rows' origin.
pub(crate) const MORE_ROWS: &str = "add rows with other counts";

/// `1 row`, `2 rows`.
fn some(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_is_no_rows() {
        let message = |usable, unknowns| Error::TooFewRows { usable, unknowns, detail: "why".into(), advice: MORE_ROWS }.to_string();
        assert_eq!(message(1, 1), "1 usable row of different counts for 1 unknown (why): add rows with other counts");
        assert_eq!(message(2, 3), "2 usable rows of different counts for 3 unknowns (why): add rows with other counts");
    }
}
