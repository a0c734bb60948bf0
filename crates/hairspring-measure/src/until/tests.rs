//! Tests of the loop with a fake clock.

use super::*;
use crate::batches::{InProcess, RowFailed};
use crate::limits::{Batch, LEAST_ROUNDS, MOST_BUDGETS};
use crate::rounds::{Raw, Rig};
use hairspring_core::observations::Flags;
use hairspring_host::clock::fake;

const MS: Duration = Duration::from_millis(1);

/// Sets this thread's fake clock to 0; reads take no time.
fn start() {
    fake::set(fake::Settings { per_read: 0, ..fake::Settings::default() });
}

fn elapsed() -> Duration {
    Duration::from_nanos(fake::read())
}

fn pass(time: Duration) {
    fake::advance(time.as_nanos() as u64);
}

fn goal(budget: Duration) -> Goal {
    Goal { precision: 0.005, level: 0.95, budget, is_firm: false, least_rounds: 1 }
}

/// A table of one series with a row for each of these numbers of copies.
fn table(copies: &[u32]) -> Table {
    let mut table = Table::new(vec!["body".into()]);
    copies.iter().for_each(|copies| table.add_row("code", &[f64::from(*copies)]));
    table
}

/// Rows whose copies take `copy` nanoseconds, on top of 1 us; every reading differs from that by up
/// to `noise`.
struct Copies {
    copies: Vec<u32>,
    copy: u64,
    noise: u64,
    runs: u64,
    fails_at: u64,
}

const STEADY_TIMES: [u32; 4] = [8, 16, 24, 32];

impl Copies {
    fn rig(copy: u64, noise: u64) -> Copies {
        Copies { copies: STEADY_TIMES.to_vec(), copy, noise, runs: 0, fails_at: u64::MAX }
    }
}

impl Rig for Copies {
    fn rows(&self) -> usize {
        self.copies.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        self.runs += 1;
        // A number that looks random and has no period that rounds could share.
        let off = self.runs.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let start = fake::read();
        fake::advance(
            1_000
                + u64::from(self.copies[row]) * self.copy
                + if self.noise > 0 { off % self.noise } else { 0 },
        );
        fake::read() - start
    }

    fn has_failed(&self) -> bool {
        self.runs >= self.fails_at
    }
}

fn in_process(rig: Copies) -> InProcess<Copies> {
    InProcess::new(rig, &fake::clock(64), 1, 1)
}

/// Runs a rig until the interval is as narrow as wanted.
fn run(rig: Copies, goal: &Goal) -> (Table, Result<Ended, RowFailed>) {
    start();
    let (mut table, mut rows) = (table(&STEADY_TIMES), in_process(rig));
    let ended = until_precise(goal, &mut table, &mut rows, &elapsed, &mut |_| ());
    (table, ended)
}

#[test]
fn steady_rows_are_precise_after_the_first_batch() {
    let (table, ended) = run(Copies::rig(100, 3), &goal(800 * MS));
    let ended = ended.unwrap();
    assert_eq!(ended.stop, Stop::Precise);
    assert!(ended.measuring >= FIRST_BATCH && ended.measuring < FIRST_BATCH + MS, "{ended:?}");
    assert_eq!(table.observations().readings().len(), table.rounds() as usize * STEADY_TIMES.len());
}

#[test]
fn noisy_rows_use_up_the_budget_and_no_more() {
    let (_, ended) = run(Copies::rig(10, 50_000), &goal(800 * MS));
    let ended = ended.unwrap();
    assert_eq!(ended.stop, Stop::Budget);
    assert!((799 * MS..802 * MS).contains(&ended.elapsed), "{ended:?}");
}

#[test]
fn long_rows_run_the_least_rounds_regardless_of_the_budget() {
    for least_rounds in [1, LEAST_ROUNDS] {
        let (table, ended) =
            run(Copies::rig(10_000_000, 0), &Goal { least_rounds, ..goal(10 * MS) });
        assert_eq!((table.rounds(), ended.unwrap().stop), (least_rounds, Stop::Budget));
    }
}

#[test]
fn precision_is_not_checked_before_the_fewest_rounds() {
    // A round of 20 ms: the first batch has three.
    let (table, ended) = run(Copies::rig(20_000_000 / 80, 0), &goal(Duration::from_secs(9)));
    assert_eq!(ended.unwrap().stop, Stop::Precise);
    assert!((FEWEST_ROUNDS..2 * FEWEST_ROUNDS).contains(&table.rounds()), "{}", table.rounds());
}

#[test]
fn a_spent_budget_leaves_the_least_rounds() {
    start();
    let (mut table, mut rows) = (table(&STEADY_TIMES), in_process(Copies::rig(10, 50_000)));
    pass(3_000 * MS);
    let ended =
        until_precise(&goal(800 * MS), &mut table, &mut rows, &elapsed, &mut |_| ()).unwrap();
    assert_eq!((table.rounds(), ended.stop), (1, Stop::Budget), "{ended:?}");
}

#[test]
fn no_round_begins_that_would_end_behind_the_budget() {
    // Five rounds of 90 ms, and 20 ms are left.
    start();
    let (mut table, mut script) = (table(&STEADY_TIMES), Script::new(90 * MS));
    let ended =
        until(&goal(470 * MS), &mut table, &mut script, &elapsed, |_| (Progress::Wide, false))
            .unwrap();
    assert_eq!((table.rounds(), ended.elapsed), (5, 450 * MS));
}

#[test]
fn a_full_table_ends_the_rounds() {
    start();
    let (mut table, mut rows) = (table(&STEADY_TIMES), in_process(Copies::rig(1, 1_000)));
    table.limit_readings(401);
    let ended =
        until_precise(&goal(9_000 * MS), &mut table, &mut rows, &elapsed, &mut |_| ()).unwrap();
    assert_eq!((ended.stop, table.observations().readings().len()), (Stop::Budget, 400));
}

#[test]
fn a_row_that_fails_ends_the_rounds_without_its_round() {
    let failing = |fails_at| Copies { fails_at, ..Copies::rig(10, 3) };
    let (table, ended) = run(failing(20), &goal(800 * MS));
    // Each round runs the four rows twice.
    assert_eq!((ended, table.rounds()), (Err(RowFailed), 2));
}

/// Stands in for another process: each round takes a fixed time, and the process may be
/// interrupted.
struct Script {
    round: Duration,
    asked: Vec<Batch>,
    interrupted_at: usize,
}

impl Script {
    fn new(round: Duration) -> Script {
        Script { round, asked: Vec::new(), interrupted_at: usize::MAX }
    }
}

impl Batches for Script {
    type Error = &'static str;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), &'static str> {
        if self.asked.len() == self.interrupted_at {
            return Err("interrupted");
        }
        self.asked.push(batch);
        let (begin, mut done) = (elapsed(), 0);
        while batch.goes_on(done, elapsed() - begin) {
            pass(self.round);
            table.push(&vec![Raw::new(1, Flags::NONE); table.rows()]);
            done += 1;
        }
        Ok(())
    }
}

#[test]
fn each_batch_is_as_long_as_all_before_it() {
    start();
    let (mut table, mut script) = (table(&STEADY_TIMES), Script::new(MS));
    until(&goal(1_000 * MS), &mut table, &mut script, &elapsed, |_| (Progress::Wide, false))
        .unwrap();
    let times: Vec<u128> = script.asked.iter().map(|batch| batch.time.as_millis()).collect();
    assert_eq!(times, [60, 60, 120, 240, 480, 39]);
}

#[test]
fn rounds_go_on_beyond_the_budget_while_something_else_uses_the_core() {
    let ended = |is_firm, quiet_from: u32| {
        start();
        let (mut table, mut script) = (table(&STEADY_TIMES), Script::new(MS));
        let progress = |table: &Table| {
            (
                if table.rounds() < quiet_from { Progress::Disturbed } else { Progress::Precise },
                false,
            )
        };
        let ended =
            until(&Goal { is_firm, ..goal(100 * MS) }, &mut table, &mut script, &elapsed, progress)
                .unwrap();
        (ended.stop, ended.measuring.as_millis())
    };
    assert_eq!(ended(false, 1_000), (Stop::Disturbed, 100 * u128::from(MOST_BUDGETS)));
    assert_eq!(ended(true, 1_000), (Stop::Budget, 100), "a budget that the user set is kept");
    assert_eq!(
        ended(false, 150),
        (Stop::Precise, 200),
        "it ends as soon as there are enough undisturbed readings"
    );
    for (progress, stop) in
        [(Progress::Varied, Stop::Varied), (Progress::Undecided, Stop::Undecided)]
    {
        for (is_firm, stop, budgets) in [(false, stop, MOST_BUDGETS), (true, Stop::Budget, 1)] {
            start();
            let (mut table, mut script) = (table(&STEADY_TIMES), Script::new(MS));
            let ended = until(
                &Goal { is_firm, ..goal(100 * MS) },
                &mut table,
                &mut script,
                &elapsed,
                |_| (progress, false),
            )
            .unwrap();
            assert_eq!((ended.stop, ended.measuring), (stop, 100 * MS * budgets), "{progress:?}");
        }
    }
    // What is wide without a co-runner gets no more than the budget.
    start();
    let (mut table, mut script) = (table(&STEADY_TIMES), Script::new(MS));
    let found =
        until(&goal(100 * MS), &mut table, &mut script, &elapsed, |_| (Progress::Wide, false))
            .unwrap();
    assert_eq!((found.stop, found.measuring), (Stop::Budget, 100 * MS));
}

#[test]
fn time_for_assessments_is_reserved() {
    start();
    let (mut table, mut script) = (table(&STEADY_TIMES), Script::new(MS));
    let slow = |_: &Table| {
        pass(100 * MS);
        (Progress::Wide, false)
    };
    let ended = until(&goal(1_000 * MS), &mut table, &mut script, &elapsed, slow).unwrap();
    // Two batches of 60 ms, each with an assessment after it. Of the remaining 1000 - 320 - 400 ms
    // the third uses 120.
    let times: Vec<u128> = script.asked.iter().map(|batch| batch.time.as_millis()).collect();
    assert_eq!(
        (times, ended.measuring, ended.elapsed),
        (vec![60, 60, 120, 59], 300 * MS, 700 * MS)
    );
}

#[test]
fn interruption_is_returned() {
    start();
    let mut script = Script { interrupted_at: 2, ..Script::new(MS) };
    let mut table = table(&STEADY_TIMES);
    let ended =
        until(&goal(800 * MS), &mut table, &mut script, &elapsed, |_| (Progress::Wide, false));
    assert_eq!((ended, table.rounds()), (Err("interrupted"), 120));
}

/// A model of the loop, round by round in microseconds. It returns rounds, time in them, and total
/// time.
struct Naive {
    round: u64,
    assessing: u64,
    budget: u64,
    before: u64,
    least: u64,
    room: u64,
    precise_from: u64,
}

impl Naive {
    fn run(&self) -> (Stop, u64, u64, u64) {
        let (mut rounds, mut measuring, mut now) = (0, 0, self.before);
        let mut end = self.budget;
        let mut batch = end.saturating_sub(now).min(60_000);
        loop {
            let mut in_batch = 0;
            // No round but the first ones begins that would end behind the budget.
            let round = if rounds > 0 { self.round } else { 0 };
            let room = end.saturating_sub(now + round);
            // At least one round, at least the required total, and at most as many as there is room
            // for.
            while rounds < self.room
                && (in_batch == 0
                    || rounds < self.least
                    || in_batch * self.round < batch && in_batch * self.round <= room)
            {
                rounds += 1;
                in_batch += 1;
            }
            measuring += in_batch * self.round;
            now += in_batch * self.round;
            let assessed = if rounds >= 32 { self.assessing } else { 0 };
            now += assessed;
            if rounds >= 32 && rounds >= self.precise_from {
                return (Stop::Precise, rounds, measuring, now);
            }
            end = self.budget.saturating_sub(4 * assessed);
            let more = end.saturating_sub(now);
            if more == 0 || more < self.round.max(measuring / 32) || self.room - rounds < 2 {
                return (Stop::Budget, rounds, measuring, now);
            }
            batch = measuring.min(more);
        }
    }
}

proptest::proptest! {
    #[test]
    fn loop_agrees_with_a_naive_model(
        round in 1u64..50_000,
        assessing in 0u64..200_000,
        budget in 0u64..2_000_000,
        before in 0u64..1_000_000,
        least in 1u64..6,
        room in 6u64..3_000,
        precise_from in 0u64..5_000,
    ) {
        let naive = Naive { round, assessing, budget, before, least, room, precise_from };
        let (stop, rounds, measuring, now) = naive.run();
        start();
        pass(Duration::from_micros(before));
        let mut table = table(&STEADY_TIMES);
        table.limit_readings(room as usize * STEADY_TIMES.len());
        let mut script = Script::new(Duration::from_micros(round));
        let goal = Goal { least_rounds: least as u32, ..goal(Duration::from_micros(budget)) };
        let ended = until(&goal, &mut table, &mut script, &elapsed, |table| {
            pass(Duration::from_micros(assessing));
            (if u64::from(table.rounds()) >= precise_from { Progress::Precise } else {
                Progress::Wide }, false)
        });
        let expected = Ended { stop, measuring: Duration::from_micros(measuring),
            elapsed: Duration::from_micros(now) };
        proptest::prop_assert_eq!((ended, u64::from(table.rounds())), (Ok(expected), rounds));
        proptest::prop_assert!(rounds >= least && rounds <= room);
    }
}

/// Rows that can be moved; a body of every placement takes as long as its entry says, in
/// nanoseconds.
struct Movable {
    rows: InProcess<Copies>,
    bodies: Vec<u64>,
    moves: usize,
    start: Duration,
}

impl Movable {
    fn new(bodies: &[u64], noise: u64, start: Duration) -> Movable {
        Movable {
            rows: in_process(Copies::rig(bodies[0], noise)),
            bodies: bodies.to_vec(),
            moves: 0,
            start,
        }
    }

    fn run(mut self, goal: &Goal) -> (Table, Ended, usize) {
        start();
        let mut table = table(&STEADY_TIMES);
        let ended = until_precise(goal, &mut table, &mut self, &elapsed, &mut |_| ()).unwrap();
        (table, ended, self.moves)
    }
}

impl Batches for Movable {
    type Error = RowFailed;

    fn run(
        &mut self,
        batch: Batch,
        elapsed: &dyn Fn() -> Duration,
        table: &mut Table,
    ) -> Result<(), RowFailed> {
        self.rows.run(batch, elapsed, table)
    }

    fn can_move(&self) -> bool {
        self.start < 50 * MS
    }

    fn move_rows(&mut self) -> Result<(), RowFailed> {
        self.moves += 1;
        pass(self.start);
        let body = self.bodies[self.moves % self.bodies.len()];
        self.rows = in_process(Copies::rig(body, self.rows.rig.noise));
        Ok(())
    }
}

fn placements_of(table: &Table) -> u32 {
    table.observations().placements().len() as u32
}

#[test]
fn rounds_are_shared_by_several_placements() {
    let (table, ended, moves) = Movable::new(&[100], 3, MS).run(&goal(800 * MS));
    assert_eq!(
        (ended.stop, placements_of(&table), moves),
        (Stop::Precise, FIRST_PLACEMENTS, FIRST_PLACEMENTS as usize - 1)
    );
    let rounds: Vec<u32> = table
        .observations()
        .placements()
        .iter()
        .map(std::ops::Range::len)
        .map(|rounds| rounds as u32)
        .collect();
    assert!(rounds.iter().all(|count| count.abs_diff(rounds[0]) < 3), "{rounds:?}");
    assert!(ended.measuring < ended.elapsed, "starting a placement is not measuring: {ended:?}");
}

#[test]
fn placements_have_the_rounds_that_it_takes_to_solve_each_by_itself() {
    // Rounds of 0.6 to 0.9 ms: six to nine of them fit into the shortest placement.
    let (table, _, _) = Movable::new(&[4_500, 7_000], 3, MS).run(&goal(800 * MS));
    let rounds: Vec<usize> =
        table.observations().placements()[1..].iter().map(std::ops::Range::len).collect();
    assert!(
        rounds.iter().all(|rounds| *rounds >= FEWEST_ROUNDS_OF_A_PLACEMENT as usize),
        "{rounds:?}"
    );
}

#[test]
fn rows_are_not_precise_before_each_layout_of_the_code_had_two_placements() {
    start();
    let (mut table, mut rows) = (table(&STEADY_TIMES), Movable::new(&[100], 3, MS));
    table.observations_mut().origin.layouts = 30;
    let ended =
        until_precise(&goal(800 * MS), &mut table, &mut rows, &elapsed, &mut |_| ()).unwrap();
    assert!(
        placements_of(&table) >= 60 && ended.stop == Stop::Precise,
        "{} placements, {ended:?}",
        placements_of(&table)
    );
}

#[test]
fn a_default_budget_grows_until_each_layout_of_the_code_had_two_placements() {
    let placements = |layouts: u32| {
        start();
        let (mut table, mut rows) = (table(&STEADY_TIMES), Movable::new(&[10], 50_000, MS));
        table.observations_mut().origin.layouts = layouts;
        until_precise(&goal(300 * MS), &mut table, &mut rows, &elapsed, &mut |_| ()).unwrap();
        placements_of(&table)
    };
    assert!(placements(0) < 60 && placements(30) >= 60, "{} and {}", placements(0), placements(30));
}

#[test]
fn starts_of_placements_do_not_exceed_the_budget() {
    // A start takes four times as long as the rounds of a placement.
    let (_, ended, _) = Movable::new(&[10], 50_000, 20 * MS).run(&goal(300 * MS));
    assert!((250 * MS..=300 * MS).contains(&ended.elapsed), "{ended:?}");
}

#[test]
fn placements_that_differ_are_not_precise_within_one() {
    let (table, ended, _) = Movable::new(&[100, 109, 94, 103], 3, MS).run(&goal(800 * MS));
    assert_eq!(ended.stop, Stop::Budget);
    assert!(placements_of(&table) > 2 * FIRST_PLACEMENTS, "{}", placements_of(&table));
    assert!(ended.elapsed < 900 * MS, "{ended:?}");
}

#[test]
fn rows_that_are_slow_to_move_stay() {
    let (table, _, moves) = Movable::new(&[100], 3, 60 * MS).run(&goal(800 * MS));
    assert_eq!((placements_of(&table), moves), (1, 0));
}

#[test]
fn long_rounds_are_not_divided() {
    let (table, _, moves) = Movable::new(&[40_000_000], 0, MS).run(&goal(800 * MS));
    assert_eq!((table.rounds(), moves), (1, 0));
}
