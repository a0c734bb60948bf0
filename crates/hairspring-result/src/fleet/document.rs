//! The document of a merge.

use crate::document::{FigureEntry, Unit};
use crate::identity::Identity;
use hairspring_core::Estimate;
use hairspring_core::judge::Finding;
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MergeSchema {
    /// First version.
    #[serde(rename = "hairspring/merge/1")]
    V1,
}

/// Results of many machines as one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring results of many machines"))]
pub struct MergeDocument {
    /// Name and version of this format.
    pub schema: MergeSchema,
    /// The verb that made it.
    pub command: String,
    /// When and where the documents were merged.
    pub identity: Option<Identity>,
    /// The confidence level of all intervals.
    pub level: f64,
    /// How many documents were given, and what became of them.
    pub documents: Documents,
    /// Number of machines.
    pub machines: usize,
    /// Whether machines that lie too far from the others are left out of the means.
    pub without_odd: bool,
    /// The families of cores, each with its means. Families are never averaged unasked.
    pub families: Vec<Family>,
    /// The means over families, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across: Option<Vec<Merged>>,
    /// What to know about the documents, most severe first.
    pub findings: Vec<Finding>,
}

/// What became of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Documents {
    /// Files that were given.
    pub given: usize,
    /// Documents that are merged.
    pub merged: usize,
    /// Documents that were given before with the same contents, and count once.
    pub repeated: usize,
    /// Files that could not be read, or hold no result.
    pub refused: usize,
    /// Files that were not looked at because the merge was stopped.
    pub unread: usize,
}

/// Machines whose cores are of one family.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Family {
    /// Its numbers, such as `6-207`, or the model name where a document has no numbers.
    pub name: String,
    /// Whether `name` is a model name.
    pub by_model: bool,
    /// Architecture.
    pub architecture: String,
    /// The first model names of its CPUs.
    pub models: Vec<String>,
    /// Number of machines.
    pub machines: usize,
    /// Whether all documents have the same build; `null` if they do not name it.
    pub same_build: Option<bool>,
    /// The builds, the most frequent first, at most 20.
    pub builds: Vec<Build>,
    /// By how much two machines of the family differ at most with the same build, in percent, over
    /// all series: the floor of the fleet.
    pub floor_percent: Option<f64>,
    /// Why there is no floor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor_reason: Option<String>,
    /// The mean of each component of each series.
    pub results: Vec<Merged>,
    /// Machines that lie too far from the others.
    pub odd: Vec<Odd>,
    /// Why no machine was looked for that lies too far from the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odd_reason: Option<String>,
}

/// A build of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Fingerprint of the program.
    pub program: Option<String>,
    /// Commit of the working directory.
    pub commit: Option<String>,
    /// Compiler.
    pub compiler: Option<String>,
    /// Flags given to it.
    pub compiler_flags: Option<String>,
    /// Documents with this build.
    pub documents: usize,
}

/// One component of one series over the machines of a family, or over families.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Merged {
    /// Name of the series.
    pub name: String,
    /// The code.
    pub code: Option<String>,
    /// Hash of the code.
    pub code_hash: Option<String>,
    /// Name of the component.
    pub component: String,
    /// Unit of the times: core cycles, or nanoseconds where most machines have no cycles.
    pub unit: Option<Unit>,
    /// The mean over the machines; of one machine its own time.
    pub time: Option<Estimate>,
    /// Why there is no mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_reason: Option<String>,
    /// Whether the mean is indistinguishable from zero, or the time of a machine is.
    pub below_resolution: bool,
    /// Machines (or families) whose times are averaged.
    pub machines: usize,
    /// Machines that are left out because their times are not to be trusted.
    pub untrusted: usize,
    /// Machines that are left out because they have no time in this unit.
    pub without_unit: usize,
    /// Standard deviation between the machines, in percent of the mean.
    pub spread_percent: Option<f64>,
    /// By how much two machines differ at most with the same build, in percent.
    pub floor_percent: Option<f64>,
    /// The error budget of the mean, in its unit.
    pub budget: Vec<FigureEntry>,
    /// What the mean is without the odd machines, if they are in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_odd: Option<Estimate>,
    /// What the mean is with the odd machines, if they are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_odd: Option<Estimate>,
}

/// A machine that lies too far from the others of its family.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Odd {
    /// Fingerprint of the machine; `null` where its document has none.
    pub host: Option<String>,
    /// Its first document.
    pub file: String,
    /// By how much it is slower than the family in core cycles, in percent: the mean over its
    /// series; negative if it is faster.
    pub cycles_percent: Option<f64>,
    /// The same in nanoseconds.
    pub ns_percent: Option<f64>,
    /// Whether it lies too far from the others in core cycles.
    pub odd_in_cycles: bool,
    /// Whether it does in nanoseconds.
    pub odd_in_ns: bool,
    /// What that means.
    pub reason: String,
    /// The series in which it lies too far from the others.
    pub series: Vec<OddSeries>,
}

/// A series in which a machine lies too far from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddSeries {
    /// Name of the series.
    pub name: String,
    /// Name of the component.
    pub component: String,
    /// By how much the machine is slower than the others in core cycles, in percent.
    pub cycles_percent: Option<f64>,
    /// The same in nanoseconds.
    pub ns_percent: Option<f64>,
}
