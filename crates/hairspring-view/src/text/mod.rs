//! The report for people: plain text of at most 80 columns.

mod ab;
mod compare;
mod complexity;
pub(crate) mod environment;
mod expectation;
mod explain;
pub(crate) mod findings;
pub(crate) mod fit;
mod fleet;
mod methods;
pub(crate) mod report;
mod table;
mod throughput;

pub use ab::ab;
pub use compare::{against_baseline, compare};
pub use complexity::{complexity, growth};
pub use environment::{clock, environment, machine_line};
pub use expectation::{distance, expectation, ratio};
pub use explain::{Staged, explain, explain_all, told};
pub use findings::{all_findings, findings};
pub use fit::{axis_unit, fit, run};
pub use fleet::fleet;
pub use methods::method;
pub use report::{at_core_clock, figure, intercept, meaning, report, verdict};
pub use table::table;
pub use throughput::{rates, throughput};

use crate::page::{Page, Style};
use hairspring_result::{Environment, Finding};

/// The circumstances alone, for verbs with a report of their own.
pub fn circumstances(circumstances: &Environment, style: &Style) -> String {
    let mut page = Page::new(*style);
    environment(&mut page, circumstances);
    page.finish()
}

/// Findings alone, most severe first; empty if there are none.
pub fn findings_alone(all: &[Finding], style: &Style) -> String {
    let mut page = Page::new(*style);
    all_findings(&mut page, all);
    page.finish()
}
