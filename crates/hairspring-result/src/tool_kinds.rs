//! Findings about results of other tools.

use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about results of other tools.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum ToolFinding {
    /// What the intervals of another tool's values do not contain.
    IntervalLacks { result: String, tool: String, lacks: String },
    /// A series from which no interval follows.
    NoInterval { reason: String },
    /// Values that are not the times of runs that did their work.
    ValuesDoubted { doubted: u64, of: u64, reason: String },
}

impl Kind for ToolFinding {
    fn describe(self) -> Description {
        match self {
            ToolFinding::IntervalLacks { result, tool, lacks } => Description {
                code: "interval_lacks",
                message: format!("{tool}: the intervals of {result} do not contain {lacks}"),
                numbers: numbers! { result, tool, lacks },
                remedy: "do not put a small difference down to a change: what is not in the \
                         interval can make it",
            },
            ToolFinding::NoInterval { reason } => Description {
                code: "no_interval",
                message: format!("no interval follows from the file: {reason}"),
                numbers: numbers! { reason },
                remedy: "let the tool repeat the measurement, and write the single values",
            },
            ToolFinding::ValuesDoubted { doubted, of, reason } => Description {
                code: "values_doubted",
                message: format!("{doubted} of {of} values are in doubt: {reason}"),
                numbers: numbers! { doubted, of, reason },
                remedy: "measure again in a way that gives the times themselves",
            },
        }
    }
}
