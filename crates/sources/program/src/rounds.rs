//! Rounds over the rows of a group, in batches, until the intervals are narrow enough.

use crate::session::{Session, Stop};
use hairspring_core::judge::precise_enough;
use hairspring_core::observations::{Observations, RowId};
use hairspring_host::chains::RowFn;
use hairspring_host::clock::ReadFn;
use hairspring_measure::rounds::{Dither, Rig, Rounds};
use std::time::{Duration, Instant};

/// First batch; each further one doubles what there is.
const FIRST_BATCH: Duration = Duration::from_millis(60);
/// Rounds below which the intervals are not asked for, if the budget allows more ...
const FEWEST_ROUNDS: u32 = 32;
/// ... and those that are run whatever they cost: an interval needs repeats.
const LEAST_ROUNDS: u32 = 5;
/// Readings kept at the most: memory stays bounded for any budget.
const MOST_READINGS: usize = 8_000_000;

/// What is run as one row of the table.
pub(crate) enum Piece<'g> {
    /// A row of the benchmark at this place of the group.
    Code(&'g mut (dyn FnMut(ReadFn) -> Option<u64> + 'g), usize),
    /// A row of a chain.
    Chain(RowFn),
}

/// The rows. After the first failure no more code is run.
pub(crate) struct Pieces<'g> {
    now: ReadFn,
    pub rows: Vec<Piece<'g>>,
    failed: Option<usize>,
}

impl<'g> Pieces<'g> {
    pub fn new(now: ReadFn) -> Pieces<'g> {
        Pieces { now, rows: Vec::new(), failed: None }
    }
}

impl Rig for Pieces<'_> {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        match &mut self.rows[row] {
            Piece::Code(_, _) if self.failed.is_some() => 0,
            Piece::Code(run, at) => run(self.now).unwrap_or_else(|| {
                self.failed = Some(*at);
                0
            }),
            Piece::Chain(run) => run(self.now),
        }
    }
}

/// A table with its rows' code.
pub(crate) struct Plan<'g> {
    pub table: Observations,
    pub rig: Pieces<'g>,
    pub rows: Vec<RowId>,
}

/// Runs rounds; gives their number and why they ended, or the place of the benchmark that failed.
pub(crate) fn until_precise(plan: &mut Plan, session: &Session) -> Result<(u32, Stop), usize> {
    let settings = &session.settings;
    let begin = Instant::now();
    let (mut round, mut batch) = (0, FIRST_BATCH.min(settings.budget));
    let dither = Dither::over(&session.clock, session.granularity.quantum);
    let mut rounds = Rounds::new(plan.rows.len(), 1, dither, session.granularity.quantum).with_width(session.clock.width);
    loop {
        let batch_begin = Instant::now();
        while round < LEAST_ROUNDS || batch_begin.elapsed() < batch && plan.table.readings().len() < MOST_READINGS {
            let readings = rounds.round(&mut plan.rig);
            if let Some(at) = plan.rig.failed {
                return Err(at);
            }
            for (row, raw) in plan.rows.iter().zip(readings) {
                plan.table.push_flagged(*row, round, raw.ticks as i64 as f64, raw.flags);
            }
            round += 1;
        }
        let measured = begin.elapsed();
        if round >= FEWEST_ROUNDS && precise_enough(&mut plan.table, settings.level, settings.precision) {
            return Ok((round, Stop::Precise));
        }
        // The table may double, and is assessed twice more.
        let assessing = (begin.elapsed() - measured) * 4;
        let left = settings.budget.saturating_sub(begin.elapsed() + assessing);
        if left.is_zero() || plan.table.readings().len() >= MOST_READINGS {
            return Ok((round, Stop::Budget));
        }
        batch = measured.min(left);
    }
}
