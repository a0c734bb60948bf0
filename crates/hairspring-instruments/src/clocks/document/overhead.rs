//! The document of the stopwatch's overhead.

use super::COMMAND;
use crate::budget::{NO_LINE, rate_budget};
use crate::clocks::{ClockOverhead, OverheadReport};
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use hairspring_measure::stopwatch::{Moments, Overhead};
use hairspring_result::Environment;
use hairspring_result::document::{FigureEntry, figure_budget, finite};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StopwatchOverheadSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/stopwatch-overhead/2")]
    V2,
}

/// The overhead of a stopwatch: its reading for no work.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring stopwatch overhead"))]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockOverheadJson {
    /// Name of the clock.
    pub clock: String,
    /// Ticks per second.
    pub rate_hz: Option<Estimate>,
    /// Its error budget.
    pub rate_hz_budget: Vec<FigureEntry>,
    /// Index of the repetition with the smallest standard deviation, from 0.
    pub steadiest: Option<usize>,
    /// Quantum.
    pub granularity_ticks: u64,
    /// Means of the steadiest repetition, with the interval that the spread of all repetitions
    /// gives.
    pub means: OverheadMeansJson,
    /// Every repetition.
    pub repetitions: Vec<OverheadJson>,
}

/// Means in ticks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverheadMeansJson {
    /// Between start and stop.
    pub total_ticks: Option<Estimate>,
    /// Its error budget.
    pub total_ticks_budget: Vec<FigureEntry>,
    /// Between two reads in a row.
    pub read_ticks: Option<Estimate>,
    /// Its error budget.
    pub read_ticks_budget: Vec<FigureEntry>,
    /// Total minus read.
    pub calibrator_ticks: Option<Estimate>,
    /// Its error budget.
    pub calibrator_ticks_budget: Vec<FigureEntry>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverheadJson {
    /// Between start and stop.
    pub total: MomentsJson,
    /// Between two reads in a row.
    pub read: MomentsJson,
    /// Total minus read of each run.
    pub calibrator: MomentsJson,
}

/// A quantity over many runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
pub fn stopwatch_overhead(
    report: &OverheadReport,
    level: f64,
    circumstances: &Environment,
) -> StopwatchOverheadDocument {
    StopwatchOverheadDocument {
        schema: StopwatchOverheadSchema::V2,
        command: COMMAND.into(),
        environment: circumstances.clone(),
        runs: report.runs,
        priority_raised: report.priority_raised,
        clocks: report.clocks.iter().map(|entry| clock(entry, level)).collect(),
    }
}

fn clock(clock: &ClockOverhead, level: f64) -> ClockOverheadJson {
    let steadiest = clock.steadiest().and_then(|best| {
        clock.repetitions.iter().position(|repetition| std::ptr::eq(repetition, best))
    });
    ClockOverheadJson {
        clock: clock.clock.clone(),
        rate_hz: Estimate::of_rate(&clock.rate, level).if_finite(),
        rate_hz_budget: rate_budget(&clock.rate, clock.rate.hz, level),
        steadiest,
        granularity_ticks: clock.quantum,
        means: means(clock, level),
        repetitions: clock.repetitions.iter().map(overhead).collect(),
    }
}

/// Sources that add nothing to a mean in ticks.
const ABSENT_SOURCES: [(Source, &str); 5] = [
    (Source::Quantum, "the clock steps by less than it can show"),
    (Source::Rate, "ticks do not depend on the rate of the clock"),
    (Source::Fence, "the reads and calls are what is measured"),
    (Source::Departure, NO_LINE),
    (
        Source::Controls,
        "interrupted runs are left out; what else disturbs them is in the noise, which is that of \
         the repetitions",
    ),
];

fn means(clock: &ClockOverhead, level: f64) -> OverheadMeansJson {
    let part_of = |of: fn(&Overhead) -> &Moments| match clock.mean(of, level) {
        Some(mean) => {
            (mean.estimate(level).if_finite(), figure_budget(&mean.budget, level, &ABSENT_SOURCES))
        }
        None => (None, Vec::new()),
    };
    let (total_ticks, total_ticks_budget) = part_of(|o| &o.total);
    let (read_ticks, read_ticks_budget) = part_of(|o| &o.read);
    let (calibrator_ticks, calibrator_ticks_budget) = part_of(|o| &o.calibrator);
    OverheadMeansJson {
        total_ticks,
        total_ticks_budget,
        read_ticks,
        read_ticks_budget,
        calibrator_ticks,
        calibrator_ticks_budget,
    }
}

fn overhead(overhead: &Overhead) -> OverheadJson {
    OverheadJson {
        total: moments(&overhead.total),
        read: moments(&overhead.read),
        calibrator: moments(&overhead.calibrator),
    }
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
