//! The document of the survey of all clocks.

use super::COMMAND;
use crate::budget::rate_budget;
use crate::clocks::{Across, HandOver, MeasuredClock, RateSeen, Report, Survey};
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Choice, Clock, CountsWhen};
use hairspring_result::Environment;
use hairspring_result::Finding;
use hairspring_result::document::{FigureEntry, figure_budget, finite};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ClocksSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/clocks/2")]
    V2,
}

/// The clocks of the machine, measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring clocks"))]
pub struct ClocksDocument {
    /// Name and version of this format.
    pub schema: ClocksSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: Environment,
    /// Name of the clock that the costs of reads were timed by.
    pub timed_by: String,
    /// Name of the clock that rates are measured against.
    pub rates_against: String,
    /// The clocks that measurements use unless one is named.
    pub chosen: ChosenJson,
    /// The clocks.
    pub clocks: Vec<ClockFoundJson>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// The clocks that measurements use unless one is named, and why not finer ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChosenJson {
    /// The clock for everything: it counts always, and alike on all CPUs.
    pub steady: String,
    /// The clock for code that stays on one CPU.
    pub seated: String,
    /// Finer counters of the processor that are not used.
    pub passed_over: Vec<PassedOverJson>,
}

/// A counter that is not used.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassedOverJson {
    /// Its name.
    pub name: String,
    /// Why it is not used.
    pub reason: String,
}

impl From<&Choice> for ChosenJson {
    fn from(choice: &Choice) -> Self {
        let passed = |(name, reason): &(&str, String)| PassedOverJson {
            name: (*name).to_owned(),
            reason: reason.clone(),
        };
        ChosenJson {
            steady: choice.steady.name.to_owned(),
            seated: choice.seated.name.to_owned(),
            passed_over: choice.passed_over.iter().map(passed).collect(),
        }
    }
}

/// A clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockFoundJson {
    /// Name by which users select it.
    pub name: String,
    /// Description in one sentence.
    pub description: String,
    /// Whether it can be used here.
    pub available: bool,
    /// Why it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_reason: Option<String>,
    /// What completes earlier instructions before the read; `null` where nothing does.
    pub ordered_before: Option<String>,
    /// What keeps later instructions behind the read; `null` where nothing does.
    pub ordered_after: Option<String>,
    /// Bits of the counter.
    pub width_bits: u32,
    /// When it counts.
    pub counts: CountsWord,
    /// Ticks per second as the interface defines it.
    pub nominal_hz: Option<f64>,
    /// The measurements; `null` if it cannot be used.
    pub measured: Option<MeasuredJson>,
}

/// When a clock counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CountsWord {
    /// Always.
    Always,
    /// While the core that reads it runs: every core has its own, which may stop while the core
    /// sleeps.
    WhileCoreRuns,
    /// While the thread that reads it runs.
    WhileThreadRuns,
    /// While threads of the process run.
    WhileProcessRuns,
}

impl From<CountsWhen> for CountsWord {
    fn from(counts: CountsWhen) -> Self {
        match counts {
            CountsWhen::Always => CountsWord::Always,
            CountsWhen::WhileCoreRuns => CountsWord::WhileCoreRuns,
            CountsWhen::WhileThreadRuns => CountsWord::WhileThreadRuns,
            CountsWhen::WhileProcessRuns => CountsWord::WhileProcessRuns,
        }
    }
}

/// The measurements of a clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MeasuredJson {
    /// Quantum in ticks; `null` where it did not move.
    pub granularity_ticks: Option<u64>,
    /// Quantum in nanoseconds.
    pub granularity_ns: Option<f64>,
    /// Number of steps that the quantum was found from.
    pub steps: usize,
    /// Mean time between two reads in a row, in ticks.
    pub back_to_back_ticks: Option<f64>,
    /// Smallest time between two reads in a row, in ticks.
    pub back_to_back_min_ticks: u64,
    /// Number of times that it went backwards between two reads.
    pub backward: usize,
    /// Cost of a read by the line fit, in nanoseconds.
    pub read_cost_ns: Option<Estimate>,
    /// Its error budget.
    pub read_cost_ns_budget: Vec<FigureEntry>,
    /// Why the cost is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_cost_reason: Option<String>,
    /// Ticks per second as measured.
    pub rate_hz: Option<Estimate>,
    /// Its error budget.
    pub rate_hz_budget: Vec<FigureEntry>,
    /// Distance of the measured rate from the nominal one, in parts per million.
    pub rate_off_ppm: Option<Estimate>,
    /// Its error budget.
    pub rate_off_ppm_budget: Vec<FigureEntry>,
    /// How the rate was measured, or why it was not.
    pub rate_provenance: String,
    /// Hand-overs of a reading between CPUs.
    pub across_cpus: Vec<HandOverJson>,
    /// Why there are no hand-overs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across_cpus_reason: Option<String>,
}

/// Hand-overs between two CPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandOverJson {
    /// The two CPUs.
    pub cpus: [usize; 2],
    /// Number of readings that followed a reading of the other CPU.
    pub handovers: u64,
    /// Number of readings that were lower than the one that they followed.
    pub violations: u64,
    /// How much lower the worst was, in ticks.
    pub worst_ticks: u64,
    /// How far the second CPU's clock is ahead, in ticks.
    pub offset_ticks: Option<f64>,
    /// Bound of the error of the offset, in ticks: the fastest hand-over, or the quantum if that is
    /// larger.
    pub offset_bound_ticks: Option<f64>,
}

impl HandOverJson {
    fn new(pair: &HandOver, quantum: u64) -> Self {
        let (offset, bound) = pair.offset_ticks(quantum);
        HandOverJson {
            cpus: [pair.cpus.0, pair.cpus.1],
            handovers: pair.handovers,
            violations: pair.violations,
            worst_ticks: pair.worst_ticks,
            offset_ticks: finite(offset),
            offset_bound_ticks: finite(bound),
        }
    }
}

/// The document of a survey.
pub fn clock_survey(survey: &Survey, level: f64, circumstances: &Environment) -> ClocksDocument {
    ClocksDocument {
        schema: ClocksSchema::V2,
        command: COMMAND.into(),
        environment: circumstances.clone(),
        timed_by: survey.timed_by.clone(),
        rates_against: survey.against.clone(),
        chosen: (&survey.choice).into(),
        clocks: survey.clocks.iter().map(|report| clock(report, level)).collect(),
        findings: survey.findings.clone(),
    }
}

fn clock(report: &Report, level: f64) -> ClockFoundJson {
    let clock = &report.clock;
    ClockFoundJson {
        name: clock.name.into(),
        description: clock.description.into(),
        available: report.state.is_ok(),
        available_reason: report.state.as_ref().err().cloned(),
        ordered_before: clock.ordering.before.map(str::to_owned),
        ordered_after: clock.ordering.after.map(str::to_owned),
        width_bits: clock.width.count(),
        counts: clock.counts.into(),
        nominal_hz: clock.nominal_hz.and_then(finite),
        measured: report.state.as_ref().ok().map(|found| measured(clock, found, level)),
    }
}

/// Sources that add nothing to the cost of a read.
const OF_READ_COST: [(Source, &str); 5] = [
    (Source::Quantum, "averages out: readings begin at all phases of the clock"),
    (Source::Rate, "the rate of the clock is defined"),
    (Source::Fence, "the line fit separates it from the cost"),
    (Source::Departure, "the rows lie on the line as closely as their noise allows"),
    (Source::Controls, "not known: no chain of known length ran beside the reads"),
];

fn measured(clock: &Clock, measured: &MeasuredClock, level: f64) -> MeasuredJson {
    let reading = &measured.reading;
    let quantum = (reading.quantum > 0).then_some(reading.quantum);
    let cost =
        measured.cost.as_ref().ok().and_then(|cost| cost.components.first()?.time.ns.as_ref());
    let (rate, rate_provenance) = match &measured.rate {
        RateSeen::Measured(rate) => (Some(rate), rate.provenance.clone()),
        RateSeen::Reference => (None, "rates are measured against it".to_owned()),
        RateSeen::NotApplicable(reason) => (None, reason.clone()),
    };
    let (pairs, across_cpus_reason) = match &measured.across {
        Across::Tried(pairs) => (
            pairs.iter().map(|pair| HandOverJson::new(pair, measured.reading.quantum)).collect(),
            None,
        ),
        Across::NotTried(reason) => (Vec::new(), Some(reason.clone())),
    };
    let reason = || {
        measured
            .cost
            .as_ref()
            .err()
            .cloned()
            .unwrap_or_else(|| "the rate of the clock that timed it is unknown".into())
    };
    MeasuredJson {
        granularity_ticks: quantum,
        granularity_ns: quantum
            .zip(measured.hz(clock))
            .and_then(|(ticks, hz)| finite(ticks as f64 * 1e9 / hz)),
        steps: reading.steps,
        back_to_back_ticks: finite(reading.back_to_back_mean),
        back_to_back_min_ticks: reading.back_to_back_min,
        backward: reading.backward,
        read_cost_ns: cost.and_then(|ns| ns.estimate(level).if_finite()),
        read_cost_ns_budget: cost
            .map_or_else(Vec::new, |ns| figure_budget(&ns.budget, level, &OF_READ_COST)),
        read_cost_reason: cost.is_none().then(reason),
        rate_hz: rate.and_then(|rate| Estimate::of_rate(rate, level).if_finite()),
        rate_hz_budget: rate.map_or_else(Vec::new, |rate| rate_budget(rate, rate.hz, level)),
        rate_off_ppm: rate
            .zip(clock.nominal_hz)
            .and_then(|(rate, hz)| off_ppm(rate, hz, level).if_finite()),
        rate_off_ppm_budget: rate
            .zip(clock.nominal_hz)
            .map_or_else(Vec::new, |(rate, hz)| rate_budget(rate, 1e6 * rate.hz / hz, level)),
        rate_provenance,
        across_cpus: pairs,
        across_cpus_reason,
    }
}

/// Distance of a rate from the nominal one, in parts per million of that.
fn off_ppm(rate: &Rate, nominal_hz: f64, level: f64) -> hairspring_core::Estimate {
    let relative = Estimate::of_rate(rate, level).scaled(1e6 / nominal_hz);
    hairspring_core::Estimate {
        value: relative.value - 1e6,
        low: relative.low - 1e6,
        high: relative.high - 1e6,
        level,
    }
}
