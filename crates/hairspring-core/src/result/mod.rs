//! The result of a table: times in all units, ratios, verdicts and findings.

mod resolution;
mod time;
mod verdict;

pub use resolution::{Bound, upper_bound};
pub(crate) use resolution::{LIMITS as RESOLUTION_LIMITS, component_floor, overhead_floor};
pub use time::Time;
pub use verdict::{LAYOUTS_MAKE, Looks, Verdict, excludes, verdict, verdict_if, verdict_in_doubt};
pub(crate) use verdict::{LIMITS as VERDICT_LIMITS, VERDICT_LEVEL};

use crate::estimate::{Estimate, Solution};
use crate::finding::{Finding, Severity};

/// What a stage did to a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Name of the stage.
    pub stage: &'static str,
    /// What it asked.
    pub question: &'static str,
    /// What it saw and did, or why it did not run.
    pub did: String,
    /// Whether it did something.
    pub acted: bool,
    /// Readings of the series that it left out.
    pub left_out: usize,
    /// By how much it moved the first time of the series, as a share of it.
    pub moved: f64,
    /// Half-width that its entries alone give to the first time, as a share of it.
    pub widened: f64,
}

/// A component with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct ComponentResult {
    /// Name of the component, or its combination, such as `B4 + B6`.
    pub name: String,
    /// Its time.
    pub time: Time,
    /// Whether it only serves the others, such as an init: their verdicts do not depend on its
    /// verdict.
    pub serves: bool,
    /// Largest change when any one row is left out, in the table's unit.
    pub row_influence: f64,
}

/// The result of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesResult {
    /// Name of the series.
    pub name: String,
    /// Components that can be told apart.
    pub components: Vec<ComponentResult>,
    /// Time that all rows have in common; `None` where the design merges it with a component.
    pub overhead: Option<Time>,
    /// The solution that the result is made from.
    pub solution: Solution,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
    /// What each stage did, in their order.
    pub stages: Vec<Outcome>,
}

impl SeriesResult {
    /// Severity of the most severe finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Whether the time of a component can be trusted: no untrusted finding is about it, or about
    /// the whole series.
    pub fn trusts(&self, component: &str) -> bool {
        !self.findings.iter().any(|finding| finding.distrusts(component))
    }

    /// Whether every time that is asked for can be trusted.
    pub fn is_trusted(&self) -> bool {
        self.components
            .iter()
            .filter(|component| !component.serves)
            .all(|component| self.trusts(&component.name))
    }

    /// Adds a finding of a check outside this crate, and keeps the order by severity.
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    }
}

/// Two series compared by their first component.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Name of the series that is compared.
    pub a: String,
    /// Name of the series it is compared with, the first of the table.
    pub b: String,
    /// Time of `a` over time of `b`.
    pub ratio: Estimate,
    /// Verdict from the interval of the ratio alone: see [`Assessment::verdict`].
    pub verdict: Verdict,
}

/// The result of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// Every series that is not auxiliary.
    pub series: Vec<SeriesResult>,
    /// Every further series compared with the first.
    pub comparisons: Vec<Comparison>,
    /// Frequency of the core clock during the run in Hz, where a reference chain ran.
    pub core_hz: Option<Estimate>,
    /// Share of the run during which nobody else used the core, as far as guards of the reference
    /// chain show; `None` where they do not.
    pub quiet_share: Option<f64>,
    /// What further rounds would be good for.
    pub open: Open,
}

/// What is left open that further rounds may decide.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Open {
    /// Largest relative half-width of the bodies and of the ratios, without what a longer run does
    /// not reduce.
    pub widest: f64,
    /// Something else uses the core.
    pub is_disturbed: bool,
    /// A wide interval is mostly that of differences between placements, or code is not in its
    /// steady state at their end.
    pub varies: bool,
    /// Longer placements would show how the code warms up.
    pub warms_up_late: bool,
    /// It is not decided whether two alternatives differ, and more rounds may decide it.
    pub is_undecided: bool,
}

impl Assessment {
    /// The verdict of a comparison; if one of the times is not to be trusted, only a large factor
    /// decides.
    pub fn verdict(&self, comparison: &Comparison) -> Verdict {
        let mut compared = self
            .series
            .iter()
            .filter(|series| [&comparison.a, &comparison.b].contains(&&series.name));
        let trusted = compared
            .all(|series| series.components.first().is_none_or(|first| series.trusts(&first.name)));
        if trusted { comparison.verdict } else { verdict_in_doubt(&comparison.ratio, Looks::Every) }
    }
}
