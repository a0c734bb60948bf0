//! The documents of `period`: a cyclic task, and the partner that answers its frames.

use crate::budget::{IN_THE_NOISE, NO_LINE};
use crate::period::PeriodReport;
use crate::period::distribution::Distribution;
use crate::period::exchange::Ignored;
use crate::period::histogram::Histogram;
use crate::period::partner::Responded;
use crate::period::summary::{ClockPeriods, Disagreement, Exchange};
use crate::period::task::Stop;
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use hairspring_result::Finding;
use hairspring_result::document::{FigureEntry, figure_budget, finite};
use hairspring_result::{Clock, Environment};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PeriodSchema {
    /// Second version: sources of the budget have other names than in the first.
    #[serde(rename = "hairspring/period/2")]
    V2,
}

/// A cyclic task, its period measured by two clocks at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring period"))]
pub struct PeriodDocument {
    /// Name and version of this format.
    pub schema: PeriodSchema,
    /// The verb that made it.
    pub command: String,
    /// Circumstances; its clock is the first of the two.
    pub environment: Environment,
    /// The requested period.
    pub period_ns: u64,
    /// Cycles that ran.
    pub cycles: u64,
    /// Cycles that were due but did not run, because an earlier one was still running.
    pub missed: u64,
    /// Longest time between two wake-ups.
    pub longest_gap_ns: Option<f64>,
    /// The cycle that it ended with.
    pub longest_gap_cycle: u64,
    /// Wake-up latency: the time of the wake-up minus the due time.
    pub latency: DistributionJson,
    /// The first cycles whose latency lies beyond the histogram.
    pub outliers: Vec<OutlierJson>,
    /// Further such cycles, which are not listed.
    pub outliers_not_listed: u64,
    /// The period by each of the two clocks.
    pub clocks: Vec<ClockPeriodsJson>,
    /// The first clock against the second, each by its rate from before the run.
    pub disagreement: DisagreementJson,
    /// The exchange of frames; `null` where there was none.
    pub exchange: Option<ExchangeJson>,
    /// The limit of the latency; `null` where there was none.
    pub limit: Option<LimitJson>,
    /// How the run went.
    pub run: PeriodRunJson,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
}

/// A distribution of times.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionJson {
    /// Number of values.
    pub count: u64,
    /// Mean; its ends are `null` if there were too few values.
    pub mean_ns: Option<Estimate>,
    /// The error budget of the mean.
    pub mean_ns_budget: Vec<FigureEntry>,
    /// Standard deviation of a single value.
    pub sd_ns: Option<f64>,
    /// Smallest value.
    pub least_ns: Option<f64>,
    /// Its cycle.
    pub least_cycle: u64,
    /// Largest value. It is not a bound: a longer run finds larger ones.
    pub most_ns: Option<f64>,
    /// Its cycle.
    pub most_cycle: u64,
    /// Quantiles.
    pub quantiles: QuantilesJson,
    /// The histogram.
    pub histogram: HistogramJson,
}

/// Quantiles, as upper edges of their bins; `null` where a quantile is in the overflow.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantilesJson {
    /// The median.
    pub p50_ns: Option<f64>,
    /// 99 %.
    pub p99_ns: Option<f64>,
    /// 99.9 %.
    pub p99_9_ns: Option<f64>,
    /// 99.99 %.
    pub p99_99_ns: Option<f64>,
}

/// Counts in bins of one width; bins without a count are left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistogramJson {
    /// Low end of the first bin.
    pub low_ns: f64,
    /// High end of the last bin.
    pub high_ns: f64,
    /// Width of a bin.
    pub bin_ns: f64,
    /// Values below all bins.
    pub below: u64,
    /// Values above all bins: the overflow.
    pub above: u64,
    /// Lower edges of the bins with a count.
    pub from_ns: Vec<f64>,
    /// Their counts.
    pub counts: Vec<u64>,
}

/// A cycle that woke later than the histogram reaches.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlierJson {
    /// Its cycle.
    pub cycle: u64,
    /// Its latency.
    pub latency_ns: f64,
}

/// The period by one clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockPeriodsJson {
    /// The clock.
    pub clock: Option<Clock>,
    /// Mean period.
    pub period_ns: Option<Estimate>,
    /// Its error budget.
    pub period_ns_budget: Vec<FigureEntry>,
    /// Errors of the periods: measured minus due.
    pub error: DistributionJson,
    /// Times that the clock went backwards.
    pub backward: u64,
}

/// The first clock against the second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DisagreementJson {
    /// How much longer the run was by the first clock.
    pub ppm: Option<Estimate>,
    /// Its error budget.
    pub ppm_budget: Vec<FigureEntry>,
    /// Standard deviation of the difference of one period.
    pub sd_ns: Option<f64>,
    /// Smallest difference of a period.
    pub least_ns: Option<f64>,
    /// Its cycle.
    pub least_cycle: u64,
    /// Largest difference of a period.
    pub most_ns: Option<f64>,
    /// Its cycle.
    pub most_cycle: u64,
}

/// The fate of the frames.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExchangeJson {
    /// Address of the partner.
    pub partner: String,
    /// Frames sent.
    pub sent: u64,
    /// Frames that could not be sent.
    pub not_sent: u64,
    /// Answers read before the end of their cycle.
    pub in_time: u64,
    /// Answers read after the end of their cycle.
    pub late: u64,
    /// Frames without an answer.
    pub lost: u64,
    /// Frames received and ignored.
    pub ignored: IgnoredJson,
    /// Round trips of all answers, the late ones included; `null` where there was none.
    pub round_trip: Option<DistributionJson>,
}

/// Frames received and ignored.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IgnoredJson {
    /// Answers to frames that had been answered.
    pub duplicates: u64,
    /// Answers to cycles that are too long ago.
    pub stale: u64,
    /// Frames of another run or program.
    pub foreign: u64,
    /// Messages with too few bytes for a frame.
    pub short: u64,
}

/// The limit of the latency.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitJson {
    /// The limit.
    pub latency_ns: f64,
    /// Whether a cycle exceeded it.
    pub exceeded: bool,
}

/// How the run went.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeriodRunJson {
    /// From the first due time to the end.
    pub elapsed_ms: Option<f64>,
    /// Why it ended.
    pub stop: StopWord,
    /// Time that the hypervisor took.
    pub stolen_ms: Option<f64>,
    /// Involuntary context switches of the task.
    pub switches: i64,
    /// Shortest time that a cycle takes here: the shortest sleep with the reads of the clocks.
    pub least_cycle_ns: u64,
    /// Real-time priority (SCHED_FIFO).
    pub real_time_priority: Option<i32>,
    /// Why there is no real-time priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_time_reason: Option<String>,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopWord {
    /// All cycles were due.
    Done,
    /// A signal.
    Interrupted,
    /// A cycle exceeded the limit.
    LimitExceeded,
}

impl From<Stop> for StopWord {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Done => StopWord::Done,
            Stop::Interrupted => StopWord::Interrupted,
            Stop::LimitExceeded => StopWord::LimitExceeded,
        }
    }
}

/// Sources that add nothing to the mean of single times.
const OF_TIMES: [(Source, &str); 5] = [
    (Source::Quantum, "the clock steps by a nanosecond or less"),
    (Source::Rate, "the system defines the rate of its clock"),
    (Source::Fence, "the reads of the clocks are part of what is measured"),
    (Source::Departure, NO_LINE),
    (Source::Controls, IN_THE_NOISE),
];

/// Sources that add nothing to a figure of the two ends of the run.
const OF_ENDS: [(Source, &str); 5] = [
    (Source::Quantum, "the clock steps by less than it can show"),
    (Source::Rate, "the rate of the clock is defined"),
    (Source::Fence, "both ends have the same reads of the clocks, so their cost cancels"),
    (Source::Departure, "no line is fitted: the figure is that of the two ends of the run"),
    (Source::Controls, "only that at both ends matters, and it is in the noise"),
];

impl DistributionJson {
    fn new(of: &Distribution, absent: &[(Source, &str)]) -> Self {
        let at = |share: f64| of.histogram.quantile(share);
        DistributionJson {
            count: of.count,
            mean_ns: of.mean_ns.if_finite(),
            mean_ns_budget: figure_budget(&of.budget, of.mean_ns.level, absent),
            sd_ns: finite(of.sd_ns),
            least_ns: finite(of.least_ns.value),
            least_cycle: of.least_ns.cycle,
            most_ns: finite(of.most_ns.value),
            most_cycle: of.most_ns.cycle,
            quantiles: QuantilesJson {
                p50_ns: at(0.5),
                p99_ns: at(0.99),
                p99_9_ns: at(0.999),
                p99_99_ns: at(0.9999),
            },
            histogram: (&of.histogram).into(),
        }
    }
}

impl From<&Histogram> for HistogramJson {
    fn from(of: &Histogram) -> Self {
        let (from_ns, counts) = of.filled().unzip();
        let (low_ns, high_ns) = of.range_ns();
        HistogramJson {
            low_ns,
            high_ns,
            bin_ns: of.bin_ns(),
            below: of.below(),
            above: of.above(),
            from_ns,
            counts,
        }
    }
}

impl From<&Exchange> for ExchangeJson {
    fn from(of: &Exchange) -> Self {
        let Ignored { duplicates, stale, foreign, short } = of.ignored;
        ExchangeJson {
            partner: of.partner.clone(),
            sent: of.sent,
            not_sent: of.not_sent,
            in_time: of.in_time,
            late: of.late,
            lost: of.lost,
            ignored: IgnoredJson { duplicates, stale, foreign, short },
            round_trip: of.round_trip.as_ref().map(|times| DistributionJson::new(times, &OF_TIMES)),
        }
    }
}

impl From<&Disagreement> for DisagreementJson {
    fn from(of: &Disagreement) -> Self {
        let [least_error, most_error] = of.extremes_ns;
        DisagreementJson {
            ppm: of.ppm.if_finite(),
            ppm_budget: figure_budget(&of.budget, of.ppm.level, &OF_ENDS),
            sd_ns: finite(of.sd_ns),
            least_ns: finite(least_error.value),
            least_cycle: least_error.cycle,
            most_ns: finite(most_error.value),
            most_cycle: most_error.cycle,
        }
    }
}

fn clock(of: &ClockPeriods, clock: Option<Clock>) -> ClockPeriodsJson {
    let error = DistributionJson::new(&of.error, &OF_ENDS);
    // The period is the error plus the requested period, which is exact.
    ClockPeriodsJson {
        clock,
        period_ns: of.period_ns.if_finite(),
        period_ns_budget: error.mean_ns_budget.clone(),
        error,
        backward: of.backward,
    }
}

fn run(report: &PeriodReport) -> PeriodRunJson {
    PeriodRunJson {
        elapsed_ms: finite(report.elapsed_ms),
        stop: report.summary.stop.into(),
        stolen_ms: report.stolen_ms.and_then(finite),
        switches: report.switches,
        least_cycle_ns: report.least_cycle_ns,
        real_time_priority: report.real_time.as_ref().ok().copied(),
        real_time_reason: report.real_time.as_ref().err().cloned(),
    }
}

/// The JSON document of a cyclic task.
pub fn period(report: &PeriodReport) -> PeriodDocument {
    let summary = &report.summary;
    let first = report.environment.clock.clone();
    PeriodDocument {
        schema: PeriodSchema::V2,
        command: "period".into(),
        environment: report.environment.clone(),
        period_ns: summary.period_ns,
        cycles: summary.cycles,
        missed: summary.missed,
        longest_gap_ns: finite(summary.longest_gap_ns.value),
        longest_gap_cycle: summary.longest_gap_ns.cycle,
        latency: DistributionJson::new(&summary.latency, &OF_TIMES),
        outliers: summary
            .outliers
            .iter()
            .map(|o| OutlierJson { cycle: o.cycle, latency_ns: o.latency_ns })
            .collect(),
        outliers_not_listed: summary.outliers_not_listed,
        clocks: vec![
            clock(&summary.clocks[0], first),
            clock(&summary.clocks[1], Some(report.second_clock.clone())),
        ],
        disagreement: (&summary.disagreement).into(),
        exchange: summary.exchange.as_ref().map(ExchangeJson::from),
        limit: summary.limit.map(|limit| LimitJson {
            latency_ns: limit.latency_ns,
            exceeded: summary.limit_exceeded(),
        }),
        run: run(report),
        findings: summary.findings.clone(),
    }
}

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ResponderSchema {
    /// First version.
    #[serde(rename = "hairspring/responder/1")]
    V1,
}

/// The counts of the partner of a cyclic task.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring responder"))]
pub struct ResponderDocument {
    /// Name and version of this format.
    pub schema: ResponderSchema,
    /// The verb that made it.
    pub command: String,
    /// Address on which it listened.
    pub address: String,
    /// Frames answered, greetings included.
    pub answered: u64,
    /// Answers that could not be sent.
    pub not_sent: u64,
    /// Frames of another program or version, ignored.
    pub foreign: u64,
    /// Frames with too few bytes, ignored.
    pub short: u64,
}

/// The JSON document of a partner.
pub fn responder(done: &Responded, address: &str) -> ResponderDocument {
    let Responded { answered, short, foreign, not_sent } = *done;
    ResponderDocument {
        schema: ResponderSchema::V1,
        command: "period".into(),
        address: address.into(),
        answered,
        not_sent,
        foreign,
        short,
    }
}
