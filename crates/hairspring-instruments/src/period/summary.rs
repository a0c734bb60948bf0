//! Estimates and findings from the tallies of a run.
//!
//! **Mean of a period.** The errors of consecutive periods are not independent: each is a
//! difference of two latencies, so they telescope. Their sum over a run is the last latency minus
//! the first, plus the effect of the error of the clock's rate. The mean is (last reading - first
//! reading) / periods. Its uncertainty is that of the two ends divided by the number of periods,
//! not the spread of a period divided by the square root of that number: sqrt(2 (s_L^2 + s_D^2)) /
//! n, with the standard deviations s_L of the latencies and s_D of the disagreement of the clocks;
//! or the difference of the two latencies over n, if that is larger. The uncertainty of the clock's
//! rate and its quantum are added.
//!
//! **Mean of a latency or a round trip.** Neighbouring values are correlated, so the interval is
//! that of batch means.

use super::PeriodFinding;
use super::distribution::Distribution;
use super::exchange::{Answers, Ignored};
use super::system::Known;
use super::tally::{Outlier, Tally};
use super::task::{Limit, Stop};
use crate::clocks::ClockFinding;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::observations::Rate;
use hairspring_core::stream::Extreme;

/// Periods of one clock.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockPeriods {
    /// Name of the clock.
    pub name: String,
    /// Mean period in nanoseconds.
    pub period_ns: Estimate,
    /// Errors of the periods: measured minus due.
    pub error: Distribution,
    /// Times that the clock went backwards.
    pub backward: u64,
}

/// The first clock against the second, each by its rate from before the run. It includes the change
/// of their rates since then, and the error of a rate that the interface defines (steering). It
/// does not show which clock is right.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    /// How much longer the run was by the first clock, in parts per million.
    pub ppm: Estimate,
    /// Its error budget.
    pub budget: Vec<Contribution>,
    /// Standard deviation of the difference of one period, in nanoseconds.
    pub sd_ns: f64,
    /// Smallest and largest difference of a period, in nanoseconds.
    pub extremes_ns: [Extreme; 2],
}

/// The fate of the frames.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
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
    pub ignored: Ignored,
    /// Round trips of all answers; `None` without answers.
    pub round_trip: Option<Distribution>,
}

impl Exchange {
    /// From the answers of a run. Round trips are converted by the rate known at the start: it
    /// differs from the final one by parts per million, and round trips are short.
    pub fn new(answers: &Answers, partner: String, level: f64, rate: &Rate) -> Exchange {
        let more = [Contribution::rate(answers.round_trips.moments.mean(), rate)];
        Exchange {
            partner,
            sent: answers.sent,
            not_sent: answers.not_sent,
            in_time: answers.in_time,
            late: answers.late,
            lost: answers.lost(),
            ignored: answers.ignored,
            round_trip: answers.round_trips.summary(level, &more),
        }
    }
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The requested period.
    pub period_ns: u64,
    /// Cycles that ran.
    pub cycles: u64,
    /// Cycles that were due but did not run.
    pub missed: u64,
    /// Longest time between two wake-ups, and the cycle with which it ended.
    pub longest_gap_ns: Extreme,
    /// Wake-up latencies.
    pub latency: Distribution,
    /// The two clocks.
    pub clocks: [ClockPeriods; 2],
    /// Their disagreement.
    pub disagreement: Disagreement,
    /// Cycles that woke later than the histogram reaches.
    pub outliers: Vec<Outlier>,
    /// Further such cycles, which are not listed.
    pub outliers_not_listed: u64,
    /// The exchange of frames, if there was one.
    pub exchange: Option<Exchange>,
    /// The limit of the latency, if there was one.
    pub limit: Option<Limit>,
    /// Why the run ended.
    pub stop: Stop,
    /// Findings.
    pub findings: Vec<Finding>,
}

impl Summary {
    /// Whether a cycle woke later than the limit allows.
    pub fn limit_exceeded(&self) -> bool {
        self.limit.is_some_and(|limit| self.latency.most_ns.value > limit.latency_ns)
    }
}

/// The inputs of a summary in addition to the tally.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The requested period.
    pub period_ns: u64,
    /// The two clocks.
    pub known: [Known; 2],
    /// Their rates, measured before the run, because a rate from the run itself would be right by
    /// construction.
    pub rates: [Rate; 2],
    /// Why the run ended.
    pub stop: Stop,
    /// Limit of the latency.
    pub limit: Option<Limit>,
    /// Confidence level.
    pub level: f64,
}

/// Fewest periods for a summary.
pub const FEWEST_PERIODS: u64 = 2;

/// Summarizes a run. `None` for fewer than [`FEWEST_PERIODS`] periods.
pub fn summarise(tally: &Tally, exchange: Option<Exchange>, ended_run: &Ended) -> Option<Summary> {
    if tally.periods() < FEWEST_PERIODS || tally.latency.moments.count() < FEWEST_PERIODS + 1 {
        return None;
    }
    let clocks = [0, 1].map(|at| periods(tally, at, ended_run));
    let disagreement = disagreement(tally, ended_run);
    let mut findings = missed(tally).into_iter().collect::<Vec<_>>();
    findings.extend(
        [0, 1].iter().flat_map(|at| {
            clock_findings(&clocks[*at], &ended_run.known[*at], &ended_run.rates[*at])
        }),
    );
    findings.extend(disagree(&disagreement, &clocks));
    findings.extend(exchange.as_ref().and_then(answers_missing));
    Some(Summary {
        period_ns: ended_run.period_ns,
        cycles: tally.cycles,
        missed: tally.missed,
        longest_gap_ns: tally.longest_gap_ns,
        latency: tally.latency.summary(ended_run.level, &[])?,
        clocks,
        disagreement,
        outliers: tally.outliers.clone(),
        outliers_not_listed: tally.outliers_not_listed,
        exchange,
        limit: ended_run.limit,
        stop: ended_run.stop,
        findings,
    })
}

/// Standard deviation of the error that the two ends of the run add to its length: wake-ups and
/// reads of the clocks. If one of the ends was an outlier, its error is known, and counts in full.
fn ends_sd(tally: &Tally) -> f64 {
    let usual = (2.0 * (tally.latency.moments.variance() + tally.disagreement.variance())).sqrt();
    usual.max(tally.ends_ns().abs())
}

fn periods(tally: &Tally, at: usize, ended_run: &Ended) -> ClockPeriods {
    let (clock, rate, known_clock) =
        (&tally.clocks[at], &ended_run.rates[at], &ended_run.known[at]);
    let (n, due) = (tally.periods() as f64, ended_run.period_ns as f64);
    let ns_per_tick = 1e9 / rate.hz;
    let value = clock.ticks as f64 * ns_per_tick / n;
    let mean = Uncertain {
        value: value - due,
        budget: vec![
            Contribution::standard(
                Source::Noise,
                ends_sd(tally) / n,
                tally.latency.moments.count() as f64 - 1.0,
            ),
            Contribution::rate(due, rate),
            Contribution::bound(
                Source::Quantum,
                known_clock.reading.quantum as f64 * ns_per_tick / n,
            ),
        ],
    };
    let error = mean.estimate(ended_run.level);
    // The tally used the rate from before the run.
    let shift = due * (ns_per_tick / clock.ns_per_tick() - 1.0);
    let moved = |extreme: Extreme| Extreme { value: extreme.value + shift, ..extreme };
    let distribution = Distribution::new(&clock.errors, mean, ended_run.level);
    ClockPeriods {
        name: known_clock.clock.name.to_owned(),
        period_ns: Estimate {
            value,
            low: error.low + due,
            high: error.high + due,
            level: ended_run.level,
        },
        error: Distribution {
            least_ns: moved(distribution.least_ns),
            most_ns: moved(distribution.most_ns),
            ..distribution
        },
        backward: clock.backward,
    }
}

fn disagreement(tally: &Tally, ended_run: &Ended) -> Disagreement {
    let span = |at: usize| tally.clocks[at].ticks as f64 * 1e9 / ended_run.rates[at].hz;
    let due = tally.periods() as f64 * ended_run.period_ns as f64;
    let quanta =
        [0, 1].map(|at| ended_run.known[at].reading.quantum as f64 * 1e9 / ended_run.rates[at].hz);
    let rates = ended_run.rates[0].uncertainty_ppm.hypot(ended_run.rates[1].uncertainty_ppm);
    // Both clocks read both ends of the run, so only the time between the two reads remains as an
    // error.
    let sd_ns = tally.disagreement.variance().sqrt();
    let ppm = Uncertain {
        value: (span(0) - span(1)) / due * 1e6,
        budget: vec![
            Contribution::standard(
                Source::Noise,
                sd_ns / due * 1e6,
                tally.disagreement.count() as f64 - 1.0,
            ),
            Contribution::standard(Source::Rate, rates, f64::INFINITY),
            Contribution::bound(Source::Quantum, (quanta[0] + quanta[1]) / due * 1e6),
        ],
    };
    let shift = (span(0) - span(1)) / tally.periods() as f64 - tally.disagreement.mean();
    let extremes = [tally.disagreement.least(), tally.disagreement.most()];
    let extremes_ns = extremes.map(|extreme| Extreme { value: extreme.value + shift, ..extreme });
    Disagreement { ppm: ppm.estimate(ended_run.level), budget: ppm.budget, sd_ns, extremes_ns }
}

fn missed(tally: &Tally) -> Option<Finding> {
    const UNTRUSTED_PERCENT: f64 = 50.0;
    let due = tally.cycles + tally.missed;
    let share_percent = 100.0 * tally.missed as f64 / due as f64;
    let severity =
        if share_percent >= UNTRUSTED_PERCENT { Severity::Untrusted } else { Severity::Warning };
    (tally.missed > 0).then(|| {
        Finding::new(
            severity,
            PeriodFinding::CyclesMissed { missed: tally.missed, due, share_percent },
        )
    })
}

fn clock_findings(clock: &ClockPeriods, known_clock: &Known, rate: &Rate) -> Vec<Finding> {
    let quantum_ns = known_clock.reading.quantum as f64 * 1e9 / rate.hz;
    let hidden = quantum_ns > 0.5 * clock.error.sd_ns;
    let name = || clock.name.clone();
    let coarse = hidden.then(|| PeriodFinding::QuantumHidesSpread {
        clock: name(),
        quantum_ns,
        sd_ns: clock.error.sd_ns,
    });
    let coarse = coarse.map(|kind| Finding::new(Severity::Note, kind));
    let readings = clock.error.count;
    let back = (clock.backward > 0).then(|| ClockFinding::ClockBackward {
        clock: name(),
        times: clock.backward,
        readings,
        worst_ns: None,
    });
    coarse.into_iter().chain(back.map(|kind| Finding::new(Severity::Untrusted, kind))).collect()
}

/// Largest usual difference of rates: steering of a clock by NTP stays below 500 ppm.
const UNUSUAL_PPM: f64 = 100.0;

fn disagree(disagreement: &Disagreement, clocks: &[ClockPeriods; 2]) -> Option<Finding> {
    let unusual = disagreement.ppm.value.abs() > UNUSUAL_PPM && !disagreement.ppm.contains(0.0);
    let kind = || PeriodFinding::ClocksDisagree {
        first: clocks[0].name.clone(),
        second: clocks[1].name.clone(),
        ppm: disagreement.ppm.value,
    };
    unusual.then(|| Finding::new(Severity::Warning, kind()))
}

fn answers_missing(exchange: &Exchange) -> Option<Finding> {
    let Exchange { sent, lost, late, not_sent, .. } = *exchange;
    (lost + late + not_sent > 0).then(|| {
        Finding::new(
            Severity::Warning,
            PeriodFinding::AnswersMissing { sent, lost, late, not_sent },
        )
    })
}

#[cfg(test)]
mod tests;
