//! How far the time of the code differs between the placements of one run. Rounds in one process cannot show it: addresses
//! of code, data and stack, physical pages, and the history of branches are the same in all of them.
//!
//! Every placement is solved separately. The variance of the mean of all placements follows from how they differ. In the error
//! budget it takes the place of the variance between all rounds, in two parts: what the rounds of one placement show, and the
//! rest, which is due to the placements. Where the code has several layouts whose times differ, the value is the mean of the layouts.

use super::assessment::{Assessment, ComponentResult, Question, SeriesResult, assess_by};
use super::solver::Solver;
use super::{Finding, FindingKind, Severity};
use crate::estimate::{
    Contribution, LAYOUTS_DIFFER, Layouts, Options, Source, Spread, Spreading, TOO_FEW_UNDISTURBED, Uncertain, median, robust_sd,
    skewness_bound,
};
use crate::observations::{Flags, Observations, Reading};
use std::ops::Range;

/// Fewest placements whose differences are of use: with fewer, Student's quantile is above 4.
const FEWEST: usize = 3;

/// Most groups of neighbouring placements that are solved separately: each costs a tenth of a millisecond and more.
const MOST: u32 = 256;
/// The same for code in several layouts.
const MOST_IN_LAYOUTS: u32 = 2048;

/// Fewest rounds that are solved separately. The variation between fewer is hardly known; code that takes long may have only one
/// round in a placement.
pub const FEWEST_ROUNDS: u32 = 8;

/// A placement is of another kind if the code takes this share more or less than in the middle one ...
const OTHER: f64 = 0.25;
/// ... and if it is so many robust standard deviations away from it.
const OTHER_DEVIATIONS: f64 = 8.0;
/// Placements of another kind are left out if there are at most this share of them. More are a part of what the next run will meet.
const MOST_OTHERS: f64 = 0.2;
/// Fewest placements among which some count as of another kind.
const FEWEST_WITH_OTHERS: usize = 8;

/// Layouts of which the longest time exceeds the shortest by this share are a warning, and not a note.
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
    /// Neighbouring layouts that differ by the order of the alternatives only.
    crossover: usize,
}

/// A value with what its placements differ by.
#[derive(Debug)]
pub(super) struct Divided {
    of_all: Uncertain,
    /// The mean of the placements.
    mean: f64,
    /// Whether the placements show that the value of all rounds together is not their mean.
    pub is_mean: bool,
}

impl Divided {
    /// The value: that of all rounds together, or the mean of the placements.
    pub fn value(self, is_mean: bool) -> Uncertain {
        if is_mean { Uncertain { value: self.mean, ..self.of_all } } else { self.of_all }
    }
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
    pub fn new(table: &Observations, question: &Question, chains: &Options, (whole, found): (&Solver, &Assessment)) -> Placements {
        let (placements, turns) = (table.placements(), table.turns());
        let layouts = table.origin.layouts as usize;
        let crossover = (table.origin.crossover as usize).max(1);
        let spans = spans(&placements, layouts);
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
            let layout = turns.as_ref().filter(|_| within == 1).map(|turns| turns.of_placement(first));
            Some(Solved {
                rounds: rounds.clone(),
                placements: within,
                layout,
                found: assess_by(&solver, &part, question, chains, Some(found)).ok()?,
            })
        };
        // A placement that is left out would be solved from all its readings, as if they were merely disturbed; so would one of disturbed
        // readings, which the whole run leaves out.
        let is_excluded = |part: &Observations| part.readings().iter().all(|reading| reading.flags.contains(Flags::EXCLUDED));
        let is_whole_clear = is_clear(table);
        let is_in = |part: &Observations| !is_excluded(part) && (is_clear(part) || !is_whole_clear);
        let parts = spans.iter().zip(table.in_each(&spans)).filter(|(_, part)| is_in(part));
        Placements { solved: parts.filter_map(solved).collect(), layouts, crossover: if layouts % crossover == 0 { crossover } else { 1 } }
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
    pub fn divided(&self, value: Uncertain, level: f64, value_in: impl Fn(&Assessment) -> Option<Uncertain>) -> Divided {
        let of_layouts = |found: &Layouts| found.differ.then(|| found.as_all());
        self.divided_by(value, level, of_layouts, value_in)
    }

    /// As [`Placements::divided`], for a value that is the mean of those of the placements, with layouts that are a sample of those that the
    /// code may have, if they differ or if they are known to. The layouts differ by at least what the placements of each differ by: few
    /// layouts may lie close together by chance.
    pub fn divided_by_sample(
        &self,
        value: Uncertain,
        level: f64,
        differ: bool,
        value_in: impl Fn(&Assessment) -> Option<Uncertain>,
    ) -> Uncertain {
        let of_sample = |found: &Layouts| {
            let sample = (found.differ || differ).then(|| found.as_sample(self.crossover)).flatten();
            let all = (sample.is_some() || self.crossover > 1).then(|| found.as_all());
            sample.into_iter().chain(all).reduce(|sample, all| sample.or_wider(all, level))
        };
        self.divided_by(value, level, of_sample, value_in).value(true)
    }

    /// `of_layouts` gives how the mean of the layouts spreads; `None` if they count as one.
    fn divided_by(
        &self,
        value: Uncertain,
        level: f64,
        of_layouts: impl Fn(&Layouts) -> Option<Spreading>,
        value_in: impl Fn(&Assessment) -> Option<Uncertain>,
    ) -> Divided {
        let values = self.values(value_in);
        if values.len() < FEWEST || stochastic(&value).variance == 0.0 {
            return Divided { mean: value.value, of_all: value, is_mean: false };
        }
        let (mut divided, rounds) = (value.without(Source::Stochastic), within(&values));
        divided.budget.insert(0, Contribution::standard(Source::Stochastic, rounds.variance.sqrt(), rounds.dof));
        let layouts = self.layouts_of(&values).and_then(|found| Some((found.mean(), of_layouts(&found)?)));
        let is_of_layouts = layouts.is_some();
        let (mean, spreading) = layouts.unwrap_or_else(|| (mean(&values), spreading(&values)));
        let excess = (spreading.variance - rounds.variance).max(0.0);
        let skewed = if excess > 0.0 { skewness_bound(&spreading.values, excess.sqrt(), level) } else { 0.0 };
        // All rounds together give the time of most placements, and not their mean, where some are off to one side. Where there are as many to
        // both sides, the centre of the rows is on one of them.
        let is_on_one_side = excess > rounds.variance && (divided.value - mean).abs() > spreading.half_width(level);
        if excess > 0.0 {
            divided.budget.push(Contribution::standard(Source::Placement, excess.sqrt(), spreading.dof));
        }
        if skewed > 0.0 {
            divided.budget.push(Contribution::bound(Source::Placement, skewed));
        }
        Divided { of_all: divided, mean, is_mean: is_of_layouts || skewed > 0.0 || is_on_one_side }
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
        // Rounds of several layouts that are solved together say nothing of each.
        let times: Vec<(usize, f64)> = values.iter().filter_map(|one| Some((one.layout?, one.value.value))).collect();
        Layouts::of(&times, self.layouts)
    }

    /// The finding that the time of a series' body is another one in each layout of the code.
    pub fn layouts_differ(&self, at: usize, series: &SeriesResult) -> Option<Finding> {
        let body = series.components.first().filter(|_| self.layouts > 1)?;
        let values = self.values(|placement| {
            let same = placement.series.get(at)?.components.iter().find(|other| other.name == body.name)?;
            same.time.cycles.clone().or_else(|| Some(Uncertain { value: same.time.ticks.value, budget: Vec::new() }))
        });
        let found = self.layouts_of(&values).filter(|found| found.differ_by(LAYOUTS_DIFFER) && found.mean() > 0.0)?;
        let (least, most) = found.range();
        let severity = if found.differ_by(LAYOUTS_DIFFER_MUCH) { Severity::Warning } else { Severity::Note };
        let (component, least_factor, most_factor) = (body.name.clone(), least / found.mean(), most / found.mean());
        let kind = FindingKind::LayoutsDiffer { component, layouts: self.layouts, least_factor, most_factor };
        Some(Finding::new(severity, kind))
    }
}

/// The finding that the code did not run in all of its layouts, or that all readings in one were disturbed.
pub(super) fn layouts_untried(table: &Observations) -> Option<Finding> {
    let turns = table.turns()?;
    // Long code is never undisturbed, and all of its readings are used.
    let is_clear = is_clear(table);
    let is_used = |reading: &&Reading| !is_clear && !reading.flags.contains(Flags::EXCLUDED) || !reading.flags.without(Flags::GAP).any();
    let mut is_tried = vec![false; turns.layouts];
    table.readings().iter().filter(is_used).for_each(|reading| is_tried[turns.of_round(reading.round)] = true);
    let (tried, layouts) = (is_tried.into_iter().filter(|tried| *tried).count(), turns.layouts);
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

/// Groups of neighbouring placements with enough rounds each. Those of several layouts tell nothing of each layout.
fn spans(placements: &[Range<u32>], layouts: usize) -> Vec<Range<u32>> {
    let rounds: u32 = placements.iter().map(|one| one.end - one.start).sum();
    let most = if layouts > 1 { MOST_IN_LAYOUTS } else { MOST };
    let least = rounds.div_ceil(most).max(FEWEST_ROUNDS);
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

/// How the weighted mean of values spreads, from how they differ.
fn spreading(values: &[Value]) -> Spreading {
    let (variance, dof) = (variance_of_mean(values), values.len() as f64 - 1.0);
    Spreading { variance, dof, values: values.iter().map(|one| one.value.value).collect() }
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
mod tests;
