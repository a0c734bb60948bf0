//! The document of a measurement: what stands where. [`super::result`] fills it.

use super::compare::CompareDocument;
use super::environment::EnvironmentJson;
use super::figure::{E, Figure};
use super::finding::FindingJson;
use super::words::{LeftOutWord, SourceWord, VerdictWord};
use crate::document::Mode;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ResultSchema {
    /// First version.
    #[serde(rename = "hairspring/result/1")]
    V1,
}

/// A measurement. Numbers are always finite; a figure that cannot be had is `null`, with a `..._reason` beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Hairspring result")]
pub struct ResultDocument {
    /// Name and version of this format.
    pub schema: ResultSchema,
    /// The verb that made it: `time` or `fit`.
    pub command: String,
    /// Circumstances.
    pub environment: EnvironmentJson,
    /// One entry for each piece of code, or series of the observations.
    pub results: Vec<SeriesJson>,
    /// Every further result against the first.
    pub comparisons: Vec<ComparisonJson>,
    /// The results against a baseline, where one was given.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Box<CompareDocument>>,
    /// Other methods beside the line fit, where they were asked for.
    pub methods: Vec<MethodTableJson>,
    /// How the run went; `null` where the observations come from a file.
    pub run: Option<RunJson>,
}

/// All that is said of one piece of code, or of one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesJson {
    /// Name of the series.
    pub name: String,
    /// The code that was timed.
    pub code: Option<String>,
    /// Machine code for one copy, in bytes.
    pub bytes_per_copy: Option<f64>,
    /// The instructions of one copy, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disassembly: Option<Vec<String>>,
    /// Time of each component, or of each combination that can be told apart (`B4 + B6`), in the order of the columns.
    pub components: IndexMap<String, ComponentJson>,
    /// What all rows have in common.
    pub overhead: Option<Figure>,
    /// Why there is no overhead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead_reason: Option<String>,
    /// How the rows lie on the line (or plane).
    pub fit: FitJson,
    /// For each component what makes it uncertain.
    pub budget: IndexMap<String, Vec<BudgetJson>>,
    /// Doubts, the heaviest first.
    pub findings: Vec<FindingJson>,
}

/// A component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComponentJson {
    /// Its time.
    #[serde(flatten)]
    pub figure: Figure,
    /// What the slope means; `null` where that is not known.
    pub mode: Option<Mode>,
    /// Why that mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode_reason: Option<String>,
    /// Largest change when any one row is left out, in nanoseconds; `null` where that was not tried.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub row_influence_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub row_influence_ticks: Option<Option<f64>>,
    /// What each of several processes found, where there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Vec<RunValueJson>>,
}

/// What one of several processes found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunValueJson {
    /// In nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<E>,
    /// In ticks, where the clock's rate is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<E>,
    /// In core cycles.
    pub cycles: Option<E>,
    /// Whether it was not to be trusted, and left out.
    pub left_out: bool,
}

/// How the rows lie on the line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitJson {
    /// Rows used.
    pub rows: usize,
    /// Rows left out.
    pub left_out: usize,
    /// Unknowns that the counts tell apart, the overhead included.
    pub rank: usize,
    /// Unknowns that were asked for, the overhead included.
    pub unknowns: usize,
    /// The rows' departure from the line against the noise of the repeats.
    pub lack_of_fit: Option<LackOfFitJson>,
    /// Why there is no lack of fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack_of_fit_reason: Option<String>,
    /// Root mean square of the residuals of the rows used, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub residual_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub residual_ticks: Option<Option<f64>>,
    /// Readings in all.
    pub readings: usize,
    /// Readings used.
    pub readings_used: usize,
    /// Names of the counts in `rows_detail`; empty where there are no rows in detail.
    pub columns: Vec<String>,
    /// Every row.
    pub rows_detail: Vec<RowJson>,
    /// Why the rows are not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_detail_reason: Option<String>,
}

/// F test of the lack of fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LackOfFitJson {
    /// Mean square of the rows' deviations over the mean square that noise explains.
    pub f: Option<f64>,
    /// Rows minus unknowns.
    pub dof: usize,
    /// Probability of such an F where the model holds.
    pub p: Option<f64>,
    /// Standard deviation of the rows' systematic departure from the line, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub departure_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub departure_ticks: Option<Option<f64>>,
}

/// One row of the design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RowJson {
    /// How often each component ran, in the order of `columns`.
    pub counts: Vec<f64>,
    /// Readings of it.
    pub readings: usize,
    /// Readings used.
    pub used: usize,
    /// Robust location of its readings, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub location_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub location_ticks: Option<Option<f64>>,
    /// Standard deviation of a single reading, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub sd_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub sd_ticks: Option<Option<f64>>,
    /// Location minus fitted value, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub residual_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub residual_ticks: Option<Option<f64>>,
    /// Why it was left out; `null` for a row in use.
    pub left_out: Option<LeftOutWord>,
}

/// One entry of the error budget.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetJson {
    /// Where it comes from.
    pub source: SourceWord,
    /// Half-width that it alone would give, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub half_width_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub half_width_ticks: Option<Option<f64>>,
}

/// Two results compared by their first component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparisonJson {
    /// The series compared ...
    pub a: String,
    /// ... and the one it is compared with.
    pub b: String,
    /// Time of `a` over time of `b`.
    pub ratio: Option<E>,
    /// Why there is no ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_reason: Option<String>,
    /// What the interval says.
    pub verdict: VerdictWord,
}

/// Several methods for one series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodTableJson {
    /// Name of the series.
    pub name: String,
    /// One row for each method.
    pub rows: Vec<MethodJson>,
}

/// One method's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MethodJson {
    /// The method.
    pub technique: String,
    /// Time of one execution, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<Option<E>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub ticks: Option<Option<E>>,
    /// Standard deviation of a single such measurement, in nanoseconds.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub sd_ns: Option<Option<f64>>,
    /// The same in ticks.
    #[serde(default, deserialize_with = "super::figure::present", skip_serializing_if = "Option::is_none")]
    pub sd_ticks: Option<Option<f64>>,
    /// Distance from the line fit, in percent of it.
    pub distance_percent: Option<f64>,
}

/// How the run went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunJson {
    /// Rounds of all rows.
    pub rounds: u32,
    /// Time spent in rows, in milliseconds.
    pub measured_ms: Option<f64>,
    /// Time of the whole run, in milliseconds.
    pub elapsed_ms: Option<f64>,
    /// Why it ended.
    pub stop: String,
    /// Time that the hypervisor took, in milliseconds.
    pub stolen_ms: Option<f64>,
    /// Processes that ran one after the other, where there were several: times are the means of their answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
}
