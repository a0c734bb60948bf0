//! Rounds over all rows, in random order, with the chains of known length in between.

use super::prepare::Prepared;
use super::rows_of;
use crate::error::{Error, Result};
use crate::trace::Watchdog;
use hairspring_engine::acquire::{Dither, Functions, Rounds};
use hairspring_engine::clock::Clock;
use hairspring_engine::observations::{Flags, Reading};
use hairspring_machine::beside::Beside;
use rand::seq::SliceRandom;
use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;
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
}

struct Plan {
    warm: usize,
    shortest: u64,
}

/// Readings of one visit: as many for every row, or rows with few of them would count as disturbed.
fn readings_each(plans: &[Plan]) -> usize {
    let mut all: Vec<u64> = plans.iter().map(|plan| plan.shortest).collect();
    all.sort_unstable();
    let typical = all.get(all.len() / 2).copied().unwrap_or(1);
    (TIMED_TICKS / (typical + AROUND)).clamp(1, MOST_TIMED) as usize
}

impl Timing<'_> {
    /// Runs them.
    ///
    /// # Errors
    /// A process that ends, or hangs.
    pub fn run(&self, prepared: &mut [Prepared], dog: &Watchdog) -> Result<Readings> {
        let rows = rows_of(prepared);
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut plans = Vec::with_capacity(rows.len());
        for (process, row) in &rows {
            plans.push(self.plan(&mut prepared[*process], *row, dog)?);
        }
        let timed = readings_each(&plans);
        let mut rig = Functions { now: self.clock.read, rows: self.chains.iter().flat_map(Beside::code).collect() };
        let dither = Dither::over(&self.clock, self.quantum);
        let mut chains = Rounds::new(rig.rows.len(), 2, dither, self.quantum).with_width(self.clock.width);
        let (mut readings, begin) = (Readings::default(), Instant::now());
        let mut order: Vec<usize> = (0..rows.len()).collect();
        while self.goes_on(&readings, begin.elapsed()) {
            order.shuffle(&mut random);
            for (place, at) in order.iter().enumerate() {
                if place % ROWS_BETWEEN == 0 {
                    let round = chains.round(&mut rig).into_iter().enumerate();
                    let reading = |(row, raw): (usize, hairspring_engine::acquire::Raw)| Reading {
                        row: row as u32,
                        round: readings.rounds,
                        ticks: raw.ticks as f64,
                        flags: raw.flags,
                    };
                    readings.chains.extend(round.map(reading));
                }
                let (process, row) = rows[*at];
                let ticks = self.visit(&mut prepared[process], row, &mut plans[*at], (timed, random.next_u64()), dog)?;
                readings.function.extend(ticks.into_iter().map(|(ticks, flags)| Reading {
                    row: *at as u32,
                    round: readings.rounds,
                    ticks,
                    flags,
                }));
            }
            readings.rounds += 1;
        }
        dog.watch(None);
        Ok(readings)
    }

    fn goes_on(&self, readings: &Readings, elapsed: Duration) -> bool {
        let few = readings.rounds < FEWEST_ROUNDS && (elapsed < self.budget * MOST_BUDGETS || readings.rounds < 4);
        few || elapsed < self.budget && readings.function.len() < ALL_READINGS
    }

    /// How often a row is run in one visit.
    fn plan(&self, one: &mut Prepared, row: usize, dog: &Watchdog) -> Result<Plan> {
        const TRIAL: usize = 3;
        self.watch(one, dog);
        let trial = one.run(row, TRIAL, 1).map_err(|e| failed(one, &e))?;
        let shortest = trial.into_iter().min().unwrap_or(1).max(1);
        let warm = (WARM_TICKS / (shortest + AROUND)).clamp(1, MOST_WARM) as usize;
        Ok(Plan { warm, shortest })
    }

    fn watch(&self, one: &Prepared, dog: &Watchdog) {
        dog.watch(Some((one.process.id(), Instant::now() + self.timeout)));
    }

    fn visit(
        &self,
        one: &mut Prepared,
        row: usize,
        plan: &mut Plan,
        (timed, seed): (usize, u64),
        dog: &Watchdog,
    ) -> Result<Vec<(f64, Flags)>> {
        self.watch(one, dog);
        let ticks = one.run(row, plan.warm + timed, seed).map_err(|e| failed(one, &e))?;
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

fn failed(one: &Prepared, error: &Error) -> Error {
    Error::system(&format!("time input {}", one.input + 1), error)
}
