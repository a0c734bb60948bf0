//! Rounds over all rows, in random order, with the chains of known length in between.

use super::prepare::Prepared;
use super::rows_of;
use crate::error::{Error, Result};
use crate::result::Progress;
use crate::trace::Program;
use hairspring_core::observations::{Flags, Reading};
use hairspring_host::clock::Clock;
use hairspring_measure::companions::Beside;
use hairspring_measure::rounds::{Dither, Functions, Raw, Rounds};
use rand::seq::SliceRandom;
use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Rounds in any case, and in any case that takes no longer than so many budgets.
const FEWEST_ROUNDS: u32 = 32;
const MOST_BUDGETS: u32 = 4;
/// Readings in all.
const ALL_READINGS: usize = 3_000_000;
/// Ticks that one visit to a process warms up for, and measures: a visit itself costs about as much.
const WARM_TICKS: u64 = 20_000;
const TIMED_TICKS: u64 = 30_000;
const MOST_WARM: u64 = 24;
const MOST_TIMED: u64 = 24;
/// Ticks around a call in the timing code.
const AROUND: u64 = 400;
/// A reading above this many times the row's shortest, and above it by `GAP_TICKS`, has a gap in it.
const GAP_FACTOR: u64 = 2;
const GAP_TICKS: u64 = 60_000;
/// Rows between two rounds of the chains.
const ROWS_BETWEEN: usize = 64;

/// What the rounds need.
pub struct Timing<'a> {
    /// The clock that the chains read; calls read the same counter.
    pub clock: Clock,
    /// Its quantum in ticks.
    pub quantum: u64,
    /// Chains of known length.
    pub chains: &'a [Beside],
    /// Time for the rounds.
    pub budget: Duration,
    /// Longest time of one visit.
    pub timeout: Duration,
    /// Told how far the rounds are.
    pub progress: fn(Progress),
}

/// Raw readings; rows are numbered through all processes, and chains' rows by themselves.
#[derive(Debug, Default)]
pub struct Readings {
    /// Of the function.
    pub function: Vec<Reading>,
    /// Of the chains.
    pub chains: Vec<Reading>,
    /// Rounds.
    pub rounds: u32,
    /// Processes that did not last to the end, with the reason.
    pub lost: BTreeMap<usize, String>,
}

#[derive(Clone, Copy)]
struct Plan {
    warm: usize,
    shortest: u64,
    /// Time of one run, its surroundings with it.
    each: Duration,
}

/// Readings of one visit: as many for every row, or rows with few of them would count as disturbed.
fn readings_each(plans: &[(usize, Plan)]) -> usize {
    let mut all: Vec<u64> = plans.iter().map(|(_, plan)| plan.shortest).collect();
    all.sort_unstable();
    let typical = all.get(all.len() / 2).copied().unwrap_or(1);
    (TIMED_TICKS / (typical + AROUND)).clamp(1, MOST_TIMED) as usize
}

impl Timing<'_> {
    /// Runs them. A process that ends or hangs is lost, and the others go on.
    pub fn run(&self, prepared: &mut [Prepared], program: &Program) -> Readings {
        let rows = rows_of(prepared);
        let mut readings = Readings::default();
        let plans: Vec<Option<Plan>> = rows.iter().map(|place| self.plan(prepared, *place, program, &mut readings.lost)).collect();
        let mut plans: Vec<(usize, Plan)> = plans.into_iter().enumerate().filter_map(|(row, plan)| Some((row, plan?))).collect();
        let timed = readings_each(&plans);
        let mut rig = Functions { now: self.clock.read, rows: self.chains.iter().flat_map(Beside::code).collect() };
        let dither = Dither::over(&self.clock, self.quantum);
        let mut chains = Rounds::new(rig.rows.len(), 2, dither, self.quantum).with_width(self.clock.width);
        let (mut random, begin) = (Pcg64Mcg::seed_from_u64(1), Instant::now());
        while !plans.is_empty() && self.goes_on(&readings, begin.elapsed()) {
            (self.progress)(Progress::Timing { elapsed: begin.elapsed(), budget: self.budget });
            plans.shuffle(&mut random);
            for (place, (row, plan)) in plans.iter_mut().enumerate() {
                if place % ROWS_BETWEEN == 0 {
                    readings.push_chains(chains.round(&mut rig));
                }
                if !readings.lost.contains_key(&rows[*row].0) {
                    match self.visit(prepared, rows[*row], plan, (timed, random.next_u64()), program) {
                        Ok(ticks) => readings.push(*row, ticks),
                        Err(error) => readings.lose(rows[*row].0, &error),
                    }
                }
            }
            plans.retain(|(row, _)| !readings.lost.contains_key(&rows[*row].0));
            readings.rounds += 1;
        }
        program.dog.watch(None);
        readings
    }

    fn goes_on(&self, readings: &Readings, elapsed: Duration) -> bool {
        let few = readings.rounds < FEWEST_ROUNDS && (elapsed < self.budget * MOST_BUDGETS || readings.rounds < 4);
        few || elapsed < self.budget && readings.function.len() < ALL_READINGS
    }

    /// How often a row is run in one visit; `None` if its process is lost.
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
        match self.runs(prepared, place, (TRIAL, 1), self.timeout * TRIAL as u32, program) {
            Ok(trial) => {
                let shortest = trial.into_iter().min().unwrap_or(1).max(1);
                let warm = (WARM_TICKS / (shortest + AROUND)).clamp(1, MOST_WARM) as usize;
                Some(Plan { warm, shortest, each: begin.elapsed() / TRIAL as u32 })
            }
            Err(error) => {
                lost.insert(place.0, error.to_string());
                None
            }
        }
    }

    /// Runs a row so often, with a limit of time.
    fn runs(
        &self,
        prepared: &mut [Prepared],
        (process, row): (usize, usize),
        (repeats, seed): (usize, u64),
        limit: Duration,
        program: &Program,
    ) -> Result<Vec<u64>> {
        let one = &mut prepared[process];
        program.dog.watch(Some((one.process.id(), Instant::now() + limit)));
        one.run(row, repeats, seed).map_err(|e| program.explain("repeat the call", e))
    }

    fn visit(
        &self,
        prepared: &mut [Prepared],
        place: (usize, usize),
        plan: &mut Plan,
        (timed, seed): (usize, u64),
        program: &Program,
    ) -> Result<Vec<(f64, Flags)>> {
        const SLOWER: u32 = 10;
        let repeats = plan.warm + timed;
        let limit = self.timeout + plan.each * SLOWER * repeats as u32;
        let ticks = self.runs(prepared, place, (repeats, seed), limit, program)?;
        let gap = GAP_TICKS.max(3 * self.quantum);
        let flagged = |ticks: u64| {
            if ticks > u64::MAX / 2 {
                return (0.0, Flags::BACKWARD);
            }
            plan.shortest = plan.shortest.min(ticks);
            let far = ticks > GAP_FACTOR * plan.shortest && ticks - plan.shortest > gap;
            (ticks as f64, if far { Flags::GAP } else { Flags::NONE })
        };
        Ok(ticks.into_iter().skip(plan.warm).map(flagged).collect())
    }
}

impl Readings {
    fn push(&mut self, row: usize, ticks: Vec<(f64, Flags)>) {
        let round = self.rounds;
        self.function.extend(ticks.into_iter().map(|(ticks, flags)| Reading { row: row as u32, round, ticks, flags }));
    }

    fn push_chains(&mut self, raw: Vec<Raw>) {
        let round = self.rounds;
        let reading = |(row, raw): (usize, Raw)| Reading { row: row as u32, round, ticks: raw.ticks as f64, flags: raw.flags };
        self.chains.extend(raw.into_iter().enumerate().map(reading));
    }

    fn lose(&mut self, process: usize, error: &Error) {
        self.lost.insert(process, error.to_string());
    }
}
