//! How far the time of the code differs between the placements of one run. Rounds in one process cannot show it: addresses
//! of code, data and stack, physical pages, and the history of branches are the same in all of them.
//!
//! Every placement is solved separately. The variance of the mean of all placements follows from how they differ. In the error
//! budget it takes the place of the variance between all rounds, in two parts: what the rounds of one placement show, and the
//! rest, which is due to the placements. Where the code has several layouts whose times differ, the value is the mean of the layouts.

use super::assessment::{Assessment, ComponentResult, Question, SeriesResult, assess_by};
use super::layouts::Layouts;
use super::solver::Solver;
use super::{Finding, FindingKind, Severity};
use crate::estimate::{Contribution, Options, Source, Spread, TOO_FEW_UNDISTURBED, Uncertain, median, robust_sd, skewness_bound};
use crate::observations::{Flags, Observations};
use std::ops::Range;

/// Fewest placements whose differences are of use: with fewer, Student's quantile is above 4.
const FEWEST: usize = 3;

/// Most groups of neighbouring placements that are solved separately: each costs a tenth of a millisecond and more.
const MOST: u32 = 256;

/// Fewest rounds that are solved separately. The variation between fewer is hardly known; code that takes long may have only one
/// round in a placement.
const FEWEST_ROUNDS: u32 = 8;

/// A placement is of another kind if the code takes this share more or less than in the middle one ...
const OTHER: f64 = 0.25;
/// ... and if it is so many robust standard deviations away from it.
const OTHER_DEVIATIONS: f64 = 8.0;
/// Placements of another kind are left out if there are at most this share of them. More are a part of what the next run will meet.
const MOST_OTHERS: f64 = 0.2;
/// Fewest placements among which some count as of another kind.
const FEWEST_WITH_OTHERS: usize = 8;

/// The time of a layout is told if the longest exceeds the shortest by this share, and is a warning from the second one on.
const LAYOUTS_DIFFER: f64 = 0.01;
const LAYOUTS_DIFFER_MUCH: f64 = 0.05;

/// Placements in which the code takes another time than in most of them, by far.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Their rounds.
    pub rounds: Vec<Range<u32>>,
    /// For every series: what they are.
    pub findings: Vec<Option<Finding>>,
}

impl Others {
    pub fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }
}

/// The placements of a table, each solved separately.
#[derive(Debug, Default)]
pub(super) struct Placements {
    solved: Vec<Solved>,
    layouts: usize,
}

#[derive(Debug)]
struct Solved {
    rounds: Range<u32>,
    /// Placements that share these rounds: more than one if they have few rounds, or if there are many.
    placements: usize,
    /// The layout of the code; `None` if it has one layout only, or several in these rounds.
    layout: Option<usize>,
    found: Assessment,
}

impl Placements {
    /// Solves every placement as the whole run is solved. Leaves out those in which a neighbour disturbed too many readings.
    pub fn new(table: &Observations, question: &Question, chains: &Options, whole: &Solver) -> Placements {
        let (placements, layouts) = (table.placements(), table.origin.layouts as usize);
        let spans = spans(&placements);
        if spans.len() < FEWEST {
            return Placements::default();
        }
        let solved = |(rounds, part): (&Range<u32>, Observations)| {
            let solver = if whole.leaves_out_rounds() {
                whole.in_rounds(&part, rounds, chains)?
            } else {
                let all = Solver::new(&part, chains);
                if all.is_surely_disturbed() { all.undisturbed(chains)? } else { all }
            };
            let within = placements.iter().filter(|one| rounds.contains(&one.start)).count();
            let first = placements.iter().position(|one| one.start == rounds.start)?;
            let layout = (layouts > 1 && within == 1).then(|| first % layouts);
            Some(Solved { rounds: rounds.clone(), placements: within, layout, found: assess_by(&solver, &part, question, chains).ok()? })
        };
        // A placement that is left out would be solved from all its readings, as if they were merely disturbed; so would one of disturbed
        // readings, which the whole run leaves out.
        let is_excluded = |part: &Observations| part.readings().iter().all(|reading| reading.flags.contains(Flags::EXCLUDED));
        let is_whole_clear = is_clear(table);
        let is_in = |part: &Observations| !is_excluded(part) && (is_clear(part) || !is_whole_clear);
        let parts = spans.iter().zip(table.in_each(&spans)).filter(|(_, part)| is_in(part));
        Placements { solved: parts.filter_map(solved).collect(), layouts }
    }

    /// Placements of another kind: for example those in which two arrays lie so that each load waits for a store. Their number in a run is
    /// left to chance, so a mean over them would not hold for the next run, and neither does the interval of a run without any.
    pub fn others(&self, whole: &Assessment) -> Others {
        let of_series = |at: usize| self.others_of(at, &whole.series[at]).unwrap_or_default();
        let found: Vec<(Vec<Range<u32>>, Option<Finding>)> = (0..whole.series.len()).map(of_series).collect();
        let (rounds, findings): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let mut rounds = rounds.concat();
        rounds.sort_unstable_by_key(|rounds| rounds.start);
        rounds.dedup();
        if rounds.len() as f64 > MOST_OTHERS * self.solved.len() as f64 { Others::default() } else { Others { rounds, findings } }
    }

    /// The rounds of the placements in which the body of a series is of another kind; `None` if there are none, or too many.
    fn others_of(&self, at: usize, series: &SeriesResult) -> Option<(Vec<Range<u32>>, Option<Finding>)> {
        // A time that cannot be told from zero has no multiples.
        let body = series.components.first().filter(|body| body.time.bound.is_none())?;
        let in_cycles = body.time.cycles.is_some();
        let same = |one: &Solved| {
            let body = one.found.series.get(at)?.components.iter().find(|other| other.name == body.name)?;
            time_of(body, in_cycles)
        };
        let times: Vec<(&Solved, f64)> = self.solved.iter().filter_map(|one| Some((one, same(one)?))).collect();
        let mut values: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
        let middle = median(&mut values);
        let deviation = robust_sd(&values, middle);
        let limit = (OTHER * middle.abs()).max(OTHER_DEVIATIONS * deviation);
        // A layout of the code in which it takes another time comes again in every run.
        let of_layout = |layout: usize| times.iter().filter(move |(one, _)| one.layout == Some(layout)).map(|(_, time)| *time);
        let is_layout = |layout: usize| (median(&mut of_layout(layout).collect::<Vec<f64>>()) - middle).abs() > limit;
        let is_other = |(one, time): &(&Solved, f64)| (time - middle).abs() > limit && !one.layout.is_some_and(is_layout);
        let others: Vec<(&Solved, f64)> = times.iter().copied().filter(is_other).collect();
        let few = (1..=(MOST_OTHERS * times.len() as f64) as usize).contains(&others.len());
        let finding = || {
            let factors = || others.iter().map(|(_, time)| time / middle);
            let (least_factor, most_factor) = (factors().fold(f64::INFINITY, f64::min), factors().fold(f64::NEG_INFINITY, f64::max));
            let count = |times: &[(&Solved, f64)]| times.iter().map(|(one, _)| one.placements).sum::<usize>();
            let (component, placements) = (body.name.clone(), count(&times));
            let kind = FindingKind::OtherPlacements { component, others: count(&others), placements, least_factor, most_factor };
            Finding::new(Severity::Warning, kind)
        };
        let rounds = || others.iter().map(|(one, _)| one.rounds.clone()).collect();
        let positive = middle > 0.0 && others.iter().all(|(_, time)| *time > 0.0);
        (few && positive && times.len() >= FEWEST_WITH_OTHERS).then(|| (rounds(), Some(finding())))
    }

    /// The value with the differences between the placements in its budget, apart from the variation between the rounds of one
    /// placement. `value_in` gives the same value in one placement.
    pub fn divided(&self, value: Uncertain, level: f64, value_in: impl Fn(&Assessment) -> Option<Uncertain>) -> Uncertain {
        let of_layouts = |found: &Layouts| found.differ.then(|| (found.variance, found.dof, found.evened.clone()));
        self.divided_by(value, level, of_layouts, value_in)
    }

    /// As [`Placements::divided`], with layouts that are a sample of those that the code may have, if they differ or if they are known to.
    pub fn divided_by_sample(
        &self,
        value: Uncertain,
        level: f64,
        differ: bool,
        value_in: impl Fn(&Assessment) -> Option<Uncertain>,
    ) -> Uncertain {
        let of_sample = |found: &Layouts| {
            let (variance, dof) = found.as_sample();
            (found.differ || differ).then(|| (variance, dof, found.means.clone()))
        };
        self.divided_by(value, level, of_sample, value_in)
    }

    /// `of_layouts` gives the variance of the mean of the layouts, its degrees of freedom, and what varies; `None` if they count as one.
    fn divided_by(
        &self,
        value: Uncertain,
        level: f64,
        of_layouts: impl Fn(&Layouts) -> Option<(f64, f64, Vec<f64>)>,
        value_in: impl Fn(&Assessment) -> Option<Uncertain>,
    ) -> Uncertain {
        let values = self.values(value_in);
        if values.len() < FEWEST || stochastic(&value).variance == 0.0 {
            return value;
        }
        let (mut divided, rounds) = (value.without(Source::Stochastic), within(&values));
        divided.budget.insert(0, Contribution::standard(Source::Stochastic, rounds.variance.sqrt(), rounds.dof));
        let layouts = self.layouts_of(&values).and_then(|found| Some((found.mean(), of_layouts(&found)?)));
        let of_placements = || (variance_of_mean(&values), values.len() as f64 - 1.0, values.iter().map(|one| one.value.value).collect());
        let of_layouts = layouts.as_ref().map(|(mean, _)| *mean);
        let (variance, dof, times) = layouts.map_or_else(of_placements, |(_, of)| of);
        divided.value = of_layouts.unwrap_or(divided.value);
        let excess = variance - rounds.variance;
        if excess > 0.0 {
            divided.budget.push(Contribution::standard(Source::Placement, excess.sqrt(), dof));
            let skewed = skewness_bound(&times, excess.sqrt(), level);
            if skewed > 0.0 {
                // All rounds together give the time of most placements, and not their mean, where some are off to one side.
                divided.value = of_layouts.unwrap_or_else(|| mean(&values));
                divided.budget.push(Contribution::bound(Source::Placement, skewed));
            }
        }
        divided
    }

    /// A value in every placement that has it.
    fn values(&self, value_in: impl Fn(&Assessment) -> Option<Uncertain>) -> Vec<Value> {
        let usable = |one: &Solved| {
            let value = value_in(&one.found).filter(|value| value.value.is_finite())?;
            Some(Value { rounds: one.rounds.len() as f64, layout: one.layout, value })
        };
        self.solved.iter().filter_map(usable).collect()
    }

    /// The values of the layouts of the code, if it has several and enough placements.
    fn layouts_of(&self, values: &[Value]) -> Option<Layouts> {
        let times: Option<Vec<(usize, f64)>> = values.iter().map(|one| Some((one.layout?, one.value.value))).collect();
        Layouts::of(&times?, self.layouts)
    }

    /// The finding that the time of a series' body is another one in each layout of the code.
    pub fn layouts_differ(&self, at: usize, series: &SeriesResult) -> Option<Finding> {
        let body = series.components.first().filter(|_| self.layouts > 1)?;
        let values = self.values(|placement| {
            let same = placement.series.get(at)?.components.iter().find(|other| other.name == body.name)?;
            same.time.cycles.clone().or_else(|| Some(Uncertain { value: same.time.ticks.value, budget: Vec::new() }))
        });
        let found = self.layouts_of(&values).filter(|found| found.differ && found.mean() > 0.0)?;
        let (least, most) = found.range();
        let severity = if most > (1.0 + LAYOUTS_DIFFER_MUCH) * least { Severity::Warning } else { Severity::Note };
        let (component, least_factor, most_factor) = (body.name.clone(), least / found.mean(), most / found.mean());
        let kind = FindingKind::LayoutsDiffer { component, layouts: self.layouts, least_factor, most_factor };
        (most > (1.0 + LAYOUTS_DIFFER) * least).then(|| Finding::new(severity, kind))
    }
}

/// The finding that the code did not run in all of its layouts.
pub(super) fn layouts_untried(table: &Observations) -> Option<Finding> {
    let (tried, layouts) = (table.placements().len(), table.origin.layouts as usize);
    (tried < layouts).then(|| Finding::new(Severity::Warning, FindingKind::LayoutsUntried { tried, layouts }))
}

/// A value in one placement.
struct Value {
    rounds: f64,
    layout: Option<usize>,
    value: Uncertain,
}

/// Whether enough readings are without a flag that the others are left out.
fn is_clear(table: &Observations) -> bool {
    let clear = table.readings().iter().filter(|reading| !reading.flags.any()).count();
    clear * TOO_FEW_UNDISTURBED >= table.readings().len()
}

/// The time of a component in core cycles or in ticks; `None` if there is none, or if it is not finite.
fn time_of(component: &ComponentResult, in_cycles: bool) -> Option<f64> {
    let time = if in_cycles { component.time.cycles.as_ref()?.value } else { component.time.ticks.value };
    Some(time).filter(|time| time.is_finite())
}

/// Groups of neighbouring placements with enough rounds each.
fn spans(placements: &[Range<u32>]) -> Vec<Range<u32>> {
    let rounds: u32 = placements.iter().map(|one| one.end - one.start).sum();
    let least = rounds.div_ceil(MOST).max(FEWEST_ROUNDS);
    let mut spans: Vec<Range<u32>> = Vec::new();
    for one in placements {
        match spans.last_mut() {
            Some(last) if last.end - last.start < least => last.end = one.end,
            _ => spans.push(one.clone()),
        }
    }
    // The last group may have too few rounds for a value of its own.
    if let [.., before, last] = &mut spans[..] {
        if last.end - last.start < FEWEST_ROUNDS {
            before.end = last.end;
            spans.pop();
        }
    }
    spans
}

/// Mean of values, weighted by their rounds.
fn mean(values: &[Value]) -> f64 {
    values.iter().map(|one| one.rounds * one.value.value).sum::<f64>() / rounds_of(values)
}

fn rounds_of(values: &[Value]) -> f64 {
    values.iter().map(|one| one.rounds).sum()
}

/// Variance of the weighted mean of values, from how they differ.
fn variance_of_mean(values: &[Value]) -> f64 {
    let (count, sum, mean) = (values.len() as f64, rounds_of(values), mean(values));
    let squares: f64 = values.iter().map(|one| (one.rounds / sum * (one.value.value - mean)).powi(2)).sum();
    squares * count / (count - 1.0)
}

struct Variance {
    variance: f64,
    dof: f64,
}

/// Variance of the weighted mean of values, from the variation between the rounds of each.
fn within(values: &[Value]) -> Variance {
    let sum = rounds_of(values);
    let parts = values.iter().map(|one| ((one.rounds / sum).powi(2), stochastic(&one.value)));
    let (variance, fourth) = parts.fold((0.0, 0.0), |(variance, fourth), (square, part)| {
        let share = square * part.variance;
        (variance + share, fourth + share * share / part.dof.max(1.0))
    });
    Variance { variance, dof: if fourth > 0.0 { variance * variance / fourth } else { f64::INFINITY } }
}

/// Variance between rounds in a budget.
fn stochastic(value: &Uncertain) -> Variance {
    let of_rounds = value.budget.iter().find_map(|entry| match (entry.source, entry.spread) {
        (Source::Stochastic, Spread::Standard { sd, dof }) => Some(Variance { variance: sd * sd, dof }),
        _ => None,
    });
    of_rounds.unwrap_or(Variance { variance: 0.0, dof: f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::simulated::{CALM, Core};
    use crate::judge::{Progress, Time, assess, progress};
    use crate::observations::Rate;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const ROUNDS: u32 = 48;

    /// Rows of 1 to 8 copies of a body of 100 ticks, in placements in which the body differs by this standard deviation.
    fn table(placements: u32, sd: f64, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        // A sum of 12 uniform numbers is nearly normal.
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("a");
        for placement in 0..placements {
            let body = 100.0 + sd * normal();
            for round in placement * ROUNDS..(placement + 1) * ROUNDS {
                for copies in 1..=8 {
                    let row = table.row(series, &[f64::from(copies)]);
                    table.push(row, round, body * f64::from(copies) + 40.0 + normal());
                }
            }
        }
        table.origin.placements = (1..placements).map(|placement| placement * ROUNDS).collect();
        table
    }

    fn body(table: &Observations) -> Time {
        assess(table, &Question::default()).unwrap().series[0].components[0].time.clone()
    }

    #[test]
    fn placements_of_disturbed_readings_do_not_shift_the_value() {
        let whole = table(20, 0.3, 7);
        for taken in [1, 5, 6, 7, 9] {
            // A counter that something else took reads 0, and its readings are flagged.
            let mut lost = Observations::new(vec!["body".into()]);
            let series = lost.series("a");
            for reading in whole.readings() {
                let row = lost.row(series, &whole.rows()[reading.row as usize].counts);
                let is_taken = reading.round < taken * ROUNDS;
                let (ticks, flags) = if is_taken { (0.0, Flags::SWITCHED) } else { (reading.ticks, Flags::NONE) };
                lost.push_flagged(row, reading.round, ticks, flags);
            }
            lost.origin.placements.clone_from(&whole.origin.placements);
            let time = body(&lost);
            assert!((time.ticks.value - 100.0).abs() < 1.0 && time.ticks.high < 101.0, "{taken}: {:?}", time.ticks);
        }
    }

    #[test]
    fn intervals_hold_the_mean_of_many_placements() {
        const RUNS: u32 = 300;
        let (mut covered, mut width) = (0, 0.0);
        for seed in 0..RUNS {
            let time = body(&table(6, 1.0, seed.into()));
            covered += u32::from(time.ticks.contains(100.0));
            width += time.ticks.half_width() / f64::from(RUNS);
        }
        assert!((92 * RUNS / 100..=98 * RUNS / 100).contains(&covered), "{covered} of {RUNS}");
        // The mean of six placements has a standard deviation of 0.41, and Student's quantile is 2.57.
        assert!((0.8..1.3).contains(&width), "{width}");
    }

    #[test]
    fn differences_between_placements_have_their_entry_in_the_budget() {
        let sources = |sd| {
            let mut with_rate = table(6, sd, 3);
            with_rate.origin.unit = crate::observations::Unit::TimeNs;
            let budget = body(&with_rate).ns.unwrap().budget;
            budget.iter().filter(|entry| entry.half_width(0.95) > 0.1).map(|entry| entry.source).collect::<Vec<_>>()
        };
        assert_eq!(sources(2.0), [Source::Placement]);
        assert!(sources(0.0).is_empty());
    }

    #[test]
    fn placements_that_agree_hardly_widen_the_interval() {
        let widths = |placements: bool| -> f64 {
            let one = |seed| {
                let mut table = table(6, 0.0, seed);
                if !placements {
                    table.origin.placements.clear();
                }
                body(&table).ticks.half_width()
            };
            (0..20).map(one).sum()
        };
        let (with, without) = (widths(true), widths(false));
        assert!(with < 1.4 * without, "{with} and {without}");
    }

    /// Placements in which the body takes 100 ticks, but for those with another time.
    fn with_others(placements: u32, others: &[(u32, f64)]) -> Observations {
        let table = table(placements, 0.0, 3);
        let spans = table.placements();
        table.with_times(|_, row, reading| {
            let placement = spans.iter().position(|span| span.contains(&reading.round)).unwrap() as u32;
            let further = others.iter().find(|(at, _)| *at == placement).map_or(0.0, |(_, further)| *further);
            reading.ticks + further * row.counts[0]
        })
    }

    fn kinds(found: &Assessment) -> Vec<&str> {
        found.series[0].findings.iter().map(|finding| &*finding.code).collect()
    }

    #[test]
    fn a_time_that_is_nothing_has_no_placements_of_another_kind() {
        let nothing = |others: &[(u32, f64)]| {
            let usual = (0..20).filter(|at| others.iter().all(|(other, _)| other != at)).map(|at| (at, -100.0));
            assess(&with_others(20, &usual.chain(others.iter().copied()).collect::<Vec<_>>()), &Question::default()).unwrap()
        };
        for others in [[(4, 180.0), (11, 200.0)], [(4, -180.0), (11, 200.0)]] {
            let found = nothing(&others);
            assert!(!kinds(&found).contains(&"other_placements"), "{found:?}");
        }
    }

    #[test]
    fn few_placements_of_another_kind_are_left_out_and_named() {
        let found = assess(&with_others(20, &[(4, 180.0), (11, 200.0)]), &Question::default()).unwrap();
        let time = found.series[0].components[0].time.ticks;
        assert!((time.value - 100.0).abs() < 1.0 && time.half_width() < 1.0, "{time:?}");
        let finding = found.series[0].findings.iter().find(|finding| finding.code == "other_placements").unwrap();
        assert!(finding.message.starts_with("in 2 of 20 placements body takes 2.8"), "{}", finding.message);
    }

    #[test]
    fn many_placements_of_another_kind_and_close_ones_are_a_part_of_the_time() {
        let many: Vec<(u32, f64)> = (0..6).map(|at| (3 * at, 200.0)).collect();
        let near = [(4, 15.0), (9, -15.0)];
        for others in [&many[..], &near] {
            let table = with_others(20, others);
            let found = assess(&table, &Question::default()).unwrap();
            assert!(!kinds(&found).contains(&"other_placements"), "{:?}", kinds(&found));
        }
        let few = with_others(6, &[(1, 200.0)]);
        assert!(!kinds(&assess(&few, &Question::default()).unwrap()).contains(&"other_placements"));
    }

    #[test]
    fn more_placements_are_worth_their_time_where_they_differ_by_much() {
        let progress = |others: &[(u32, f64)]| {
            let mut table = with_others(20, others);
            table.origin.rate = Some(Rate { hz: 1e9, uncertainty_ppm: 1.0, provenance: "test".into() });
            progress(&mut table, 0.95, 0.0001)
        };
        let many: Vec<(u32, f64)> = (0..6).map(|at| (3 * at, 200.0)).collect();
        assert_eq!(progress(&many), Progress::Varied);
        for others in [[(4, 180.0), (11, 200.0)], [(4, 4.0), (9, -4.0)]] {
            assert_ne!(progress(&others), Progress::Varied, "{others:?}");
        }
    }

    #[test]
    fn skewed_placements_have_the_mean_of_all_and_a_wider_interval() {
        // A pooled solution lies with most of the placements, at 100 ticks.
        let shorter = [(1, -12.0), (5, -10.0), (9, -14.0), (13, -8.0), (16, -13.0)];
        let time = body(&with_others(20, &shorter));
        assert!((time.ticks.value - (100.0 - 57.0 / 20.0)).abs() < 0.2, "{time:?}");
        // Their standard error is 1.16 ticks, and Student's quantile 2.09.
        assert!((2.55..3.0).contains(&time.ticks.half_width()), "{time:?}");
    }

    #[test]
    fn short_placements_are_solved_although_their_control_chains_are_uncertain() {
        let mut table = Core { quantum: 26.0, ..CALM }.table(1.0, 5);
        let rounds = table.rounds();
        table.origin.placements = (1..20).map(|at| at * rounds / 20).collect();
        let (question, chains) = (Question::default(), Options::default());
        let whole = Solver::new(&table, &chains);
        let solved = Placements::new(&table, &question, &chains, &whole).solved.len();
        assert!(solved >= 18, "{solved} of 20 placements of {} rounds", rounds / 20);
    }

    /// Placements of four layouts, in which the body takes 100, 120, 130 and 90 ticks.
    fn in_layouts(placements: u32, layouts: u32) -> Observations {
        let further: Vec<(u32, f64)> = (0..placements).map(|at| (at, [0.0, 20.0, 30.0, -10.0][at as usize % 4])).collect();
        let mut table = with_others(placements, &further);
        table.origin.layouts = layouts;
        table
    }

    #[test]
    fn the_time_of_code_in_several_layouts_is_their_mean() {
        for placements in [8, 10, 11, 13, 19] {
            let found = assess(&in_layouts(placements, 4), &Question::default()).unwrap();
            let time = found.series[0].components[0].time.ticks;
            assert!((time.value - 110.0).abs() < 0.3 && time.half_width() < 1.0, "{placements} placements: {time:?}");
            let finding = found.series[0].findings.iter().find(|finding| finding.code == "layouts_differ").unwrap();
            assert!(finding.severity == Severity::Warning && finding.message.contains("0.82 to 1.18"), "{}", finding.message);
            assert!(!kinds(&found).contains(&"other_placements"), "{placements} placements: {:?}", kinds(&found));
        }
        let few = assess(&in_layouts(3, 4), &Question::default()).unwrap();
        let untried = few.series[0].findings.iter().find(|finding| finding.code == "layouts_untried").unwrap();
        assert!(untried.message.starts_with("the code ran in 3 of 4 layouts"), "{}", untried.message);
        let unknown = assess(&in_layouts(13, 0), &Question::default()).unwrap();
        assert!(unknown.series[0].components[0].time.ticks.half_width() > 5.0 && !kinds(&unknown).contains(&"layouts_differ"));
    }

    #[test]
    fn alternatives_that_have_the_same_times_in_other_layouts_do_not_differ() {
        const TIMES: [f64; 4] = [36.0, 41.0, 46.0, 45.0];
        for placements in [12, 15] {
            let own = table(placements, 0.1, 11);
            let mut both = Observations::new(vec!["body".into()]);
            both.origin.placements.clone_from(&own.origin.placements);
            both.origin.layouts = 4;
            for reading in own.readings() {
                let copies = own.rows()[reading.row as usize].counts[0];
                let layout = own.placements().iter().position(|span| span.contains(&reading.round)).unwrap();
                for (at, name) in ["a", "b"].into_iter().enumerate() {
                    let series = both.series(name);
                    let row = both.row(series, &[copies]);
                    both.push(row, reading.round, reading.ticks + copies * (TIMES[(layout + at) % 4] - 100.0));
                }
            }
            let found = assess(&both, &Question::default()).unwrap();
            let compared = &found.comparisons[0];
            // Layouts of 36 to 46 ticks, in another order: which layouts were tried decides nothing.
            assert!((compared.ratio.value - 1.0).abs() < 0.005 && compared.ratio.half_width() > 0.1, "{compared:?}");
            assert_eq!(compared.verdict, crate::judge::Verdict::Undecided);
        }
    }

    #[test]
    fn layouts_that_are_alike_are_not_told() {
        let mut table = table(16, 0.3, 9);
        table.origin.layouts = 4;
        let found = assess(&table, &Question::default()).unwrap();
        assert!(!kinds(&found).contains(&"layouts_differ"), "{:?}", kinds(&found));
    }

    #[test]
    fn two_placements_are_too_few() {
        let table = table(2, 5.0, 1);
        let whole = Solver::new(&table, &Options::default());
        assert!(Placements::new(&table, &Question::default(), &Options::default(), &whole).solved.is_empty());
    }

    #[test]
    fn short_placements_are_solved_together() {
        let of = |rounds: u32, each: u32| -> Vec<u32> {
            let placements: Vec<Range<u32>> = (0..rounds / each).map(|at| at * each..(at + 1) * each).collect();
            spans(&placements).iter().map(|span| span.end - span.start).collect()
        };
        assert_eq!((of(26, 1), of(5, 1), of(30, 10)), (vec![8, 8, 10], vec![5], vec![10; 3]));
        assert!(of(10_000, 10).len() as u32 <= MOST && of(0, 1).is_empty());
    }

    #[test]
    fn weights_are_those_of_the_rounds() {
        let of = |values: [(f64, f64); 2]| {
            variance_of_mean(&values.map(|(rounds, value)| Value { rounds, layout: None, value: Uncertain { value, budget: Vec::new() } }))
        };
        assert_eq!(of([(1.0, 3.0), (1.0, 5.0)]), 1.0);
        let uneven = of([(1.0, 0.0), (9.0, 10.0)]);
        assert!((uneven - 2.0 * (0.1f64 * 9.0).powi(2) * 2.0).abs() < 1e-12, "{uneven}");
    }
}
