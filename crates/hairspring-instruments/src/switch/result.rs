//! The result of a measurement, and what makes it from the tables. Pure.

use super::design::{CALLS, FLUSH, FLUSHED_REFILL, REFILL, SWITCH, TOTAL, with_sum};
use super::kinds::SwitchFinding;
use super::mechanism::Mechanism;
use hairspring_core::Estimate;
use hairspring_core::estimate::ratio::{moved, ratio};
use hairspring_core::estimate::{Contribution, Options, Source, Uncertain, coverage_factor, variance_of_runs};
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
    /// Adds to the intervals what each of them lacks of the scatter of warm switches between runs. Core cycles scatter without the
    /// movement of the core clock, so a time has both.
    fn widen(&mut self, scatter: &Scatter, warm: &Cost) {
        let is_compared = |part: &&Contribution| self.cycles.is_none() || part.source != Source::CoreClock;
        let compared = Uncertain { value: self.ns.value, budget: self.budget.iter().filter(is_compared).copied().collect() };
        let beyond = scatter.beyond(&compared.estimate(self.ns.level), warm.ns.value);
        if beyond.half_width(self.ns.level) > 0.0 {
            add(&mut self.ns, &mut self.budget, beyond);
        }
        if let Some((cycles, warm)) = self.cycles.as_mut().zip(warm.cycles) {
            let half = scatter.beyond(cycles, warm.value).half_width(cycles.level).hypot(cycles.half_width());
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
    /// By how much that is longer than in windows without a counter, in percent; `None` within both intervals.
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
    /// The time by the work that a counter lost compared with that by the clock beside the counter, and this one with that of windows
    /// without a counter.
    pub fn new(lost: &Uncertain, timed: &Uncertain, windows: Estimate, most_per_second: f64, rounds: u32) -> Check {
        let (ns, timed_ns) = (lost.estimate(windows.level), timed.estimate(windows.level));
        let agree = |a: &Estimate, b: &Estimate| (a.value - b.value).abs() <= a.half_width() + b.half_width();
        let longer = 100.0 * (timed_ns.value / windows.value - 1.0);
        let longer_percent = (!agree(&timed_ns, &windows)).then_some(longer);
        let (budget, timed_budget) = (lost.budget.clone(), timed.budget.clone());
        Check { ns, timed_ns, longer_percent, most_per_second, rounds, agrees: agree(&ns, &timed_ns), budget, timed_budget }
    }

    /// Adds to both intervals how the core clock moved between runs: a switch computes, so its time follows that clock. Whether the two
    /// methods agree is judged without it, because both saw the same windows.
    #[must_use]
    pub fn at_any_clock(self, between: Option<ClockSpread>) -> Check {
        self.with(|interval| moved(interval.value, 0.0, between))
    }

    /// Adds to both intervals what they lack of how the time by the clock scatters between runs, likewise.
    #[must_use]
    pub fn with_earlier(self, earlier: &[f64]) -> Check {
        let Some(scatter) = Scatter::new(earlier, self.timed_ns.value) else { return self };
        self.with(|interval| Some(scatter.beyond(interval, interval.value)).filter(|beyond| beyond.half_width(interval.level) > 0.0))
    }

    /// Adds a contribution to both intervals.
    fn with(mut self, contribution: impl Fn(&Estimate) -> Option<Contribution>) -> Check {
        for (ns, budget) in [(&mut self.ns, &mut self.budget), (&mut self.timed_ns, &mut self.timed_budget)] {
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
    *interval = Uncertain { value: interval.value, budget: budget.clone() }.estimate(interval.level);
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
        let all = [earlier, &[value]].concat();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let sd = variance_of_runs(&all).sqrt() / mean.abs();
        (earlier.len() >= FEWEST_EARLIER && sd.is_finite()).then_some(Scatter { earlier: earlier.len(), sd })
    }

    /// What the interval of a run lacks of the scatter of runs, as a part of its error budget; `size` is the cost that scatters.
    fn beyond(&self, interval: &Estimate, size: f64) -> Contribution {
        let (own, wanted) = (interval.half_width() / coverage_factor(interval.level), self.sd * size.abs());
        Contribution::standard(Source::Runs, (wanted * wanted - own * own).max(0.0).sqrt(), self.earlier as f64)
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

    /// Compares the cost of a warm switch with those of earlier runs, in this unit: a run that is off has a finding, and the intervals of
    /// the costs include how the runs scatter. Partners of one run do not show what a run has in common.
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
            Err(reason) => Some(Finding::new(Severity::Note, SwitchFinding::NoSecondMethod { reason: reason.clone() })),
            Ok(check) if !check.agrees => {
                let (windows_ns, lost_ns) = (check.timed_ns.value, check.ns.value);
                let off_percent = 100.0 * (lost_ns / windows_ns - 1.0);
                Some(Finding::new(Severity::Warning, SwitchFinding::MethodsDisagree { windows_ns, lost_ns, off_percent }))
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
/// Fewest earlier runs whose scatter counts: with fewer, Student's quantile is so large that the interval says nothing.
const FEWEST_EARLIER: usize = 3;
/// Share of windows with other switches from which on there is a finding, and from which on the result is not trusted.
const OTHER_SHARES: (f64, f64) = (0.05, 0.5);

/// The result of a table of windows, without the second method.
///
/// # Errors
/// The table cannot be solved; the message says why.
pub fn switched(mechanism: Mechanism, table: &Observations, question: &Question, elapsed: Duration) -> Result<Switched, String> {
    let level = question.options.level;
    let base = assess(table, question).map_err(|error| error.to_string())?;
    let parts = parts(&base, level);
    let total = with_sum(table, TOTAL, &[SWITCH, CALLS], SWITCH);
    let warm = assess(&total, question).map_err(|error| error.to_string())?;
    let mut costs = vec![cost(&warm, Cache::Warm, level).ok_or("a switch cannot be told from the rest of the windows")?];
    if parts.iter().any(|part| part.name == REFILL) {
        for (cache, added) in [(Cache::Refilled, vec![REFILL]), (Cache::Flushed, vec![FLUSH, FLUSHED_REFILL])] {
            let sum = with_sum(table, TOTAL, &[vec![SWITCH, CALLS], added].concat(), SWITCH);
            let found = assess(&sum, question).map_err(|error| error.to_string())?;
            costs.extend(cost(&found, cache, level));
        }
    }
    let partners = Partners::new(&total, &question.options, &costs[0]);
    let mut findings = warm.series.iter().flat_map(|series| &series.findings).filter(|finding| is_about_sum(finding)).cloned().collect();
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
    let sum = assessment.series.first()?.components.iter().find(|component| component.name == TOTAL)?;
    let cycles = sum.time.cycles.as_ref().map(|cycles| cycles.estimate(level));
    let ns = sum.time.ns.as_ref()?;
    Some(Cost { cache, ns: ns.estimate(level), cycles, budget: ns.budget.clone() })
}

/// Whether a finding of the sum is about the sum or about all, and not about another component, which has a line of its own. A refill
/// is a difference that may be negative; it has windows of its own, so it shifts nothing else.
fn is_about_sum(finding: &Finding) -> bool {
    let by_refill = finding.text("negative").is_some_and(|negative| [REFILL, FLUSHED_REFILL].contains(&negative));
    !by_refill && finding.component().is_none_or(|component| component == TOTAL)
}

/// What the placements say, each with a partner of its own.
struct Partners {
    /// How many there were.
    all: usize,
    /// How many have a cost.
    known: usize,
    /// How far these differ; `None` for fewer than two.
    placed: Option<Placed>,
    /// Whether one is off from their median by more than the limit. Its own uncertainty is no excuse: a run that is too short to tell
    /// whether its placements differ does not promise that the next run is near.
    is_off: bool,
}

impl Partners {
    /// Times are compared in core cycles where a reference chain ran: placements must not differ because the core clock moved.
    fn new(total: &Observations, options: &Options, warm: &Cost) -> Partners {
        let rounds = total.placements();
        let times = rounds.iter().filter_map(|rounds| total_of(total, rounds, options)).filter(|time| time.is_finite());
        let mut values: Vec<f64> = times.collect();
        values.sort_by(f64::total_cmp);
        let (all, known) = (rounds.len(), values.len());
        if known < 2 {
            return Partners { all, known, placed: None, is_off: false };
        }
        let (low, median, high) = (values[0], values[known / 2], values[known - 1]);
        let reach = median.abs() * MOST_SPREAD / 100.0;
        let ns = |value: f64| value / median * warm.ns.value;
        let spread_percent = 100.0 * (high - low) / median.abs();
        let placed = Placed { placements: known, range_ns: (ns(low), ns(high)), spread_percent };
        Partners { all, known, placed: Some(placed), is_off: high > median + reach || low < median - reach }
    }

    fn findings(&self) -> impl Iterator<Item = Finding> {
        let unknown = SwitchFinding::PartnersUnknown { known: self.known, placements: self.all };
        let differ = self.placed.as_ref().filter(|_| self.is_off).map(|placed| SwitchFinding::PlacementsDiffer {
            spread_percent: placed.spread_percent,
            limit_percent: MOST_SPREAD,
            lowest_ns: placed.range_ns.0,
            highest_ns: placed.range_ns.1,
            placements: placed.placements,
        });
        let unknown = Some(unknown).filter(|_| self.known < self.all.max(2));
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

/// The finding about a run that is off from the earlier ones of the same kind on this machine: their values and that of this run.
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

fn add_findings(findings: &mut Vec<Finding>, table: &Observations, parts: &[Part], partners: &Partners) {
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
    let of_windows = || table.readings().iter().filter(|reading| table.rows()[reading.row as usize].series == 0);
    let (windows, of) = (of_windows().filter(|reading| reading.flags.contains(Flags::SWITCHED)).count(), of_windows().count());
    let share = windows as f64 / of.max(1) as f64;
    let severity = if share > OTHER_SHARES.1 { Severity::Untrusted } else { Severity::Warning };
    let kind = SwitchFinding::OtherSwitches { windows, of, share_percent: 100.0 * share };
    (share > OTHER_SHARES.0).then(|| Finding::new(severity, kind))
}

#[cfg(test)]
mod tests {
    use super::super::design::{Pilot, components, rows};
    use super::*;
    use hairspring_core::observations::Rate;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Made-up windows in placements of 20 rounds, in which a switch takes these times in nanoseconds; each window is flagged with this
    /// probability.
    fn windows(switches: &[f64], refill: f64, flagged: f64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(8);
        let pilot = Pilot { pair_ns: 3e3, calls_ns: 700.0, unit_ns: 130.0, touch_ns: Some(2e3), flush_ns: Some(3e4) };
        let mut table = Observations::new(components(true));
        table.origin.rate = Some(Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: String::new() });
        let series = table.series("pipe");
        let rows: Vec<_> = rows(&pilot).into_iter().map(|(_, counts)| (table.row(series, &counts), counts)).collect();
        for (at, switch) in switches.iter().enumerate() {
            let first = 20 * at as u32;
            if first > 0 {
                table.origin.placements.push(first);
            }
            for round in first..first + 20 {
                for (row, counts) in &rows {
                    let times = [*switch, 700.0, 2_000.0, refill, 28_000.0, 0.0];
                    let exact: f64 = counts.iter().zip(times).map(|(count, time)| count * time).sum();
                    let flags = if random.random::<f64>() < flagged { Flags::SWITCHED } else { Flags::NONE };
                    table.push_flagged(*row, round, exact + 60.0 + 40.0 * random.random::<f64>(), flags);
                }
            }
        }
        table
    }

    fn found(table: &Observations) -> Switched {
        switched(Mechanism::Pipe, table, &Question::default(), Duration::ZERO).unwrap()
    }

    fn kinds(switched: &Switched) -> Vec<&str> {
        switched.findings.iter().map(|finding| &*finding.code).collect()
    }

    #[test]
    fn costs_add_up_by_the_state_of_the_caches() {
        let found = found(&windows(&[800.0; 4], 150.0, 0.0));
        let costs: Vec<(Cache, f64)> = found.costs.iter().map(|cost| (cost.cache, cost.ns.value.round())).collect();
        let near = |at: usize, ns: f64| (costs[at].1 - ns).abs() < 5.0;
        assert!(near(0, 1_500.0) && near(1, 1_650.0) && (costs[2].1 - 29_500.0).abs() < 60.0, "{costs:?}");
        assert_eq!(found.placed.as_ref().map(|placed| placed.placements), Some(4));
        assert!(found.placed.as_ref().unwrap().spread_percent < 2.0 && found.findings.is_empty(), "{found:?}");
    }

    #[test]
    fn placements_that_differ_widen_the_interval_and_are_a_finding() {
        let (same, differ) = (found(&windows(&[800.0; 4], 0.0, 0.0)), found(&windows(&[800.0, 800.0, 1_100.0, 800.0], 0.0, 0.0)));
        assert!(kinds(&differ).contains(&"placements_differ") && !kinds(&same).contains(&"placements_differ"), "{:?}", differ.findings);
        let half = |found: &Switched| found.costs[0].ns.half_width();
        assert!(half(&differ) > 10.0 * half(&same) && half(&differ) > 75.0, "{} {}", half(&differ), half(&same));
        let placed = differ.placed.unwrap();
        assert!((placed.spread_percent - 20.0).abs() < 2.0, "{placed:?}");
    }

    #[test]
    fn partners_without_a_cost_are_a_finding() {
        let all = windows(&[800.0; 4], 0.0, 0.0);
        let mut table = all.in_rounds(&(0..0));
        table.origin = all.origin.clone();
        // Of the third partner one window remains.
        for one in all.readings().iter().filter(|one| !(40..60).contains(&one.round) || one.row == 0) {
            table.push(one.row, one.round, one.ticks);
        }
        let some = found(&table);
        let message = some.findings.iter().find(|finding| finding.is("partners_unknown")).map(|finding| finding.message.to_string());
        assert!(message.unwrap().starts_with("only 3 of 4 partners"), "{:?}", some.findings);
        let one = found(&windows(&[800.0], 0.0, 0.0));
        assert!(one.placed.is_none() && one.findings[0].message.contains("one partner only"), "{:?}", one.findings);
    }

    #[test]
    fn placements_of_a_short_run_that_differ_are_a_finding_although_each_is_uncertain() {
        // Each placement has few rounds, and noise of a tenth: none of them is off by more than its own uncertainty.
        let mut table = windows(&[700.0, 800.0, 900.0, 780.0], 0.0, 0.0);
        let mut random = Pcg64Mcg::seed_from_u64(6);
        let rows = table.rows().to_vec();
        let mut noisy = Observations::new(table.components().to_vec());
        noisy.origin = table.origin.clone();
        noisy.series("pipe");
        for row in &rows {
            let _ = noisy.row(0, &row.counts);
        }
        noisy.origin.placements = vec![4, 8, 12];
        for one in table.readings().iter().filter(|one| one.round % 20 < 4) {
            let noise = 1.0 + 0.2 * (random.random::<f64>() - 0.5);
            noisy.push(one.row, one.round / 20 * 4 + one.round % 20, one.ticks * noise);
        }
        table = noisy;
        let found = found(&table);
        assert!(found.placed.as_ref().unwrap().spread_percent > 5.0 && kinds(&found).contains(&"placements_differ"), "{found:?}");
    }

    #[test]
    fn run_that_is_off_from_earlier_ones_is_a_finding() {
        let finding = |earlier: &[f64], now| off_from_earlier(earlier, now, "cycles").map(|finding| finding.code.to_string());
        assert_eq!(finding(&[], 9_000.0), None);
        assert_eq!(finding(&[10_000.0], 9_600.0), None);
        assert_eq!(finding(&[10_000.0, 14_000.0, 10_100.0], 13_300.0).as_deref(), Some("differs_from_earlier_runs"));
        assert_eq!(finding(&[10_000.0], 9_000.0).as_deref(), Some("differs_from_earlier_runs"));
    }

    #[test]
    fn costs_include_how_runs_scatter() {
        let one = found(&windows(&[800.0; 4], 150.0, 0.0));
        let half = |found: &Switched, at: usize| found.costs[at].ns.half_width();
        let few = one.clone().with_earlier(&[1_500.0, 1_700.0], 1_500.0, "ns");
        assert_eq!((few.scatter, half(&few, 0)), (None, half(&one, 0)));
        // A standard deviation of 10 %, at three degrees of freedom.
        let many = one.clone().with_earlier(&[1_350.0, 1_650.0, 1_500.0 + 150.0 * 0.5_f64.sqrt()], 1_500.0 - 150.0 * 0.5_f64.sqrt(), "ns");
        assert!((many.scatter.unwrap().sd - 0.1).abs() < 1e-9 && (half(&many, 0) / 477.0 - 1.0).abs() < 0.02, "{many:?}");
        assert!((half(&many, 1) / 477.0 - 1.0).abs() < 0.05 && many.costs[0].budget.iter().any(|part| part.source == Source::Runs));
        let same = one.clone().with_earlier(&[1_500.0; 5], 1_500.0, "ns");
        assert_eq!((half(&same, 0), same.findings.len()), (half(&one, 0), 0), "runs that agree add nothing");
        // The movement of the core clock is beside the scatter of cycles, and does not hide it.
        let mut moving = one.clone();
        for cost in &mut moving.costs {
            cost.budget.push(Contribution::standard(Source::CoreClock, 0.2 * cost.ns.value, f64::INFINITY));
            cost.cycles = Some(cost.ns.scaled(2.0));
        }
        let many = moving.with_earlier(&[2_700.0, 3_300.0, 3_000.0 + 300.0 * 0.5_f64.sqrt()], 3_000.0 - 300.0 * 0.5_f64.sqrt(), "cycles");
        let cycles = many.costs[0].cycles.unwrap();
        assert!((cycles.half_width() / (2.0 * 477.0) - 1.0).abs() < 0.02, "{cycles:?}");
        // Student's quantile of both together is smaller than that of three earlier runs alone.
        assert!(half(&many, 0) > 1.96 * 150.0_f64.hypot(0.2 * 1_500.0), "{many:?}");
    }

    #[test]
    fn second_method_includes_how_runs_scatter_and_agrees_as_before() {
        let of = |value: f64| Uncertain { value, budget: vec![Contribution::standard(Source::Noise, 5.0, f64::INFINITY)] };
        let windows = of(1_500.0).estimate(0.95);
        let check = Check::new(&of(1_500.0), &of(1_530.0), windows, 1e5, 100);
        assert!(!check.agrees);
        let few = check.clone().with_earlier(&[1_500.0, 1_700.0]);
        assert_eq!(few, check);
        let many = check.clone().with_earlier(&[1_400.0, 1_600.0, 1_450.0, 1_550.0, 1_500.0]);
        assert!(many.timed_ns.half_width() > 150.0 && many.ns.half_width() > 150.0 && !many.agrees, "{many:?}");
        assert!(many.timed_budget.iter().any(|part| part.source == Source::Runs) && many.timed_ns.value == 1_530.0);
        assert_eq!(check.clone().with_earlier(&[1_530.0; 5]), check, "runs that agree add nothing");
        let moving = check.clone().at_any_clock(Some(ClockSpread { sd: 0.05, runs: 100 }));
        assert!(moving.timed_ns.half_width() > 140.0 && moving.ns.half_width() > 140.0 && !moving.agrees, "{moving:?}");
        assert_eq!(check.clone().at_any_clock(None), check);
    }

    #[test]
    fn a_negative_part_is_shown_with_a_finding() {
        let found = found(&windows(&[800.0; 4], -300.0, 0.0));
        let refill = found.parts.iter().find(|part| part.name == REFILL).unwrap();
        assert!((refill.ns.value + 300.0).abs() < 5.0, "{refill:?}");
        assert_eq!(kinds(&found), ["negative_part"], "the cost of the switch is as good as without it: {:?}", found.findings);
    }

    #[test]
    fn windows_with_other_switches_are_told_and_most_of_them_are_not_trusted() {
        let severity = |share: f64| {
            let found = found(&windows(&[800.0; 4], 0.0, share));
            found.findings.iter().find(|finding| finding.is("other_switches")).map(|finding| finding.severity)
        };
        assert_eq!([0.01, 0.2, 0.6].map(severity), [None, Some(Severity::Warning), Some(Severity::Untrusted)]);
    }

    #[test]
    fn the_second_method_agrees_or_is_a_finding() {
        let bound = |value: f64, half: f64| Uncertain { value, budget: vec![Contribution::bound(Source::Noise, half)] };
        let ns = |value: f64| bound(value, 20.0);
        let base = found(&windows(&[800.0; 4], 0.0, 0.0));
        let warm = base.costs[0].ns;
        let checked = |value: f64| base.clone().checked(Ok(Check::new(&ns(value), &bound(warm.value, warm.half_width()), warm, 1e5, 40)));
        assert!(checked(1_510.0).check.unwrap().agrees && checked(1_510.0).findings.is_empty());
        assert_eq!(kinds(&checked(1_700.0)), ["methods_disagree"]);
        assert_eq!(kinds(&base.clone().checked(Err("too busy".into()))), ["no_second_method"]);
    }
}
