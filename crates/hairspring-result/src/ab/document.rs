//! The document of two builds.

use super::Threshold;
use crate::compare::Limit;
use crate::document::{Environment, Unit};
use crate::identity::Identity;
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Verdict};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AbSchema {
    /// First version.
    #[serde(rename = "hairspring/ab/1")]
    V1,
}

/// Two builds of the same code, measured in pairs of processes, with the base against itself beside
/// them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring comparison of two builds"))]
pub struct AbDocument {
    /// Name and version of this format.
    pub schema: AbSchema,
    /// The verb that made it.
    pub command: String,
    /// When and where it was measured.
    pub identity: Option<Identity>,
    /// The circumstances of the first process.
    pub environment: Option<Environment>,
    /// The build that is compared with.
    pub base: Source,
    /// The build that is compared.
    pub head: Source,
    /// How the builds took turns.
    pub how: How,
    /// Pairs of processes that were measured.
    pub pairs: u32,
    /// Most pairs that were asked for.
    pub pairs_asked: u32,
    /// Why no further pair was measured.
    pub stopped: Stopped,
    /// How long it took, in seconds, without building.
    pub took_s: f64,
    /// Probability with which all verdicts of this document hold together, at every look.
    pub level: f64,
    /// Confidence level of each interval, at every look.
    pub level_of_each: f64,
    /// Benchmarks that both builds have.
    pub results: Vec<Change>,
    /// Time of a process that does nothing, in nanoseconds, if whole commands were timed: so much
    /// of their times is the start of a process.
    #[serde(rename = "start_ns", skip_serializing_if = "Option::is_none")]
    pub start: Option<Estimate>,
    /// Benchmarks that only the base has.
    pub missing: Vec<String>,
    /// Benchmarks that only the head has.
    pub added: Vec<String>,
    /// Number of benchmarks that are certainly past their threshold.
    pub past_threshold: usize,
    /// What to know about all benchmarks, most severe first.
    pub findings: Vec<Finding>,
}

/// A build.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// As the user named it.
    pub named: String,
    /// The programs that were measured.
    pub programs: Vec<String>,
    /// The commit that was built.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The command that built it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Whether it is built from files that are not committed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dirty: bool,
}

/// How the builds took turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Batches of rounds of processes that are alive at the same time, on one CPU.
    Rounds,
    /// Whole processes: at least one program cannot take turns.
    Processes,
    /// Whole commands, to and fro within each pair.
    Commands,
}

/// Why no further pair was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// All verdicts are clear.
    Decided,
    /// All pairs that were asked for were measured.
    Pairs,
    /// A signal, such as that of Ctrl-C.
    Interrupted,
    /// A program failed.
    Failed,
}

/// What keeps the times of processes from being trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trust {
    /// Code of the finding.
    pub code: String,
    /// What is the matter, in the first of them.
    pub message: String,
    /// In how many processes.
    pub processes: u32,
}

impl Trust {
    /// A finding of one process.
    pub(super) fn new(finding: &Finding) -> Trust {
        let (code, message) = (finding.code.to_string(), finding.message.clone());
        Trust { code, message, processes: 1 }
    }
}

/// A benchmark that both builds have.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Name of the benchmark.
    pub name: String,
    /// Unit of the times; `null` without a pair.
    pub unit: Option<Unit>,
    /// Time of the base: the geometric mean of its processes.
    pub base: Option<Estimate>,
    /// Time of the head.
    pub head: Option<Estimate>,
    /// Time of the head over that of the base. Its interval holds at every look, and is extended by
    /// the null if that excludes 1.
    pub ratio: Option<Estimate>,
    /// Time of the base over that of the base: what the measurement says of equal builds.
    pub null: Option<Estimate>,
    /// By how much the null extends the interval of the ratio on both sides, in percent; left out
    /// if the null holds 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widened_percent: Option<f64>,
    /// The conclusion from the interval of the ratio about the head.
    pub verdict: Verdict,
    /// Why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict_reason: Option<String>,
    /// A larger change is excluded, in percent.
    pub excludes_percent: Option<f64>,
    /// The smallest change that would be claimed now, in percent.
    pub smallest_percent: Option<f64>,
    /// Number of pairs.
    pub pairs: u32,
    /// How much longer it may take.
    pub threshold: Threshold,
    /// Where the interval lies relative to the threshold; `null` if none was set.
    pub limit: Option<Limit>,
    /// What keeps the times of some processes from being trusted.
    pub untrusted: Vec<Trust>,
}
