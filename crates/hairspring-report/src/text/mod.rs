//! The report for people: plain text of 80 columns at the most.

mod blocks;
mod cells;
mod certificate;
mod clocks;
mod compare;
mod environment;
mod findings;
mod fit;
mod lmbench;
mod methods;
mod mhz;
mod page;
mod period;
mod report;
mod signal;
mod table;

pub use blocks::blocks;
pub use certificate::certificate;
pub use clocks::{clock_comparison, clock_latency, clock_survey, stopwatch_overhead};
pub use compare::{against_baseline, compare};
pub use lmbench::{LoopLine, LoopTime, lmbench, lmbench_without_result};
pub use mhz::{mhz, mhz_line};
pub use page::Style;
pub use period::{period, responder};
pub use report::report;
pub use signal::signal;
pub use table::{table, table_of};

use crate::document::Environment;
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Severity};

/// The circumstances alone, for verbs with a report of their own. The core clock is in Hz.
pub fn circumstances(environment: &Environment, core_hz: Option<&Estimate>, style: &Style) -> String {
    let mut page = page::Page::new(*style);
    environment::environment(&mut page, environment, core_hz);
    page.finish()
}

/// Findings alone, the heaviest first; empty where there are none.
pub fn findings(all: &[Finding], style: &Style) -> String {
    let mut page = page::Page::new(*style);
    let all: Vec<&Finding> = all.iter().collect();
    for severity in [Severity::Untrusted, Severity::Warning, Severity::Note] {
        findings::findings(&mut page, &all, severity);
    }
    page.finish()
}
