//! Simulated coverage of the intervals of a function's blocks, with few rounds on a loaded machine.
//! Fixed seeds make the test deterministic.
//!
//! The noise was seen on a virtual machine whose CPU other builds used: a co-runner on the core
//! comes and goes, and all repeats meanwhile take longer by some share, whichever row they time;
//! single groups are slowed much more; readings are whole quanta of a clock of 26 ticks; and the
//! reference chain runs so rarely that a round may convert ticks to cycles with an error of several
//! percent.

use hairspring_core::estimate::{Options, Repeats};
use hairspring_core::judge::{Question, assess};
use hairspring_core::observations::Observations;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const BLOCKS: usize = 12;
const ROWS: usize = 60;
const TRIALS: u64 = 60;
/// Repeats in a round, ticks of a cycle, quantum of the clock in ticks.
const READINGS: usize = 12;
/// Groups of repeats between two of the reference chain, and readings of each of its rows in one.
const GROUPS_BETWEEN: usize = 32;
const OF_CHAINS: usize = 8;
const TICKS: f64 = 0.7;
const QUANTUM: f64 = 26.0;
const OVERHEAD: f64 = 88.0;
const COPIES: [f64; 6] = [32.0, 64.0, 128.0, 256.0, 384.0, 512.0];

/// A machine and who else uses it.
struct Machine {
    random: Pcg64Mcg,
    /// Share by which a co-runner slows code; 0 while there is none.
    slower: f64,
    /// Groups of repeats until the co-runner comes or goes.
    groups_left: u32,
    load: Load,
}

/// Mean groups without and with a co-runner, largest share by which it slows code, and share of
/// groups that are slowed much more.
#[derive(Clone, Copy)]
struct Load {
    away: f64,
    here: f64,
    slows: f64,
    hit: f64,
}

impl Machine {
    fn group(&mut self) -> f64 {
        if self.groups_left == 0 {
            let comes = self.slower == 0.0 && self.load.here > 0.0;
            self.slower = if comes { self.random.random_range(0.02..self.load.slows) } else { 0.0 };
            let mean = if comes { self.load.here } else { self.load.away };
            self.groups_left =
                1 + (-mean * (1.0 - self.random.random::<f64>()).ln()).min(1e9) as u32;
        }
        self.groups_left -= 1;
        let hit = if self.random.random_bool(self.load.hit) {
            self.random.random_range(0.05..0.6)
        } else {
            0.0
        };
        1.0 + self.slower + hit
    }

    /// A reading of so many ticks, of which the clock shows whole quanta at a random phase.
    fn read(&mut self, ticks: f64) -> f64 {
        QUANTUM
            * ((ticks + 3.0 * (self.random.random::<f64>() - 0.5)) / QUANTUM
                + self.random.random::<f64>())
            .floor()
    }
}

/// Cycles of a block.
fn truth(block: usize) -> f64 {
    [20.0, 90.0, 0.0, 36.0, 132.0, 12.0, 60.0, 24.0, 0.0, 48.0, 9.0, 75.0][block]
}

/// The rows of a table with their lengths in ticks: calls of the function, and chains.
struct Rows {
    calls: Vec<(u32, f64)>,
    chains: Vec<(u32, f64)>,
}

/// A table without readings, and its rows.
fn rows(random: &mut Pcg64Mcg) -> (Observations, Rows) {
    let mut table = Observations::new((0..BLOCKS).map(|at| format!("B{}", at + 1)).collect());
    table.origin.granularity = Some(QUANTUM);
    let (series, reference) = (table.series("function"), table.series("reference"));
    table.origin.reference = Some(("reference".into(), 3.0));
    let mut calls = Vec::new();
    for _ in 0..ROWS {
        let trips = random.random_range(1..20);
        let counts: Vec<f64> =
            (0..BLOCKS)
                .map(|at| {
                    if at == 0 {
                        f64::from(trips)
                    } else {
                        f64::from(random.random_range(0..=trips))
                    }
                })
                .collect();
        let cycles =
            OVERHEAD + counts.iter().enumerate().map(|(at, count)| count * truth(at)).sum::<f64>();
        calls.push((table.row_apart(series, &counts), cycles * TICKS));
    }
    let chain = |copies: &f64| [vec![*copies], vec![0.0; BLOCKS - 1]].concat();
    let chains: Vec<(u32, f64)> = COPIES
        .iter()
        .map(|copies| {
            (table.row_apart(reference, &chain(copies)), (OVERHEAD + 3.0 * copies) * TICKS)
        })
        .collect();
    (table, Rows { calls, chains })
}

/// Reads all rows in each round, in another order.
fn read_rounds(
    random: &mut Pcg64Mcg,
    rounds: u32,
    machine: &mut Machine,
    table: &mut Observations,
    rows: &mut Rows,
) {
    for round in 0..rounds {
        rows.calls.shuffle(random);
        for (place, (row, ticks)) in rows.calls.iter().enumerate() {
            if place % GROUPS_BETWEEN == 0 {
                let factor = machine.group();
                for (row, ticks) in &rows.chains {
                    (0..OF_CHAINS)
                        .for_each(|_| table.push(*row, round, machine.read(ticks * factor)));
                }
            }
            let factor = machine.group();
            (0..READINGS).for_each(|_| table.push(*row, round, machine.read(ticks * factor)));
        }
    }
}

/// For each block: whether its interval contains the truth, by how many half-widths it is off, and
/// its half-width.
fn trial(seed: u64, rounds: u32, load: Load) -> Vec<(bool, f64, f64)> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut machine = Machine {
        random: Pcg64Mcg::seed_from_u64(seed + 1_000_000),
        slower: 0.0,
        groups_left: 1 + (seed % 50) as u32,
        load,
    };
    let (mut table, mut rows) = rows(&mut random);
    read_rounds(&mut random, rounds, &mut machine, &mut table, &mut rows);
    let question = Question {
        options: Options {
            departure_follows_counts: true,
            repeats: Repeats::Calm,
            ..Options::default()
        },
        ..Question::default()
    };
    let assessment = assess(&table, &question).unwrap();
    let part = |at: usize| {
        let time = &assessment.series[0].components[at].time;
        let cycles = time
            .cycles
            .as_ref()
            .map_or_else(|| time.ticks.scaled(1.0 / TICKS), |cycles| cycles.estimate(0.95));
        (
            cycles.contains(truth(at)),
            (cycles.value - truth(at)).abs() / cycles.half_width(),
            cycles.half_width(),
        )
    };
    (0..BLOCKS).map(part).collect()
}

/// Share of the intervals that hold, and share off by more than twice the half-width.
fn coverage(name: &str, rounds: u32, load: Load) -> (f64, f64) {
    let runs: Vec<Vec<(bool, f64, f64)>> =
        (0..TRIALS).map(|seed| trial(seed, rounds, load)).collect();
    let outcomes: Vec<(bool, f64, f64)> = runs.iter().flatten().copied().collect();
    let share = |is: &dyn Fn(&(bool, f64, f64)) -> bool, of: &[(bool, f64, f64)]| {
        of.iter().filter(|one| is(one)).count() as f64 / of.len() as f64
    };
    let (held, twice) = (share(&|one| one.0, &outcomes), share(&|one| one.1 > 2.0, &outcomes));
    let together = runs.iter().filter(|run| share(&|one| !one.0, run) > 0.3).count();
    let half = outcomes.iter().map(|one| one.2).sum::<f64>() / outcomes.len() as f64;
    println!(
        "{name}, {rounds} rounds: {:.1} % hold, {:.1} % off twice, {together} runs with 30 % \
         outside, half-width {half:.2}",
        100.0 * held,
        100.0 * twice
    );
    (held, twice)
}

const CALM_CORE: Load = Load { away: 1e9, here: 0.0, slows: 0.03, hit: 0.0 };
const HITS: Load = Load { hit: 0.05, ..CALM_CORE };
const EPISODES: Load = Load { away: 120.0, here: 40.0, slows: 0.15, hit: 0.02 };
const LONG_EPISODES: Load = Load { away: 600.0, here: 300.0, slows: 0.15, hit: 0.02 };

#[test]
fn intervals_hold_with_few_rounds_on_a_loaded_machine() {
    for (rounds, least_held, most_twice) in
        [(16, 0.88, 0.05), (24, 0.92, 0.015), (32, 0.94, 0.015), (64, 0.93, 0.005)]
    {
        for (name, load) in [
            ("calm", CALM_CORE),
            ("hits", HITS),
            ("episodes", EPISODES),
            ("long episodes", LONG_EPISODES),
        ] {
            let (held, twice) = coverage(name, rounds, load);
            assert!(
                held > least_held && twice < most_twice,
                "{name}, {rounds} rounds: {held} hold, {twice} off by twice the interval"
            );
        }
    }
}
