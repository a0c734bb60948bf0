//! Batches of rounds until the intervals are narrow enough or the budget is spent.

use crate::batches::Batches;
use crate::limits::{ASSESSING_TO_COME, FEWEST_ROUNDS, FIRST_BATCH, SHORTEST_RUN};
use crate::table::Table;
use hairspring_core::judge::precise_enough;
use std::time::Duration;

/// What ends the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Half-width of the intervals, as a share of the value, that ends the rounds.
    pub precision: f64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Time after which the rounds end in any case.
    pub budget: Duration,
    /// Rounds that are run regardless of the budget: see [`crate::limits::LEAST_ROUNDS`].
    pub least_rounds: u32,
}

/// Why the rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The requested precision was reached.
    Precise,
    /// The budget was spent, or the table was full.
    Budget,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stop::Precise => "precision reached",
            Stop::Budget => "budget spent",
        })
    }
}

/// How the rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Why the rounds ended.
    pub stop: Stop,
    /// Time spent in the rounds.
    pub measuring: Duration,
    /// Time since the budget began.
    pub elapsed: Duration,
}

/// Runs batches of rounds, each as long as all previous ones together, until every body and every ratio in the table reaches
/// the precision of the goal, or the budget is spent. `elapsed` is the spent part of the budget, which may include time before
/// the rounds, such as compilation.
///
/// # Errors
/// Errors of `batches`: a row that failed, a process that died, an interruption.
pub fn until_precise<B: Batches>(
    goal: &Goal,
    table: &mut Table,
    batches: &mut B,
    elapsed: &dyn Fn() -> Duration,
) -> Result<Ended, B::Error> {
    until(goal, table, batches, elapsed, |table| precise_enough(table.observations_mut(), goal.level, goal.precision))
}

fn until<B: Batches>(
    goal: &Goal,
    table: &mut Table,
    batches: &mut B,
    elapsed: &dyn Fn() -> Duration,
    mut is_precise: impl FnMut(&mut Table) -> bool,
) -> Result<Ended, B::Error> {
    let mut measuring = Duration::ZERO;
    let mut time = FIRST_BATCH.min(goal.left(elapsed(), measuring));
    loop {
        let begin = elapsed();
        batches.run(table.batch(time, goal.least_rounds), elapsed, table)?;
        let end = elapsed();
        measuring += end.saturating_sub(begin);
        if table.rounds() >= FEWEST_ROUNDS && is_precise(table) {
            return Ok(Ended { stop: Stop::Precise, measuring, elapsed: elapsed() });
        }
        let assessing = elapsed().saturating_sub(end) * ASSESSING_TO_COME;
        let left = goal.left(elapsed() + assessing, measuring);
        if left.is_zero() || table.is_full() {
            return Ok(Ended { stop: Stop::Budget, measuring, elapsed: elapsed() });
        }
        time = measuring.min(left);
    }
}

impl Goal {
    /// Time for further rounds after `spent` of the budget; at least what is missing from the shortest run.
    fn left(&self, spent: Duration, measuring: Duration) -> Duration {
        let lacking = SHORTEST_RUN.min(self.budget).saturating_sub(measuring);
        self.budget.saturating_sub(spent).max(lacking)
    }
}

#[cfg(test)]
mod tests;
