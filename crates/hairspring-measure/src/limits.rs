//! The limits of every measurement, in one place: how many rounds, how many readings, how long.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Half-width of an interval that is asked for where the user names none, as a share of the value.
pub const DEFAULT_PRECISION: f64 = 0.005;
/// The first batch; each further one is as long as all before it together. Short rows run some thousand times in it, and a
/// quiet machine needs no more for [`DEFAULT_PRECISION`].
pub const FIRST_BATCH: Duration = Duration::from_millis(60);
/// Time that is measured however much of the budget compiling or assessing took, if the budget is as long.
pub const SHORTEST_RUN: Duration = Duration::from_millis(100);
/// Rounds from which on an interval is believed: it comes from the spread of about twenty blocks of rounds. Fewer are run only
/// where the budget ends first.
pub const FEWEST_ROUNDS: u32 = 32;
/// Rounds that are run whatever they cost, where a design may have as few rows as unknowns: repeats alone show the noise.
pub const LEAST_ROUNDS: u32 = 5;
/// The same where the design has rows to spare, so that the rows' distance from the line shows the noise: each further round
/// would cost seconds for code that takes seconds.
pub const LEAST_ROUNDS_OF_SPARE_ROWS: u32 = 1;
/// Budgets that [`FEWEST_ROUNDS`] may take where rounds are long and the precision reached does not end them.
pub const MOST_BUDGETS: u32 = 4;
/// Readings of a table at the most: at 24 bytes each, memory stays bounded for any budget.
pub const MOST_READINGS: usize = 8_000_000;
/// Rounds of one batch that another process runs: its answer is one message.
pub const MOST_ROUNDS_OF_A_MESSAGE: u32 = 100_000;
/// How much longer assessing will take, all further assessments together, than it took the last time: the table may double,
/// and is assessed twice more.
pub const ASSESSING_TO_COME: u32 = 4;

/// How long rounds are run in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Time after which no round begins, once the fewest are done.
    pub time: Duration,
    /// Rounds that are run whatever they cost.
    pub fewest: u32,
    /// Rounds at the most.
    pub most: u32,
}

impl Batch {
    /// Whether another round begins after so many rounds and so much time.
    pub fn goes_on(&self, rounds: u32, elapsed: Duration) -> bool {
        rounds < self.most && (rounds < self.fewest || elapsed < self.time)
    }

    /// The same batch with no more rounds than this.
    #[must_use]
    pub fn at_most(self, most: u32) -> Batch {
        Batch { most: self.most.min(most), ..self }
    }
}

/// Whether another round begins of a measurement that only its budget ends, after so many rounds and so much time, where the
/// table has room for so many more.
pub fn fits(budget: Duration, rounds: u32, elapsed: Duration, room: u32) -> bool {
    let needed = Batch { time: budget * MOST_BUDGETS, fewest: LEAST_ROUNDS, most: FEWEST_ROUNDS };
    needed.goes_on(rounds, elapsed) || elapsed < budget && room > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_batch_runs_its_fewest_rounds_and_ends_with_its_time_or_its_most() {
        let batch = Batch { time: MS, fewest: 3, most: 5 };
        assert!(batch.goes_on(2, 9 * MS) && !batch.goes_on(3, MS));
        assert!(batch.goes_on(4, Duration::ZERO) && !batch.goes_on(5, Duration::ZERO));
        assert!(!batch.at_most(2).goes_on(2, Duration::ZERO));
    }

    #[test]
    fn long_rounds_get_several_budgets() {
        assert!(fits(10 * MS, FEWEST_ROUNDS, 9 * MS, 1));
        assert!(!fits(10 * MS, FEWEST_ROUNDS, 9 * MS, 0) && !fits(10 * MS, FEWEST_ROUNDS, 10 * MS, 1));
        assert!(fits(10 * MS, FEWEST_ROUNDS - 1, 39 * MS, 0) && !fits(10 * MS, FEWEST_ROUNDS - 1, 40 * MS, 1));
        assert!(fits(10 * MS, LEAST_ROUNDS - 1, 4_000 * MS, 0) && !fits(10 * MS, LEAST_ROUNDS, 4_000 * MS, 1));
    }
}
