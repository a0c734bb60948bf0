//! The document of `history show` and `history check`.

use hairspring_core::Estimate;
use hairspring_result::{Finding, Identity};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HistorySchema {
    /// First version.
    #[serde(rename = "hairspring/history/1")]
    V1,
}

/// The steps in a history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring history"))]
pub struct HistoryDocument {
    /// Name and version of this format.
    pub schema: HistorySchema,
    /// The verb that made it.
    pub command: String,
    /// When and where it was made.
    pub identity: Option<Identity>,
    /// The file of the history.
    pub database: String,
    /// Runs in it.
    pub runs: usize,
    /// Commits that they are of.
    pub commits: usize,
    /// Level of all intervals.
    pub level: f64,
    /// The share of false steps among those found that was asked for, in percent.
    pub false_discoveries_percent: f64,
    /// A step for the worse is past the limit if it is certainly larger than this, in percent.
    pub threshold_percent: f64,
    /// A step is new if its level has at most so many points.
    pub new_points: usize,
    /// What was counted.
    pub counts: Counts,
    /// The series, those with new steps first.
    pub series: Vec<SeriesEntry>,
    /// What to know about the history, most severe first.
    pub findings: Vec<Finding>,
}

/// What was counted over all series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Series that were looked at.
    pub series: usize,
    /// Their steps.
    pub steps: usize,
    /// New steps for the worse past the limit.
    pub past: usize,
    /// New steps that are those of the host.
    pub of_host: usize,
    /// Series whose last point lies where it was not expected.
    pub outside: usize,
}

/// A series on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeriesEntry {
    /// Its name.
    pub name: String,
    /// The component.
    pub component: String,
    /// The unit of its values.
    pub unit: String,
    /// Hash of the code; empty where it is not known.
    pub code_hash: String,
    /// The machine in words.
    pub machine: String,
    /// Number of points.
    pub count: usize,
    /// Whether steps are shares of the value before them, and not differences.
    pub steps_are_shares: bool,
    /// The level of the last points.
    pub now: Option<Estimate>,
    /// The steps, in their order.
    pub steps: Vec<StepEntry>,
    /// The last point beside where it was expected.
    pub last: Option<LastEntry>,
    /// The smallest step before the last points that would have been seen in nine of ten, in
    /// percent (or as a difference).
    pub smallest_step_percent: Option<f64>,
    /// Standard deviation of a point in the middle of all, in percent (or as a difference).
    pub noise_percent: Option<f64>,
    /// The part of it that the intervals of the points do not have.
    pub between_runs_percent: Option<f64>,
    /// Numbers of the points that lie far from their neighbours on both sides, and are left out.
    pub odd: Vec<usize>,
    /// Points that could not be used: not trusted, no number, or with an endless interval.
    pub unused: usize,
    /// The levels between the steps.
    pub levels: Vec<LevelEntry>,
    /// The points, if the series is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointEntry>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepEntry {
    /// By how much the values rise, in percent (or as a difference).
    pub rise_percent: Estimate,
    /// Number of the first point behind it, from 0, at its likeliest place.
    pub at: usize,
    /// Numbers of the first and the last point that may be the first behind it.
    pub place: [usize; 2],
    /// Commit of the last point that is surely before it.
    pub after_commit: Option<String>,
    /// Commit of the first point behind it, at its likeliest place.
    pub at_commit: Option<String>,
    /// Commit of the first point that is surely behind it.
    pub up_to_commit: Option<String>,
    /// Probability that points without a step look at least as much like one.
    pub chance: f64,
    /// Whether it is new.
    pub new: bool,
    /// Whether it is for the worse.
    pub worse: bool,
    /// Whether the core clock of the machine steps by the same at the same place.
    pub of_host: bool,
    /// Whether it is new, for the worse, not of the host, and certainly past the limit.
    pub past: bool,
}

/// The last point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LastEntry {
    /// Its value.
    pub value: f64,
    /// Where it was expected.
    pub expected: Estimate,
    /// Whether it lies so far outside that it is told, among all series.
    pub outside: bool,
    /// Probability that it lies so far away by chance.
    pub chance: f64,
}

/// A level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelEntry {
    /// Number of its first point.
    pub from: usize,
    /// Number of its last point.
    pub to: usize,
    /// Its mean.
    pub mean: Estimate,
}

/// A point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointEntry {
    /// The commit.
    pub commit: Option<String>,
    /// When it was made, in seconds since 1970.
    pub made_s: i64,
    /// The value; `null` where there is none.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Whether it is used: not odd, trusted, a number.
    pub used: bool,
}
