//! The observations behind a document, solved again: what each reading is beside its row, and
//! whether it is used.

use crate::svg::{Plot, Spot, core_clock, readings};
use hairspring_core::estimate::Options;
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::{Weighed, weighed};
use hairspring_result::ResultDocument;
use hairspring_view::text::axis_unit;
use std::collections::BTreeMap;

/// Moves of the core clock that are not drawn, in percent.
const LEAST_STEP: f64 = 1e-3;
/// The stage that leaves rows off the line out.
const ROWS: &str = "rows";

/// A table with the weights of its readings.
#[derive(Debug, Clone)]
pub struct Table<'t> {
    observations: &'t Observations,
    weighed: Vec<Weighed>,
    /// The mean of the used readings of each row.
    means: Vec<f64>,
    keeps_all: bool,
}

impl<'t> Table<'t> {
    /// Solves the table of a document as the document was solved: at its confidence level, without
    /// the stages that it left out, and with the rows off the line if it used them.
    ///
    /// # Errors
    /// The table cannot be solved.
    pub fn solve(
        observations: &'t Observations,
        document: &ResultDocument,
    ) -> Result<Table<'t>, String> {
        let without = document.without().into_iter().map(str::to_owned).collect();
        let usual = Options { level: document.level(), without, ..Options::default() };
        let first = Table::with(observations, &usual)?;
        let leaves_rows_out = document.results.iter().any(|series| series.fit.left_out > 0);
        if leaves_rows_out || !first.weighed.iter().any(|one| one.left_out_by == Some(ROWS)) {
            return Ok(first);
        }
        let all = Options { leave_rows_out: false, ..usual };
        let kept = Table { keeps_all: true, ..Table::with(observations, &all)? };
        let used: usize = document.results.iter().map(|series| series.fit.readings_used).sum();
        let off = |table: &Table| table.used().abs_diff(used);
        Ok(if off(&kept) < off(&first) { kept } else { first })
    }

    fn with(observations: &'t Observations, options: &Options) -> Result<Table<'t>, String> {
        let weighed = weighed(observations, options).map_err(|error| error.to_string())?;
        let means = means(observations, &weighed);
        Ok(Table { observations, weighed, means, keeps_all: false })
    }

    /// Whether the document used rows off the line, which are left out otherwise.
    pub fn keeps_all(&self) -> bool {
        self.keeps_all
    }

    /// Readings that are used.
    fn used(&self) -> usize {
        self.weighed.iter().filter(|one| one.left_out_by.is_none()).count()
    }

    /// Whether it has a series.
    pub fn has(&self, series: &str) -> bool {
        self.observations.find_series(series).is_some()
    }

    /// Names of its series.
    pub fn names(&self) -> &[String] {
        self.observations.series_names()
    }

    /// The readings of a series over time, under its title; `None` if it has none.
    pub fn readings(&self, name: &str, series: &str, title: &str) -> Option<Plot> {
        let id = self.observations.find_series(series)?;
        let of_series = |one: &&Weighed| {
            let reading = &self.observations.readings()[one.reading];
            self.observations.rows()[reading.row as usize].series == id
        };
        let spots: Vec<Spot> =
            self.weighed.iter().filter(of_series).map(|one| self.spot(one)).collect();
        let largest = spots.iter().filter(|spot| spot.used).map(|spot| spot.beside.abs());
        let per_unit = self.observations.origin.ns_per_unit();
        let (factor, unit) = axis_unit(largest.fold(0.0, f64::max), per_unit.is_some());
        let scaled: Vec<Spot> =
            spots.iter().map(|spot| Spot { beside: spot.beside * factor, ..*spot }).collect();
        readings(name, title, &scaled, unit)
    }

    fn spot(&self, one: &Weighed) -> Spot {
        let reading = &self.observations.readings()[one.reading];
        let factor = self.observations.origin.ns_per_unit().unwrap_or(1.0);
        Spot {
            round: f64::from(reading.round),
            beside: (one.ticks - self.means[reading.row as usize]) * factor,
            used: one.left_out_by.is_none(),
        }
    }

    /// The core clock over rounds; `None` where it is not known or did not move.
    pub fn core_clock(&self) -> Option<Plot> {
        let mut clock: BTreeMap<u32, f64> = BTreeMap::new();
        for one in &self.weighed {
            let reading = &self.observations.readings()[one.reading];
            let ratio = one.ticks / reading.ticks;
            // Code that does not follow the core clock is left as it is.
            if ratio.is_finite() && ratio > 0.0 && ratio != 1.0 {
                clock.entry(reading.round).or_insert(100.0 * ratio);
            }
        }
        // A clock that stays where it is has nothing to show.
        let mut all = clock.values();
        let first = *all.next()?;
        if all.all(|percent| (percent - first).abs() < LEAST_STEP) {
            return None;
        }
        let clock: Vec<(f64, f64)> =
            clock.into_iter().map(|(round, percent)| (f64::from(round), percent)).collect();
        core_clock("core-clock", &clock)
    }
}

/// The mean of the readings of each row that are used, or of all where none is.
fn means(observations: &Observations, weighed: &[Weighed]) -> Vec<f64> {
    let mut sums = vec![[(0.0, 0.0); 2]; observations.rows().len()];
    for one in weighed {
        let row = observations.readings()[one.reading].row as usize;
        let sum = &mut sums[row][usize::from(one.left_out_by.is_some())];
        (sum.0, sum.1) = (sum.0 + one.ticks, sum.1 + 1.0);
    }
    let mean = |[used, out]: &[(f64, f64); 2]| {
        let (sum, count) = if used.1 > 0.0 { used } else { out };
        sum / count
    };
    sums.iter().map(mean).collect()
}
