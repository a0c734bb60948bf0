//! The limits of every measurement, in one place: how many rounds, how many readings, how long.

use hairspring_core::design::MOST_COPIES_OF_SHORT_BLOCKS;
use hairspring_core::judge::FEWEST_ROUNDS_OF_A_PLACEMENT;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Default precision: half-width of an interval as a share of the value.
pub const DEFAULT_PRECISION: f64 = 0.005;
/// Length of the first batch; each further batch is as long as all previous ones together. Short
/// rows run some thousand times in it, which is enough for [`DEFAULT_PRECISION`] on a quiet
/// machine.
pub const FIRST_BATCH: Duration = Duration::from_millis(60);
/// Placements that share the first batch, if the rows can be moved. Some code has one time in most
/// processes and a much longer one in a few of them (`malloc`, `std::string`, `memcmp` do): five
/// placements are often all of the first kind, and their interval does not hold for the next run.
pub const FIRST_PLACEMENTS: u32 = 20;
/// Most placements that share a batch. More would not make the interval more certain, and each has
/// to be started.
pub const PLACEMENTS_OF_A_BATCH: u32 = 64;
/// Shortest time for the rounds of a placement. Short rows run more than a hundred times in it.
pub const SHORTEST_PLACEMENT: Duration = Duration::from_millis(5);
/// Rounds that a placement should have: enough to see the code warm up in a new process.
const ROUNDS_OF_A_PLACEMENT: u32 = 32;
/// A budget has so many placements at least, as far as the shortest ones allow.
const PLACEMENTS_OF_A_BUDGET: u32 = 20;
/// Longest time to which the placements of code that warms up late are made longer.
pub const LONGEST_PLACEMENT: Duration = Duration::from_millis(80);
/// Longest time of a batch with the starts of its placements, as a multiple of the time for rounds,
/// if the budget has room for it.
pub const LONGEST_BATCH: u32 = 2;
/// A batch takes at least one so many-th of the time of all before it: a shorter one would be
/// looked at, and change nothing.
pub const LEAST_OF_A_BATCH: u32 = 32;
/// Fewest rounds for a trusted interval, which comes from the spread of blocks of rounds. Fewer are
/// run only if the budget ends first.
pub const FEWEST_ROUNDS: u32 = 32;
/// Rounds that are run regardless of the budget if a design may have no spare rows: only repeats
/// show the noise.
pub const LEAST_ROUNDS: u32 = 5;
/// As [`LEAST_ROUNDS`], for a design with spare rows, whose distance from the line shows the noise:
/// for code that takes seconds each further round would take seconds.
pub const LEAST_ROUNDS_OF_SPARE_ROWS: u32 = 1;
/// Number of budgets that a default budget may grow to: while something else uses the core, while
/// the interval is wide because the time of the code differs from placement to placement, while a
/// verdict is in reach, and until long rounds are [`FEWEST_ROUNDS`]. A budget that is given does
/// not grow.
pub const MOST_BUDGETS: u32 = 2;
/// Most readings of a table: at 24 bytes each, this limits the memory for any budget.
pub const MOST_READINGS: usize = 8_000_000;
/// Most rounds of one batch that another process runs, because its answer is one message.
pub const MOST_ROUNDS_OF_A_MESSAGE: u32 = 100_000;
/// Times that a row of blocks runs before it is measured.
const RUNS_BEFORE_BLOCKS: u32 = 40;
/// The same for blocks of longer code. A sort of 16 integers takes as long behind 10 runs as behind
/// 40, and 1.2 times as long behind one.
const RUNS_BEFORE_SHORT_BLOCKS: u32 = 10;
/// Expected time of all further assessments as a multiple of the last one: the table may double,
/// and two more assessments may follow.
pub const ASSESSING_TO_COME: u32 = 4;

/// Largest distance from a whole number, as a share of the length and in cycles, at which the
/// length of a chain counts as that number. Long chains are measured more precisely than by a
/// share, and would otherwise be near a whole number by chance.
pub const WHOLE_DISTANCES: (f64, f64) = (0.01, 0.05);
/// Half-width in cycles from which on an interval does not tell a whole number from a half one.
pub const UNSURE_WIDTH: f64 = 0.25;
/// Parts of a run that show what a chain takes while nothing slows it: the quietest quarter. On
/// simulated cores with a co-runner in half of the time it proves the length in two of three runs,
/// and a fraction in hardly any (tests of `proof`). In tables from an AMD of family 25 beside a
/// tenant, which slows the load chain nearly all the time (4.04 to 4.58 cycles), it would prove one
/// of ten.
pub const QUIET_PARTS: f64 = 0.25;
/// Fewest parts whose quarter shows that.
pub const FEWEST_PARTS: usize = 8;
/// A length varies if its parts differ by so many times their noise. With 16 parts, their spread
/// and their noise are each known to about a quarter, so that noise alone seldom makes twice.
pub const NOISE_OF_PARTS: f64 = 2.0;
/// A chain that takes so much more than its length, as a share, is slowed by something: half of
/// what intervals are to be, as for `ON_LATTICE_PERCENT`.
pub const SLOWED_SHARE: f64 = 0.005;

/// Longest warm-up of a row, but for its first run: to make the data of a row may take longer than
/// the row.
pub(crate) const MOST_WARM_TIME: Duration = Duration::from_micros(100);

/// Times that a row runs before it is measured, if the longest of the rows that run blocks has so
/// many copies in its block; 0 if none does.
pub fn runs_before(copies: u32) -> u32 {
    match copies {
        0 => 1,
        1..=MOST_COPIES_OF_SHORT_BLOCKS => RUNS_BEFORE_SHORT_BLOCKS,
        _ => RUNS_BEFORE_BLOCKS,
    }
}

/// Most runs of a row in a warm-up, by its shortest run. A limit on the time of all of them would
/// end a warm-up right behind an evaluation that the code itself makes slow, so that fewer readings
/// met such evaluations.
pub fn affordable(run: Duration) -> u32 {
    let runs = MOST_WARM_TIME.as_nanos() / run.as_nanos().max(1);
    u32::try_from(runs.max(1)).unwrap_or(u32::MAX)
}

/// The limits of one batch of rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Time after which no round begins, unless fewer than `fewest` are done.
    pub time: Duration,
    /// Rounds that are run regardless of the time.
    pub fewest: u32,
    /// Most rounds.
    pub most: u32,
}

impl Batch {
    /// Whether another round begins after this number of rounds and this time.
    pub fn goes_on(&self, rounds: u32, elapsed: Duration) -> bool {
        rounds < self.most && (rounds < self.fewest || elapsed < self.time)
    }

    /// The same batch with no more rounds than this.
    #[must_use]
    pub fn at_most(self, most_rounds: u32) -> Batch {
        Batch { most: self.most.min(most_rounds), ..self }
    }
}

/// Shortest time for the rounds of a placement, if a round takes about this time, in which each row
/// runs so many times before it is measured.
///
/// ```
/// # use hairspring_measure::limits::{SHORTEST_PLACEMENT, placement_of};
/// # use std::time::Duration;
/// let (us, budget) = (Duration::from_micros(1), Duration::from_millis(800));
/// assert_eq!(placement_of(20 * us, 1, budget), SHORTEST_PLACEMENT);
/// assert_eq!(placement_of(500 * us, 1, budget), 16_000 * us);
/// assert_eq!(placement_of(2_000 * us, 10, budget), 16_000 * us);
/// assert_eq!(placement_of(5_000 * us, 1, budget), 40_000 * us);
/// ```
pub fn placement_of(round: Duration, runs_before: u32, budget: Duration) -> Duration {
    // What runs so often warms up in fewer rounds; each placement has to be solved by itself.
    let rounds = (ROUNDS_OF_A_PLACEMENT / runs_before.max(1)).max(FEWEST_ROUNDS_OF_A_PLACEMENT);
    round.saturating_mul(rounds).min(budget / PLACEMENTS_OF_A_BUDGET).max(SHORTEST_PLACEMENT)
}

/// The longest time of a measurement: a budget that was given, or [`MOST_BUDGETS`] of the default
/// one.
pub fn longest(budget: Duration, is_firm: bool) -> Duration {
    budget.saturating_mul(if is_firm { 1 } else { MOST_BUDGETS })
}

/// Whether another round begins in a measurement that only its budget ends, after this number of
/// rounds and this time, if the table has room for `room` more rounds.
pub fn fits(budget: Duration, is_firm: bool, rounds: u32, elapsed: Duration, room: u32) -> bool {
    let needed =
        Batch { time: longest(budget, is_firm), fewest: LEAST_ROUNDS, most: FEWEST_ROUNDS };
    needed.goes_on(rounds, elapsed) || elapsed < budget && room > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn batch_runs_its_fewest_rounds_and_ends_at_its_limits() {
        let batch = Batch { time: MS, fewest: 3, most: 5 };
        assert!(batch.goes_on(2, 9 * MS) && !batch.goes_on(3, MS));
        assert!(batch.goes_on(4, Duration::ZERO) && !batch.goes_on(5, Duration::ZERO));
        assert!(!batch.at_most(2).goes_on(2, Duration::ZERO));
    }

    #[test]
    fn long_rounds_get_a_default_budget_twice_and_a_given_one_once() {
        let grows =
            |rounds: u32, elapsed: Duration, room: u32| fits(10 * MS, false, rounds, elapsed, room);
        let firm =
            |rounds: u32, elapsed: Duration, room: u32| fits(10 * MS, true, rounds, elapsed, room);
        assert!(grows(FEWEST_ROUNDS, 9 * MS, 1));
        assert!(!grows(FEWEST_ROUNDS, 9 * MS, 0) && !grows(FEWEST_ROUNDS, 10 * MS, 1));
        assert!(grows(FEWEST_ROUNDS - 1, 19 * MS, 0) && !grows(FEWEST_ROUNDS - 1, 20 * MS, 1));
        assert!(firm(FEWEST_ROUNDS - 1, 9 * MS, 0) && !firm(FEWEST_ROUNDS - 1, 10 * MS, 1));
        assert!(grows(LEAST_ROUNDS - 1, 4_000 * MS, 0) && !grows(LEAST_ROUNDS, 4_000 * MS, 1));
        assert!(firm(LEAST_ROUNDS - 1, 4_000 * MS, 0) && !firm(LEAST_ROUNDS, 4_000 * MS, 1));
    }
}
