//! The growing table of a measurement: the rows in the order in which they run, the series with
//! their roles, and the readings of each round.

use crate::companions::Companion;
use crate::limits::{Batch, MOST_READINGS};
use crate::rounds::Raw;
use hairspring_core::design::table::FENCED_CHAIN_COPIES;
use hairspring_core::observations::{
    Observations, Occupancy, Pauses, Rate, Role, RowId, Uses, Variant,
};
use std::time::Duration;

/// Name of the series of the reference chain.
pub const REFERENCE: &str = "reference";
/// Prefix of the names of the control chains' series; the name of the chain follows.
pub const CONTROL: &str = "control";
/// Name of the series that shows how much a fence hides.
pub const FENCED_CHAIN: &str = "shadow";

/// The growing table.
#[derive(Debug, Clone)]
pub struct Table {
    observations: Observations,
    rows: Vec<RowId>,
    rounds: u32,
    most_readings: usize,
}

impl Table {
    /// A table without rows, for counts of these components: the time of the first is asked for,
    /// the others serve.
    pub fn new(components: Vec<String>) -> Table {
        let serving = components.iter().skip(1).cloned().collect();
        let mut observations = Observations::new(components);
        observations.origin.serving = serving;
        Table { observations, rows: Vec::new(), rounds: 0, most_readings: MOST_READINGS }
    }

    /// Sets the name of the clock and its quantum in ticks, 0 if unknown.
    pub fn set_clock(&mut self, name: &str, quantum: u64) {
        self.observations.origin.clock = Some(name.to_owned());
        self.observations.origin.granularity = (quantum > 0).then_some(quantum as f64);
    }

    /// Adds a row to a series. The readings of a round come in the order in which the rows were
    /// added.
    pub fn add_row(&mut self, series: &str, counts: &[f64]) {
        let series = self.observations.series(series);
        self.rows.push(self.observations.row(series, counts));
    }

    /// Adds the rows of a chain of known length as a separate series.
    pub fn add_companion(&mut self, companion: &Companion) {
        self.rows.extend(companion.declare(&mut self.observations));
    }

    /// Declares that a series has this arrangement in all its rows, and does not check another
    /// series.
    pub fn declare_arrangement(&mut self, series: &str, role: Role) {
        self.observations.origin.variants.push(Variant {
            series: series.to_owned(),
            role,
            of: series.to_owned(),
        });
    }

    /// Declares that the code of a series was compiled without optimisation.
    pub fn declare_unoptimised(&mut self, series: &str) {
        self.observations.origin.unoptimised.push(series.to_owned());
    }

    /// Declares what the copies of series do to the core, where that is known.
    pub fn declare_occupancy(
        &mut self,
        known_occupancy: impl Iterator<Item = (String, Option<Occupancy>)>,
    ) {
        self.observations
            .origin
            .occupancy
            .extend(known_occupancy.filter_map(|(series, occupancy)| Some((series, occupancy?))));
    }

    /// Declares the kinds of units that a copy of series uses, where that is known.
    pub fn declare_uses(&mut self, known_uses: impl Iterator<Item = (String, Option<Uses>)>) {
        self.observations
            .origin
            .uses
            .extend(known_uses.filter_map(|(series, uses)| Some((series, uses?))));
    }

    /// Declares a series that runs the code of the series `of` in another arrangement, and returns
    /// its name, which is not in `taken_names`.
    pub fn declare_check(&mut self, of: &str, role: Role, taken_names: &[String]) -> String {
        let words = match role {
            Role::InPlace => "in place",
            Role::Fenced => "fenced",
            Role::BehindBody => "behind a body",
            Role::BehindInit => "behind an init",
        };
        let series = self.new_series(&format!("{of} {words}"), taken_names);
        self.observations.origin.variants.push(Variant {
            series: series.clone(),
            role,
            of: of.to_owned(),
        });
        series
    }

    /// Names the series whose bodies are [`FENCED_CHAIN_COPIES`] copies of the reference chain of
    /// this length. A table has one such series, because a fence hides the same time of all series.
    pub fn declare_fenced_chain(
        &mut self,
        reference_cycles: u32,
        taken_names: &[String],
    ) -> String {
        let series = self.new_series(FENCED_CHAIN, taken_names);
        self.observations.origin.fenced_chain =
            Some((series.clone(), f64::from(FENCED_CHAIN_COPIES * reference_cycles)));
        series
    }

    fn new_series(&mut self, name: &str, taken_names: &[String]) -> String {
        let name = free_name(name, &[taken_names, self.observations.series_names()].concat());
        self.observations.series(&name);
        name
    }

    /// Adds the readings of whole rounds, in the order of the rows.
    pub fn push(&mut self, readings: &[Raw]) {
        for round in readings.chunks_exact(self.rows.len().max(1)) {
            for (row, raw) in self.rows.iter().zip(round) {
                self.observations.push_guarded(
                    *row,
                    self.rounds,
                    raw.signed(),
                    raw.flags,
                    raw.guard,
                );
            }
            self.rounds += 1;
        }
    }

    /// Adds pauses of the CPU that were seen.
    pub fn add_pauses(&mut self, pauses: Pauses) {
        self.observations.origin.pauses.add(pauses);
    }

    /// Begins a new placement: further rounds run in it.
    pub fn begin_placement(&mut self) {
        let placements = &mut self.observations.origin.placements;
        if self.rounds > placements.last().copied().unwrap_or(0) {
            placements.push(self.rounds);
        }
    }

    /// Rows that run in each round.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Rounds so far.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The observations so far.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The observations so far, to add flags and notes.
    pub fn observations_mut(&mut self) -> &mut Observations {
        &mut self.observations
    }

    /// Number of further rounds that fit into the table.
    pub fn room(&self) -> u32 {
        let readings = self.most_readings.saturating_sub(self.observations.readings().len());
        u32::try_from(readings / self.rows.len().max(1)).unwrap_or(u32::MAX)
    }

    /// Whether there is too little room for a useful batch.
    pub fn is_full(&self) -> bool {
        self.room() < 2
    }

    /// A batch of this length that fits into the table, with at least one round. `least_rounds` is
    /// the least total number of rounds, regardless of the time.
    pub fn batch(&self, time: Duration, least_rounds: u32) -> Batch {
        Batch {
            time,
            fewest: least_rounds.saturating_sub(self.rounds).max(1),
            most: self.room().max(1),
        }
    }

    /// Whether a layout of the code has had fewer than two placements, without which its time is
    /// hardly told from that of the others.
    pub fn lacks_layouts(&self) -> bool {
        self.observations.turns().is_some_and(|turns| turns.placements.len() < 2 * turns.layouts)
    }

    /// The observations of the whole run, with the rate of the clock.
    pub fn finished(mut self, rate: Rate) -> Observations {
        self.observations.origin.rate = Some(rate);
        self.observations
    }
}

/// The name, with a number appended if it is in `taken_names`.
pub fn free_name(name: &str, taken_names: &[String]) -> String {
    let mut candidates =
        std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{name} ({number})")));
    candidates.find(|candidate| !taken_names.contains(candidate)).unwrap_or_default()
}

#[cfg(test)]
impl Table {
    /// Limits the number of readings.
    pub(crate) fn limit_readings(&mut self, most_readings: usize) {
        self.most_readings = most_readings;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::observations::Flags;

    fn raw(ticks: u64) -> Raw {
        Raw::new(ticks, Flags::NONE)
    }

    #[test]
    fn rounds_are_counted_from_batch_to_batch_and_readings_stay_raw() {
        let mut table = Table::new(vec!["body".into()]);
        table.add_row("a", &[1.0]);
        table.add_row("b", &[1.0]);
        table.push(&[raw(3), raw(u64::MAX)]);
        table.push(&[raw(4), raw(5), raw(6), raw(7)]);
        let raw_readings: Vec<(u32, u32, f64)> = table
            .observations()
            .readings()
            .iter()
            .map(|one| (one.round, one.row, one.ticks))
            .collect();
        assert_eq!(
            raw_readings,
            [(0, 0, 3.0), (0, 1, -1.0), (1, 0, 4.0), (1, 1, 5.0), (2, 0, 6.0), (2, 1, 7.0)]
        );
        assert_eq!((table.rounds(), table.room()), (3, (MOST_READINGS as u32 - 6) / 2));
    }

    #[test]
    fn added_series_get_unused_names() {
        let mut table = Table::new(vec!["body".into(), "init".into()]);
        let names: Vec<String> = ["shadow", "a", "a fenced"].map(str::to_owned).into();
        table.declare_arrangement("a", Role::Fenced);
        let series = [
            table.declare_check("a", Role::InPlace, &names),
            table.declare_check("a", Role::Fenced, &names),
            table.declare_fenced_chain(3, &names),
        ];
        assert_eq!(series, ["a in place", "a fenced (2)", "shadow (2)"]);
        let origin = &table.observations().origin;
        assert_eq!(origin.fenced_chain, Some(("shadow (2)".into(), 48.0)));
        assert!(origin.is_fenced("a") && origin.variant("a", Role::Fenced) == Some("a fenced (2)"));
        assert!(
            series.iter().all(|series| origin.is_auxiliary(series)) && !origin.is_auxiliary("a")
        );
    }

    #[test]
    fn a_batch_has_at_least_one_round_and_no_more_than_fit() {
        let mut table = Table::new(vec!["body".into()]);
        table.add_row("a", &[1.0]);
        table.limit_readings(3);
        let batch = |table: &Table| table.batch(Duration::from_secs(1), 5);
        assert_eq!((batch(&table).fewest, batch(&table).most), (5, 3));
        table.push(&[raw(1), raw(1)]);
        assert!(table.is_full() && batch(&table).most == 1);
        table.push(&[raw(1)]);
        assert_eq!((table.room(), batch(&table).most, batch(&table).fewest), (0, 1, 2));
    }
}
