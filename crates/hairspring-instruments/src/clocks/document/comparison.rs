//! The document of two clocks compared.

use super::COMMAND;
use super::survey::CountsWord;
use crate::clocks::{Compared, Comparison, SpanPoint, constant_ns};
use hairspring_core::Estimate;
use hairspring_result::Environment;
use hairspring_result::document::finite;
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
    pub environment: Environment,
    /// The first clock.
    pub a: ComparedJson,
    /// The second clock; differences are in percent of its time.
    pub b: ComparedJson,
    /// Shortest span that the reads of both clocks leave room for.
    pub least_span_ns: Option<f64>,
    /// Lengths that are too short: the reads alone take longer.
    pub too_short_ns: Vec<f64>,
    /// The constant part of all differences: what remains of the cost of the reads, not a difference of the clocks.
    pub constant_ns: Option<Estimate>,
    /// One entry for each length of span that could be measured.
    pub spans: Vec<SpanJson>,
}

/// A clock that was compared.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedJson {
    /// Its name.
    pub clock: String,
    /// Ticks per second, by which its ticks were converted to time.
    pub rate_hz: Option<Estimate>,
    /// How the rate is known.
    pub rate_provenance: String,
    /// Its quantum.
    pub granularity_ns: Option<f64>,
    /// When it counts; a clock that does not always count also differs by what else ran.
    pub counts: CountsWord,
}

/// The difference at one length of span.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpanJson {
    /// Intended length.
    pub aimed_ns: f64,
    /// Mean length by the second clock.
    pub seen_ns: Option<f64>,
    /// Mean difference of the first clock from the second; `null` where a clock is too coarse to resolve it.
    pub difference_percent: Option<Estimate>,
    /// Whether it is more than the constant explains.
    pub differs: bool,
    /// Bound of the difference, where it is not resolved.
    pub bound_percent: Option<f64>,
    /// Why the difference is unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference_reason: Option<String>,
    /// Standard deviation of a single difference.
    pub sd_percent: Option<f64>,
    /// Spans used.
    pub used: usize,
    /// Spans left out because something else ran within them or between the reads of the two clocks.
    pub left_out: usize,
}

/// The document of a comparison.
pub fn clock_comparison(comparison: &Comparison, level: f64, circumstances: &Environment) -> ClockComparisonDocument {
    let constant = constant_ns(&comparison.points, level);
    ClockComparisonDocument {
        schema: ClockComparisonSchema::V1,
        command: COMMAND.into(),
        environment: circumstances.clone(),
        a: compared(&comparison.a, level),
        b: compared(&comparison.b, level),
        least_span_ns: finite(comparison.least_span_ns),
        too_short_ns: comparison.too_short_ns.clone(),
        constant_ns: constant.and_then(Estimate::if_finite),
        spans: comparison.points.iter().map(|point| span(point, constant.as_ref(), level)).collect(),
    }
}

fn compared(of: &Compared, level: f64) -> ComparedJson {
    ComparedJson {
        clock: of.name.clone(),
        rate_hz: Estimate::of_rate(&of.rate, level).if_finite(),
        rate_provenance: of.rate.provenance.clone(),
        granularity_ns: finite(of.step_ns),
        counts: of.counts.into(),
    }
}

fn span(point: &SpanPoint, constant: Option<&Estimate>, level: f64) -> SpanJson {
    let bound = point.bound_percent(level);
    let resolved = point.percent.as_ref().filter(|_| bound.is_none());
    let reason = match bound {
        Some(_) => "the clocks are too coarse for a span of this length",
        None => point.reason(),
    };
    SpanJson {
        aimed_ns: point.aimed_ns,
        seen_ns: finite(point.seen_ns).filter(|_| point.used > 0),
        difference_percent: resolved.and_then(|percent| percent.estimate(level).if_finite()),
        differs: point.differs(constant, level),
        bound_percent: bound.and_then(finite),
        difference_reason: resolved.is_none().then(|| reason.to_owned()),
        sd_percent: finite(point.sd_percent),
        used: point.used,
        left_out: point.left_out,
    }
}
