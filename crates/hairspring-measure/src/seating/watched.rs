//! Batches of rounds that end when the code turns out to run other threads.

use super::{Threads, TimedThread};
use crate::batches::Batches;
use crate::limits::Batch;
use crate::table::Table;
use std::time::Duration;

/// Batches, with a look at the other threads behind each.
#[derive(Debug)]
pub struct Watched<'p, B> {
    /// The batches.
    pub batches: B,
    /// Where the timed thread is.
    pub thread: &'p mut TimedThread,
}

/// Why a batch gave no rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stopped<E> {
    /// The error of the batch.
    Failed(E),
    /// The code turned out to run other threads: it is to be measured anew.
    Changed(Threads),
}

impl<B: Batches> Batches for Watched<'_, B> {
    type Error = Stopped<B::Error>;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), Self::Error> {
        self.batches.run(batch, elapsed, table).map_err(Stopped::Failed)?;
        self.thread.has_changed().map_or(Ok(()), |threads| Err(Stopped::Changed(threads)))
    }

    fn can_move(&self) -> bool {
        self.batches.can_move()
    }

    fn shortest_placement(&self) -> Duration {
        self.batches.shortest_placement()
    }

    fn move_rows(&mut self) -> Result<(), Self::Error> {
        self.batches.move_rows().map_err(Stopped::Failed)
    }
}
