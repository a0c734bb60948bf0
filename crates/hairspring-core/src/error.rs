//! Errors of reading and solving observations. A message says what is wrong, which value, which
//! limit, and what to do.

/// Result of a function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why observations cannot be read or solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A line of an observation file cannot be used.
    #[error("line {line}: {reason}")]
    BadObservation {
        /// Line number, counted from 1.
        line: u64,
        /// What is wrong with it and what is expected.
        reason: String,
    },
    /// The observation file as a whole cannot be used.
    #[error("{0}")]
    BadTable(String),
    /// Too few usable observations for the number of unknowns.
    #[error("{} with different counts for {} ({detail}): {advice}", counted(*.usable, "usable row"),
        counted(*.unknowns, "unknown"))]
    TooFewRows {
        /// Number of usable rows.
        usable: usize,
        /// Number of unknowns, including the overhead.
        unknowns: usize,
        /// Details of the rows.
        detail: String,
        /// What to do.
        advice: &'static str,
    },
    /// The observations are enough in number, but their counts are too nearly dependent to be
    /// solved.
    #[error(
        "{} ({left_out} left out) do not distinguish {}, because the counts of some unknowns are \
         nearly a sum of the counts of others: {advice}",
        counted(*.rows, "observation"),
        counted(*.unknowns, "unknown")
    )]
    Singular {
        /// Number of rows or readings.
        rows: usize,
        /// How many of them are flagged or far off.
        left_out: usize,
        /// Number of unknowns, including the overhead.
        unknowns: usize,
        /// What to do.
        advice: &'static str,
    },
}

/// Advice for [`Error::TooFewRows`] and [`Error::Singular`] where the origin of the rows is
/// unknown.
pub(crate) const MORE_ROWS: &str = "add rows with other counts";

/// A number with its noun: `1 row`, `2 rows`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_agrees_with_row_count() {
        let message = |usable, unknowns| {
            Error::TooFewRows { usable, unknowns, detail: "why".into(), advice: MORE_ROWS }
                .to_string()
        };
        assert_eq!(
            message(1, 1),
            "1 usable row with different counts for 1 unknown (why): add rows with other counts"
        );
        assert_eq!(
            message(2, 3),
            "2 usable rows with different counts for 3 unknowns (why): add rows with other counts"
        );
    }
    #[test]
    fn nearly_dependent_counts_are_not_called_too_few() {
        let message = Error::Singular { rows: 203, left_out: 20, unknowns: 23, advice: MORE_ROWS }
            .to_string();
        let start = "203 observations (20 left out) do not distinguish 23 unknowns, because";
        assert!(
            message.starts_with(start) && message.ends_with(": add rows with other counts"),
            "{message}"
        );
    }
}
