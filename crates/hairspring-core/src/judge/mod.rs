//! How far a result can be trusted: findings with numbers and a remedy, and verdicts from intervals. This module is
//! independent of where a table comes from and of who reads the findings.

mod assessment;
mod carried;
mod checks;
mod comparison;
mod control;
mod denormals;
mod expectation;
mod finding;
mod kinds;
mod overlap;
mod pauses;
mod placements;
mod precision;
mod remedies;
mod resolution;
mod settled;
mod shared;
mod slow;
mod solver;
mod time;
mod undisturbed;
mod undone;
pub mod words;

pub mod methods;

pub use assessment::{Assessment, Comparison, ComponentResult, Question, SeriesResult, assess};
pub use carried::carry;
pub use checks::{
    Context, Disturbed, below_finding, check, clock_findings, control_finding, frequency_levels, interference_findings, precision_finding,
    wide_finding,
};
pub use comparison::{LAYOUTS_MAKE, Verdict, verdict, verdict_if};
pub use expectation::{Against, Agreement, Expected, Reach, UNSTATED_SHARE, against};
pub use finding::{Description, Finding, Kind, Numbers, Severity, Value};
pub use kinds::{FindingKind, PausesAre, code};
pub use placements::FEWEST_ROUNDS as FEWEST_ROUNDS_OF_A_PLACEMENT;
pub use precision::{Progress, progress, progress_since};
pub use remedies::Remedies;
pub use resolution::{Bound, upper_bound};
pub use shared::flag_shared_rounds;
pub use solver::core_hz;
pub use time::Time;
