//! The document of the latency experiments.

use super::COMMAND;
use crate::budget::{IN_THE_NOISE, NO_LINE};
use crate::clocks::{Bin, ClockLatency, Experiment, Latency};
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use hairspring_result::Environment;
use hairspring_result::document::{FigureEntry, figure_budget, finite};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClockLatencySchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/clock-latency/2")]
    V2,
}

/// Cost of a reading: consecutive, and after pauses.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring clock latency"))]
pub struct ClockLatencyDocument {
    /// Name and version of this format.
    pub schema: ClockLatencySchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// Factor on all pauses; 1 is the paper's.
    pub scale: f64,
    /// Differences in each experiment.
    pub count: usize,
    /// The experiments.
    pub experiments: Vec<ExperimentJson>,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExperimentJson {
    /// `consecutive`, `every_second`, `every_1_and_5_seconds`.
    pub name: String,
    /// Pauses before each pair, taken in turn.
    pub pauses_ms: Vec<f64>,
    /// The clocks.
    pub clocks: Vec<ClockLatencyJson>,
}

/// The result of one clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockLatencyJson {
    /// Name of the clock.
    pub clock: String,
    /// Mean difference of two reads.
    pub mean_ns: Option<Estimate>,
    /// The error budget of the mean.
    pub mean_ns_budget: Vec<FigureEntry>,
    /// Standard deviation of a single difference.
    pub sd_ns: Option<f64>,
    /// Smallest difference; negative where the clock was set back.
    pub least_ns: Option<f64>,
    /// Median.
    pub median_ns: Option<f64>,
    /// 99 % of the differences are at most this.
    pub p99_ns: Option<f64>,
    /// Largest difference.
    pub largest_ns: Option<f64>,
    /// Quantum of the clock in ticks.
    pub granularity_ticks: u64,
    /// Nanoseconds of a tick.
    pub tick_ns: Option<f64>,
    /// The distribution.
    pub histogram: Vec<BinJson>,
}

/// A bin, from its low end (inclusive) to its high end (exclusive).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BinJson {
    /// Low end.
    pub low_ns: Option<f64>,
    /// High end; `null` for the last bin, which has all larger values.
    pub high_ns: Option<f64>,
    /// Differences in it.
    pub count: usize,
}

impl From<&Bin> for BinJson {
    fn from(bin: &Bin) -> Self {
        BinJson { low_ns: finite(bin.low), high_ns: finite(bin.high), count: bin.count }
    }
}

/// The document of the experiments.
pub fn clock_latency(latency: &Latency, circumstances: &Environment) -> ClockLatencyDocument {
    ClockLatencyDocument {
        schema: ClockLatencySchema::V2,
        command: COMMAND.into(),
        environment: circumstances.clone(),
        scale: latency.plan.scale,
        count: latency.plan.count,
        experiments: latency.experiments.iter().map(experiment).collect(),
    }
}

fn experiment(experiment: &Experiment) -> ExperimentJson {
    ExperimentJson {
        name: experiment.name.clone(),
        pauses_ms: experiment.pauses_ms.clone(),
        clocks: experiment.clocks.iter().map(clock).collect(),
    }
}

/// Sources that add nothing to the mean difference of two reads.
const ABSENT_SOURCES: [(Source, &str); 5] = [
    (Source::Quantum, "the clock steps by less than it can show"),
    (Source::Rate, "the rate of the clock is defined"),
    (Source::Fence, "the reads are what is measured"),
    (Source::Departure, NO_LINE),
    (Source::Controls, IN_THE_NOISE),
];

fn clock(clock: &ClockLatency) -> ClockLatencyJson {
    let [least_ns, median, p99_ns, largest] = clock.ns.quantiles.map(finite);
    ClockLatencyJson {
        clock: clock.clock.clone(),
        mean_ns: clock.ns.mean.if_finite(),
        mean_ns_budget: figure_budget(&clock.ns.budget, clock.ns.mean.level, &ABSENT_SOURCES),
        sd_ns: finite(clock.ns.sd),
        least_ns,
        median_ns: median,
        p99_ns,
        largest_ns: largest,
        granularity_ticks: clock.quantum,
        tick_ns: finite(clock.tick_ns),
        histogram: clock.ns.histogram.iter().map(BinJson::from).collect(),
    }
}
