//! The raw table: which counts ran, in which round, and what the clock said. Never altered, only flagged.
//!
//! A table holds one or more *series*. Each series is a linear system of its own (own components, own overhead);
//! series that were acquired together share their rounds, so that ratios between them can be taken round by round.

mod csv;
mod flags;
mod origin;

pub use csv::{read_csv, write_csv};
pub use flags::Flags;
pub use origin::{Origin, Rate, Role, Unit, Variant};

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

/// Index of a series in a table.
pub type SeriesId = u16;
/// Index of a row (one combination of series and counts) in a table.
pub type RowId = u32;

/// One combination of counts that was run: a row of the design matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The linear system that the row belongs to.
    pub series: SeriesId,
    /// How often each component ran between the two clock reads.
    pub counts: Vec<f64>,
}

/// One reading of the clock for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Which row was run.
    pub row: RowId,
    /// In which round; rows of one round ran within microseconds of each other.
    pub round: u32,
    /// What the clock said, in the table's unit. Raw: never clamped, shifted or replaced.
    pub ticks: f64,
    /// Doubts about this reading.
    pub flags: Flags,
}

/// The table of observations.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observations {
    /// Where the readings come from, and in which unit.
    pub origin: Origin,
    components: Vec<String>,
    series: Vec<String>,
    rows: Vec<Row>,
    readings: Vec<Reading>,
    /// Rows by the hash of their series and counts; the rare row whose hash is taken is found by looking.
    index: HashMap<u64, RowId>,
    clashes: Vec<RowId>,
}

impl Observations {
    /// An empty table whose rows count the given components.
    pub fn new(components: Vec<String>) -> Self {
        Self { components, ..Self::default() }
    }

    /// Names of the components, in the order of each row's counts.
    pub fn components(&self) -> &[String] {
        &self.components
    }

    /// Names of the series.
    pub fn series_names(&self) -> &[String] {
        &self.series
    }

    /// All distinct rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// All readings, in the order in which they came.
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// The series of that name, made if it is not there yet.
    pub fn series(&mut self, name: &str) -> SeriesId {
        self.find_series(name).unwrap_or_else(|| {
            self.series.push(name.to_owned());
            self.series.len() as SeriesId - 1
        })
    }

    /// The series of that name, if there is one.
    pub fn find_series(&self, name: &str) -> Option<SeriesId> {
        self.series.iter().position(|known| known == name).map(|at| at as SeriesId)
    }

    /// The row with these counts, made if it is not there yet.
    ///
    /// # Panics
    /// If the number of counts is not the number of components.
    pub fn row(&mut self, series: SeriesId, counts: &[f64]) -> RowId {
        assert_eq!(counts.len(), self.components.len(), "one count for each component");
        let next = self.rows.len() as RowId;
        let known = *self.index.entry(hash(series, counts)).or_insert(next);
        if known != next {
            let same = |id: &RowId| self.rows[*id as usize].series == series && self.rows[*id as usize].counts == counts;
            if let Some(id) = std::iter::once(&known).chain(&self.clashes).copied().find(|id| same(id)) {
                return id;
            }
            self.clashes.push(next);
        }
        self.rows.push(Row { series, counts: counts.to_vec() });
        next
    }

    /// A row of its own, even if another one has the same counts: the same parts ran on other data, and what their times
    /// differ by is no noise. A file of observations does not keep such rows apart.
    ///
    /// # Panics
    /// If the number of counts is not the number of components.
    pub fn row_apart(&mut self, series: SeriesId, counts: &[f64]) -> RowId {
        assert_eq!(counts.len(), self.components.len(), "one count for each component");
        self.rows.push(Row { series, counts: counts.to_vec() });
        self.rows.len() as RowId - 1
    }

    /// Adds an unflagged reading.
    pub fn push(&mut self, row: RowId, round: u32, ticks: f64) {
        self.push_flagged(row, round, ticks, Flags::NONE);
    }

    /// Adds a reading with its flags.
    pub fn push_flagged(&mut self, row: RowId, round: u32, ticks: f64, flags: Flags) {
        self.readings.push(Reading { row, round, ticks, flags });
    }

    /// Sets a flag on all readings of these rounds, and takes it from all others.
    pub fn mark(&mut self, rounds: &[std::ops::Range<u32>], flag: Flags) {
        for reading in &mut self.readings {
            let marked = rounds.iter().any(|range| range.contains(&reading.round));
            reading.flags = if marked { reading.flags.with(flag) } else { reading.flags.without(flag) };
        }
    }

    /// Rows of one series, in the order in which they were made.
    pub fn rows_of(&self, series: SeriesId) -> impl Iterator<Item = (RowId, &Row)> {
        self.rows.iter().enumerate().filter(move |(_, row)| row.series == series).map(|(id, row)| (id as RowId, row))
    }

    /// One more than the highest round number.
    pub fn rounds(&self) -> u32 {
        self.readings.iter().map(|reading| reading.round + 1).max().unwrap_or(0)
    }
}

fn hash(series: SeriesId, counts: &[f64]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    series.hash(&mut hasher);
    // Adding 0 makes one zero of the two.
    counts.iter().for_each(|count| (count + 0.0).to_bits().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_apart_stay_apart() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("a");
        let first = table.row_apart(series, &[3.0]);
        assert_ne!(first, table.row_apart(series, &[3.0]));
        assert_eq!(table.rows_of(series).count(), 2);
    }

    #[test]
    fn rows_with_equal_counts_are_one_row() {
        let mut table = Observations::new(vec!["body".into()]);
        let (a, b) = (table.series("a"), table.series("b"));
        assert_eq!(table.row(a, &[3.0]), table.row(a, &[3.0]));
        assert_ne!(table.row(a, &[3.0]), table.row(b, &[3.0]));
        assert_eq!(table.row(a, &[0.0]), table.row(a, &[-0.0]));
        assert_eq!(table.series("a"), a);
    }
}
