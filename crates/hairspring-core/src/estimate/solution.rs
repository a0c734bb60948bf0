//! The solution of a system: components, overhead, rows, lack of fit; and the vector of its
//! unknowns with one error budget, of which every time and every ratio is a view.

use super::algebra::Matrix;
use super::interval::{Contribution, Estimate, Source, Uncertain};
use super::rank::Rank;
use super::serial::Serial;
use super::variation::{InBlocks, LayoutsAre};
use crate::grid::Grid;
use crate::observations::RowId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The time of one component, or of a combination that the design cannot split.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The name of the component or combination, such as `B4 + B6`.
    pub name: String,
    /// The components in it with their coefficients; one entry with coefficient 1 for a single
    /// component.
    pub parts: Vec<(String, f64)>,
    /// Time of one execution, in the table's unit.
    pub ticks: Estimate,
    /// The same time with its error budget.
    pub uncertain: Uncertain,
    /// Largest change of the value when any one row is left out.
    pub row_influence: f64,
    /// Its place among the unknowns of its solution.
    pub(crate) unknown: usize,
}

impl Component {
    /// Whether it is a difference of times, which may be negative.
    pub fn is_difference(&self) -> bool {
        self.parts.iter().any(|(_, coefficient)| *coefficient < 0.0)
    }
}

/// Why a row was left out of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LeftOut {
    /// The line is not straight at this few copies.
    Bend,
    /// Its deviation is far above the median deviation (Moreno and Fischmeister, 4.1).
    OffLine,
    /// Too few of its readings were free of interference.
    Interference,
    /// All its readings were excluded by the author of the table (flag `x`).
    Excluded,
}

/// One row of the design with its readings and its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFit {
    /// The row in the table.
    pub row: RowId,
    /// Its counts.
    pub counts: Vec<f64>,
    /// Number of its readings.
    pub readings: usize,
    /// Number of its readings that were used.
    pub used: usize,
    /// Robust location of its readings, in the table's unit.
    pub location: f64,
    /// Standard deviation of a single reading; `None` if there are too few.
    pub sd: Option<f64>,
    /// Location minus fitted value.
    pub residual: f64,
    /// Why it was left out; `None` if it was used.
    pub left_out: Option<LeftOut>,
}

/// Lack of fit of the rows against the pure error of the repeats (the F test of regression
/// analysis).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LackOfFit {
    /// Mean square of the rows' deviations over the mean square expected from noise.
    pub f: f64,
    /// Rows minus unknowns.
    pub dof: usize,
    /// Probability of an F at least this large if the model holds.
    pub p: f64,
    /// Standard deviation of the rows' systematic departure from the line, in the table's unit.
    pub sd: f64,
}

/// The solved system.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Components that can be told apart.
    pub components: Vec<Component>,
    /// Time that all rows have in common; `None` if the design merges it with a component.
    pub overhead: Option<Estimate>,
    /// Exact rank of the design; the last column is the overhead.
    pub rank: Rank,
    /// Names of the columns; the last one is `overhead`.
    pub columns: Vec<String>,
    /// All rows of the series. Empty for large tables without repeats.
    pub rows: Vec<RowFit>,
    /// Lack of fit, if there are enough rows and repeats, or enough readings of nearly equal size.
    pub lack_of_fit: Option<LackOfFit>,
    /// Largest location of a row (largest fitted reading if rows are not repeated), in the table's
    /// unit.
    pub largest: f64,
    /// Root mean square of the residuals of the rows used.
    pub residual_sd: f64,
    /// Number of readings.
    pub readings: usize,
    /// Number of readings used.
    pub readings_used: usize,
    /// The places in the table of readings that a regression found far off its plane.
    pub(crate) off_plane: Vec<u32>,
    /// Unknowns of each block of rounds, with the block's first round; empty if rows are not
    /// repeated.
    pub blocks: Vec<(u32, Vec<f64>)>,
    /// Quantum of the clock in the table's unit; 0 if unknown.
    pub quantum: f64,
    /// Largest standard deviation of a row in quanta of the clock; `None` if the quantum is
    /// unknown. Far below 0.3 the readings are not dithered: the quantum does not average out.
    pub phase_spread: Option<f64>,
    /// The unknowns with their budget.
    pub(crate) vector: Vector,
}

/// An entry of the budget of an unknown. Entries of one cause that several times have in common
/// have a sign, and cancel in a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub source: Source,
    /// What an error of the cause by its standard deviation or bound changes the unknown by.
    pub size: f64,
    /// Degrees of freedom of a standard deviation; `None` for a bound.
    pub dof: Option<f64>,
    /// The number of the error, if other unknowns with an entry of this source and number are off
    /// by the same one.
    pub shared: Option<u8>,
}

impl Entry {
    pub fn standard(source: Source, sd: f64, dof: f64) -> Entry {
        Entry { source, size: sd, dof: Some(dof), shared: None }
    }

    pub fn bound(source: Source, bound: f64) -> Entry {
        Entry { source, size: bound, dof: None, shared: None }
    }

    /// The same for an error that all unknowns with an entry of this source have in common.
    pub fn shared(self) -> Entry {
        self.shared_as(0)
    }

    /// The same for one of several errors of this source, by its number.
    pub fn shared_as(self, number: u8) -> Entry {
        Entry { shared: Some(number), ..self }
    }

    fn contribution(self) -> Contribution {
        match self.dof {
            Some(dof) => Contribution::standard(self.source, self.size.abs(), dof),
            None => Contribution::bound(self.source, self.size.abs()),
        }
    }
}

/// A row in use, for what its departure from the line does to the unknowns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowDeparture {
    /// Its counts, by which rows of another series are the same.
    pub counts: Vec<f64>,
    /// Its residual, corrected for its leverage.
    pub residual: f64,
    /// The part of the residual's square that noise explains.
    pub noise: f64,
}

/// The unknowns of a solution, and what they are uncertain by.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Vector {
    /// The value of each unknown.
    pub values: Vec<f64>,
    /// The entries of each, but for noise and departure.
    pub entries: Vec<Vec<Entry>>,
    pub grid: Arc<Grid>,
    /// The numbers of the blocks in which all rows have readings.
    pub blocks: Vec<usize>,
    /// The unknowns in these blocks.
    pub in_blocks: Vec<Vec<f64>>,
    /// Noise has at least this variance, as far as the clock's quantum lets readings agree; for
    /// each unknown.
    pub least_noise: Vec<f64>,
    /// The weights of the rows in each unknown.
    pub map: Matrix,
    /// The departures of the rows from the line; empty if chance explains them.
    pub departures: Vec<RowDeparture>,
    /// What the departure is by itself, where rows of similar counts depart alike, for each
    /// unknown; empty if they count singly.
    pub grouped: Vec<Option<Contribution>>,
    /// Degrees of freedom of what the departures do to each unknown.
    pub departure_dof: Vec<f64>,
    /// What the correlation of errors does to the noise, if the readings were taken in the order of
    /// their counts.
    pub serial: Option<Serial>,
}

/// A time in a linear combination of times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'s> {
    pub solution: &'s Solution,
    pub unknown: usize,
    pub factor: f64,
    /// What its entries are called, if not by their own source: the reference chain has one entry
    /// of its own.
    pub called: Option<Source>,
}

/// A linear combination of times with its budget: the noise of blocks that all have in common, the
/// departure of rows, where rows with the same counts depart together, and all entries, of which
/// shared ones cancel.
pub(crate) fn combined(value: f64, parts: &[Part], level: f64, layouts: LayoutsAre) -> Uncertain {
    let mut budget = noise(parts, level, layouts);
    budget.extend(departure(parts));
    budget.extend(entries(parts));
    budget.retain(|entry| {
        entry.source == Source::Noise
            || entry.half_width(level) > 0.0 && !entry.is_negligible(value)
    });
    Uncertain { value, budget }
}

/// The values of a combination in the blocks that all parts have.
pub(crate) fn in_common_blocks(parts: &[Part]) -> (Vec<usize>, Vec<f64>) {
    let Some((first, other_parts)) = parts.split_first() else { return (Vec::new(), Vec::new()) };
    let place = |part: &Part, block: usize| part.solution.vector.blocks.binary_search(&block).ok();
    let value =
        |part: &Part, at: usize| part.factor * part.solution.vector.in_blocks[at][part.unknown];
    let sum = |(at, block): (usize, &usize)| {
        let sum_of_others = other_parts
            .iter()
            .map(|part| Some(value(part, place(part, *block)?)))
            .sum::<Option<f64>>()?;
        Some((*block, value(first, at) + sum_of_others))
    };
    first.solution.vector.blocks.iter().enumerate().filter_map(sum).unzip()
}

fn noise(parts: &[Part], level: f64, layouts: LayoutsAre) -> Vec<Contribution> {
    let with_blocks: Vec<Part> =
        parts.iter().copied().filter(|part| !part.solution.vector.blocks.is_empty()).collect();
    let Some(first) = with_blocks.first() else { return Vec::new() };
    let (blocks, values) = in_common_blocks(&with_blocks);
    if blocks.len() < 2 {
        return Vec::new();
    }
    let mut budget = InBlocks { blocks: &blocks, values: &values }.budget(
        &first.solution.vector.grid,
        level,
        layouts,
    );
    let least_noise: f64 = with_blocks
        .iter()
        .map(|part| part.factor.powi(2) * part.solution.vector.least_noise[part.unknown])
        .sum();
    if let super::Spread::Standard { sd, .. } = &mut budget[0].spread {
        *sd = sd.max(least_noise.sqrt());
    }
    budget
}

/// What the departure of the rows adds: every row counts with its own residual (MacKinnon and White
/// 1985, HC2; Bell and McCaffrey 2002 for the degrees of freedom), without what noise explains.
/// Rows with the same counts depart together.
fn departure(parts: &[Part]) -> Vec<Contribution> {
    if let [part] = parts {
        if let Some(grouped) = part.solution.vector.grouped.get(part.unknown) {
            return grouped
                .iter()
                .map(|entry| named(entry.scaled(part.factor), part.called))
                .collect();
        }
    }
    // The departure of the reference chain has a name of its own.
    let (named_parts, own_parts): (Vec<Part>, Vec<Part>) =
        parts.iter().copied().partition(|part| part.called.is_some());
    let of = |parts: &[Part], called: Option<Source>| {
        departure_of(parts).map(|entry| named(entry, called))
    };
    of(&own_parts, None)
        .into_iter()
        .chain(of(&named_parts, named_parts.first().and_then(|part| part.called)))
        .collect()
}

fn named(entry: Contribution, called: Option<Source>) -> Contribution {
    called.map_or(entry, |source| Contribution { source, ..entry })
}

fn departure_of(parts: &[Part]) -> Option<Contribution> {
    if let [part] = parts {
        return departure_alone(part);
    }
    let mut rows: BTreeMap<Vec<u64>, (f64, f64)> = BTreeMap::new();
    for part in parts {
        let vector = &part.solution.vector;
        for (at, row) in vector.departures.iter().enumerate() {
            let weight = part.factor * vector.map[(part.unknown, at)];
            let sum =
                rows.entry(row.counts.iter().map(|count| count.to_bits()).collect()).or_default();
            *sum = (sum.0 + weight * row.residual, sum.1 + weight * weight * row.noise);
        }
    }
    let variance: f64 = rows.values().map(|(effect, noise)| effect * effect - noise).sum();
    let dof = parts
        .iter()
        .filter_map(|part| part.solution.vector.departure_dof.get(part.unknown).copied())
        .fold(f64::INFINITY, f64::min);
    (variance > 0.0).then(|| Contribution::standard(Source::Departure, variance.sqrt(), dof))
}

/// The same of one time: rows with the same counts may be of other data, and depart by themselves.
fn departure_alone(part: &Part) -> Option<Contribution> {
    let vector = &part.solution.vector;
    let weights = vector
        .departures
        .iter()
        .enumerate()
        .map(|(at, row)| (part.factor * vector.map[(part.unknown, at)], row));
    let variance: f64 = weights
        .map(|(weight, row)| weight * weight * (row.residual * row.residual - row.noise))
        .sum();
    (variance > 0.0).then(|| {
        Contribution::standard(
            Source::Departure,
            variance.sqrt(),
            vector.departure_dof[part.unknown],
        )
    })
}

/// The entries of all parts: shared ones of an error are added with their signs, and bounds of one
/// source by their sizes.
fn entries(parts: &[Part]) -> Vec<Contribution> {
    let all_entries = || {
        parts.iter().flat_map(|part| {
            part.solution.vector.entries[part.unknown].iter().map(move |entry| (part, entry))
        })
    };
    let scaled = |part: &Part, entry: &Entry| Entry {
        size: part.factor * entry.size,
        source: part.called.unwrap_or(entry.source),
        ..*entry
    };
    let own_entries = all_entries()
        .filter(|(_, entry)| entry.shared.is_none())
        .map(|(part, entry)| scaled(part, entry).contribution());
    let mut shared: BTreeMap<(Source, bool, Option<u8>), Entry> = BTreeMap::new();
    for (part, entry) in all_entries().filter(|(_, entry)| entry.shared.is_some()) {
        let size = part.factor * entry.size;
        let key = (entry.source, entry.dof.is_some(), entry.shared);
        shared.entry(key).and_modify(|sum| sum.size += size).or_insert(Entry { size, ..*entry });
    }
    let mut bounds: BTreeMap<Source, f64> = BTreeMap::new();
    for entry in shared.values().filter(|entry| entry.dof.is_none()) {
        *bounds.entry(entry.source).or_default() += entry.size.abs();
    }
    let standard =
        shared.into_values().filter(|entry| entry.dof.is_some()).map(Entry::contribution);
    own_entries
        .chain(standard)
        .chain(bounds.into_iter().map(|(source, bound)| Contribution::bound(source, bound)))
        .collect()
}

impl Solution {
    /// The component of that name.
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }

    /// Number of rows used, and number of rows left out.
    pub fn rows_used(&self) -> (usize, usize) {
        let left_out = self.rows.iter().filter(|row| row.left_out.is_some()).count();
        (self.rows.len() - left_out, left_out)
    }

    /// Share of the readings that were flagged or outliers.
    pub fn share_unused(&self) -> f64 {
        1.0 - self.readings_used as f64 / self.readings.max(1) as f64
    }

    /// An unknown as a part of a combination.
    pub(crate) fn part(&self, unknown: usize, factor: f64) -> Part<'_> {
        Part { solution: self, unknown, factor, called: None }
    }

    /// The time of an unknown with its budget.
    pub(crate) fn uncertain(&self, unknown: usize, level: f64) -> Uncertain {
        combined(self.vector.values[unknown], &[self.part(unknown, 1.0)], level, LayoutsAre::Fixed)
    }

    /// Adds an entry to the budget of an unknown.
    pub(crate) fn add(&mut self, unknown: usize, entry: Entry) {
        if entry.size != 0.0 {
            self.vector.entries[unknown].push(entry);
        }
    }

    /// Moves an unknown.
    pub(crate) fn shift(&mut self, unknown: usize, by: f64) {
        self.vector.values[unknown] += by;
    }

    /// Multiplies all unknowns with what they are uncertain by.
    pub(crate) fn scale(&mut self, factor: f64) {
        let vector = &mut self.vector;
        vector.values.iter_mut().for_each(|value| *value *= factor);
        vector.entries.iter_mut().flatten().for_each(|entry| entry.size *= factor);
        vector.in_blocks.iter_mut().flatten().for_each(|value| *value *= factor);
        vector.least_noise.iter_mut().for_each(|variance| *variance *= factor * factor);
        vector.departures.iter_mut().for_each(|row| {
            (row.residual, row.noise) = (row.residual * factor, row.noise * factor * factor)
        });
        vector.grouped.iter_mut().flatten().for_each(|entry| *entry = entry.scaled(factor));
    }

    /// Sets the components and the overhead from the unknowns and their budget.
    pub(crate) fn express(&mut self, level: f64) {
        for at in 0..self.components.len() {
            let uncertain = self.uncertain(self.components[at].unknown, level);
            self.components[at].ticks = uncertain.estimate(level);
            self.components[at].uncertain = uncertain;
        }
        let overhead = self
            .rank
            .identifiable
            .iter()
            .position(|one| one.terms == [(self.columns.len() - 1, 1.0)]);
        self.overhead = overhead.map(|unknown| self.uncertain(unknown, level).estimate(level));
    }
}

/// Formats a combination, such as `a + 2 b - c`.
pub fn spell(terms: &[(String, f64)]) -> String {
    let mut text = String::new();
    for (at, (name, coefficient)) in terms.iter().enumerate() {
        let sign = match (at, *coefficient < 0.0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        let size = coefficient.abs();
        let factor = if size == 1.0 { String::new() } else { format!("{size} ") };
        text += &format!("{sign}{factor}{name}");
    }
    text
}

/// The components of a solution in the order of the pivots, without times; the overhead is none.
pub(crate) fn components(columns: &[String], rank: &Rank, influence: &[f64]) -> Vec<Component> {
    let overhead = columns.len() - 1;
    let component = |(unknown, influence): (usize, &f64)| {
        let terms = &rank.identifiable[unknown].terms;
        let parts: Vec<(String, f64)> =
            terms.iter().map(|(j, c)| (columns[*j].clone(), *c)).collect();
        let none = Estimate { value: f64::NAN, low: f64::NAN, high: f64::NAN, level: 0.95 };
        let component = Component {
            name: spell(&parts),
            parts,
            ticks: none,
            uncertain: Uncertain::default(),
            row_influence: *influence,
            unknown,
        };
        (*terms != [(overhead, 1.0)]).then_some(component)
    };
    influence.iter().enumerate().filter_map(component).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_formatted_as_sums() {
        let spelled = |terms: &[(&str, f64)]| {
            spell(&terms.iter().map(|(name, c)| ((*name).to_owned(), *c)).collect::<Vec<_>>())
        };
        assert_eq!(spelled(&[("a", 1.0), ("b", 2.0), ("c", -1.0)]), "a + 2 b - c");
        assert_eq!(spelled(&[("a", -1.0), ("b", 0.5)]), "-a + 0.5 b");
    }
}
