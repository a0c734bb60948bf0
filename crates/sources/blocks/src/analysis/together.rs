//! Parts that are told together, where the time of each by itself is not known well, because its counts are nearly a sum of other counts: the
//! blocks of a loop and the test at its head, which runs once more; a block behind arms, which runs as often as all of them.
//!
//! The model stays as it is, only other sums of its unknowns are asked for. If `N_j` is about `N_a + N_b`, every run of a and of b comes with
//! one of j: the times `T_a + T_j` and `T_b + T_j` are known well where `T_j` is not. They are the coefficients of `N_a` and `N_b` beside
//! the column `N_j - N_a - N_b`, whose coefficient is `T_j`.
//!
//! So is a part that comes out negative because the core overlaps it with what follows, as the dispatch of an interpreter.

use super::negative::is_beyond_noise;
use super::{CountRow, SERIES};
use hairspring_core::estimate::{Component, Solution, solution::spell};
use hairspring_core::judge::{ComponentResult, Question, assess};
use hairspring_core::observations::Observations;
use std::collections::BTreeMap;

/// Half-width of what a part takes in a mean call, as a share of the call, from which it is told together with others.
const TOO_WIDE: f64 = 0.05;
/// Time below zero, as a share of a mean call, from which a part is told with those whose sum its counts are within a tenth.
const NEGATIVE: f64 = 0.01;
const NEARLY: f64 = 0.1;
/// Half-widths in a standard deviation.
const COVERAGE: f64 = 2.0;
/// By how much whole numbers may describe counts worse than the best numbers do.
const ABOUT: f64 = 2.0;
/// Part of a column, relative to its length, that is only rounding.
const ROUNDING: f64 = 1e-9;

/// The parts of a function as they can be told.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// Unknowns that are told, each with those that come with a run of it and how often.
    leads: Vec<(usize, Vec<(usize, f64)>)>,
    /// Unknowns of which the counts are not exactly a sum of those of the leads.
    rest: Vec<usize>,
}

/// The columns of a table in the function's rows.
struct Columns {
    /// Each unknown's, then those of the page, then the overhead's.
    all: Vec<Vec<f64>>,
    unknowns: usize,
}

impl Columns {
    fn new(table: &Observations, unknowns: usize) -> Option<Columns> {
        let series = table.find_series(SERIES)?;
        let rows: Vec<&Vec<f64>> = table.rows().iter().filter(|row| row.series == series).map(|row| &row.counts).collect();
        let of_table = (0..table.components().len()).map(|at| rows.iter().map(|row| row[at]).collect());
        Some(Columns { all: of_table.chain([vec![1.0; rows.len()]]).collect(), unknowns })
    }

    /// Unknowns that run in whole calls, in classes of those that run equally often in every row; those that run least come first, so that
    /// what runs often is a sum of what runs less.
    fn classes(&self, totals: &[f64]) -> Vec<Vec<usize>> {
        let mut known: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        for unknown in (0..self.unknowns).filter(|at| totals[*at] > 0.0) {
            known.entry(self.all[unknown].iter().map(|count| count.to_bits()).collect()).or_default().push(unknown);
        }
        let mut all: Vec<Vec<usize>> = known.into_values().collect();
        all.sort_by(|a, b| totals[a[0]].total_cmp(&totals[b[0]]).then(a.cmp(b)));
        all
    }
}

/// Orthonormal columns, from which others are taken.
#[derive(Default)]
struct Basis {
    units: Vec<Vec<f64>>,
    /// How each unit is made of columns that were added: the coefficient of each.
    made: Vec<Vec<f64>>,
    added: usize,
}

impl Basis {
    /// The rest of a column, and the coefficients of the added columns in it.
    fn split(&self, column: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut rest, mut coefficients) = (column.to_vec(), vec![0.0; self.added]);
        // Twice, since the first time leaves rounding of the size of the column.
        for _ in 0..2 {
            for (unit, made) in self.units.iter().zip(&self.made) {
                let along = dot(&rest, unit);
                rest.iter_mut().zip(unit).for_each(|(value, unit)| *value -= along * unit);
                coefficients.iter_mut().zip(made).for_each(|(sum, part)| *sum += along * part);
            }
        }
        (rest, coefficients)
    }

    fn add(&mut self, (rest, coefficients): (Vec<f64>, Vec<f64>)) {
        let length = norm(&rest);
        self.units.push(rest.into_iter().map(|value| value / length).collect());
        self.made.iter_mut().for_each(|made| made.push(0.0));
        let made = coefficients.into_iter().map(|part| -part / length).chain([1.0 / length]);
        self.made.push(made.collect());
        self.added += 1;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(column: &[f64]) -> f64 {
    dot(column, column).sqrt()
}

/// The search for the parts.
struct Search<'a> {
    columns: &'a Columns,
    /// The columns of the page, the overhead, and the leads.
    basis: Basis,
    /// How many of them are not of leads.
    of_page: usize,
    found: Parts,
}

/// How a class is told.
enum Told {
    /// By itself.
    Alone,
    /// With leads: how often for a run of each, and whether its counts are exactly that sum.
    With(Vec<f64>, bool),
    /// With the overhead alone.
    InOverhead,
}

impl<'a> Search<'a> {
    fn new(columns: &'a Columns) -> Search<'a> {
        let mut search = Search { columns, basis: Basis::default(), of_page: 0, found: Parts { leads: Vec::new(), rest: Vec::new() } };
        for column in &columns.all[columns.unknowns..] {
            let split = search.basis.split(column);
            if norm(&split.0) > ROUNDING * norm(column) {
                search.basis.add(split);
            }
        }
        search.of_page = search.basis.added;
        search
    }

    /// How a class is told beside the leads. By itself if what is left of its column without them is not shorter than `shortest`.
    fn told(&self, column: &[f64], shortest: f64) -> Told {
        let (rest, coefficients) = self.basis.split(column);
        let (length, rounding) = (norm(&rest), ROUNDING * norm(column));
        if length > rounding.max(shortest) {
            return Told::Alone;
        }
        let (of_page, runs) = coefficients.split_at(self.of_page);
        let is_sum = length <= rounding;
        // What whole numbers leave may be as short as what does not tell the class from the rest.
        let most = if is_sum { rounding } else { shortest.max(ABOUT * length) };
        let whole: Vec<f64> = runs.iter().map(|runs| runs.round().max(0.0)).collect();
        let leads = self.found.leads.iter().map(|(lead, _)| &self.columns.all[*lead][..]);
        let beyond = norm(&without(column, leads, &whole));
        match () {
            () if beyond <= most && whole.iter().any(|runs| *runs > 0.0) => Told::With(whole, beyond <= rounding),
            () if is_sum && of_page.iter().any(|part| part.abs() > ROUNDING) => Told::InOverhead,
            () if is_sum => Told::With(runs.iter().map(|runs| without_rounding(*runs)).collect(), true),
            () => Told::Alone,
        }
    }

    fn lead(&mut self, class: &[usize]) {
        let split = self.basis.split(&self.columns.all[class[0]]);
        self.basis.add(split);
        self.found.leads.push((class[0], class.iter().map(|unknown| (*unknown, 1.0)).collect()));
    }

    fn join(&mut self, class: &[usize], runs: &[f64], is_exact: bool) {
        for ((_, members), runs) in self.found.leads.iter_mut().zip(runs).filter(|(_, runs)| runs.abs() > ROUNDING) {
            members.extend(class.iter().map(|unknown| (*unknown, *runs)));
        }
        self.found.rest.extend(class.iter().copied().filter(|_| !is_exact));
    }
}

/// The whole number that a coefficient is but for rounding, or the coefficient.
fn without_rounding(coefficient: f64) -> f64 {
    const NEAR: f64 = 1e-6;
    if (coefficient - coefficient.round()).abs() < NEAR { coefficient.round() } else { coefficient }
}

/// A column less these multiples of others.
fn without<'a>(column: &[f64], others: impl Iterator<Item = &'a [f64]>, factors: &[f64]) -> Vec<f64> {
    let mut rest = column.to_vec();
    for (other, factor) in others.zip(factors) {
        rest.iter_mut().zip(other).for_each(|(value, other)| *value -= factor * other);
    }
    rest
}

/// The parts in which a function can be told; `None` if each is told by itself, or with those that always run equally often.
///
/// `mean` is the time of a mean call.
pub fn parts(solution: &Solution, (table, rows): (&Observations, &[CountRow]), totals: &[f64], mean: f64) -> Option<Parts> {
    let columns = Columns::new(table, totals.len())?;
    let calls = rows.iter().filter(|row| row.is_whole()).count() as f64;
    let noise = solution.residual_sd.max(solution.lack_of_fit.map_or(0.0, |lack| lack.sd));
    let mut search = Search::new(&columns);
    let mut is_any = false;
    for class in columns.classes(totals) {
        let column = &columns.all[class[0]];
        let shortest = COVERAGE * noise * totals[class[0]] / (calls * TOO_WIDE * mean);
        let is_negative = is_negative(solution, &table.components()[class[0]], totals[class[0]] / (calls * mean));
        match search.told(column, if is_negative { shortest.max(NEARLY * norm(column)) } else { shortest }) {
            Told::Alone => search.lead(&class),
            Told::With(runs, is_exact) => search.join(&class, &runs, is_exact),
            Told::InOverhead => return None,
        }
        is_any |= search.found.leads.last().is_none_or(|(lead, _)| *lead != class[0]);
    }
    (is_any && search.found.leads.len() > 1).then_some(search.found)
}

/// Whether an unknown of this many runs in the time of a mean call is negative by a good part of a call, and noise alone does not explain
/// it: the core overlaps it with what comes with it.
fn is_negative(solution: &Solution, name: &str, runs: f64) -> bool {
    let holds = |part: &&Component| !part.is_difference() && part.parts.iter().any(|(known, _)| known == name);
    let Some(part) = solution.components.iter().find(holds) else { return false };
    is_beyond_noise(part, part.ticks.level) && part.ticks.value * runs < -NEGATIVE
}

/// The time of each part, from the same readings.
pub fn solve(parts: &Parts, table: &Observations, names: &[String], question: &Question) -> Option<Vec<(Component, ComponentResult)>> {
    let assessment = assess(&regrouped(parts, table, names)?, question).ok()?;
    let series = assessment.series.into_iter().next()?;
    let all = series.solution.components.into_iter().zip(series.components);
    let of_part = |(component, result): (Component, ComponentResult)| {
        let members = members(parts, &component, names)?;
        let name = spell(&members);
        Some((Component { name: name.clone(), parts: members, ..component }, ComponentResult { name, ..result }))
    };
    Some(all.filter_map(of_part).collect())
}

/// The unknowns in a component of the regrouped table; `None` if it has no lead.
fn members(parts: &Parts, component: &Component, names: &[String]) -> Option<Vec<(String, f64)>> {
    let mut all: Vec<(usize, f64)> = Vec::new();
    for (name, coefficient) in &component.parts {
        let lead = parts.leads.iter().find(|(lead, _)| names[*lead] == *name);
        let rest = parts.rest.iter().find(|unknown| name_of_rest(&names[**unknown]) == *name);
        let of_lead = lead.into_iter().flat_map(|(_, members)| members.iter().copied());
        for (unknown, runs) in of_lead.chain(rest.map(|unknown| (*unknown, 1.0))) {
            match all.iter_mut().find(|(known, _)| *known == unknown) {
                Some((_, sum)) => *sum += coefficient * runs,
                None => all.push((unknown, coefficient * runs)),
            }
        }
    }
    let has_lead = component.parts.iter().any(|(name, _)| parts.leads.iter().any(|(lead, _)| names[*lead] == *name));
    has_lead.then(|| all.into_iter().map(|(unknown, runs)| (names[unknown].clone(), runs)).collect())
}

fn name_of_rest(name: &str) -> String {
    format!("{name} beyond the sum")
}

/// The same readings with the counts of the leads, of the other members beyond their sum, and of the page.
fn regrouped(parts: &Parts, table: &Observations, names: &[String]) -> Option<Observations> {
    let main = table.find_series(SERIES)?;
    let page = names.len()..table.components().len();
    let of_leads = parts.leads.iter().map(|(lead, _)| names[*lead].clone());
    let of_rest = parts.rest.iter().map(|unknown| name_of_rest(&names[*unknown]));
    let of_page = page.clone().map(|at| table.components()[at].clone());
    let mut other = Observations::new(of_leads.chain(of_rest).chain(of_page).collect());
    other.origin = table.origin.clone();
    let runs_with = |unknown: usize, members: &[(usize, f64)]| members.iter().find(|(at, _)| *at == unknown).map_or(0.0, |(_, runs)| *runs);
    for row in table.rows() {
        let series = other.series(&table.series_names()[row.series as usize]);
        let sum =
            |unknown: usize| -> f64 { parts.leads.iter().map(|(lead, members)| row.counts[*lead] * runs_with(unknown, members)).sum() };
        let mut counts: Vec<f64> = parts.leads.iter().map(|(lead, _)| row.counts[*lead]).collect();
        counts.extend(parts.rest.iter().map(|unknown| row.counts[*unknown] - sum(*unknown)));
        counts.extend(page.clone().map(|at| row.counts[at]));
        if row.series != main {
            // A chain counts its copies in the first column.
            counts.fill(0.0);
            counts[0] = row.counts[0];
        }
        other.row_apart(series, &counts);
    }
    for reading in table.readings() {
        other.push_guarded(reading.row, reading.round, reading.ticks, reading.flags, reading.guard);
    }
    Some(other)
}

#[cfg(test)]
mod tests {
    use super::super::{Analysis, PAGE_CHAIN, Place, Structure, Unknowns, analyse};
    use super::*;
    use crate::graph::{Counts, Graph, tests::graph};
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Calls with these counts and times, beside functions of the page with an overhead of 80 ticks; `off` is how calls differ.
    fn analysis(graph: &Graph, times: &[f64], off: f64, calls: impl Iterator<Item = Vec<u64>>) -> Analysis {
        let names = Unknowns::Blocks.names(graph).into_iter().chain([PAGE_CHAIN.to_owned()]).collect();
        let mut table = Observations::new(names);
        let series = table.series(SERIES);
        let mut rows = Vec::new();
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut push = |counts: Vec<f64>, ticks: f64, off: f64| {
            let row = table.row_apart(series, &counts);
            let differs = off * random.random_range(-1.0..1.0);
            (0..12).for_each(|round| table.push(row, round, ticks + differs + random.random_range(-0.5..0.5)));
        };
        for blocks in calls {
            let counts: Vec<f64> = blocks.iter().map(|count| *count as f64).chain([0.0]).collect();
            push(counts.clone(), 80.0 + counts.iter().zip(times).map(|(count, time)| count * time).sum::<f64>(), off);
            rows.push(CountRow { counts: Counts { edges: vec![0; graph.edges.len()], blocks }, until: None, counted: None });
        }
        [16.0, 32.0, 64.0].iter().for_each(|copies| push([vec![0.0; times.len()], vec![*copies]].concat(), 80.0 + 3.0 * copies, 0.0));
        analyse(graph, &Structure::from_graph(graph), &rows, Unknowns::Blocks, &table, &Question::default(), None).unwrap()
    }

    /// A loop with its test at the head; a call in ten leaves it in the middle.
    fn scan(off: f64) -> Analysis {
        let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (1, None), (2, Some(1)), (2, None)]);
        let call = |at: u64| {
            let trips = 5 + at * 7 % 40;
            vec![1, trips + u64::from(at % 10 != 0), trips]
        };
        analysis(&graph, &[30.0, 5.0, 7.0], off, (0..60).map(call))
    }

    fn part<'a>(found: &'a Analysis, lead: &str) -> &'a Component {
        found.series().solution.components.iter().find(|part| part.parts[0].0 == lead).unwrap()
    }

    #[test]
    fn a_test_that_runs_once_more_than_its_loop_is_told_with_both() {
        let found = scan(8.0);
        let (trip, call) = (part(&found, "B3"), part(&found, "B1"));
        assert_eq!((&trip.name[..], &call.name[..]), ("B3 + B2", "B1 + B2"));
        assert!((trip.ticks.value - 12.0).abs() < 0.5 && trip.ticks.half_width() < 0.5, "{trip:?}");
        assert!((call.ticks.value - 35.0).abs() < 8.0 && call.ticks.half_width() < 20.0, "{call:?}");
        let at = |name: &str| found.series().solution.components.iter().position(|part| part.parts[0].0 == name).unwrap();
        assert_eq!(found.places[1], Place::Together(at("B3")));
        let shares = found.share(at("B3")).unwrap() + found.share(at("B1")).unwrap();
        assert!((shares - (1.0 - 80.0 / found.mean_call)).abs() < 0.05, "{shares}");
    }

    #[test]
    fn what_is_told_as_a_difference_alone_is_no_time() {
        // 1 goes to 3 by itself or by 2: 1 runs as often as 3, and neither is told from the way without 2.
        let graph = graph(4, &[(0, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(3)), (3, Some(1)), (3, None)]);
        let call = |at: u64| vec![1, 8 + at % 9, 2 + at % 5, 8 + at % 9];
        let found = analysis(&graph, &[30.0, 5.0, 7.0, 2.0], 0.1, (0..60).map(call));
        let of_difference = |at: usize| found.series().solution.components[at].is_difference();
        let is_shown = |place: &Place| matches!(place, Place::Alone(at) | Place::With(at) | Place::Together(at) if of_difference(*at));
        assert!(!found.places.iter().any(is_shown), "{:?}", found.places);
    }

    #[test]
    fn two_blocks_of_a_trip_are_told_together_though_ends_between_them_tell_them_apart() {
        // One call of 0 -> 1 -> 2 -> 1 ... -> out, ended at several arrivals at both.
        let graph = graph(3, &[(0, Some(1)), (1, Some(2)), (2, Some(1)), (1, None)]);
        let calls = [(5001, 5000), (1000, 1000), (2500, 2500), (4000, 4000), (1000, 999), (2500, 2499), (4000, 3999)];
        let found = analysis(&graph, &[30.0, 0.5, 0.75], 20.0, calls.into_iter().map(|(head, body)| vec![1, head, body]));
        let trip = part(&found, "B3");
        assert!(trip.name == "B3 + B2" && (trip.ticks.value - 1.25).abs() < 0.02 && trip.ticks.half_width() < 0.05, "{trip:?}");
    }

    #[test]
    fn parts_that_are_known_well_stay_alone() {
        let found = scan(0.1);
        assert!(!found.told_together && found.places.iter().all(|place| matches!(place, Place::Alone(_))), "{:?}", found.places);
        assert!((part(&found, "B2").ticks.value - 5.0).abs() < 0.5, "{:?}", part(&found, "B2"));
    }

    #[test]
    fn a_dispatch_that_overlaps_what_it_jumps_to_is_told_with_that() {
        // 0 -> 1 -> 2 or 3 -> 1, 1 -> out: the rows say that the dispatch takes less than nothing.
        let graph = graph(4, &[(0, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(1)), (3, Some(1)), (1, None)]);
        let call = |at: u64| vec![1, 21 + at % 7 + at % 11, 10 + at % 7, 10 + at % 11];
        let found = analysis(&graph, &[30.0, -6.0, 20.0, 30.0], 0.1, (0..60).map(call));
        for (lead, name, time) in [("B3", "B3 + B2", 14.0), ("B4", "B4 + B2", 24.0)] {
            let told = part(&found, lead);
            assert!(told.name == name && (told.ticks.value - time).abs() < 0.5, "{told:?}");
        }
        assert!(found.quality.is_carried() && !found.quality.negative, "{:?}", found.findings);
    }

    #[test]
    fn a_block_behind_two_arms_is_told_with_each() {
        // 0 -> 1 -> 2 or 3 -> 4 -> 1 or out
        let edges = [(0, Some(1)), (1, Some(2)), (1, Some(3)), (2, Some(4)), (3, Some(4)), (4, Some(1)), (4, None)];
        let call = |at: u64| vec![1, 5 + at % 7 + at % 11, 2 + at % 7, 3 + at % 11, 5 + at % 7 + at % 11];
        let found = analysis(&graph(5, &edges), &[30.0, 5.0, 7.0, 17.0, 2.0], 0.1, (0..60).map(call));
        for (lead, time) in [("B1", 30.0), ("B3", 14.0), ("B4", 24.0)] {
            let told = part(&found, lead);
            assert!((told.ticks.value - time).abs() < 1.0 && told.ticks.half_width() < 2.0, "{told:?}");
        }
        assert!(part(&found, "B3").parts.iter().map(|(name, _)| &name[..]).eq(["B3", "B2", "B5"]), "{:?}", part(&found, "B3").parts);
    }
}
