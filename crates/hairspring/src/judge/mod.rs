//! What may be believed: findings with numbers and a remedy, and verdicts from intervals.

mod checks;
mod comparison;
mod finding;

pub use checks::{Context, check, clock_findings, frequency_levels, interference_findings};
pub use comparison::{Verdict, verdict};
pub use finding::{Finding, FindingKind, Severity};
