//! The raw table: which counts ran, in which round, and what the clock read. Readings are flagged,
//! but never altered.
//!
//! A table holds one or more *series*. Each series is a separate linear system with its own
//! components and overhead. Series that were acquired together share their rounds, so that ratios
//! between them can be taken round by round.

mod csv;
mod flags;
mod origin;
mod pauses;
mod turns;

pub(crate) use csv::quoted;
pub use csv::{read_csv, write_counted_csv, write_csv};
pub use flags::Flags;
pub use origin::RECORDING;
pub use origin::{ClockSpread, CoreClock, Occupancy, Origin, Rate, Role, Unit, Uses, Variant};
pub use pauses::Pauses;
pub use turns::Turns;

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use std::ops::Range;

/// Numbers of a table lie in this range, so that quotients of two of them have a fourth power ...
const MAGNITUDES: std::ops::RangeInclusive<f64> = 1e-30..=1e30;
/// ... as messages say.
pub const USABLE_NUMBERS: &str = "numbers other than 0 lie between 1e-30 and 1e30";

/// Whether a number can be calculated with: a finite one that is neither huge nor nearly 0.
///
/// ```
/// use hairspring_core::observations::is_usable;
/// assert!(is_usable(0.0) && is_usable(-1e12));
/// assert!(!is_usable(1e200) && !is_usable(5e-324) && !is_usable(f64::NAN));
/// ```
pub fn is_usable(number: f64) -> bool {
    number == 0.0 || MAGNITUDES.contains(&number.abs())
}

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
    /// The row that was run.
    pub row: RowId,
    /// The round in which it was run; rows of one round ran within microseconds of each other.
    pub round: u32,
    /// The reading in the table's unit. Raw: never clamped, shifted or replaced.
    pub ticks: f64,
    /// Flags of this reading.
    pub flags: Flags,
    /// Time of two pairs of clock reads with nothing between them, just before and just after the
    /// reading, in the table's unit. It shows whether the core's other hardware thread was active;
    /// `None` if it was not taken.
    pub guard: Option<NonZeroU32>,
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
    /// Rows by the hash of their series and counts.
    index: HashMap<u64, RowId>,
    /// Rows whose hash collides with that of an earlier row; they are rare and searched linearly.
    collisions: Vec<RowId>,
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

    /// All readings, in the order in which they were added.
    pub fn readings(&self) -> &[Reading] {
        &self.readings
    }

    /// The series of that name; added if it does not exist.
    pub fn series(&mut self, name: &str) -> SeriesId {
        self.find_series(name).unwrap_or_else(|| {
            self.series.push(name.to_owned());
            self.series.len() as SeriesId - 1
        })
    }

    /// The series of that name, if it exists.
    pub fn find_series(&self, name: &str) -> Option<SeriesId> {
        self.series.iter().position(|known| known == name).map(|at| at as SeriesId)
    }

    /// The row with these counts; added if it does not exist.
    ///
    /// # Panics
    /// If the number of counts differs from the number of components.
    pub fn row(&mut self, series: SeriesId, counts: &[f64]) -> RowId {
        assert_eq!(counts.len(), self.components.len(), "one count for each component");
        let next = self.rows.len() as RowId;
        let known_row = *self.index.entry(hash(series, counts)).or_insert(next);
        if known_row != next {
            let same = |id: &RowId| {
                self.rows[*id as usize].series == series && self.rows[*id as usize].counts == counts
            };
            if let Some(id) =
                std::iter::once(&known_row).chain(&self.collisions).copied().find(|id| same(id))
            {
                return id;
            }
            self.collisions.push(next);
        }
        self.rows.push(Row { series, counts: counts.to_vec() });
        next
    }

    /// Adds a row even if another one has the same counts: for the same parts on other data, whose
    /// times differ by more than noise. An observation file does not preserve this distinction.
    ///
    /// # Panics
    /// If the number of counts differs from the number of components.
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
        self.push_guarded(row, round, ticks, flags, None);
    }

    /// Adds a reading with its flags and its guard.
    pub fn push_guarded(
        &mut self,
        row: RowId,
        round: u32,
        ticks: f64,
        flags: Flags,
        guard: Option<NonZeroU32>,
    ) {
        self.readings.push(Reading { row, round, ticks, flags, guard });
    }

    /// Rows of one series, in the order in which they were added.
    pub fn rows_of(&self, series: SeriesId) -> impl Iterator<Item = (RowId, &Row)> {
        self.rows
            .iter()
            .enumerate()
            .filter(move |(_, row)| row.series == series)
            .map(|(id, row)| (id as RowId, row))
    }

    /// The rounds of each placement: [`Origin::placements`] divides them.
    pub fn placements(&self) -> Vec<Range<u32>> {
        self.placements_until(self.rounds())
    }

    /// The same for a number of rounds that is known already.
    pub(crate) fn placements_until(&self, rounds: u32) -> Vec<Range<u32>> {
        let firsts = std::iter::once(0).chain(self.origin.placements.iter().copied());
        let ends = self
            .origin
            .placements
            .iter()
            .map(|first| rounds.min(*first))
            .chain(std::iter::once(rounds));
        firsts.zip(ends).filter(|(first, end)| first < end).map(|(first, end)| first..end).collect()
    }

    /// The table with other times of its readings, by the name of the series and the row: raw
    /// readings change in simulations only.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_times(
        &self,
        mut ticks: impl FnMut(&str, &Row, &Reading) -> f64,
    ) -> Observations {
        let time = |one: &Reading| {
            let row = &self.rows[one.row as usize];
            ticks(&self.series[usize::from(row.series)], row, one)
        };
        let times: Vec<f64> = self.readings.iter().map(time).collect();
        let mut other = self.clone();
        other.readings.iter_mut().zip(times).for_each(|(reading, ticks)| reading.ticks = ticks);
        other
    }

    /// The table with the readings of these rounds only, as one placement.
    #[must_use]
    pub fn in_rounds(&self, rounds: &Range<u32>) -> Observations {
        let mut part = self.without_readings();
        let readings = self.readings.iter().filter(|reading| rounds.contains(&reading.round));
        part.readings = readings
            .map(|reading| Reading { round: reading.round - rounds.start, ..*reading })
            .collect();
        part
    }

    /// The table with the flag `x` on the readings that are to be left out, as if a file had it.
    ///
    /// # Errors
    /// [`crate::Error::BadTable`] if no reading of a series is left.
    pub fn excluding(
        &self,
        is_out: impl Fn(&Reading) -> bool,
    ) -> crate::error::Result<Observations> {
        let mut part = self.clone();
        let out = part.readings.iter_mut().filter(|reading| is_out(reading));
        out.for_each(|reading| reading.flags = reading.flags.with(Flags::EXCLUDED));
        csv::check_excluded(&part)?;
        Ok(part)
    }

    /// The table with its rows, as one placement, to which readings are to be added.
    fn without_readings(&self) -> Observations {
        Observations {
            origin: Origin { placements: Vec::new(), ..self.origin.clone() },
            components: self.components.clone(),
            series: self.series.clone(),
            rows: self.rows.clone(),
            readings: Vec::new(),
            index: self.index.clone(),
            collisions: self.collisions.clone(),
        }
    }

    /// One more than the highest round number.
    pub fn rounds(&self) -> u32 {
        self.readings.iter().map(|reading| reading.round + 1).max().unwrap_or(0)
    }
}

fn hash(series: SeriesId, counts: &[f64]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    series.hash(&mut hasher);
    // Adding 0 turns -0 into 0, which must have the same hash.
    counts.iter().for_each(|count| (count + 0.0).to_bits().hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_apart_always_adds_a_row() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("a");
        let first = table.row_apart(series, &[3.0]);
        assert_ne!(first, table.row_apart(series, &[3.0]));
        assert_eq!(table.rows_of(series).count(), 2);
    }

    #[test]
    fn readings_are_left_out_as_a_file_does_it() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("a");
        for k in 1..=3 {
            let row = table.row(series, &[f64::from(k)]);
            table.push(row, 0, 10.0 * f64::from(k));
        }
        let part = table.excluding(|reading| reading.row == 1).unwrap();
        let left_out = |table: &Observations| -> Vec<bool> {
            table.readings().iter().map(|one| one.flags.contains(Flags::EXCLUDED)).collect()
        };
        assert_eq!((left_out(&part), left_out(&table)), (vec![false, true, false], vec![false; 3]));
        let error = table.excluding(|_| true).unwrap_err().to_string();
        assert!(error.contains("all readings of the series `a`"), "{error}");
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
