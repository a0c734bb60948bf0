//! How far a result can be trusted. [`assess`] solves a table and judges it; a front end puts its
//! own remedies into the findings.

mod expectation;
mod remedies;

pub use crate::finding::{Description, Finding, Kind, Numbers, Severity, Value, code, words};
pub use crate::methods;
pub use crate::pipeline::core_hz;
pub use crate::result::{
    Assessment, Bound, Comparison, ComponentResult, LAYOUTS_MAKE, Looks, Open, Outcome,
    SeriesResult, Time, Verdict, excludes, upper_bound, verdict, verdict_if, verdict_in_doubt,
};
pub use crate::stages::quantum::unaveraged;
pub use crate::stages::{
    below_finding, carry, clock_finding, disturbed_finding, negative_finding, shared_finding,
    stepped_finding, wide_finding,
};
pub use expectation::{Against, Agreement, Expected, Reach, UNSTATED_SHARE, against};
pub use remedies::Remedies;

/// Rounds of a placement after which it is solved by itself; shorter ones share with their
/// neighbours.
pub const FEWEST_ROUNDS_OF_A_PLACEMENT: u32 = crate::grid::ROUNDS_OF_SPAN as u32;

use crate::error::Result;
use crate::estimate::Options;
use crate::observations::Observations;

/// Settings of an assessment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// Confidence level, and treatment of rows off the line.
    pub options: Options,
    /// Requested precision, as a share of the first component.
    pub precision: Option<f64>,
    /// Time that the hypervisor took during the run, in milliseconds.
    pub stolen_ms: Option<f64>,
}

/// Solves, converts, checks and compares: see [`crate::pipeline`] for what happens to a table.
///
/// # Errors
/// [`crate::Error::TooFewRows`], [`crate::Error::Singular`] and [`crate::Error::BadTable`] where a
/// series cannot be solved.
pub fn assess(table: &Observations, question: &Question) -> Result<Assessment> {
    crate::pipeline::assess(table, &question.options, question.precision, question.stolen_ms)
}
