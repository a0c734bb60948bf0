//! Batches of rounds until the intervals are narrow enough or the budget is spent.

use crate::batches::Batches;
use crate::limits::{
    ASSESSING_TO_COME, Batch, FEWEST_ROUNDS, FIRST_BATCH, FIRST_PLACEMENTS, LEAST_OF_A_BATCH,
    LONGEST_BATCH, LONGEST_PLACEMENT, PLACEMENTS_OF_A_BATCH, longest,
};
use crate::table::Table;
use hairspring_core::estimate::Options;
use hairspring_core::judge::{Assessment, FEWEST_ROUNDS_OF_A_PLACEMENT, Open, Question, assess};
use hairspring_core::observations::Observations;
use std::time::Duration;

/// What ends the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    /// Half-width of the intervals, as a share of the value, that ends the rounds.
    pub precision: f64,
    /// Confidence level of the intervals.
    pub level: f64,
    /// Time after which the rounds end, with their assessments and the starts of their placements.
    pub budget: Duration,
    /// Whether the budget was given, and is kept. Otherwise the rounds go on for
    /// [`crate::limits::MOST_BUDGETS`] budgets while something else uses the core, while the
    /// interval is wide for too few placements, and while a verdict is in reach.
    pub is_firm: bool,
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
    /// The extended budget was spent: the time of the code differs from placement to placement, or
    /// it is not in its steady state within them.
    Varied,
    /// The extended budget was spent: it stayed undecided whether alternatives differ.
    Undecided,
    /// The extended budget was spent: something else used the core throughout.
    Disturbed,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stop::Precise => "precision reached",
            Stop::Budget => "budget spent",
            Stop::Varied => {
                "extended budget spent, because the time differs from placement to placement, or \
                 within them"
            }
            Stop::Undecided => {
                "extended budget spent, because it is undecided whether the alternatives differ"
            }
            Stop::Disturbed => "extended budget spent, because something else used the core",
        })
    }
}

/// What further rounds would be good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The half-width of every body and every ratio is at most the requested share of its value,
    /// and the verdicts are decided or out of reach.
    Precise,
    /// Some interval is too wide, or the table cannot be solved yet.
    Wide,
    /// Some interval is wide, because the time of the code differs from placement to placement, or
    /// is not in its steady state at the end of one. More and longer placements make it narrower.
    Varied,
    /// It is not decided whether two alternatives differ, and more rounds may decide it.
    Undecided,
    /// Something else uses the core.
    Disturbed,
}

impl Progress {
    fn of(open: &Open, precision: f64) -> Progress {
        match open {
            Open { is_disturbed: true, .. } => Progress::Disturbed,
            open if open.widest <= precision && !open.is_undecided => Progress::Precise,
            Open { varies: true, .. } => Progress::Varied,
            Open { is_undecided: true, .. } => Progress::Undecided,
            _ => Progress::Wide,
        }
    }
}

/// What is left open in a table, and whether longer placements would show how its code warms up.
/// Shows what is found to `look`.
fn progress(
    table: &Observations,
    goal: &Goal,
    look: &mut dyn FnMut(&Assessment),
) -> (Progress, bool) {
    let options = Options { level: goal.level, ..Options::default() };
    let Ok(assessment) = assess(table, &Question { options, ..Question::default() }) else {
        return (Progress::Wide, false);
    };
    look(&assessment);
    (Progress::of(&assessment.open, goal.precision), assessment.open.warms_up_late)
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

/// Runs batches of rounds, each as long as all previous ones together and in several placements if
/// the rows can be moved, until every body and every ratio in the table reaches the precision of
/// the goal, or the budget is spent. `elapsed` is the spent part of the budget. No round begins
/// that would end behind it, but for those of the first batch. `look` sees what is found whenever
/// the readings have doubled.
///
/// # Errors
/// Errors of `batches`: a row that failed, a process that died, an interruption.
pub fn until_precise<B: Batches>(
    goal: &Goal,
    table: &mut Table,
    batches: &mut B,
    elapsed: &dyn Fn() -> Duration,
    look: &mut dyn FnMut(&Assessment),
) -> Result<Ended, B::Error> {
    until(goal, table, batches, elapsed, |table| progress(table.observations(), goal, look))
}

fn until<B: Batches>(
    goal: &Goal,
    table: &mut Table,
    batches: &mut B,
    elapsed: &dyn Fn() -> Duration,
    mut progress: impl FnMut(&Table) -> (Progress, bool),
) -> Result<Ended, B::Error> {
    let mut spent = Spent::default();
    let mut placement = batches.shortest_placement();
    let first = if batches.can_move() { placement * FIRST_PLACEMENTS } else { FIRST_BATCH };
    // Half of the budget at most: longer placements must not keep a precise run from ending.
    let mut time =
        first.min(goal.budget / 2).max(FIRST_BATCH).min(goal.budget.saturating_sub(elapsed()));
    let mut end = goal.budget;
    loop {
        run_placed(
            Share { time, shortest: placement, end },
            &mut spent,
            goal.least_rounds,
            table,
            batches,
            elapsed,
        )?;
        let (looked, measuring) = (elapsed(), spent.measuring);
        let has_rounds = table.rounds() >= FEWEST_ROUNDS;
        let (progress, warms_up_late) =
            if has_rounds { progress(table) } else { (Progress::Wide, false) };
        // Rows of some layouts of the code say nothing of the others.
        let lacks_layouts = has_rounds && batches.can_move() && table.lacks_layouts();
        let progress = if lacks_layouts && matches!(progress, Progress::Precise | Progress::Wide) {
            Progress::Varied
        } else {
            progress
        };
        let (budget, stop) = goal.limit(progress);
        end = budget.saturating_sub(elapsed().saturating_sub(looked) * ASSESSING_TO_COME);
        let time_left = end.saturating_sub(elapsed());
        let is_spent = time_left
            < spent
                .next(table, batches.can_move().then_some(placement))
                .max(measuring / LEAST_OF_A_BATCH);
        if progress == Progress::Precise || is_spent || time_left.is_zero() || table.is_full() {
            let stop =
                if table.is_full() && progress != Progress::Precise { Stop::Budget } else { stop };
            return Ok(Ended { stop, measuring, elapsed: elapsed() });
        }
        if batches.can_move() && warms_up_late {
            placement = (placement * 2).min(LONGEST_PLACEMENT);
        }
        time = measuring.min(time_left);
    }
}

/// The part of the budget that a batch has.
#[derive(Debug, Clone, Copy)]
struct Share {
    /// Time for rounds.
    time: Duration,
    /// Shortest time of a placement.
    shortest: Duration,
    /// The spent part of the budget at which the batch has ended.
    end: Duration,
}

/// What was spent so far.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    /// Time in the rounds.
    measuring: Duration,
    /// Time that the last placement took to start.
    moving: Duration,
}

impl Spent {
    fn round(self, table: &Table) -> Duration {
        self.measuring.checked_div(table.rounds()).unwrap_or_default()
    }

    /// The shortest time of what comes next: a round, or the start of a placement with the rounds
    /// that it takes to solve it.
    fn next(self, table: &Table, placement: Option<Duration>) -> Duration {
        let round = self.round(table);
        placement
            .map_or(round, |shortest| self.moving + round * rounds_to_solve(round, shortest).max(1))
    }
}

/// Runs a batch in several placements if the rows can be moved.
fn run_placed<B: Batches>(
    Share { time, shortest, end }: Share,
    spent: &mut Spent,
    least_rounds: u32,
    table: &mut Table,
    batches: &mut B,
    elapsed: &dyn Fn() -> Duration,
) -> Result<(), B::Error> {
    let mut parts = if batches.can_move() { parts_of(time, shortest) } else { 1 };
    let (batch_begin, part, before) = (elapsed(), time / parts, spent.measuring);
    loop {
        let (start, moves) = (elapsed(), table.rounds() > 0 && batches.can_move());
        if moves {
            batches.move_rows()?;
            table.begin_placement();
            spent.moving = elapsed().saturating_sub(start);
        }
        let (begin, round) = (elapsed(), spent.round(table));
        // A round begins if it ends within the budget.
        let room = end.saturating_sub(begin + round) + Duration::from_nanos(1);
        let batch = table.batch(part.min(room), least_rounds);
        let fewest = if moves { rounds_to_solve(round, shortest) } else { 0 };
        batches.run(Batch { fewest: batch.fewest.max(fewest), ..batch }, elapsed, table)?;
        let now = elapsed();
        (spent.measuring, parts) = (spent.measuring + now.saturating_sub(begin), parts - 1);
        let is_over = now + spent.next(table, Some(shortest)) > end
            || now.saturating_sub(batch_begin) >= time * LONGEST_BATCH;
        if parts == 0 || is_over || spent.measuring - before >= time || table.is_full() {
            return Ok(());
        }
    }
}

/// A placement is at most so many times as long as the shortest one to have the rounds that it
/// takes to solve it.
const LONGER_FACTOR: u32 = 4;

/// Rounds after which a placement is solved by itself, unless they take much longer than the
/// shortest placement. Rounds of neighbouring placements would be solved together otherwise, and
/// those of slow layouts of the code more often than those of fast ones.
fn rounds_to_solve(round: Duration, shortest: Duration) -> u32 {
    if round * FEWEST_ROUNDS_OF_A_PLACEMENT <= LONGER_FACTOR * shortest {
        FEWEST_ROUNDS_OF_A_PLACEMENT
    } else {
        0
    }
}

/// Number of placements that share a batch of this length.
fn parts_of(time: Duration, shortest: Duration) -> u32 {
    let most = time.as_nanos() / shortest.as_nanos().max(1);
    u32::try_from(most).unwrap_or(u32::MAX).clamp(1, PLACEMENTS_OF_A_BATCH)
}

impl Goal {
    /// The budget after such progress, and why the rounds end when it is spent.
    fn limit(&self, progress: Progress) -> (Duration, Stop) {
        let longest = longest(self.budget, self.is_firm);
        match progress {
            Progress::Precise => (self.budget, Stop::Precise),
            Progress::Disturbed if !self.is_firm => (longest, Stop::Disturbed),
            Progress::Varied if !self.is_firm => (longest, Stop::Varied),
            Progress::Undecided if !self.is_firm => (longest, Stop::Undecided),
            Progress::Disturbed | Progress::Varied | Progress::Undecided | Progress::Wide => {
                (self.budget, Stop::Budget)
            }
        }
    }
}

#[cfg(test)]
mod tests;
