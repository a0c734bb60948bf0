//! Batches of rounds in this process, and the trait for batches in another process.

use crate::limits::Batch;
use crate::rounds::{Dither, Raw, Rig, Rounds};
use crate::table::Table;
use hairspring_host::clock::Clock;
use std::time::Duration;

/// Runs batches of rounds.
pub trait Batches {
    /// Why a batch could not be run to its end.
    type Error;

    /// Runs a batch and adds its rounds to the table. `elapsed` is the clock for the time limit of the batch.
    ///
    /// # Errors
    /// A row that failed, a process that died, an interruption.
    fn run(&mut self, batch: Batch, elapsed: &dyn Fn() -> Duration, table: &mut Table) -> Result<(), Self::Error>;

    /// Whether the rows can be moved to a new placement at a cost that suits the budget.
    fn can_move(&self) -> bool {
        false
    }

    /// Moves the rows to a new placement, such as a fresh process, for all further batches. Called only after
    /// [`Batches::can_move`].
    ///
    /// # Errors
    /// The new process cannot be started, or the old one does not end.
    fn move_rows(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// A row failed: its reading is invalid, and no more rounds are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a row failed")]
pub struct RowFailed;

/// Rows that run in this process.
#[derive(Debug)]
pub struct InProcess<R> {
    /// The rows.
    pub rig: R,
    rounds: Rounds,
}

impl<R: Rig> InProcess<R> {
    /// Rounds over the rows with a clock of this quantum in ticks. The same seed gives the same orders.
    pub fn new(rig: R, clock: &Clock, quantum: u64, seed: u64) -> InProcess<R> {
        let rounds = Rounds::new(rig.rows(), seed, Dither::over(clock, quantum), quantum).with_width(clock.width).with_guards(clock.read);
        InProcess { rig, rounds }
    }
}

impl<R: Rig> Batches for InProcess<R> {
    type Error = RowFailed;

    fn run(&mut self, batch: Batch, elapsed: &dyn Fn() -> Duration, table: &mut Table) -> Result<(), RowFailed> {
        run_batch(&mut self.rounds, &mut self.rig, batch, elapsed, |round| table.push(round))
    }
}

/// Runs rounds until the batch ends, and passes each of them to `add`.
///
/// # Errors
/// A row that failed; its round is not passed to `add`.
pub fn run_batch(
    rounds: &mut Rounds,
    rig: &mut impl Rig,
    batch: Batch,
    elapsed: &dyn Fn() -> Duration,
    mut add: impl FnMut(&[Raw]),
) -> Result<(), RowFailed> {
    rounds.resume();
    let (begin, mut done) = (elapsed(), 0);
    while batch.goes_on(done, elapsed().saturating_sub(begin)) {
        let readings = rounds.round(rig);
        if rig.has_failed() {
            return Err(RowFailed);
        }
        add(&readings);
        done += 1;
    }
    Ok(())
}
