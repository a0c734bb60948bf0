//! Settings of a solution.

use crate::observations::RowId;

/// Settings of a solution.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Confidence level of all intervals, between 0.5 and 0.9999.
    pub level: f64,
    /// Whether rows off the line may be left out; the solution lists them with the reason.
    pub leave_rows_out: bool,
    /// Whether the rows' departure from the plane may follow their counts, as with parts that
    /// overlap: the intervals then treat rows with similar counts as one. Applies only to repeated
    /// rows.
    pub departure_follows_counts: bool,
    /// Which readings of a row count. Applies only to repeated rows.
    pub repeats: Repeats,
    /// Rows that may be longer than their parts, because of how they begin and end. Applies only to
    /// repeated rows.
    pub ends: Vec<Ending>,
    /// Whether parts overlap whose times are not negative: where the rows depart from the plane and
    /// times without negative ones describe them nearly as well, the intervals reach to those.
    /// Applies only to repeated rows.
    pub overlapping: bool,
    /// Names of stages that do not run, of [`crate::pipeline::optional_stages`].
    pub without: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: 0.95,
            leave_rows_out: true,
            departure_follows_counts: false,
            repeats: Repeats::All,
            ends: Vec::new(),
            overlapping: false,
            without: Vec::new(),
        }
    }
}

impl Options {
    /// Whether a stage does not run by request.
    pub(crate) fn is_without(&self, stage: &str) -> bool {
        self.without.iter().any(|name| name == stage)
    }
}

/// Which readings of a row count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Repeats {
    /// All but spikes.
    #[default]
    All,
    /// Those of calm groups: the readings of a row in one round were taken one after the other, so
    /// that what slows the core slows them together. There may be fewer blocks of rounds.
    Calm,
    /// The quickest fifth of those: rows so short that a branch more or less that is mispredicted
    /// is a good part of them. How many are differs from one repeat to the next and from row to
    /// row, and no sum of the parts describes it; the quickest repeats have the fewest.
    ///
    /// All calm groups, where the quantum of the clock is not much shorter than what the repeats
    /// differ by: the quickest readings are then those that met the clock shortly before its step.
    Quickest,
}

impl Repeats {
    /// Whether readings of one round were taken one after the other.
    pub(crate) fn are_consecutive(self) -> bool {
        self != Repeats::All
    }
}

/// A row that may be longer than its parts and the overhead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending {
    /// The row.
    pub row: RowId,
    /// Rows of the same kind are off together.
    pub kind: u32,
    /// By how much at the least, in the table's unit; below 0 if it may be shorter.
    pub low: f64,
    /// By how much at the most.
    pub high: f64,
    /// Standard deviation between kinds beyond that: code that takes other paths is followed by
    /// other waits.
    pub sd: f64,
}

impl Ending {
    /// The middle of what it may be longer by.
    pub(crate) fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    /// By how much that may be off.
    pub(crate) fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}
