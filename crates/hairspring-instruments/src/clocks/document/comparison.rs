//! The document of two clocks compared.

use super::COMMAND;
use super::survey::CountsWord;
use crate::budget::{NO_LINE, rate_budget};
use crate::clocks::{Compared, Comparison, SpanPoint, constant_ns};
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use hairspring_result::Environment;
use hairspring_result::document::{FigureEntry, figure_budget, finite};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClockComparisonSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/clock-comparison/2")]
    V2,
}

/// Two clocks over the same spans.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring clock comparison"))]
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
    /// The constant part of all differences: what remains of the cost of the reads, not a
    /// difference of the clocks.
    pub constant_ns: Option<Estimate>,
    /// Its error budget.
    pub constant_ns_budget: Vec<FigureEntry>,
    /// One entry for each length of span that could be measured.
    pub spans: Vec<SpanJson>,
}

/// A clock that was compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedJson {
    /// Its name.
    pub clock: String,
    /// Ticks per second, by which its ticks were converted to time.
    pub rate_hz: Option<Estimate>,
    /// Its error budget.
    pub rate_hz_budget: Vec<FigureEntry>,
    /// How the rate is known.
    pub rate_provenance: String,
    /// Its quantum.
    pub granularity_ns: Option<f64>,
    /// When it counts; a clock that does not always count also differs by what else ran.
    pub counts: CountsWord,
}

/// The difference at one length of span.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpanJson {
    /// Intended length.
    pub aimed_ns: f64,
    /// Mean length by the second clock.
    pub seen_ns: Option<f64>,
    /// Mean difference of the first clock from the second; `null` where a clock is too coarse to
    /// resolve it.
    pub difference_percent: Option<Estimate>,
    /// Its error budget.
    pub difference_percent_budget: Vec<FigureEntry>,
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
    /// Spans left out because something else ran within them or between the reads of the two
    /// clocks.
    pub left_out: usize,
}

/// The document of a comparison.
pub fn clock_comparison(
    comparison: &Comparison,
    level: f64,
    circumstances: &Environment,
) -> ClockComparisonDocument {
    let constant = constant_ns(&comparison.points, level);
    let interval = constant.as_ref().map(|found| found.estimate(level));
    ClockComparisonDocument {
        schema: ClockComparisonSchema::V2,
        command: COMMAND.into(),
        environment: circumstances.clone(),
        a: compared(&comparison.a, level),
        b: compared(&comparison.b, level),
        least_span_ns: finite(comparison.least_span_ns),
        too_short_ns: comparison.too_short_ns.clone(),
        constant_ns: interval.and_then(Estimate::if_finite),
        constant_ns_budget: constant
            .map_or_else(Vec::new, |found| figure_budget(&found.budget, level, &OF_CONSTANT)),
        spans: comparison
            .points
            .iter()
            .map(|point| span(point, interval.as_ref(), level))
            .collect(),
    }
}

fn compared(of: &Compared, level: f64) -> ComparedJson {
    ComparedJson {
        clock: of.name.clone(),
        rate_hz: Estimate::of_rate(&of.rate, level).if_finite(),
        rate_hz_budget: rate_budget(&of.rate, of.rate.hz, level),
        rate_provenance: of.rate.provenance.clone(),
        granularity_ns: finite(of.step_ns),
        counts: of.counts.into(),
    }
}

/// Why the reads of both clocks add nothing to a difference.
const NESTED_READS: &str =
    "each clock is read outside of the other equally often, so the cost of the reads cancels";
/// What was done about disturbed spans.
const LEFT_OUT: &str = "disturbed spans are left out";

/// Sources that add nothing to a difference.
const OF_DIFFERENCE: [(Source, &str); 5] = [
    (Source::Quantum, "the clocks step by less than they can show"),
    (Source::Rate, "the rates of both clocks are defined"),
    (Source::Fence, NESTED_READS),
    (Source::Departure, NO_LINE),
    (Source::Controls, LEFT_OUT),
];

/// Sources that add nothing to the constant.
const OF_CONSTANT: [(Source, &str); 6] = [
    (Source::Quantum, "in the intervals of the spans, through which the line goes"),
    (Source::Rate, "in the slope of the line, and not in the constant"),
    (Source::Fence, NESTED_READS),
    (
        Source::Noise,
        "in the lack of fit: the spans lie further off the line than their intervals allow",
    ),
    (Source::Departure, "the spans lie on the line as closely as their intervals allow"),
    (Source::Controls, LEFT_OUT),
];

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
        difference_percent_budget: resolved
            .map_or_else(Vec::new, |percent| figure_budget(&percent.budget, level, &OF_DIFFERENCE)),
        differs: point.differs(constant, level),
        bound_percent: bound.and_then(finite),
        difference_reason: resolved.is_none().then(|| reason.to_owned()),
        sd_percent: finite(point.sd_percent),
        used: point.used,
        left_out: point.left_out,
    }
}
