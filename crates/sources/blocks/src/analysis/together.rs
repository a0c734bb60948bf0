//! Parts that are told together, where the time of each by itself is not known well, because its
//! counts are nearly a sum of other counts: the blocks of a loop and the test at its head, which
//! runs once more; a block behind arms, which runs as often as all of them.
//!
//! The model stays as it is, only other sums of its unknowns are asked for. If `N_j` is about
//! `N_a + N_b`, every run of a and of b comes with one of j: the times `T_a + T_j` and `T_b + T_j`
//! are known well where `T_j` is not. They are the coefficients of `N_a` and `N_b` beside the
//! column `N_j - N_a - N_b`, whose coefficient is `T_j`.
//!
//! So is a part that comes out negative because the core overlaps it with what follows, as the
//! dispatch of an interpreter.

use super::negative::is_beyond_noise;
use super::{CountRow, SERIES};
use hairspring_core::estimate::{Component, Solution, solution::spell};
use hairspring_core::judge::{ComponentResult, Question, assess};
use hairspring_core::observations::Observations;
use std::collections::{BTreeMap, BTreeSet};

/// Half-width of what a part takes in a mean call, as a share of the call, from which it is told
/// together with others.
const TOO_WIDE: f64 = 0.05;
/// Time below zero, as a share of a mean call, from which a part is told with those whose sum its
/// counts are within a tenth.
const NEGATIVE_SHARE: f64 = 0.01;
const NEARLY_SHARE: f64 = 0.1;
/// Half-width of a time that says something, as a share of it.
const WIDEST_SHARE: f64 = 0.5;
/// How much coarser the parts of trips are in each further search, how many there are at the most,
/// and the share of the runs of which a time must say something so that none is needed.
const COARSER_FACTOR: f64 = 2.0;
const SEARCHES: i32 = 6;
const ENOUGH_SHARE: f64 = 0.9;
/// Rounds of which the readings are solved for a search.
const ROUNDS_OF_SEARCH: u32 = 32;
/// Half-widths in a standard deviation.
const COVERAGE: f64 = 2.0;
/// By how much whole numbers may describe counts worse than the best numbers do.
const ABOUT_FACTOR: f64 = 2.0;
/// Part of a column, relative to its length, that is only rounding.
const ROUNDING: f64 = 1e-9;

/// The parts of a function as they can be told.
#[derive(Debug, Clone, PartialEq)]
struct Parts {
    /// Unknowns that are told, each with those that come with a run of it and how often.
    leads: Vec<(usize, Vec<(usize, f64)>)>,
    /// Unknowns of which the counts are not exactly a sum of those of the leads.
    rest: Vec<usize>,
}

/// The columns of a table in the function's rows.
struct Columns {
    /// Each unknown's, then those of the page, then the overhead's, then one for each place where
    /// parts of a call end.
    all_columns: Vec<Vec<f64>>,
    unknowns: usize,
    /// Where those of the ends begin.
    ends: usize,
}

impl Columns {
    /// Of the rows with readings: a whole call of which parts were timed has counts alone, and
    /// would tell what runs once in it.
    fn new(table: &Observations, unknowns: usize, ends: &[Option<usize>]) -> Option<Columns> {
        let series = table.find_series(SERIES)?;
        let mut has_readings = vec![false; table.rows().len()];
        table.readings().iter().for_each(|reading| has_readings[reading.row as usize] = true);
        let of_series = table
            .rows()
            .iter()
            .zip(has_readings)
            .filter(|(row, _)| row.series == series)
            .enumerate();
        let used = of_series.filter(|(_, (_, has_readings))| *has_readings);
        let rows: Vec<(&Vec<f64>, Option<usize>)> =
            used.map(|(at, (row, _))| (&row.counts, ends.get(at).copied().flatten())).collect();
        let of_table = (0..table.components().len())
            .map(|at| rows.iter().map(|(counts, _)| counts[at]).collect());
        let places: BTreeSet<usize> = rows.iter().filter_map(|(_, end)| *end).collect();
        let of_ends = places.into_iter().map(|place| {
            rows.iter().map(|(_, end)| f64::from(u8::from(*end == Some(place)))).collect()
        });
        Some(Columns {
            all_columns: of_table.chain([vec![1.0; rows.len()]]).chain(of_ends).collect(),
            unknowns,
            ends: table.components().len() + 1,
        })
    }

    /// Unknowns that run in whole calls, in classes of those that run equally often in every row;
    /// those that run least come first, so that what runs often is a sum of what runs less.
    fn classes(&self, totals: &[f64]) -> Vec<Vec<usize>> {
        let mut units_by_counts: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        for unknown in (0..self.unknowns).filter(|at| totals[*at] > 0.0) {
            units_by_counts
                .entry(self.all_columns[unknown].iter().map(|count| count.to_bits()).collect())
                .or_default()
                .push(unknown);
        }
        let mut all_classes: Vec<Vec<usize>> = units_by_counts.into_values().collect();
        all_classes.sort_by(|a, b| totals[a[0]].total_cmp(&totals[b[0]]).then(a.cmp(b)));
        all_classes
    }
}

/// Orthonormal columns, from which others are taken.
#[derive(Default)]
struct Basis {
    units: Vec<Vec<f64>>,
    /// How each unit is made of columns that were added: the coefficient of each.
    coefficients_of_units: Vec<Vec<f64>>,
    added: usize,
}

impl Basis {
    /// Of these columns, but those that are sums of others.
    fn of(columns: &[Vec<f64>]) -> Basis {
        let mut basis = Basis::default();
        for column in columns {
            let split = basis.split(column);
            if norm(&split.0) > ROUNDING * norm(column) {
                basis.add(split);
            }
        }
        basis
    }

    /// Adds a column; one that is a sum of others has no part in what is split further.
    fn add_if_new(&mut self, column: &[f64]) {
        let split = self.split(column);
        if norm(&split.0) > ROUNDING * norm(column) {
            self.add(split);
        } else {
            self.coefficients_of_units.iter_mut().for_each(|made| made.push(0.0));
            self.added += 1;
        }
    }

    /// The rest of a column, and the coefficients of the added columns in it.
    fn split(&self, column: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut rest, mut coefficients) = (column.to_vec(), vec![0.0; self.added]);
        // Twice, since the first time leaves rounding of the size of the column.
        for _ in 0..2 {
            for (unit, unit_coefficients) in self.units.iter().zip(&self.coefficients_of_units) {
                let along = dot(&rest, unit);
                rest.iter_mut().zip(unit).for_each(|(value, unit)| *value -= along * unit);
                coefficients
                    .iter_mut()
                    .zip(unit_coefficients)
                    .for_each(|(sum, part)| *sum += along * part);
            }
        }
        (rest, coefficients)
    }

    fn add(&mut self, (rest, coefficients): (Vec<f64>, Vec<f64>)) {
        let length = norm(&rest);
        self.units.push(rest.into_iter().map(|value| value / length).collect());
        self.coefficients_of_units.iter_mut().for_each(|made| made.push(0.0));
        let unit_coefficients =
            coefficients.into_iter().map(|part| -part / length).chain([1.0 / length]);
        self.coefficients_of_units.push(unit_coefficients.collect());
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
    /// The columns of the places where parts of a call end.
    ends: Basis,
    /// These, the columns of the page, the overhead, and the leads.
    basis: Basis,
    /// The same without those of the ends.
    plain: Basis,
    /// How many of them are not of leads.
    of_page: usize,
    parts: Parts,
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
        let basis = Basis::of(&columns.all_columns[columns.unknowns..]);
        let parts = Parts { leads: Vec::new(), rest: Vec::new() };
        let (page, ends) =
            columns.all_columns[columns.unknowns..].split_at(columns.ends - columns.unknowns);
        Search {
            columns,
            ends: Basis::of(ends),
            plain: Basis::of(page),
            of_page: basis.added,
            basis,
            parts,
        }
    }

    /// How a class is told beside the leads. By itself if what is left of its column without them
    /// is not shorter than `shortest`.
    fn told(&self, column: &[f64], shortest: f64) -> Told {
        let (rest, coefficients) = self.basis.split(column);
        let (length, rounding) = (norm(&rest), ROUNDING * norm(column));
        if length > rounding.max(shortest) {
            return Told::Alone;
        }
        let (of_page, runs) = coefficients.split_at(self.of_page);
        let is_sum = length <= rounding;
        // What whole numbers leave may be as short as what does not tell the class from the rest.
        let most_off = if is_sum { rounding } else { shortest.max(ABOUT_FACTOR * length) };
        let whole: Vec<f64> = runs.iter().map(|runs| runs.round().max(0.0)).collect();
        let beyond = without(column, self.leads(), &whole);
        match () {
            () if norm(&self.ends.split(&beyond).0) <= most_off
                && whole.iter().any(|runs| *runs > 0.0) =>
            {
                Told::With(whole, norm(&beyond) <= rounding)
            }
            // Of parts of a call, what differs from a sum of leads is where parts end.
            () if is_sum && self.ends.added > 0 && is_time(runs) => {
                Told::With(runs.iter().map(|runs| without_rounding(*runs)).collect(), false)
            }
            // Trips alone would tell a difference of times. The places where parts end tell a time,
            // though less well.
            () if is_sum && self.ends.added > 0 && norm(&self.plain.split(column).0) > rounding => {
                Told::Alone
            }
            () if is_sum && of_page.iter().any(|part| part.abs() > ROUNDING) => Told::InOverhead,
            () if is_sum => {
                Told::With(runs.iter().map(|runs| without_rounding(*runs)).collect(), true)
            }
            () => Told::Alone,
        }
    }

    fn leads(&self) -> impl Iterator<Item = &[f64]> {
        self.parts.leads.iter().map(|(lead, _)| &self.columns.all_columns[*lead][..])
    }

    fn lead(&mut self, class: &[usize]) {
        let column = &self.columns.all_columns[class[0]];
        for basis in [&mut self.basis, &mut self.plain] {
            basis.add_if_new(column);
        }
        self.parts.leads.push((class[0], class.iter().map(|unknown| (*unknown, 1.0)).collect()));
    }

    fn join(&mut self, class: &[usize], runs: &[f64], is_exact: bool) {
        for ((_, members), runs) in
            self.parts.leads.iter_mut().zip(runs).filter(|(_, runs)| runs.abs() > ROUNDING)
        {
            members.extend(class.iter().map(|unknown| (*unknown, *runs)));
        }
        self.parts.rest.extend(class.iter().copied().filter(|_| !is_exact));
    }
}

/// Whether a sum of leads with these coefficients is a time: some are positive, and none is
/// negative.
fn is_time(runs: &[f64]) -> bool {
    const NO_RUNS: f64 = 1e-6;
    runs.iter().all(|runs| *runs > -NO_RUNS) && runs.iter().any(|runs| *runs > NO_RUNS)
}

/// The whole number that a coefficient is but for rounding, or the coefficient.
fn without_rounding(coefficient: f64) -> f64 {
    const NEAR_DISTANCE: f64 = 1e-6;
    if (coefficient - coefficient.round()).abs() < NEAR_DISTANCE {
        coefficient.round()
    } else {
        coefficient
    }
}

/// A column less these multiples of others.
fn without<'a>(
    column: &[f64],
    other_columns: impl Iterator<Item = &'a [f64]>,
    factors: &[f64],
) -> Vec<f64> {
    let mut rest = column.to_vec();
    for (other, factor) in other_columns.zip(factors) {
        rest.iter_mut().zip(other).for_each(|(value, other)| *value -= factor * other);
    }
    rest
}

/// The whole calls of a function.
#[derive(Debug, Clone, Copy)]
pub struct Calls<'a> {
    /// How often each unknown runs in all of them.
    pub totals: &'a [f64],
    /// How many there are.
    pub number: f64,
    /// The time of a mean one.
    pub mean: f64,
    /// Whether parts of them were timed in their place.
    pub in_parts: bool,
}

/// The times of the parts in which a function can be told; `None` if each is told by itself, or
/// with those that always run equally often.
///
/// Of parts of a call, whole trips are told: from a place where parts end to the same place. What
/// the core has not finished there is not the same at each place, and is then in no time. It is not
/// the same for each way to the place either, so that the rows tell trips apart less well than
/// their noise says: they are told in coarser parts until most times say something.
pub fn tell(
    solution: &Solution,
    (table, rows): (&Observations, &[CountRow]),
    names: &[String],
    calls: Calls,
    question: &Question,
) -> Option<Vec<(Component, ComponentResult)>> {
    let noise = solution.residual_sd.max(solution.lack_of_fit.map_or(0.0, |lack| lack.sd));
    let ends: Vec<Option<usize>> =
        rows.iter().map(|row| row.until.filter(|_| calls.in_parts)).collect();
    let columns = Columns::new(table, calls.totals.len(), &ends)?;
    let found_parts = match calls.in_parts {
        false => parts(solution, &columns, names, calls, noise)?,
        true => trips(solution, &columns, names, table, calls, noise, question)?,
    };
    solve(&found_parts, table, 1, names, question)
}

/// The finest parts of trips of whose times enough say something, or most.
fn trips(
    solution: &Solution,
    columns: &Columns,
    names: &[String],
    table: &Observations,
    calls: Calls,
    noise: f64,
    question: &Question,
) -> Option<Parts> {
    let every = (table.rounds() / ROUNDS_OF_SEARCH).max(1);
    let mut best: Option<(f64, Parts)> = None;
    let mut last = None;
    for search in 0..SEARCHES {
        let parts_of_search =
            parts(solution, columns, names, calls, noise * COARSER_FACTOR.powi(search));
        let Some(parts_of_search) =
            parts_of_search.filter(|parts_of_search| last.as_ref() != Some(parts_of_search))
        else {
            continue;
        };
        last = Some(parts_of_search.clone());
        let known_share = solve(&parts_of_search, table, every, names, question)
            .map_or(0.0, |times| known(&times, names, calls));
        if best.as_ref().is_none_or(|(most, _)| known_share > *most) {
            best = Some((known_share, parts_of_search));
        }
        if known_share >= ENOUGH_SHARE {
            break;
        }
    }
    best.map(|(_, parts)| parts)
}

/// The share of the runs that are in a part whose time says something.
fn known(times: &[(Component, ComponentResult)], names: &[String], calls: Calls) -> f64 {
    let (mut all_runs, mut known_runs) = (0.0, 0.0);
    for (part, _) in times.iter().filter(|(part, _)| !part.is_difference()) {
        let lead = names.iter().position(|name| *name == part.parts[0].0);
        let lead_runs = lead.map_or(0.0, |at| calls.totals[at]);
        let runs = lead_runs * part.parts.iter().map(|(_, coefficient)| coefficient).sum::<f64>();
        let half = part.ticks.half_width();
        all_runs += runs;
        known_runs += if half <= WIDEST_SHARE * part.ticks.value
            || half * lead_runs <= TOO_WIDE * calls.mean * calls.number
        {
            runs
        } else {
            0.0
        };
    }
    if all_runs > 0.0 { known_runs / all_runs } else { 0.0 }
}

/// The parts in which a function can be told where rows are off by `noise`.
fn parts(
    solution: &Solution,
    columns: &Columns,
    names: &[String],
    calls: Calls,
    noise: f64,
) -> Option<Parts> {
    let Calls { totals, number, mean, in_parts: trips } = calls;
    let mut search = Search::new(columns);
    let mut is_any = false;
    for class in columns.classes(totals) {
        let column = &columns.all_columns[class[0]];
        let shortest = COVERAGE * noise * totals[class[0]] / (number * TOO_WIDE * mean);
        let is_negative =
            is_negative(solution, &names[class[0]], totals[class[0]] / (number * mean));
        match search.told(
            column,
            if is_negative { shortest.max(NEARLY_SHARE * norm(column)) } else { shortest },
        ) {
            Told::Alone => search.lead(&class),
            Told::With(runs, is_exact) => search.join(&class, &runs, is_exact),
            Told::InOverhead if trips => search.parts.rest.extend(&class),
            Told::InOverhead => return None,
        }
        is_any |= search.parts.leads.last().is_none_or(|(lead, _)| *lead != class[0]);
    }
    // A loop whose trips are all alike is a part of a call by itself.
    let least_leads = if trips { 1 } else { 2 };
    ((is_any || trips) && search.parts.leads.len() >= least_leads).then_some(search.parts)
}

/// Whether an unknown of this many runs in the time of a mean call is negative by a good part of a
/// call, and noise alone does not explain it: the core overlaps it with what comes with it.
fn is_negative(solution: &Solution, name: &str, runs: f64) -> bool {
    let holds = |part: &&Component| {
        !part.is_difference() && part.parts.iter().any(|(known, _)| known == name)
    };
    let Some(part) = solution.components.iter().find(holds) else { return false };
    is_beyond_noise(part, part.ticks.level) && part.ticks.value * runs < -NEGATIVE_SHARE
}

/// The time of each part, from the same readings, or those of one in `every` rounds.
fn solve(
    parts: &Parts,
    table: &Observations,
    every: u32,
    names: &[String],
    question: &Question,
) -> Option<Vec<(Component, ComponentResult)>> {
    let assessment = assess(&regrouped(parts, table, every, names)?, question).ok()?;
    let series = assessment.series.into_iter().next()?;
    let all_components = series.solution.components.into_iter().zip(series.components);
    let of_part = |(mut component, result): (Component, ComponentResult)| {
        component.parts = members(parts, &component, names)?;
        component.name = spell(&component.parts);
        let name = component.name.clone();
        Some((component, ComponentResult { name, ..result }))
    };
    Some(all_components.filter_map(of_part).collect())
}

/// The unknowns in a component of the regrouped table; `None` if it has no lead.
fn members(parts: &Parts, component: &Component, names: &[String]) -> Option<Vec<(String, f64)>> {
    let mut all_members: Vec<(usize, f64)> = Vec::new();
    for (name, coefficient) in &component.parts {
        let lead = parts.leads.iter().find(|(lead, _)| names[*lead] == *name);
        let rest = parts.rest.iter().find(|unknown| name_of_rest(&names[**unknown]) == *name);
        let of_lead = lead.into_iter().flat_map(|(_, members)| members.iter().copied());
        for (unknown, runs) in of_lead.chain(rest.map(|unknown| (*unknown, 1.0))) {
            match all_members.iter_mut().find(|(known, _)| *known == unknown) {
                Some((_, sum)) => *sum += coefficient * runs,
                None => all_members.push((unknown, coefficient * runs)),
            }
        }
    }
    let has_lead = component
        .parts
        .iter()
        .any(|(name, _)| parts.leads.iter().any(|(lead, _)| names[*lead] == *name));
    has_lead.then(|| {
        all_members.into_iter().map(|(unknown, runs)| (names[unknown].clone(), runs)).collect()
    })
}

fn name_of_rest(name: &str) -> String {
    format!("{name} beyond the sum")
}

/// The same readings with the counts of the leads, of the other members beyond their sum, and of
/// the page.
fn regrouped(
    parts: &Parts,
    table: &Observations,
    every: u32,
    names: &[String],
) -> Option<Observations> {
    let main = table.find_series(SERIES)?;
    let page = names.len()..table.components().len();
    let of_leads = parts.leads.iter().map(|(lead, _)| names[*lead].clone());
    let of_rest = parts.rest.iter().map(|unknown| name_of_rest(&names[*unknown]));
    let of_page = page.clone().map(|at| table.components()[at].clone());
    let mut other_table = Observations::new(of_leads.chain(of_rest).chain(of_page).collect());
    other_table.origin = table.origin.clone();
    let runs_with = |unknown: usize, members: &[(usize, f64)]| {
        members.iter().find(|(at, _)| *at == unknown).map_or(0.0, |(_, runs)| *runs)
    };
    for row in table.rows() {
        let series = other_table.series(&table.series_names()[row.series as usize]);
        let sum = |unknown: usize| -> f64 {
            parts
                .leads
                .iter()
                .map(|(lead, members)| row.counts[*lead] * runs_with(unknown, members))
                .sum()
        };
        let mut counts: Vec<f64> = parts.leads.iter().map(|(lead, _)| row.counts[*lead]).collect();
        counts.extend(parts.rest.iter().map(|unknown| row.counts[*unknown] - sum(*unknown)));
        counts.extend(page.clone().map(|at| row.counts[at]));
        if row.series != main {
            // A chain counts its copies in the first column.
            counts.fill(0.0);
            counts[0] = row.counts[0];
        }
        other_table.row_apart(series, &counts);
    }
    for reading in table.readings().iter().filter(|reading| reading.round % every == 0) {
        other_table.push_guarded(
            reading.row,
            reading.round / every,
            reading.ticks,
            reading.flags,
            reading.guard,
        );
    }
    Some(other_table)
}

#[cfg(test)]
mod tests;
