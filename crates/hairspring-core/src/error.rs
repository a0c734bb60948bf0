//! Why observations cannot be read or solved: what is wrong, which value, which limit, and what to do next.

/// Result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why observations cannot be read or solved.
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
    fn messages_agree_with_the_number_of_rows() {
        let message = |usable, unknowns| Error::TooFewRows { usable, unknowns, detail: "why".into(), advice: MORE_ROWS }.to_string();
        assert_eq!(message(1, 1), "1 usable row of different counts for 1 unknown (why): add rows with other counts");
        assert_eq!(message(2, 3), "2 usable rows of different counts for 3 unknowns (why): add rows with other counts");
    }
}
