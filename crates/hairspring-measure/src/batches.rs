//! Batches of rounds in this process, and the trait for batches in another process.

use crate::limits::{Batch, FIRST_BATCH, FIRST_PLACEMENTS, SHORTEST_PLACEMENT};
use crate::rounds::{Dither, Raw, Rig, Rounds};
use crate::table::Table;
use hairspring_host::clock::Clock;
use std::time::Duration;

/// Runs batches of rounds.
pub trait Batches {
    /// Why a batch could not be run to its end.
    type Error;

    /// Runs a batch and adds its rounds to the table. `elapsed` is the clock for the time limit of
    /// the batch.
    ///
    /// # Errors
    /// A row that failed, a process that died, an interruption.
    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), Self::Error>;

    /// Whether the rows can be moved to a new placement at a cost that suits the budget.
    fn can_move(&self) -> bool {
        false
    }

    /// Shortest time for the rounds of a placement, if the rows can be moved.
    fn shortest_placement(&self) -> Duration {
        SHORTEST_PLACEMENT
    }

    /// Moves the rows to a new placement, such as a fresh process, for all further batches. Called
    /// only after [`Batches::can_move`].
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
    /// Whether the rows run at several offsets of the stack, and the number of the one in use.
    placements: Option<u32>,
}

impl<R: Rig> InProcess<R> {
    /// Rounds over the rows with a clock of this quantum in ticks. The same seed gives the same
    /// orders.
    pub fn new(rig: R, clock: &Clock, quantum: u64, seed: u64) -> InProcess<R> {
        let rounds = Rounds::new(rig.rows(), seed, Dither::over(clock, quantum), quantum)
            .with_clock(clock)
            .with_guards(clock.read);
        InProcess { rig, rounds, placements: None }
    }

    /// Runs the rows at another offset of the stack in each placement. Everything else that differs
    /// between processes, such as the addresses of code and data, stays.
    #[must_use]
    pub fn with_placements(self) -> InProcess<R> {
        InProcess { placements: Some(0), ..self }
    }

    /// Runs a round whose readings nobody sees, where the next one will run.
    pub fn warm_up(&mut self) {
        let frames = self.frames();
        let (rounds, rig) = (&mut self.rounds, &mut self.rig);
        below(frames, &mut || drop(rounds.round(rig)));
    }

    /// Frames of the stack above the rows.
    fn frames(&self) -> u32 {
        self.placements.map_or(0, |placement| placement.wrapping_mul(FRAMES_APART) % MOST_FRAMES)
    }
}

impl<R: Rig> Batches for InProcess<R> {
    type Error = RowFailed;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), RowFailed> {
        let frames = self.frames();
        let (rounds, rig) = (&mut self.rounds, &mut self.rig);
        let ran = below(frames, &mut || {
            run_batch(rounds, rig, batch, elapsed, |round| table.push(round))
        });
        table.add_pauses(rounds.take_pauses());
        ran
    }

    fn can_move(&self) -> bool {
        self.placements.is_some()
    }

    /// A move takes no time, so the first batch need not be longer.
    fn shortest_placement(&self) -> Duration {
        FIRST_BATCH / FIRST_PLACEMENTS
    }

    fn move_rows(&mut self) -> Result<(), RowFailed> {
        self.placements = self.placements.map(|placement| placement.wrapping_add(1));
        self.placements.into_iter().for_each(|placement| self.rig.place(placement));
        Ok(())
    }
}

/// Frames of [`below`] that take some 4 KiB of the stack together, after which offsets within a
/// page repeat.
const MOST_FRAMES: u32 = 41;
/// Frames between one placement and the next. It has no divisor in common with [`MOST_FRAMES`], so
/// every number of frames has its turn, and the first placements are spread over the page.
const FRAMES_APART: u32 = 17;

/// Does the work so many frames further down the stack.
#[inline(never)]
fn below<T>(frames: u32, work: &mut dyn FnMut() -> T) -> T {
    let frame = std::hint::black_box([0_u64; 6]);
    let done = if frames == 0 { work() } else { below(frames - 1, work) };
    // The frame is in use until here, so the call before is no jump.
    std::hint::black_box(&frame);
    done
}

/// Behind a batch, the clock is watched for this part of its time, within these limits: enough to
/// know how much of the time the CPU pauses.
const WATCHED_PART: u32 = 20;
const LEAST_WATCHED: Duration = Duration::from_micros(100);
const MOST_WATCHED: Duration = Duration::from_millis(2);

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
    let time = elapsed().saturating_sub(begin) / WATCHED_PART;
    rounds.watch(time.clamp(LEAST_WATCHED, MOST_WATCHED), elapsed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Address of a variable so many frames further down the stack.
    fn address(frames: u32) -> usize {
        below(frames, &mut || {
            let here = 0_u8;
            std::ptr::from_ref(std::hint::black_box(&here)).addr()
        })
    }

    #[test]
    fn the_rows_are_told_the_number_of_every_placement() {
        struct Told(Vec<u32>);
        impl Rig for Told {
            fn rows(&self) -> usize {
                0
            }
            fn run(&mut self, _: usize) -> u64 {
                0
            }
            fn place(&mut self, placement: u32) {
                self.0.push(placement);
            }
        }
        let clock = hairspring_host::clock::fake::clock(64);
        let mut batches = InProcess::new(Told(Vec::new()), &clock, 1, 7).with_placements();
        (0..3).for_each(|_| batches.move_rows().unwrap());
        assert_eq!(batches.rig.0, [1, 2, 3]);
    }

    #[test]
    fn placements_are_spread_over_a_page_of_the_stack() {
        const PAGE: usize = 4096;
        let offsets: Vec<usize> =
            (0..MOST_FRAMES).map(|frames| address(0) - address(frames)).collect();
        assert!(offsets.windows(2).all(|pair| pair[1] > pair[0]), "{offsets:?}");
        assert!(
            offsets[offsets.len() - 1] > PAGE / 2 && offsets[offsets.len() - 1] < 3 * PAGE,
            "{offsets:?}"
        );
        let all_offsets: BTreeSet<u32> =
            (0..MOST_FRAMES).map(|placement| placement * FRAMES_APART % MOST_FRAMES).collect();
        assert_eq!(all_offsets.len(), MOST_FRAMES as usize);
    }
}
