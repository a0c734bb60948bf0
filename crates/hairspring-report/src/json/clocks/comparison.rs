//! The document of two clocks compared.

use super::COMMAND;
use crate::document::{Environment, rate_interval};
use crate::json::environment::{EnvironmentJson, environment};
use crate::json::figure::{E, finite};
use hairspring::observations::Rate;
use hairspring_machine::clocks::{Comparison, SpanPoint};
use schemars::JsonSchema;
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ClockComparisonSchema {
    /// First version.
    #[serde(rename = "hairspring/clock-comparison/1")]
    V1,
}

/// Two clocks over the same spans.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Hairspring clock comparison")]
pub struct ClockComparisonDocument {
    /// Name and version of this format.
    pub schema: ClockComparisonSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: EnvironmentJson,
    /// The first clock.
    pub a: ComparedJson,
    /// The second clock, which differences are percentages of.
    pub b: ComparedJson,
    /// One entry for each length of span.
    pub spans: Vec<SpanJson>,
}

/// A clock that was compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedJson {
    /// Its name.
    pub clock: String,
    /// Ticks per second that its times were made with.
    pub rate_hz: Option<E>,
    /// How the rate is known.
    pub rate_provenance: String,
}

/// The difference at one length of span.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpanJson {
    /// Length that was aimed at.
    pub aimed_ns: f64,
    /// Mean length by the second clock.
    pub seen_ns: Option<f64>,
    /// Mean difference of the first clock from the second.
    pub difference_percent: Option<E>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference_reason: Option<String>,
    /// Standard deviation of a single difference.
    pub sd_percent: Option<f64>,
    /// Spans used.
    pub used: usize,
    /// Spans left out because something else ran between the reads of the two clocks.
    pub left_out: usize,
}

/// The document of a comparison.
pub fn clock_comparison(comparison: &Comparison, level: f64, circumstances: &Environment) -> ClockComparisonDocument {
    ClockComparisonDocument {
        schema: ClockComparisonSchema::V1,
        command: COMMAND.into(),
        environment: environment(circumstances, None),
        a: compared(&comparison.a, level),
        b: compared(&comparison.b, level),
        spans: comparison.points.iter().map(|point| span(point, level)).collect(),
    }
}

fn compared((name, rate): &(String, Rate), level: f64) -> ComparedJson {
    ComparedJson { clock: name.clone(), rate_hz: E::of(&rate_interval(rate, level)), rate_provenance: rate.provenance.clone() }
}

fn span(point: &SpanPoint, level: f64) -> SpanJson {
    SpanJson {
        aimed_ns: point.aimed_ns,
        seen_ns: finite(point.seen_ns),
        difference_percent: point.percent.as_ref().and_then(|percent| E::of(&percent.estimate(level))),
        difference_reason: point.percent.is_none().then(|| "the second clock did not move".to_owned()),
        sd_percent: finite(point.sd_percent),
        used: point.used,
        left_out: point.left_out,
    }
}
