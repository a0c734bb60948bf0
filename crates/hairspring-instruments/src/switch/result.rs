//! The result of a measurement, and what makes it from the tables. Pure.

use super::design::{CALLS, FLUSH, FLUSHED_REFILL, REFILL, SWITCH, TOTAL, with_sum};
use super::kinds::SwitchFinding;
use super::mechanism::Mechanism;
use hairspring_core::Estimate;
use hairspring_core::estimate::ratio::{moved, ratio};
use hairspring_core::estimate::{
    Contribution, Options, Source, Uncertain, coverage_factor, variance_of_runs,
};
use hairspring_core::judge::{Assessment, Finding, Question, Severity, assess};
use hairspring_core::observations::{ClockSpread, Flags, Observations};
use hairspring_core::pipeline::solve;
use std::time::Duration;

/// A component of the windows.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its time in nanoseconds. It may be negative: it is a difference of windows.
    pub ns: Estimate,
    /// Its time in core cycles, where a reference chain ran.
    pub cycles: Option<Estimate>,
    /// Upper bound in nanoseconds, where the time is indistinguishable from zero.
    pub bound_ns: Option<f64>,
}

/// A state of the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Both sides touch nothing but what they switch with.
    Warm,
    /// Each side passes over its working set after each switch.
    Refilled,
    /// As refilled, and each side flushes its set from all caches before each switch.
    Flushed,
}

impl Cache {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Cache::Warm => "warm",
            Cache::Refilled => "refilled",
            Cache::Flushed => "flushed",
        }
    }
}

/// What a switch costs in all.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// The state of the caches.
    pub cache: Cache,
    /// Time in nanoseconds.
    pub ns: Estimate,
    /// Time in core cycles.
    pub cycles: Option<Estimate>,
    /// The error budget of the time, in nanoseconds.
    pub budget: Vec<Contribution>,
}

impl Cost {
    /// Adds to the intervals what each of them lacks of the scatter of warm switches between runs.
    /// Core cycles scatter without the movement of the core clock, so a time has both.
    fn widen(&mut self, scatter: &Scatter, warm: &Cost) {
        let is_compared =
            |part: &&Contribution| self.cycles.is_none() || part.source != Source::CoreClock;
        let compared = Uncertain {
            value: self.ns.value,
            budget: self.budget.iter().filter(is_compared).copied().collect(),
        };
        let beyond = scatter.beyond(&compared.estimate(self.ns.level), warm.ns.value);
        if beyond.half_width(self.ns.level) > 0.0 {
            add(&mut self.ns, &mut self.budget, beyond);
        }
        if let Some((cycles, warm)) = self.cycles.as_mut().zip(warm.cycles) {
            let half = scatter
                .beyond(cycles, warm.value)
                .half_width(cycles.level)
                .hypot(cycles.half_width());
            (cycles.low, cycles.high) = (cycles.value - half, cycles.value + half);
        }
    }
}

/// The second method.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Time of a switch in nanoseconds, from the work that a background counter lost.
    pub ns: Estimate,
    /// The same by the clock, in the same windows: beside a counter that waits for the CPU.
    pub timed_ns: Estimate,
    /// By how much that is longer than in windows without a counter, in percent; `None` within both
    /// intervals.
    pub longer_percent: Option<f64>,
    /// Largest rate of switches in a window, per second.
    pub most_per_second: f64,
    /// Rounds of the windows.
    pub rounds: u32,
    /// Whether both methods agree within their intervals, in the same windows.
    pub agrees: bool,
    /// The error budget of `ns`.
    pub budget: Vec<Contribution>,
    /// The error budget of `timed_ns`.
    pub timed_budget: Vec<Contribution>,
}

impl Check {
    /// The time by the work that a counter lost compared with that by the clock beside the counter,
    /// and this one with that of windows without a counter.
    pub fn new(
        lost: &Uncertain,
        timed: &Uncertain,
        windows: Estimate,
        most_per_second: f64,
        rounds: u32,
    ) -> Check {
        let (ns, timed_ns) = (lost.estimate(windows.level), timed.estimate(windows.level));
        let agree = |a: &Estimate, b: &Estimate| {
            (a.value - b.value).abs() <= a.half_width() + b.half_width()
        };
        let longer = 100.0 * (timed_ns.value / windows.value - 1.0);
        let longer_percent = (!agree(&timed_ns, &windows)).then_some(longer);
        let (budget, timed_budget) = (lost.budget.clone(), timed.budget.clone());
        Check {
            ns,
            timed_ns,
            longer_percent,
            most_per_second,
            rounds,
            agrees: agree(&ns, &timed_ns),
            budget,
            timed_budget,
        }
    }

    /// Adds to both intervals how the core clock moved between runs: a switch computes, so its time
    /// follows that clock. Whether the two methods agree is judged without it, because both saw the
    /// same windows.
    #[must_use]
    pub fn at_any_clock(self, between: Option<ClockSpread>) -> Check {
        self.with(|interval| moved(interval.value, 0.0, between))
    }

    /// Adds to both intervals what they lack of how the time by the clock scatters between runs,
    /// likewise.
    #[must_use]
    pub fn with_earlier(self, earlier: &[f64]) -> Check {
        let Some(scatter) = Scatter::new(earlier, self.timed_ns.value) else { return self };
        self.with(|interval| {
            Some(scatter.beyond(interval, interval.value))
                .filter(|beyond| beyond.half_width(interval.level) > 0.0)
        })
    }

    /// Adds a contribution to both intervals.
    fn with(mut self, contribution: impl Fn(&Estimate) -> Option<Contribution>) -> Check {
        for (ns, budget) in
            [(&mut self.ns, &mut self.budget), (&mut self.timed_ns, &mut self.timed_budget)]
        {
            if let Some(added) = contribution(ns) {
                add(ns, budget, added);
            }
        }
        self
    }
}

/// Adds a contribution to an interval and its budget.
fn add(interval: &mut Estimate, budget: &mut Vec<Contribution>, added: Contribution) {
    budget.push(added);
    *interval =
        Uncertain { value: interval.value, budget: budget.clone() }.estimate(interval.level);
}

/// How far the placements differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Number of placements.
    pub placements: usize,
    /// Lowest and highest time of a placement, in nanoseconds at the mean core clock of the run.
    pub range_ns: (f64, f64),
    /// Their distance as a share of the time, in percent.
    pub spread_percent: f64,
}

/// How this run and the earlier ones of the same kind on this machine scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    /// Earlier runs.
    pub earlier: usize,
    /// Standard deviation of all runs as this one sees it, as a share of their mean.
    pub sd: f64,
}

impl Scatter {
    /// The scatter of the costs of earlier runs and of this one; `None` with too few.
    fn new(earlier: &[f64], value: f64) -> Option<Scatter> {
        let all_costs = [earlier, &[value]].concat();
        let mean = all_costs.iter().sum::<f64>() / all_costs.len() as f64;
        let sd = variance_of_runs(&all_costs).sqrt() / mean.abs();
        (earlier.len() >= FEWEST_EARLIER && sd.is_finite())
            .then_some(Scatter { earlier: earlier.len(), sd })
    }

    /// What the interval of a run lacks of the scatter of runs, as a part of its error budget;
    /// `size` is the cost that scatters.
    fn beyond(&self, interval: &Estimate, size: f64) -> Contribution {
        let (own_sd, wanted_sd) =
            (interval.half_width() / coverage_factor(interval.level), self.sd * size.abs());
        Contribution::standard(
            Source::Runs,
            (wanted_sd * wanted_sd - own_sd * own_sd).max(0.0).sqrt(),
            self.earlier as f64,
        )
    }
}

/// The result of a mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct Switched {
    /// The mechanism.
    pub mechanism: Mechanism,
    /// The components.
    pub parts: Vec<Part>,
    /// What a switch costs in all, by the state of the caches.
    pub costs: Vec<Cost>,
    /// How far the placements differ; `None` with fewer than two.
    pub placed: Option<Placed>,
    /// How the runs on this machine scatter, which the costs include; `None` with few earlier runs.
    pub scatter: Option<Scatter>,
    /// The second method, or why there is none.
    pub check: Result<Check, String>,
    /// Rounds of the windows.
    pub rounds: u32,
    /// Time for all of it.
    pub elapsed: Duration,
    /// Core clock during the windows, in Hz.
    pub core_hz: Option<Estimate>,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
}

impl Switched {
    /// What a switch costs from warm caches.
    pub fn warm(&self) -> Option<&Cost> {
        self.costs.first()
    }

    /// Compares the cost of a warm switch with those of earlier runs, in this unit: a run that is
    /// off has a finding, and the intervals of the costs include how the runs scatter. Partners of
    /// one run do not show what a run has in common.
    #[must_use]
    pub fn with_earlier(mut self, earlier: &[f64], value: f64, unit: &str) -> Switched {
        self.findings.extend(off_from_earlier(earlier, value, unit));
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.scatter = Scatter::new(earlier, value);
        if let (Some(scatter), Some(warm)) = (self.scatter, self.warm().cloned()) {
            self.costs.iter_mut().for_each(|cost| cost.widen(&scatter, &warm));
        }
        self
    }

    /// Adds the second method, with the finding that follows from it.
    #[must_use]
    pub fn checked(mut self, check: Result<Check, String>) -> Switched {
        let finding = match &check {
            Err(reason) => Some(Finding::new(
                Severity::Note,
                SwitchFinding::NoSecondMethod { reason: reason.clone() },
            )),
            Ok(check) if !check.agrees => {
                let (windows_ns, lost_ns) = (check.timed_ns.value, check.ns.value);
                let off_percent = 100.0 * (lost_ns / windows_ns - 1.0);
                Some(Finding::new(
                    Severity::Warning,
                    SwitchFinding::MethodsDisagree { windows_ns, lost_ns, off_percent },
                ))
            }
            Ok(_) => None,
        };
        self.findings.extend(finding);
        self.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        self.check = check;
        self
    }
}

/// Placements, and runs, that are off by more than this share, in percent, are a finding.
const MOST_SPREAD: f64 = 5.0;
/// Fewest earlier runs whose scatter counts: with fewer, Student's quantile is so large that the
/// interval says nothing.
const FEWEST_EARLIER: usize = 3;
/// Share of windows with other switches from which on there is a finding, and from which on the
/// result is not trusted.
const OTHER_SHARES: (f64, f64) = (0.05, 0.5);

/// The result of a table of windows, without the second method.
///
/// # Errors
/// The table cannot be solved; the message says why.
pub fn switched(
    mechanism: Mechanism,
    table: &Observations,
    question: &Question,
    elapsed: Duration,
) -> Result<Switched, String> {
    let level = question.options.level;
    let base = assess(table, question).map_err(|error| error.to_string())?;
    let parts = parts(&base, level);
    let total = with_sum(table, TOTAL, &[SWITCH, CALLS], SWITCH);
    let warm = assess(&total, question).map_err(|error| error.to_string())?;
    let mut costs = vec![
        cost(&warm, Cache::Warm, level)
            .ok_or("the cost of a switch cannot be separated from the rest of the windows")?,
    ];
    if parts.iter().any(|part| part.name == REFILL) {
        for (cache, added) in
            [(Cache::Refilled, vec![REFILL]), (Cache::Flushed, vec![FLUSH, FLUSHED_REFILL])]
        {
            let sum = with_sum(table, TOTAL, &[vec![SWITCH, CALLS], added].concat(), SWITCH);
            let assessment = assess(&sum, question).map_err(|error| error.to_string())?;
            costs.extend(cost(&assessment, cache, level));
        }
    }
    let partners = Partners::new(&total, &question.options, &costs[0]);
    let mut findings = warm
        .series
        .iter()
        .flat_map(|series| &series.findings)
        .filter(|finding| is_about_sum(finding))
        .cloned()
        .collect();
    add_findings(&mut findings, table, &parts, &partners);
    Ok(Switched {
        mechanism,
        parts,
        costs,
        placed: partners.placed,
        scatter: None,
        check: Err("it was not run".into()),
        rounds: table.rounds(),
        elapsed,
        core_hz: base.core_hz,
        findings,
    })
}

fn parts(assessment: &Assessment, level: f64) -> Vec<Part> {
    let Some(series) = assessment.series.first() else { return Vec::new() };
    let part = |component: &hairspring_core::judge::ComponentResult| {
        Some(Part {
            name: component.name.clone(),
            ns: component.time.ns.as_ref()?.estimate(level),
            cycles: component.time.cycles.as_ref().map(|cycles| cycles.estimate(level)),
            bound_ns: component.time.bound.as_ref().map(|bound| bound.shown),
        })
    };
    series.components.iter().filter_map(part).collect()
}

/// The first component as the cost in this state of the caches.
fn cost(assessment: &Assessment, cache: Cache, level: f64) -> Option<Cost> {
    let sum =
        assessment.series.first()?.components.iter().find(|component| component.name == TOTAL)?;
    let cycles = sum.time.cycles.as_ref().map(|cycles| cycles.estimate(level));
    let ns = sum.time.ns.as_ref()?;
    Some(Cost { cache, ns: ns.estimate(level), cycles, budget: ns.budget.clone() })
}

/// Whether a finding of the sum is about the sum or about all, and not about another component,
/// which has a line of its own. A refill is a difference that may be negative; it has windows of
/// its own, so it shifts nothing else.
fn is_about_sum(finding: &Finding) -> bool {
    let by_refill = finding
        .text("negative")
        .is_some_and(|negative| [REFILL, FLUSHED_REFILL].contains(&negative));
    !by_refill && finding.component().is_none_or(|component| component == TOTAL)
}

/// What the placements say, each with a partner of its own.
struct Partners {
    /// How many there were.
    all_placements: usize,
    /// How many have a cost.
    known_costs: usize,
    /// How far these differ; `None` for fewer than two.
    placed: Option<Placed>,
    /// Whether one is off from their median by more than the limit. Its own uncertainty is no
    /// excuse: a run that is too short to tell whether its placements differ does not promise that
    /// the next run is near.
    is_off: bool,
}

impl Partners {
    /// Times are compared in core cycles where a reference chain ran: placements must not differ
    /// because the core clock moved.
    fn new(total: &Observations, options: &Options, warm: &Cost) -> Partners {
        let rounds = total.placements();
        let times = rounds
            .iter()
            .filter_map(|rounds| total_of(total, rounds, options))
            .filter(|time| time.is_finite());
        let mut values: Vec<f64> = times.collect();
        values.sort_by(f64::total_cmp);
        let (all_placements, known_costs) = (rounds.len(), values.len());
        if known_costs < 2 {
            return Partners { all_placements, known_costs, placed: None, is_off: false };
        }
        let (low, median, high) = (values[0], values[known_costs / 2], values[known_costs - 1]);
        let reach = median.abs() * MOST_SPREAD / 100.0;
        let ns = |value: f64| value / median * warm.ns.value;
        let spread_percent = 100.0 * (high - low) / median.abs();
        let placed =
            Placed { placements: known_costs, range_ns: (ns(low), ns(high)), spread_percent };
        Partners {
            all_placements,
            known_costs,
            placed: Some(placed),
            is_off: high > median + reach || low < median - reach,
        }
    }

    fn findings(&self) -> impl Iterator<Item = Finding> {
        let unknown = SwitchFinding::PartnersUnknown {
            known: self.known_costs,
            placements: self.all_placements,
        };
        let differ = self.placed.as_ref().filter(|_| self.is_off).map(|placed| {
            SwitchFinding::PlacementsDiffer {
                spread_percent: placed.spread_percent,
                limit_percent: MOST_SPREAD,
                lowest_ns: placed.range_ns.0,
                highest_ns: placed.range_ns.1,
                placements: placed.placements,
            }
        });
        let unknown = Some(unknown).filter(|_| self.known_costs < self.all_placements.max(2));
        unknown.into_iter().chain(differ).map(|kind| Finding::new(Severity::Warning, kind))
    }
}

/// The cost of a warm switch in these rounds alone, in core cycles or else in ticks.
fn total_of(total: &Observations, rounds: &std::ops::Range<u32>, options: &Options) -> Option<f64> {
    let part = total.in_rounds(rounds);
    let solution = solve(&part, 0, options).ok()?;
    let sum = solution.component(TOTAL)?;
    let Some((name, cycles)) = &part.origin.reference else { return Some(sum.ticks.value) };
    let reference = solve(&part, part.find_series(name)?, options).ok()?;
    Some(ratio((&solution, sum), (&reference, &reference.components[0]))?.value * cycles)
}

/// The finding about a run that is off from the earlier ones of the same kind on this machine:
/// their values and that of this run.
fn off_from_earlier(earlier: &[f64], value: f64, unit: &str) -> Option<Finding> {
    let mut sorted = earlier.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = *sorted.get(sorted.len() / 2)?;
    let off_percent = 100.0 * (value / median - 1.0);
    let kind = SwitchFinding::DiffersFromEarlier {
        runs: earlier.len(),
        earlier: median,
        now: value,
        unit: unit.to_owned(),
        off_percent,
        limit_percent: MOST_SPREAD,
    };
    (off_percent.abs() > MOST_SPREAD).then(|| Finding::new(Severity::Warning, kind))
}

fn add_findings(
    findings: &mut Vec<Finding>,
    table: &Observations,
    parts: &[Part],
    partners: &Partners,
) {
    findings.extend(other_switches(table));
    findings.extend(partners.findings());
    for part in parts.iter().filter(|part| part.ns.high < 0.0) {
        let kind = SwitchFinding::NegativePart { component: part.name.clone(), ns: part.ns.value };
        findings.push(Finding::new(Severity::Warning, kind));
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
}

/// The finding about windows that had other switches than the two sides made.
fn other_switches(table: &Observations) -> Option<Finding> {
    let of_windows =
        || table.readings().iter().filter(|reading| table.rows()[reading.row as usize].series == 0);
    let (windows, of) = (
        of_windows().filter(|reading| reading.flags.contains(Flags::SWITCHED)).count(),
        of_windows().count(),
    );
    let share = windows as f64 / of.max(1) as f64;
    let severity = if share > OTHER_SHARES.1 { Severity::Untrusted } else { Severity::Warning };
    let kind = SwitchFinding::OtherSwitches { windows, of, share_percent: 100.0 * share };
    (share > OTHER_SHARES.0).then(|| Finding::new(severity, kind))
}

#[cfg(test)]
mod tests;
