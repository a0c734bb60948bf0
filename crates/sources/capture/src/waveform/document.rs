//! The document of a waveform.

use super::counts::Bin;
use super::{Kind, Summary, Waveform};
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use hairspring_core::judge::Finding;
use hairspring_result::document::{FigureEntry, figure_budget, finite};
use hairspring_result::{Clock, Environment};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PulsesSchema {
    /// First version.
    #[serde(rename = "hairspring/pulses/1")]
    V1,
}

/// Statistics of the pulses of a channel.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring pulses"))]
pub struct PulsesDocument {
    /// Name and version of this format.
    pub schema: PulsesSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances; the clock is the recorder's.
    pub environment: Environment,
    /// The channel.
    pub channel: String,
    /// Edges of the channel.
    pub edges: u64,
    /// Seconds from the first edge to the last.
    pub seconds: f64,
    /// Step of the edges' times in nanoseconds.
    pub step_ns: f64,
    /// Pulses per second: 1 over the mean period; `null` for fewer than two rising edges.
    pub frequency_hz: Option<Estimate>,
    /// `period`, `high`, `low`, `cycle_to_cycle`, `duty_cycle`: those that the channel has.
    pub quantities: Vec<QuantityJson>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// A quantity; `ns` for times, `share` for the duty cycle.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantityJson {
    /// Its name.
    pub name: String,
    /// Its unit: `ns` or `share`.
    pub unit: String,
    /// Number of values.
    pub count: u64,
    /// Their mean.
    pub mean: Estimate,
    /// The error budget of the mean.
    pub mean_budget: Vec<FigureEntry>,
    /// Standard deviation of a value; the low end of the interval is without the recorder's step.
    pub jitter: Estimate,
    /// Smallest value.
    pub least: f64,
    /// Where it ended, in seconds of the recording.
    pub least_at_s: f64,
    /// Largest value.
    pub most: f64,
    /// Where it ended, in seconds of the recording.
    pub most_at_s: f64,
    /// 1 % of the values are at most this.
    pub p1: f64,
    /// Median.
    pub median: f64,
    /// 99 % of the values are at most this.
    pub p99: f64,
    /// The distribution.
    pub histogram: Vec<PulseBin>,
}

/// A bin, from its low end (inclusive) to its high end (exclusive), in the unit of the quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PulseBin {
    /// Low end; `null` for the bin of all smaller values.
    pub low: Option<f64>,
    /// High end; `null` for the bin of all larger values.
    pub high: Option<f64>,
    /// Values in it.
    pub count: u64,
}

impl From<&Bin> for PulseBin {
    fn from(bin: &Bin) -> Self {
        PulseBin { low: finite(bin.low), high: finite(bin.high), count: bin.count }
    }
}

/// Sources that add nothing to the mean of a quantity.
const ABSENT_SOURCES: [(Source, &str); 5] = [
    (Source::Quantum, "edges are found between samples"),
    (Source::Rate, "a share has no unit, and the clock of a simulator is exact"),
    (Source::Fence, "a recorder reads no clock"),
    (Source::Departure, "no line is fitted"),
    (Source::Controls, "the recorder is another machine"),
];

/// The document of a waveform; `circumstances` says where it was made.
pub fn pulses(waveform: &Waveform, circumstances: Environment) -> PulsesDocument {
    let clock = Clock::named(&waveform.recording.channel, "the recorder's clock");
    PulsesDocument {
        schema: PulsesSchema::V1,
        command: "capture".into(),
        environment: Environment { clock: Some(clock.with_rate(&waveform.rate)), ..circumstances },
        channel: waveform.recording.channel.clone(),
        edges: waveform.recording.edges,
        seconds: waveform.seconds,
        step_ns: 1e9 * waveform.quantum_s,
        frequency_hz: waveform.frequency(),
        quantities: waveform.summaries.iter().map(quantity).collect(),
        findings: waveform.findings.clone(),
    }
}

fn quantity(summary: &Summary) -> QuantityJson {
    let distribution = &summary.distribution;
    let [p1, median, p99] = distribution.quantiles;
    QuantityJson {
        name: summary.kind.name().into(),
        unit: if summary.kind == Kind::Duty { "share" } else { "ns" }.into(),
        count: summary.count,
        mean: summary.mean,
        mean_budget: figure_budget(&summary.budget, summary.mean.level, &ABSENT_SOURCES),
        jitter: summary.jitter,
        least: distribution.least.0,
        least_at_s: distribution.least.1,
        most: distribution.most.0,
        most_at_s: distribution.most.1,
        p1,
        median,
        p99,
        histogram: distribution.bins.iter().map(PulseBin::from).collect(),
    }
}
