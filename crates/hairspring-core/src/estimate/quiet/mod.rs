//! The time of code on a core that nobody else uses, from a table in which a neighbour on the core's other hardware thread
//! disturbed many readings.
//!
//! A neighbour lengthens the readings of long rows by more than those of short rows, so the mean of all readings is too long,
//! even after trimming. Three steps find the undisturbed readings:
//!
//! 1. The reference chain gives the core clock in short stretches of rounds. Stretches at one level of the clock are pooled,
//!    and every reading is converted to core cycles.
//! 2. The guard of a reading is the time of two pairs of clock reads with nothing between them, just before and just after
//!    it. The cost of an ordered read shows whether the other hardware thread is active, whatever the code does. Only readings
//!    with short guards are used, if enough are left.
//! 3. A mixture of an undisturbed and a lengthened part is fitted to all rows together ([`mixture`]). The weight of a reading
//!    is the probability that it was undisturbed.
//!
//! The weighted readings are then solved like any others, so their interval includes the variation between blocks of rounds
//! and the departure of the rows.
//!
//! On a calm core, where nearly all guards are short, the third step is left out: all readings with short guards are solved.
//!
//! Where the steps of the clock are too coarse for the second and the third step, whole rounds are chosen by the mean of many guards
//! ([`rounds`]).

mod clock;
mod mixture;
mod rounds;

use super::evened::even_layouts;
use super::location::{Grouped, Sample, by_row, mark_spikes, median, total_weight};
use super::rank::exact_rank;
use super::{Contribution, Options, Solution, Source, replicated};
use crate::observations::{Observations, Reading, SeriesId};
pub(super) use clock::{Rates, rates};
use mixture::{MOST_JITTER, Mixture, Row};
use rounds::{QuietRounds, quiet_rounds};
use std::ops::Range;

/// Coarsest clock, in core cycles, whose guards are judged singly: the undisturbed part is a few cycles wide, and steps of a
/// coarser clock hide it.
const COARSEST_CYCLES: f64 = 8.0;
/// Guards up to this many core cycles above the shortest count as short ...
const GUARD_CYCLES: f64 = 12.0;
/// ... where the shortest is this quantile, so that single short guards have no effect.
const SHORTEST_GUARD: f64 = 0.005;
/// This many readings of a row, those with the shortest guards, are used whatever the length of their guards.
const FEWEST_GUARDED: usize = 80;
/// Fewest undisturbed readings of a row that is used.
const FEWEST_QUIET: f64 = 25.0;
/// Smallest share of undisturbed readings of a row that is used. With a smaller share, the undisturbed part may be the left
/// flank of the lengthened one: throughput on a shared core has no undisturbed part.
const LEAST_QUIET: f64 = 0.1;
/// Longest row, in core cycles. A neighbour stalls for about a thousand cycles at a time, so longer rows are hardly ever
/// undisturbed; readings that seem to be are the left flank of the lengthened part.
const LONGEST_CYCLES: f64 = 2_000.0;
/// Smallest share of short guards beside the reference chain of a calm core. Interrupts and the hypervisor lengthen up to a tenth.
const LEAST_CALM: f64 = 0.9;
/// With this share of short guards beside the reference chain, a neighbour cannot lengthen the middle of the readings.
const MOSTLY_QUIET: f64 = 0.7;
/// Spare rows for each count of the rows that must remain when longer rows are left out; otherwise all rows are used. A row may be off
/// by a cycle or two, and few spare rows show this badly.
const SPARE_ROWS: usize = 2;
/// Where fewer of the readings than this share have short guards, a neighbour was there most of the time. The intervals of control
/// chains may then include their lengths by their width alone, and code that keeps many units busy is slowed while they are not.
const HARDLY: f64 = 0.3;
/// With fewer long guards than this share, the guards do not show a neighbour: a calm core has about half as many, because of
/// interrupts.
const LEAST_LONG: f64 = 0.02;
/// The same for rounds that are surely disturbed. Interrupts disturb a few rounds of a calm core.
const LEAST_DISTURBED: f64 = 0.01;
/// Bound of what the choice of the undisturbed readings may shift, as a share of a time. In a ratio it counts for both times.
const CHOICE: f64 = 0.0001;
/// The same on a calm core, where only the guards choose, and hardly any reading is left out.
const CHOICE_OF_CALM: f64 = 0.00004;

/// What a table shows about the core during its rounds: its clock, and whether somebody else used it.
#[derive(Debug, Clone)]
pub struct Quiet {
    rates: Rates,
    /// Longest guard that counts as short, in core cycles; `None` if the readings have no guards, or are not judged singly.
    longest_guard: Option<f64>,
    /// The undisturbed rounds, where the clock is too coarse to judge single readings.
    rounds: Option<QuietRounds>,
    /// Share of the readings with short guards, or of the undisturbed rounds.
    share: f64,
    /// The same of the reference chain alone, whose copies cannot lengthen a guard.
    reference_share: f64,
    /// Quantum of the clock in core cycles.
    quantum: f64,
    /// Whether all readings with short guards are taken for undisturbed.
    is_calm: bool,
}

impl Quiet {
    /// Analyses a table with a reference chain of this name and this many core cycles; `None` if the chain does not show the
    /// core clock, or the table's clock is so coarse that it has too few rounds or guards.
    ///
    /// # Cost
    /// About 20 ns for each reading.
    pub fn from_table(table: &Observations, reference: &str, cycles: f64) -> Option<Quiet> {
        let reference = table.find_series(reference)?;
        let rates = rates(table, reference, cycles)?;
        let quantum = table.origin.quantum() / rates.mean;
        if Quiet::is_by_rounds(quantum) {
            return Quiet::by_rounds(table, reference, rates, quantum);
        }
        let guard = |one: &Reading| Some(guard_cycles(one.guard?.get(), rates.at(one.round)?));
        let mut guards: Vec<f64> = table.readings().iter().filter_map(guard).collect();
        guards.sort_unstable_by(f64::total_cmp);
        let shortest = guards.get((guards.len() as f64 * SHORTEST_GUARD) as usize);
        let longest_guard = shortest.map(|shortest| shortest + GUARD_CYCLES.max(2.0 * quantum));
        let short = longest_guard.map_or(0, |longest| guards.partition_point(|guard| *guard <= longest));
        let of_reference = |one: &&Reading| table.rows()[one.row as usize].series == reference;
        let of_reference: Vec<f64> = table.readings().iter().filter(of_reference).filter_map(guard).collect();
        let short_of_reference = of_reference.iter().filter(|guard| longest_guard.is_some_and(|longest| **guard <= longest)).count();
        let share = |short: usize, all: usize| short as f64 / all.max(1) as f64;
        let reference_share = share(short_of_reference, of_reference.len());
        Some(Quiet { share: share(short, guards.len()), reference_share, rates, longest_guard, rounds: None, quantum, is_calm: false })
    }

    /// Whether a clock of this quantum in core cycles is so coarse that whole rounds are judged instead of single readings.
    pub fn is_by_rounds(quantum: f64) -> bool {
        quantum > COARSEST_CYCLES
    }

    /// The same for a coarse clock. Only guards of chains choose the rounds, so that code cannot choose its own readings.
    fn by_rounds(table: &Observations, reference: SeriesId, rates: Rates, quantum: f64) -> Option<Quiet> {
        let controls: Vec<SeriesId> = table.origin.controls.iter().filter_map(|(name, _)| table.find_series(name)).collect();
        let is_chain = |series: SeriesId| series == reference || controls.contains(&series);
        let shows: Vec<bool> = table.rows().iter().map(|row| is_chain(row.series)).collect();
        let rounds = quiet_rounds(table, &rates, &shows)?;
        let share = rounds.share;
        Some(Quiet { share, reference_share: share, rates, longest_guard: None, rounds: Some(rounds), quantum, is_calm: false })
    }

    /// The same for a core that hardly anybody else used, as the guards of single readings show; otherwise `None`. There all readings
    /// with short guards are used: the mean of code whose own time varies stays what it is.
    pub fn calm(&self) -> Option<Quiet> {
        let is_calm = self.longest_guard.is_some() && self.reference_share >= LEAST_CALM;
        is_calm.then(|| Quiet { is_calm, ..self.clone() })
    }

    /// Analyses a table by the reference chain that it names; `None` also if it names none.
    pub fn by_reference(table: &Observations) -> Option<Quiet> {
        let (name, cycles) = table.origin.reference.as_ref()?;
        Quiet::from_table(table, name, *cycles)
    }

    /// Share of the readings during which nobody else used the core, as far as their guards show; `None` without guards.
    pub fn share(&self) -> Option<f64> {
        (self.longest_guard.is_some() || self.rounds.is_some()).then_some(self.share)
    }

    /// The same of the reference chain alone; of rounds where the clock is too coarse to judge single readings.
    pub fn share_of_reference(&self) -> Option<f64> {
        self.share().map(|_| self.reference_share)
    }

    /// The same for these rounds alone, as the first ones of a table of their own. They are not judged again.
    #[must_use]
    pub fn in_rounds(&self, rounds: &Range<u32>) -> Quiet {
        let place = rounds.start as usize..rounds.end as usize;
        let by_round = self.rates.by_round.get(place.clone()).unwrap_or_default().to_vec();
        let rates = Rates { by_round, ..self.rates };
        let chosen = |all: &QuietRounds| QuietRounds { is_quiet: all.is_quiet.get(place).unwrap_or_default().to_vec(), ..all.clone() };
        Quiet { rates, rounds: self.rounds.as_ref().map(chosen), ..self.clone() }
    }

    /// The lowest peak of the mean guards of rounds, in core cycles, where whole rounds were judged and it is clear: the guard without a
    /// neighbour, unless he stayed for the whole run.
    pub fn guard(&self) -> Option<f64> {
        self.rounds.as_ref()?.guard
    }

    /// By which share the guards are longer than those of earlier runs, if that shows that somebody else was there throughout.
    pub fn longer_than_earlier(&self) -> Option<f64> {
        self.rounds.as_ref()?.longer
    }

    /// Whether whole rounds were judged, and by guards alone. Then the choice cannot depend on the times of the code.
    pub fn judges_rounds(&self) -> bool {
        self.rounds.is_some()
    }

    /// Whether the guards show that somebody else used the core. Where control chains are off their lengths and guards show nothing,
    /// reads of this clock cost the same beside a neighbour, and shorter readings cannot be told from undisturbed ones.
    pub fn shows_neighbour(&self) -> bool {
        match &self.rounds {
            Some(rounds) => rounds.disturbed > LEAST_DISTURBED,
            None => self.share().is_some_and(|share| 1.0 - share > LEAST_LONG),
        }
    }

    /// Whether the guards show that somebody else used the core most of the time.
    pub fn is_hardly(&self) -> bool {
        self.share().is_some_and(|share| share < HARDLY)
    }

    /// Whether so few guards are short that the undisturbed readings cannot be enough.
    pub fn is_never(&self) -> bool {
        self.share().is_some_and(|share| share < LEAST_QUIET)
    }

    /// Standard deviation of the core clock during the run, as a share of its mean.
    pub fn clock_sd(&self) -> f64 {
        self.rates.relative_sd()
    }

    /// Standard error of the mean core clock during the run, as a share of it.
    pub fn clock_error(&self) -> f64 {
        self.rates.mean_error
    }

    /// Solves a series from its undisturbed readings, in ticks at the mean clock of the run. `None` if its long rows have too
    /// few of them, or if they do not determine the unknowns.
    ///
    /// # Cost
    /// About 1 us for each of the first 800 readings of every row, and 20 ns for each further one.
    pub fn solve(&self, table: &Observations, series: SeriesId, options: &Options) -> Option<Solution> {
        if options.slow_evaluations.contains(&series) {
            // Guards do not show which readings are long because of a neighbour.
            return super::solve(table, series, options).ok().filter(|solution| !solution.blocks.is_empty());
        }
        let grouped = match (self.judges_rounds(), self.is_calm) {
            (true, _) => self.of_quiet_rounds(table, series),
            (false, true) => self.of_calm_core(table, series),
            (false, false) => self.of_mixture(table, series),
        }?;
        let mut solution = replicated::solve(grouped, table, options).ok().filter(|solution| !solution.blocks.is_empty())?;
        for component in &mut solution.components {
            let bound = if self.is_calm { CHOICE_OF_CALM } else { CHOICE } * component.uncertain.value.abs();
            component.uncertain.budget.push(Contribution::bound(Source::Neighbour, bound));
            component.ticks = component.uncertain.estimate(options.level);
        }
        Some(solution)
    }

    /// The readings of undisturbed rounds; `None` if there are too few.
    fn of_quiet_rounds(&self, table: &Observations, series: SeriesId) -> Option<Grouped> {
        let grouped = self.candidates(table, series);
        (!self.is_never() && grouped.typical_repeats() >= FEWEST_QUIET as usize).then_some(grouped)
    }

    /// The readings with short guards, without spikes; `None` if there are too few.
    fn of_calm_core(&self, table: &Observations, series: SeriesId) -> Option<Grouped> {
        let mut grouped = self.candidates(table, series);
        grouped.readings.iter_mut().for_each(|row| mark_spikes(row, grouped.quantum));
        (grouped.typical_repeats() >= FEWEST_QUIET as usize).then_some(grouped)
    }

    /// The readings with the weights of the mixture; `None` if the long rows have too few undisturbed ones.
    fn of_mixture(&self, table: &Observations, series: SeriesId) -> Option<Grouped> {
        let mut grouped = self.candidates(table, series);
        self.leave_out_long_rows(table, &mut grouped);
        let rows = self.mixture_rows(table, &grouped)?;
        // Beside a neighbour who is often there, what he lengthens would be taken for jitter.
        let most_jitter = if self.reference_share < MOSTLY_QUIET { 0.0 } else { MOST_JITTER };
        let mixture = mixture::fit(&rows, self.quantum, most_jitter)?;
        self.weigh(&mixture, &rows, &mut grouped);
        has_long_rows(&grouped).then_some(grouped)
    }

    /// Solves a series from its readings with short guards, at the mean clock of the run, whatever their times are. Code that
    /// keeps many units of the core busy is slowed by a neighbour while chains of known length are not, and has no undisturbed
    /// part that the mixture could find; this shows by how much. `None` without guards, and where the reference chain shows
    /// that the core was mostly quiet.
    ///
    /// # Cost
    /// About 50 ns for each reading of the series.
    pub fn solve_by_guards(&self, table: &Observations, series: SeriesId, options: &Options) -> Option<Solution> {
        let is_needed = self.share().is_some() && self.reference_share < MOSTLY_QUIET;
        let solution = is_needed.then(|| replicated::solve(self.candidates(table, series), table, options).ok())?;
        solution.filter(|solution| !solution.blocks.is_empty())
    }

    /// The readings of a series at the mean clock of the run; readings with long guards, or of disturbed rounds, have the weight 0.
    fn candidates(&self, table: &Observations, series: SeriesId) -> Grouped {
        let (rows, readings) = by_row(table, series);
        let quantum = table.origin.quantum();
        let weighed = |row: Vec<&Reading>| match &self.rounds {
            Some(quiet) => self.weigh_by_round(row, quiet),
            None => self.weigh_by_guard(row.into_iter().map(|one| self.with_guard(one)).collect()),
        };
        let mut readings: Vec<Vec<Sample>> = readings.into_iter().map(weighed).collect();
        even_layouts(table, &mut readings);
        if self.rounds.is_some() {
            readings.iter_mut().for_each(|row| mark_spikes(row, quantum));
        }
        Grouped { rows, readings, has_slow: false, spared: 0, quantum, is_quantum_known: table.origin.granularity.is_some() }
    }

    /// A reading at the mean clock of the run, and its guard in core cycles; infinite if the reading cannot be used.
    fn with_guard(&self, one: &Reading) -> (Sample, f64) {
        let rate = self.rates.at(one.round).filter(|_| one.is_clean_but_shared());
        let guard = rate.map_or(f64::INFINITY, |rate| one.guard.map_or(0.0, |guard| guard_cycles(guard.get(), rate)));
        let ticks = one.ticks * self.rates.mean / rate.unwrap_or(self.rates.mean);
        (Sample { round: one.round, weight: 0.0, ticks }, guard)
    }

    /// The readings of a row, in the order of the rounds; those of undisturbed rounds have the weight 1.
    fn weigh_by_round(&self, row: Vec<&Reading>, quiet: &QuietRounds) -> Vec<Sample> {
        let is_quiet = |round: u32| quiet.is_quiet.get(round as usize).is_some_and(|quiet| *quiet);
        let sample = |one: &Reading| {
            let (sample, guard) = self.with_guard(one);
            Sample { weight: if guard.is_finite() && is_quiet(one.round) { 1.0 } else { 0.0 }, ..sample }
        };
        let mut row: Vec<Sample> = row.into_iter().map(sample).collect();
        row.sort_by_key(|sample| sample.round);
        row
    }

    /// The readings of a row, in the order of the rounds; readings with short guards have the weight 1.
    fn weigh_by_guard(&self, mut row: Vec<(Sample, f64)>) -> Vec<Sample> {
        row.sort_by(|a, b| a.1.total_cmp(&b.1));
        let fewest = row.get(FEWEST_GUARDED.min(row.len().saturating_sub(1))).map_or(0.0, |one| one.1);
        let longest = self.longest_guard.unwrap_or(0.0).max(fewest);
        row.sort_by_key(|(sample, _)| sample.round);
        let weight = |guard: f64| if guard.is_finite() && guard <= longest { 1.0 } else { 0.0 };
        row.into_iter().map(|(sample, guard)| Sample { weight: weight(guard), ..sample }).collect()
    }

    /// Counts of the independent columns, and the usable readings in core cycles.
    fn mixture_rows(&self, table: &Observations, grouped: &Grouped) -> Option<Vec<Row>> {
        let counts = |id: &u32| -> Vec<f64> { table.rows()[*id as usize].counts.iter().copied().chain([1.0]).collect() };
        let design: Vec<Vec<f64>> = grouped.rows.iter().map(counts).collect();
        let rank = exact_rank(&design);
        let cycles = |row: &[Sample]| -> Vec<f64> {
            row.iter().filter(|sample| sample.is_used()).map(|sample| sample.ticks / self.rates.mean).collect()
        };
        let rows = design.iter().zip(&grouped.readings);
        let rows: Vec<Row> =
            rows.map(|(counts, row)| Row { counts: rank.pivots.iter().map(|j| counts[*j]).collect(), cycles: cycles(row) }).collect();
        (rows.len() > rank.pivots.len()).then_some(rows)
    }

    /// Sets the weight of every usable reading to the probability that it was undisturbed. Rows whose total weight is too
    /// small are left out.
    fn weigh(&self, mixture: &Mixture, rows: &[Row], grouped: &mut Grouped) {
        for (at, samples) in grouped.readings.iter_mut().enumerate() {
            let usable = total_weight(samples);
            for sample in samples.iter_mut().filter(|sample| sample.is_used()) {
                sample.weight = mixture.probability(at, &rows[at], sample.ticks / self.rates.mean) as f32;
            }
            let quiet = total_weight(samples);
            if quiet < FEWEST_QUIET || quiet < LEAST_QUIET * usable {
                samples.iter_mut().for_each(|sample| sample.weight = 0.0);
            }
        }
    }

    /// Removes the rows that are too long to be undisturbed, if enough others are left.
    fn leave_out_long_rows(&self, table: &Observations, grouped: &mut Grouped) {
        let has = |component: &usize| grouped.rows.iter().any(|id| table.rows()[*id as usize].counts[*component] > 0.0);
        let counts = (0..table.components().len()).filter(has).count();
        let is_short = |samples: &Vec<Sample>| middle(samples) <= LONGEST_CYCLES * self.rates.mean;
        let short: Vec<bool> = grouped.readings.iter().map(is_short).collect();
        if short.iter().filter(|short| **short).count() > (1 + SPARE_ROWS) * counts {
            let mut keep = short.iter();
            grouped.rows.retain(|_| *keep.next().unwrap_or(&true));
            let mut keep = short.iter();
            grouped.readings.retain(|_| *keep.next().unwrap_or(&true));
        }
    }
}

/// Median of all readings of a row.
fn middle(samples: &[Sample]) -> f64 {
    median(&mut samples.iter().map(|sample| sample.ticks).collect::<Vec<f64>>())
}

fn guard_cycles(guard: u32, rate: f64) -> f64 {
    f64::from(guard) / rate
}

/// Whether the longest row, and most rows, have undisturbed readings.
fn has_long_rows(grouped: &Grouped) -> bool {
    let longest = grouped.readings.iter().max_by(|a, b| middle(a).total_cmp(&middle(b)));
    let used = grouped.readings.iter().filter(|samples| samples.iter().any(Sample::is_used)).count();
    longest.is_some_and(|samples| samples.iter().any(Sample::is_used)) && 2 * used > grouped.readings.len()
}

#[cfg(test)]
pub(crate) mod simulated;
#[cfg(test)]
mod tests;
