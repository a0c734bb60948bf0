//! What may be believed: findings with numbers and a remedy, and verdicts from intervals.

mod assessment;
mod checks;
mod comparison;
mod finding;
mod overlap;
mod precision;
mod pulses;
mod recordings;
mod resolution;
mod setting;
mod shared;

pub mod methods;

pub use assessment::{Assessment, Comparison, ComponentResult, Question, SeriesResult, Time, assess};
pub use checks::{Context, check, clock_findings, control_finding, frequency_levels, interference_findings, precision_finding};
pub use comparison::{Verdict, verdict};
pub use finding::{Finding, FindingKind, Severity};
pub use precision::precise_enough;
pub use resolution::{Bound, upper_bound};
pub use setting::Setting;
pub use shared::flag_shared_rounds;
