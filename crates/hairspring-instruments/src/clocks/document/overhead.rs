//! The document of the stopwatch's overhead.

use super::COMMAND;
use crate::clocks::{ClockOverhead, OverheadReport};
use hairspring_core::Estimate;
use hairspring_measure::stopwatch::{Moments, Overhead};
use hairspring_result::Environment;
use hairspring_result::document::finite;
use schemars::JsonSchema;
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum StopwatchOverheadSchema {
    /// First version.
    #[serde(rename = "hairspring/stopwatch-overhead/1")]
    V1,
}

/// The overhead of a stopwatch: its reading for no work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Hairspring stopwatch overhead")]
pub struct StopwatchOverheadDocument {
    /// Name and version of this format.
    pub schema: StopwatchOverheadSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// Requested runs in each repetition.
    pub runs: usize,
    /// Whether the priority was raised.
    pub priority_raised: bool,
    /// The clocks.
    pub clocks: Vec<ClockOverheadJson>,
}

/// The overhead on one clock.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClockOverheadJson {
    /// Name of the clock.
    pub clock: String,
    /// Ticks per second.
    pub rate_hz: Option<Estimate>,
    /// Index of the repetition with the smallest standard deviation, from 0.
    pub steadiest: Option<usize>,
    /// Quantum.
    pub granularity_ticks: u64,
    /// Means of the steadiest repetition, with the interval that the spread of all repetitions gives.
    pub means: OverheadMeansJson,
    /// Every repetition.
    pub repetitions: Vec<OverheadJson>,
}

/// Means in ticks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OverheadMeansJson {
    /// Between start and stop.
    pub total_ticks: Option<Estimate>,
    /// Between two reads in a row.
    pub read_ticks: Option<Estimate>,
    /// Total minus read.
    pub calibrator_ticks: Option<Estimate>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OverheadJson {
    /// Between start and stop.
    pub total: MomentsJson,
    /// Between two reads in a row.
    pub read: MomentsJson,
    /// Total minus read of each run.
    pub calibrator: MomentsJson,
}

/// A quantity over many runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MomentsJson {
    /// Mean of the runs used.
    pub mean_ticks: Option<f64>,
    /// Standard deviation of a single run.
    pub sd_ticks: Option<f64>,
    /// Median of all runs.
    pub median_ticks: Option<f64>,
    /// Runs used; the others were interrupted.
    pub used: usize,
    /// All runs.
    pub runs: usize,
}

/// The document of an overhead.
pub fn stopwatch_overhead(report: &OverheadReport, level: f64, circumstances: &Environment) -> StopwatchOverheadDocument {
    StopwatchOverheadDocument {
        schema: StopwatchOverheadSchema::V1,
        command: COMMAND.into(),
        environment: circumstances.clone(),
        runs: report.runs,
        priority_raised: report.priority_raised,
        clocks: report.clocks.iter().map(|entry| clock(entry, level)).collect(),
    }
}

fn clock(clock: &ClockOverhead, level: f64) -> ClockOverheadJson {
    let steadiest = clock.steadiest().and_then(|best| clock.repetitions.iter().position(|repetition| std::ptr::eq(repetition, best)));
    let mean = |of| clock.mean(of, level).and_then(Estimate::if_finite);
    ClockOverheadJson {
        clock: clock.clock.clone(),
        rate_hz: Estimate::of_rate(&clock.rate, level).if_finite(),
        steadiest,
        granularity_ticks: clock.quantum,
        means: OverheadMeansJson {
            total_ticks: mean(|o| &o.total),
            read_ticks: mean(|o| &o.read),
            calibrator_ticks: mean(|o| &o.calibrator),
        },
        repetitions: clock.repetitions.iter().map(overhead).collect(),
    }
}

fn overhead(overhead: &Overhead) -> OverheadJson {
    OverheadJson { total: moments(&overhead.total), read: moments(&overhead.read), calibrator: moments(&overhead.calibrator) }
}

fn moments(moments: &Moments) -> MomentsJson {
    MomentsJson {
        mean_ticks: finite(moments.mean),
        sd_ticks: finite(moments.sd),
        median_ticks: finite(moments.median),
        used: moments.used,
        runs: moments.all,
    }
}
