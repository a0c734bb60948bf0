//! How the rows of a series lie on the line, and what the stages of the estimator did.

use super::figure;
use hairspring_core::estimate::LeftOut;
use serde::{Deserialize, Serialize};

/// How the rows lie on the line.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Fit {
    /// Rows used.
    pub rows: usize,
    /// Rows left out.
    pub left_out: usize,
    /// Unknowns that the counts can tell apart, including the overhead.
    pub rank: usize,
    /// Unknowns of the model, including the overhead.
    pub unknowns: usize,
    /// The rows' departure from the line relative to the noise of the repeats.
    pub lack_of_fit: Option<LackOfFit>,
    /// Why there is no lack of fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lack_of_fit_reason: Option<String>,
    /// Root mean square of the residuals of the rows used, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub residual_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub residual_ticks: Option<Option<f64>>,
    /// All readings.
    pub readings: usize,
    /// Readings used.
    pub readings_used: usize,
    /// Names of the counts in `rows_detail`; empty if the rows are not listed.
    pub columns: Vec<String>,
    /// Every row.
    pub rows_detail: Vec<Row>,
    /// Why the rows are not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_detail_reason: Option<String>,
}

/// What a stage of the estimator did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stage {
    /// Name of the stage.
    pub stage: String,
    /// What it asked.
    pub question: String,
    /// What it saw and did, or why it did not run.
    pub did: String,
    /// Whether it did something.
    pub acted: bool,
    /// Readings of the series that it left out.
    #[serde(default)]
    pub left_out: usize,
    /// By how much it moved the first time, in percent.
    #[serde(default)]
    pub moved_percent: Option<f64>,
    /// Half-width that its entries of the budget alone give to the first time, in percent.
    #[serde(default)]
    pub widened_percent: Option<f64>,
}

/// F test of the lack of fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LackOfFit {
    /// Mean square of the rows' deviations over the mean square that noise explains.
    pub f: Option<f64>,
    /// Rows minus unknowns.
    pub dof: usize,
    /// Probability of an F at least this large if the model holds.
    pub p: Option<f64>,
    /// Standard deviation of the rows' systematic departure from the line, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub departure_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub departure_ticks: Option<Option<f64>>,
}

/// One row of the design.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Row {
    /// How often each component ran, in the order of `columns`.
    pub counts: Vec<f64>,
    /// Its readings.
    pub readings: usize,
    /// Readings used.
    pub used: usize,
    /// Robust location of its readings, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub location_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub location_ticks: Option<Option<f64>>,
    /// Standard deviation of a single reading, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub sd_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub sd_ticks: Option<Option<f64>>,
    /// Location minus fitted value, in nanoseconds.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub residual_ns: Option<Option<f64>>,
    /// As the field before, in ticks.
    #[serde(
        default,
        deserialize_with = "figure::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub residual_ticks: Option<Option<f64>>,
    /// Why it was left out; `null` for a row in use.
    pub left_out: Option<LeftOut>,
}

impl Row {
    /// Location of its readings in the unit of the document; NaN if it is not finite.
    pub fn location(&self) -> f64 {
        self.location_ns.or(self.location_ticks).flatten().unwrap_or(f64::NAN)
    }

    /// Location minus fitted value in the unit of the document; NaN if it is not finite.
    pub fn residual(&self) -> f64 {
        self.residual_ns.or(self.residual_ticks).flatten().unwrap_or(f64::NAN)
    }
}
