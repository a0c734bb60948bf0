//! Simulated coverage of the intervals of a function's blocks where the core clock moves between
//! levels, alone and together with other disturbances. Fixed seeds make the test deterministic.
//!
//! A step of the clock makes all calls longer by the same factor, as a co-runner does. Calls at a
//! slower clock are normal ones, and must stay; those beside a co-runner, and interrupted ones,
//! must not.

use hairspring_core::estimate::{Options, Repeats};
use hairspring_core::judge::{Question, assess, code};
use hairspring_core::observations::Observations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const BLOCKS: usize = 6;
const CYCLES: [f64; BLOCKS] = [20.0, 90.0, 36.0, 132.0, 12.0, 60.0];
const OVERHEAD: f64 = 88.0;
const COPIES: [f64; 6] = [32.0, 64.0, 128.0, 256.0, 384.0, 512.0];
const OF_CHAINS: usize = 8;
const ROUNDS: u32 = 60;
const ROWS: usize = 24;
const TRIALS: u64 = 40;
/// Ticks of a cycle at the usual level of the clock; how much longer a cycle takes at each level.
const TICKS: f64 = 0.65;
const LEVELS: [f64; 3] = [1.0, 1.05, 0.95];

/// What happens to the calls, and how long and many they are.
#[derive(Debug, Clone, Copy)]
struct Case {
    /// Share of the readings that are interrupted.
    interrupted: f64,
    /// Share of the rounds beside a co-runner, which slows all that runs in them, by shares that
    /// differ.
    beside: f64,
    /// Whether the function waits for memory, whose clock does not step.
    waits: bool,
    /// Repeats in a round, and most trips of a call.
    readings: usize,
    trips: u32,
}

/// Short calls, and long ones that are read once in a round.
const SHORT_CALLS: Case =
    Case { interrupted: 0.0, beside: 0.0, waits: false, readings: 12, trips: 20 };
const LONG_CALLS: Case = Case { readings: 1, trips: 20_000, ..SHORT_CALLS };

struct Trial {
    /// For each block: by how many half-widths its time is off.
    off: Vec<f64>,
    /// Share of the readings that count as disturbed, in percent; 0 if it is not worth a finding.
    disturbed: f64,
}

/// The rows of a table with their lengths in cycles: calls of the function, and chains.
struct Rows {
    calls: Vec<(u32, f64)>,
    chains: Vec<(u32, f64)>,
}

/// A table without readings, and its rows.
fn rows(random: &mut Pcg64Mcg, case: Case) -> (Observations, Rows) {
    let mut table = Observations::new((0..BLOCKS).map(|at| format!("B{}", at + 1)).collect());
    table.origin.granularity = Some(2.0);
    let (series, reference) = (table.series("function"), table.series("reference"));
    table.origin.reference = Some(("reference".into(), 3.0));
    let calls: Vec<(u32, f64)> = (0..ROWS)
        .map(|_| {
            let trips = random.random_range(case.trips / 2..=case.trips);
            let counts: Vec<f64> = (0..BLOCKS)
                .map(|at| {
                    if at == 0 {
                        f64::from(trips)
                    } else {
                        f64::from(random.random_range(0..=trips))
                    }
                })
                .collect();
            let cycles = OVERHEAD
                + counts.iter().zip(CYCLES).map(|(count, cycles)| count * cycles).sum::<f64>();
            (table.row_apart(series, &counts), cycles)
        })
        .collect();
    let chain = |copies: f64| [vec![copies], vec![0.0; BLOCKS - 1]].concat();
    let chains: Vec<(u32, f64)> = COPIES
        .iter()
        .map(|copies| (table.row_apart(reference, &chain(*copies)), OVERHEAD + 3.0 * copies))
        .collect();
    (table, Rows { calls, chains })
}

/// Reads all rows in each round, at the level that the clock has by then.
fn read_rounds(random: &mut Pcg64Mcg, case: Case, table: &mut Observations, rows: &Rows) {
    let mut level = 1.0;
    for round in 0..ROUNDS {
        if random.random_bool(0.4) {
            level = LEVELS[[0, 0, 1, 2][random.random_range(0..4)]];
        }
        let beside =
            if random.random_bool(case.beside) { random.random_range(0.02..0.2) } else { 0.0 };
        let mut read = |row: u32, cycles: f64, level: f64, interrupted: f64| {
            let longer = 1.0 + beside + 0.0005 * (random.random::<f64>() - 0.5);
            let hit = if random.random_bool(interrupted) {
                random.random_range(2_000.0..20_000.0) + 0.3 * cycles
            } else {
                0.0
            };
            let ticks =
                TICKS * (cycles * level * longer + hit) + 2.0 * (random.random::<f64>() - 0.5);
            table.push(row, round, 2.0 * (ticks / 2.0 + random.random::<f64>()).floor());
        };
        for (row, cycles) in &rows.chains {
            (0..OF_CHAINS).for_each(|_| read(*row, *cycles, level, 0.0));
        }
        for (row, cycles) in &rows.calls {
            (0..case.readings).for_each(|_| {
                read(*row, *cycles, if case.waits { 1.0 } else { level }, case.interrupted)
            });
        }
    }
}

fn trial(seed: u64, case: Case) -> Trial {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let (mut table, rows) = rows(&mut random, case);
    read_rounds(&mut random, case, &mut table, &rows);
    let options =
        Options { departure_follows_counts: true, repeats: Repeats::Calm, ..Options::default() };
    let assessment = assess(&table, &Question { options, ..Question::default() }).unwrap();
    let off = |at: usize| {
        let cycles =
            assessment.series[0].components[at].time.cycles.as_ref().unwrap().estimate(0.95);
        (cycles.value - CYCLES[at]).abs() / cycles.half_width()
    };
    let preempted =
        assessment.series[0].findings.iter().find(|finding| finding.is(code::DISTURBED));
    let disturbed = preempted.map_or(0.0, |finding| finding.number("share_percent").unwrap());
    Trial { off: (0..BLOCKS).map(off).collect(), disturbed }
}

/// The mean share of readings that count as disturbed, in percent. The intervals must hold.
fn disturbed(case: Case) -> f64 {
    let trials: Vec<Trial> = (0..TRIALS).map(|seed| trial(seed, case)).collect();
    let off: Vec<f64> = trials.iter().flat_map(|one| one.off.clone()).collect();
    let share =
        |limit: f64| off.iter().filter(|off| **off <= limit).count() as f64 / off.len() as f64;
    let disturbed = trials.iter().map(|one| one.disturbed).sum::<f64>() / TRIALS as f64;
    println!(
        "{case:?}: {:.1} % hold, {:.1} % within twice, {disturbed:.1} % disturbed",
        100.0 * share(1.0),
        100.0 * share(2.0)
    );
    assert!(
        case.waits || (share(1.0) > 0.95 && share(2.0) > 0.995),
        "{case:?}: {} hold, {} within twice",
        share(1.0),
        share(2.0)
    );
    disturbed
}

#[test]
fn calls_at_another_clock_are_not_disturbed() {
    for case in [SHORT_CALLS, LONG_CALLS] {
        let share = disturbed(case);
        assert!(share < 2.0, "{case:?}: {share} %");
    }
}

#[test]
fn calls_that_wait_for_memory_while_the_clock_steps_are_not_disturbed() {
    for case in [SHORT_CALLS, LONG_CALLS] {
        let share = disturbed(Case { waits: true, ..case });
        assert!(share < 2.0, "{case:?}: {share} %");
    }
}

#[test]
fn interrupted_readings_are_left_out_while_the_clock_steps() {
    // A group of repeats with several of them is left out as a whole.
    for (case, most_percent) in [(SHORT_CALLS, 15.0), (LONG_CALLS, 6.0)] {
        let share = disturbed(Case { interrupted: 0.04, ..case });
        assert!(share > 3.0 && share < most_percent, "{case:?}: {share} %");
    }
}

#[test]
fn calls_beside_a_co_runner_are_left_out_while_the_clock_steps() {
    for case in [SHORT_CALLS, LONG_CALLS] {
        let share = disturbed(Case { beside: 0.15, ..case });
        assert!(share < 20.0, "{case:?}: {share} %");
    }
}
