//! Rounds over all rows, in random order, with the chains of known length in between.

use super::overhead::OWN_FUNCTIONS;
use super::prepare::Prepared;
use super::rows_of;
use crate::Request;
use crate::analysis::CountRow;
use crate::error::{Error, Result};
use crate::result::Progress;
use crate::trace::Program;
use hairspring_core::observations::{Observations, Reading, RowId};
use hairspring_host::clock::{Clock, Width};
use hairspring_measure::companions::Companion;
use hairspring_measure::limits::{MOST_READINGS, fits};
use hairspring_measure::rounds::{Dither, Functions, Raw, Rounds, Shortest};
use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Maximum number of readings of the function: they are held twice while the table is built.
const MOST_FUNCTION_READINGS: usize = MOST_READINGS / 2;
/// Ticks of warming up and of measuring in one turn of a process; to change to it costs about as
/// much.
const WARM_TICKS: u64 = 20_000;
const TIMED_TICKS: u64 = 30_000;
const MOST_WARM: u64 = 24;
const MOST_TIMED: u64 = 24;
/// Ticks around a call in the timing code.
const TICKS_AROUND: u64 = 400;
/// Rows between two rounds of the chains.
const ROWS_BETWEEN: usize = 32;
/// Readings of each of their rows in one such round: fewer do not show that something slowed the
/// core meanwhile.
const OF_CHAINS: usize = 8;

/// The settings of the rounds.
pub struct Timing<'a> {
    /// The clock that the chains read; calls read the same counter.
    pub clock: Clock,
    /// Its quantum in ticks.
    pub quantum: u64,
    /// Chains of known length.
    pub chains: &'a [Companion],
    /// Time for the rounds.
    pub budget: Duration,
    /// Whether it was given, and does not grow.
    pub is_firm: bool,
    /// Longest time of one turn.
    pub timeout: Duration,
    /// Called with the progress of the rounds.
    pub progress: fn(Progress),
}

impl<'a> Timing<'a> {
    /// The settings of a request.
    pub fn of(
        request: &Request,
        clock: Clock,
        quantum: u64,
        chains: &'a [Companion],
    ) -> Timing<'a> {
        let Request { budget, is_firm, timeout, progress, .. } = *request;
        Timing { clock, quantum, chains, budget, is_firm, timeout, progress }
    }
}

/// Raw readings; rows are numbered through all processes, and rows of chains separately.
#[derive(Debug, Default)]
pub struct Readings {
    /// Of the function.
    pub function: Vec<Reading>,
    /// Of the chains.
    pub chains: Vec<Reading>,
    /// Of the functions of the page, by their place in [`OWN_FUNCTIONS`].
    pub own_readings: Vec<Reading>,
    /// Rounds.
    pub rounds: u32,
    /// Processes that were lost, with the reason.
    pub lost: BTreeMap<usize, String>,
}

impl Readings {
    /// Adds the first chains to a table, with their readings.
    pub fn add_chains(&self, table: &mut Observations, first: &[Companion]) {
        let ids: Vec<RowId> = first.iter().flat_map(|chain| chain.declare(table)).collect();
        for reading in &self.chains {
            if let Some(id) = ids.get(reading.row as usize) {
                table.push_flagged(*id, reading.round, reading.ticks, reading.flags);
            }
        }
    }
}

/// The shortest readings of the functions of the page that run in every round: all, or without
/// those that end early if no call does.
fn shortest_of_own(is_any_early: bool, quantum: u64) -> Vec<Shortest> {
    let used = OWN_FUNCTIONS.iter().filter(|own| own.returns || is_any_early).count();
    vec![Shortest::new(quantum); used]
}

#[derive(Clone, Copy)]
struct Plan {
    warm: usize,
    /// Measured in the trial.
    typical: u64,
    shortest: Shortest,
    /// Time of one run including the timing code.
    each: Duration,
}

/// Repeats in one turn: equal for all rows, because rows with fewer would count as disturbed.
fn readings_each(plans: &[(usize, Plan)]) -> usize {
    let mut typical_times: Vec<u64> = plans.iter().map(|(_, plan)| plan.typical).collect();
    typical_times.sort_unstable();
    let typical = typical_times.get(typical_times.len() / 2).copied().unwrap_or(1);
    (TIMED_TICKS / (typical + TICKS_AROUND)).clamp(1, MOST_TIMED) as usize
}

impl Timing<'_> {
    /// Runs them. A process that ends or hangs is lost, and the others go on.
    pub fn run(&self, prepared: &mut [Prepared], program: &Program) -> Readings {
        let rows = rows_of(prepared);
        let mut readings = Readings::default();
        let plans: Vec<Option<Plan>> = rows
            .iter()
            .map(|place| self.plan(prepared, *place, program, &mut readings.lost))
            .collect();
        let mut plans: Vec<(usize, Plan)> =
            plans.into_iter().enumerate().filter_map(|(row, plan)| Some((row, plan?))).collect();
        let timed = readings_each(&plans);
        let mut rig = Functions {
            now: self.clock.read,
            rows: self.chains.iter().flat_map(Companion::code).collect(),
        };
        let dither = Dither::over(&self.clock, self.quantum);
        let mut chains =
            Rounds::new(rig.rows.len(), 2, dither, self.quantum).with_clock(&self.clock);
        let is_any_early =
            prepared.iter().flat_map(|one| &one.rows).any(|row| row.counts.until.is_some());
        let mut own_shortest = shortest_of_own(is_any_early, self.quantum);
        let (mut random, begin) = (Pcg64Mcg::seed_from_u64(1), Instant::now());
        while !plans.is_empty() && self.goes_on(&readings, begin.elapsed()) {
            (self.progress)(Progress::Timing { elapsed: begin.elapsed(), budget: self.budget });
            self.run_own(prepared, &mut own_shortest, &mut readings, timed, &mut random, program);
            plans.shuffle(&mut random);
            for (place, (row, plan)) in plans.iter_mut().enumerate() {
                if place % ROWS_BETWEEN == 0 {
                    (0..OF_CHAINS).for_each(|_| readings.push_chains(chains.round(&mut rig)));
                }
                if !readings.lost.contains_key(&rows[*row].0) {
                    match self.turn(prepared, rows[*row], plan, timed, random.next_u64(), program) {
                        Ok(ticks) => readings.push(*row, ticks),
                        Err(error) => readings.lose(rows[*row].0, &error),
                    }
                }
            }
            plans.retain(|(row, _)| !readings.lost.contains_key(&rows[*row].0));
            readings.rounds += 1;
        }
        program.watchdog.watch(None);
        readings
    }

    /// The mean time of whole calls of which parts were timed, in ticks; `None` without any. Each
    /// counts with a run that a quarter of its runs are shorter than: one that lasts for
    /// milliseconds is often interrupted, and the shortest one had the fastest core clock.
    pub fn whole_calls(&self, all_prepared: &mut [Prepared], program: &Program) -> Option<f64> {
        /// Share of the budget for all of them.
        const SHARE: u32 = 4;
        let budget =
            self.budget / SHARE / u32::try_from(all_prepared.len().max(1)).unwrap_or(u32::MAX);
        let mut times = Vec::new();
        for at in 0..all_prepared.len() {
            let begin = Instant::now();
            let trial = self.runs(all_prepared, (at, 0), 1, 1, self.timeout, program);
            let repeats = (budget.as_secs_f64() / begin.elapsed().as_secs_f64().max(1e-6))
                .clamp(1.0, MOST_TIMED as f64) as usize;
            let ticks = trial.and_then(|_| {
                self.runs(
                    all_prepared,
                    (at, 0),
                    repeats,
                    1,
                    self.timeout * (1 + repeats as u32),
                    program,
                )
            });
            times.extend(ticks.ok().and_then(first_quarter));
        }
        program.watchdog.watch(None);
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// One turn for each function of the page, each in another process.
    fn run_own(
        &self,
        prepared: &mut [Prepared],
        own_shortest: &mut [Shortest],
        readings: &mut Readings,
        timed: usize,
        random: &mut Pcg64Mcg,
        program: &Program,
    ) {
        for (at, (function, shortest)) in OWN_FUNCTIONS.iter().zip(own_shortest).enumerate() {
            let process = random.random_range(0..prepared.len());
            if readings.lost.contains_key(&process) {
                continue;
            }
            program.deadline_after(&prepared[process].process, self.timeout);
            let ticks =
                prepared[process].run_own(*function, MOST_WARM as usize + timed, random.next_u64());
            match ticks.map_err(|e| program.explain("measure the overhead", e)) {
                Ok(ticks) => {
                    let flagged = ticks
                        .into_iter()
                        .skip(MOST_WARM as usize)
                        .map(|ticks| Raw::new(ticks, shortest.check(ticks, Width::FULL)));
                    let round = readings.rounds;
                    readings.own_readings.extend(flagged.map(|raw| reading(at, round, raw)));
                }
                Err(error) => readings.lose(process, &error),
            }
        }
    }

    fn goes_on(&self, readings: &Readings, elapsed: Duration) -> bool {
        let room = u32::from(readings.function.len() < MOST_FUNCTION_READINGS);
        fits(self.budget, self.is_firm, readings.rounds, elapsed, room)
    }

    /// The plan of a row for one turn; `None` if its process is lost.
    fn plan(
        &self,
        prepared: &mut [Prepared],
        place: (usize, usize),
        program: &Program,
        lost: &mut BTreeMap<usize, String>,
    ) -> Option<Plan> {
        const TRIAL: usize = 3;
        if lost.contains_key(&place.0) {
            return None;
        }
        let begin = Instant::now();
        match self.runs(prepared, place, TRIAL, 1, self.timeout * TRIAL as u32, program) {
            Ok(trial) => {
                let mut shortest = Shortest::new(self.quantum);
                for ticks in trial {
                    shortest.check(ticks, Width::FULL);
                }
                let typical = shortest.ticks().unwrap_or(1).max(1);
                let warm = (WARM_TICKS / (typical + TICKS_AROUND)).clamp(1, MOST_WARM) as usize;
                Some(Plan { warm, typical, shortest, each: begin.elapsed() / TRIAL as u32 })
            }
            Err(error) => {
                lost.insert(place.0, error.to_string());
                None
            }
        }
    }

    /// Runs a row `repeats` times, with a time limit.
    fn runs(
        &self,
        prepared: &mut [Prepared],
        (process, row): (usize, usize),
        repeats: usize,
        seed: u64,
        limit: Duration,
        program: &Program,
    ) -> Result<Vec<u64>> {
        let prepared_process = &mut prepared[process];
        program.deadline_after(&prepared_process.process, limit);
        prepared_process.run(row, repeats, seed).map_err(|e| program.explain("repeat the call", e))
    }

    fn turn(
        &self,
        prepared: &mut [Prepared],
        place: (usize, usize),
        plan: &mut Plan,
        timed: usize,
        seed: u64,
        program: &Program,
    ) -> Result<Vec<Raw>> {
        const SLOWER_FACTOR: u32 = 10;
        let repeats = plan.warm + timed;
        let limit = self.timeout + plan.each * SLOWER_FACTOR * repeats as u32;
        let ticks = self.runs(prepared, place, repeats, seed, limit, program)?;
        let flagged = |ticks| Raw::new(ticks, plan.shortest.check(ticks, Width::FULL));
        Ok(ticks.into_iter().skip(plan.warm).map(flagged).collect())
    }
}

/// The time that a quarter of the runs are shorter than.
fn first_quarter(mut ticks: Vec<u64>) -> Option<f64> {
    ticks.sort_unstable();
    ticks.get(ticks.len() / 4).map(|ticks| *ticks as f64)
}

impl Readings {
    /// Drops rows that are not whole calls, with their readings.
    pub fn keep_whole(&mut self, rows: &mut Vec<CountRow>) {
        let mut next = 0..;
        let numbers: Vec<Option<u32>> =
            rows.iter().map(|row| if row.is_whole() { next.next() } else { None }).collect();
        self.function.retain_mut(|reading| {
            numbers[reading.row as usize].map(|number| reading.row = number).is_some()
        });
        rows.retain(CountRow::is_whole);
    }

    fn push(&mut self, row: usize, repeats: Vec<Raw>) {
        let round = self.rounds;
        self.function.extend(repeats.into_iter().map(|raw| reading(row, round, raw)));
    }

    fn push_chains(&mut self, readings: Vec<Raw>) {
        let round = self.rounds;
        self.chains
            .extend(readings.into_iter().enumerate().map(|(row, raw)| reading(row, round, raw)));
    }

    fn lose(&mut self, process: usize, error: &Error) {
        self.lost.insert(process, error.to_string());
    }
}

/// The times of each row that nothing has flagged.
pub fn undisturbed<'a>(rows: usize, readings: impl Iterator<Item = &'a Reading>) -> Vec<Vec<f64>> {
    let mut ticks_of_rows = vec![Vec::new(); rows];
    for reading in readings.filter(|reading| !reading.flags.any()) {
        ticks_of_rows[reading.row as usize].push(reading.ticks);
    }
    ticks_of_rows
}

fn reading(row: usize, round: u32, raw: Raw) -> Reading {
    Reading { row: row as u32, round, ticks: raw.signed(), flags: raw.flags, guard: raw.guard }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Counted;
    use crate::graph::Counts;
    use hairspring_core::observations::Flags;

    #[test]
    fn a_whole_call_is_neither_its_shortest_run_nor_an_interrupted_one() {
        assert_eq!(first_quarter(vec![130, 101, 99, 100, 500, 102, 103, 900]), Some(101.0));
        assert_eq!((first_quarter(vec![7]), first_quarter(Vec::new())), (Some(7.0), None));
    }

    #[test]
    fn whole_calls_keep_their_readings_under_new_numbers() {
        let row = |until, counted| CountRow { counts: Counts::default(), until, counted };
        let counted = Counted { block: 1, arrivals: 3, twice: false };
        let mut rows =
            vec![row(None, None), row(Some(1), None), row(None, Some(counted)), row(None, None)];
        let reading = |row: u32| Reading {
            row,
            round: 0,
            ticks: f64::from(row),
            flags: Flags::NONE,
            guard: None,
        };
        let mut readings =
            Readings { function: [0, 1, 2, 3, 3].map(reading).to_vec(), ..Readings::default() };
        readings.keep_whole(&mut rows);
        let kept_readings: Vec<(u32, f64)> =
            readings.function.iter().map(|reading| (reading.row, reading.ticks)).collect();
        assert!(
            rows.len() == 2 && kept_readings == [(0, 0.0), (1, 3.0), (1, 3.0)],
            "{kept_readings:?}"
        );
    }
}
