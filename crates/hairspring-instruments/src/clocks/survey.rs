//! All clocks of the machine, with every measurement of each.

use super::kinds::ClockFinding;
use super::{Across, across, read_cost};
use hairspring_core::judge::{Finding, SeriesResult, Severity};
use hairspring_core::observations::Rate;
use hairspring_host::clock::arch::attempt;
use hairspring_host::clock::{
    Choice, Clock, CountsWhen, RateMeter, Reading, catalogue, choice, default_clock, granularity,
    wall_name,
};
use std::time::{Duration, Instant};

/// What to measure, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyPlan {
    /// Clocks to measure, by name; all if empty.
    pub names: Vec<String>,
    /// CPUs between which the clocks are compared; the first is the one that this thread is bound
    /// to.
    pub cpus: Vec<usize>,
    /// Time for everything; rates are measured over all of it.
    pub budget: Duration,
    /// Confidence level.
    pub level: f64,
}

/// The rate of a clock, measured against the wall clock.
#[derive(Debug, Clone, PartialEq)]
pub enum RateSeen {
    /// Measured.
    Measured(Rate),
    /// It is the one that rates are measured against.
    Reference,
    /// Not applicable, and why.
    NotApplicable(String),
}

/// The measurements of an available clock.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredClock {
    /// Resolution, and the cost of reads back to back.
    pub reading: Reading,
    /// Cost of a read by the line, timed by the best clock, or why it is unknown.
    pub cost: Result<SeriesResult, String>,
    /// Rate as measured.
    pub rate: RateSeen,
    /// Whether it is synchronized across CPUs.
    pub across: Across,
}

impl MeasuredClock {
    /// Ticks per second: as measured, else as the interface defines it.
    pub fn hz(&self, clock: &Clock) -> Option<f64> {
        match &self.rate {
            RateSeen::Measured(rate) => clock.nominal_hz.or(Some(rate.hz)),
            RateSeen::Reference | RateSeen::NotApplicable(_) => clock.nominal_hz,
        }
    }
}

/// A clock with its measurements, or why it is unavailable.
#[derive(Debug, Clone)]
pub struct Report {
    /// The clock.
    pub clock: Clock,
    /// What was found.
    pub state: Result<MeasuredClock, String>,
}

/// All clocks.
#[derive(Debug, Clone)]
pub struct Survey {
    /// One entry for each requested clock, in the order of the catalogue.
    pub clocks: Vec<Report>,
    /// Name of the clock that the costs of reads were timed by.
    pub timed_by: String,
    /// Name of the clock that rates are measured against.
    pub against: String,
    /// The clocks that measurements use unless one is named.
    pub choice: Choice,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// Measures the clocks.
pub fn survey(plan: &SurveyPlan) -> Survey {
    let (begin, outer) = (Instant::now(), default_clock());
    let is_wanted =
        |clock: &Clock| plan.names.is_empty() || plan.names.iter().any(|name| name == clock.name);
    let chosen: Vec<_> = catalogue().into_iter().filter(|(clock, _)| is_wanted(clock)).collect();
    let started: Vec<(Clock, Result<RateMeter, String>)> =
        chosen.into_iter().map(|(clock, state)| (clock, start(clock, state))).collect();
    let there = started.iter().filter(|(_, meter)| meter.is_ok()).count().max(1) as u32;
    // Half of the budget for the cost of a read, half for the hand-overs; the resolution is not
    // limited.
    let share = plan.budget / (3 * there);
    let parts: Vec<_> = started
        .into_iter()
        .map(|(clock, meter)| {
            let looked = |meter| {
                let (reading, cost) =
                    attempt(|| (granularity(&clock), read_cost(&clock, outer, share, plan.level)))?;
                Ok((meter, reading, cost, across(&clock, &plan.cpus, share)))
            };
            let found = meter.and_then(looked);
            (clock, found)
        })
        .collect();
    std::thread::sleep(plan.budget.saturating_sub(begin.elapsed()));
    let clocks: Vec<Report> = parts
        .into_iter()
        .map(|(clock, readings)| {
            let rated = |(meter, reading, cost, across)| {
                Ok(MeasuredClock {
                    rate: attempt(|| rate(&clock, &meter, &reading))?,
                    reading,
                    cost,
                    across,
                })
            };
            let state = readings.and_then(rated);
            Report { clock, state }
        })
        .collect();
    Survey {
        findings: findings(&clocks),
        clocks,
        timed_by: outer.name.to_owned(),
        against: wall_name().to_owned(),
        choice: choice().clone(),
    }
}

fn start(clock: Clock, available: Result<(), String>) -> Result<RateMeter, String> {
    available?;
    clock.ready().map_err(|error| error.to_string())?;
    attempt(|| RateMeter::start(clock))
}

fn rate(clock: &Clock, meter: &RateMeter, reading: &Reading) -> RateSeen {
    match clock.counts {
        CountsWhen::WhileThreadRuns => {
            return RateSeen::NotApplicable(
                "it stands still while the thread waits, so it has no rate of its own".into(),
            );
        }
        CountsWhen::WhileProcessRuns => {
            return RateSeen::NotApplicable(
                "it runs as fast as threads of the process do, so it has no rate of its own".into(),
            );
        }
        CountsWhen::WhileCoreRuns => return RateSeen::Measured(meter.rate()),
        CountsWhen::Always => {}
    }
    if clock.name == "monotonic_raw" {
        return RateSeen::Reference;
    }
    RateSeen::Measured(meter.measured(reading.quantum as f64))
}

/// A read that takes this many times as long as the fastest ordered one is unsuitable for
/// measuring.
const COSTLY_FACTOR: f64 = 100.0;

fn findings(clocks: &[Report]) -> Vec<Finding> {
    let there: Vec<(&Clock, &MeasuredClock)> = clocks
        .iter()
        .filter_map(|r| r.state.as_ref().ok().map(|found| (&r.clock, found)))
        .collect();
    let backward = there.iter().filter_map(|(clock, found)| backward(clock, found));
    let cost = |measured_clock: &MeasuredClock| {
        Some(measured_clock.cost.as_ref().ok()?.components.first()?.time.ns.as_ref()?.value)
    };
    let ordered = there
        .iter()
        .filter(|(clock, _)| clock.ordering.before.is_some() && clock.ordering.after.is_some());
    let fastest = ordered
        .filter_map(|(clock, found)| Some((clock.name, cost(found)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let costly = there.iter().filter_map(|(clock, found)| {
        let (name, least_ns) = fastest?;
        let ns = cost(found).filter(|ns| *ns > COSTLY_FACTOR * least_ns)?;
        let kind = ClockFinding::CostlyRead {
            clock: clock.name.into(),
            read_ns: ns,
            fastest: name.into(),
            fastest_ns: least_ns,
        };
        Some(Finding::new(Severity::Note, kind))
    });
    backward.chain(costly).collect()
}

fn backward(clock: &Clock, measured: &MeasuredClock) -> Option<Finding> {
    let (handovers, violations) = measured.across.counted();
    let times = violations + measured.reading.backward as u64;
    let worst_ns = measured
        .hz(clock)
        .filter(|_| violations > 0)
        .map(|hz| measured.across.worst_ticks() as f64 * 1e9 / hz);
    let readings = handovers + (measured.reading.steps + measured.reading.backward) as u64;
    (times > 0).then(|| {
        // An unordered clock may be read too early; that is expected, and not a fault of the
        // machine.
        let severity =
            if clock.ordering.before.is_some() { Severity::Warning } else { Severity::Note };
        Finding::new(
            severity,
            ClockFinding::ClockBackward { clock: clock.name.into(), times, readings, worst_ns },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::HandOver;
    use super::*;
    use hairspring_host::clock::fake;

    fn with_violations(violations: u64) -> MeasuredClock {
        let pair = HandOver {
            cpus: (0, 1),
            handovers: 500,
            violations,
            worst_ticks: 120,
            least_ticks: (40, 60),
        };
        MeasuredClock {
            reading: Reading {
                quantum: 1,
                back_to_back_min: 20,
                back_to_back_mean: 20.0,
                steps: 100,
                backward: 0,
            },
            cost: Err("invented".into()),
            rate: RateSeen::Reference,
            across: Across::Tried(vec![pair]),
        }
    }

    #[test]
    fn a_clock_that_goes_backwards_between_cpus_is_a_warning_with_its_worst() {
        assert_eq!(backward(&fake::clock(64), &with_violations(0)), None);
        let warning = backward(&fake::clock(64), &with_violations(3)).unwrap();
        assert!(
            warning.severity == Severity::Warning
                && warning.message.contains("3 times in 600 readings, by at most 120 ns"),
            "{warning:?}"
        );
    }

    #[test]
    fn a_survey_of_one_clock_has_only_that_clock() {
        let plan = SurveyPlan {
            names: vec!["monotonic".into()],
            cpus: vec![0],
            budget: Duration::from_millis(5),
            level: 0.95,
        };
        let survey = survey(&plan);
        assert_eq!(survey.clocks.len(), 1);
        let measured_clock = survey.clocks[0].state.as_ref().unwrap();
        assert!(measured_clock.reading.quantum > 0 && measured_clock.cost.is_ok());
        assert!(
            matches!(&measured_clock.across, Across::NotTried(reason) if reason.contains("one CPU"))
        );
    }
}
