//! The estimator on simulated shared cores. The noise is that of real ones: levels of the core clock, a neighbour that comes and
//! goes, stalls, and slows each chain by an amount of its own, and a read of the clock that costs more while it is active.

use super::*;
use crate::estimate::{Uncertain, solve};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A core, its neighbour, and the clock.
#[derive(Clone, Copy)]
struct Core {
    /// Share of the time that the neighbour is there, in episodes of 40 ms.
    present: f64,
    /// Mean cycles between its activity, and of its activity.
    stalls: (f64, f64),
    /// Cycles that one cycle of a chain is lengthened by while it is active.
    slower: f64,
    /// Quantum of the clock in ticks.
    quantum: f64,
}

const CALM: Core = Core { present: 0.0, stalls: (500.0, 2_000.0), slower: 0.0, quantum: 2.0 };
const STALLS: Core = Core { present: 1.0, stalls: (600.0, 2_000.0), slower: 0.03, ..CALM };
const EPISODES: Core = Core { present: 0.6, ..STALLS };

const ROUNDS: u32 = 3_000;
const ROUND_MS: f64 = 0.06;
const LEVELS: [f64; 2] = [21.0 / 25.0, 21.0 / 26.0];

/// Exponential with this mean.
fn exponential(random: &mut Pcg64Mcg, mean: f64) -> f64 {
    -mean * (1.0 - random.random::<f64>()).ln()
}

fn normal(random: &mut Pcg64Mcg) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// A quantity that steps between two states which last for a time in milliseconds.
struct Steps {
    state: bool,
    until: f64,
    mean_ms: f64,
    share: f64,
}

impl Steps {
    fn at(&mut self, time: f64, random: &mut Pcg64Mcg) -> bool {
        while self.until <= time {
            self.state = random.random::<f64>() < self.share;
            self.until += exponential(random, self.mean_ms);
        }
        self.state
    }
}

impl Core {
    /// A table of a chain `code` of this latency, beside a reference of 3 cycles that is lengthened by a tenth as much.
    fn table(&self, latency: f64, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut table = Observations::new(vec!["body".into()]);
        table.origin.granularity = Some(self.quantum);
        let steps = |mean_ms, share| Steps { state: false, until: 0.0, mean_ms, share };
        let (mut level, mut there) = (steps(30.0, 0.5), steps(40.0, self.present));
        let series = [("code", latency, self.slower), ("reference", 3.0, self.slower / 10.0)];
        let rows = [[64.0, 128.0, 192.0, 256.0, 384.0, 512.0], [32.0, 64.0, 128.0, 256.0, 384.0, 512.0]];
        for round in 0..ROUNDS {
            let time = f64::from(round) * ROUND_MS;
            let rate = LEVELS[usize::from(level.at(time, &mut random))];
            let present = there.at(time, &mut random);
            for ((name, cycles, slower), copies) in series.iter().zip(rows) {
                let id = table.series(name);
                for copies in copies {
                    let row = table.row(id, &[copies]);
                    let (taken, guard) = self.reading(copies * cycles, *slower, present, &mut random);
                    let ticks = self.floor(taken * rate + 0.8 * normal(&mut random), &mut random);
                    let guard = self.floor(guard * rate, &mut random).max(1.0) as u32;
                    table.push_guarded(row, round, ticks, Flags::NONE, std::num::NonZeroU32::new(guard));
                }
            }
        }
        table.origin.reference = Some(("reference".into(), 3.0));
        table
    }

    fn floor(&self, ticks: f64, random: &mut Pcg64Mcg) -> f64 {
        ((ticks + random.random::<f64>() * self.quantum) / self.quantum).floor() * self.quantum
    }

    /// Core cycles of a row with its two reads, and of its guard.
    fn reading(&self, cycles: f64, slower: f64, present: bool, random: &mut Pcg64Mcg) -> (f64, f64) {
        let (idle, busy) = self.stalls;
        let mut active = present && random.random::<f64>() < busy / (idle + busy);
        let mut left = exponential(random, if active { busy } else { idle });
        let mut pass = |mut length: f64, random: &mut Pcg64Mcg| -> f64 {
            let mut with = 0.0;
            while length > 0.0 {
                let part = length.min(left);
                with += if active { part } else { 0.0 };
                (length, left) = (length - part, left - part);
                if left <= 0.0 {
                    active = present && !active;
                    left = exponential(random, if active { busy } else { idle });
                }
            }
            with
        };
        let mut read = |empty: f64, extra: f64, random: &mut Pcg64Mcg| {
            let met = pass(empty, random) > empty / 2.0;
            empty + normal(random).abs() + if met { (extra + 5.0 * normal(random)).max(0.0) } else { 0.0 }
        };
        let before = read(74.0, 22.0, random);
        let start = read(39.0, 12.0, random);
        let lengthened = pass(cycles, random) * slower;
        let mut read = |empty: f64, extra: f64, random: &mut Pcg64Mcg| {
            let met = pass(empty, random) > empty / 2.0;
            empty + normal(random).abs() + if met { (extra + 5.0 * normal(random)).max(0.0) } else { 0.0 }
        };
        let end = read(39.0, 12.0, random);
        let after = read(74.0, 22.0, random);
        let spike = if random.random::<f64>() < 0.004 { exponential(random, 150.0) } else { 0.0 };
        (start + cycles + lengthened + end + spike, before + after)
    }
}

/// The length of the code in cycles by its undisturbed readings.
fn quiet(table: &Observations) -> Option<Uncertain> {
    let quiet = Quiet::of(table, "reference", 3.0)?;
    let options = Options::default();
    let solved = |name: &str| quiet.solve(table, table.find_series(name).unwrap(), &options);
    let (code, ruler) = (solved("code")?, solved("reference")?);
    Some(crate::estimate::ratio::ratio((&code, &code.components[0]), (&ruler, &ruler.components[0]))?.scaled(3.0))
}

/// The same by all readings.
fn plain(table: &Observations) -> Uncertain {
    let solved = |name: &str| solve(table, table.find_series(name).unwrap(), &Options::default()).unwrap();
    let (code, ruler) = (solved("code"), solved("reference"));
    crate::estimate::ratio::ratio((&code, &code.components[0]), (&ruler, &ruler.components[0])).unwrap().scaled(3.0)
}

/// Mean error in percent, largest error, and share of the intervals that hold the length, over the runs that are answered: at
/// least half of them.
fn errors(core: Core, latency: f64, runs: u64) -> (f64, f64, f64) {
    let found: Vec<Uncertain> = (0..runs).filter_map(|seed| quiet(&core.table(latency, seed))).collect();
    assert!(2 * found.len() >= runs as usize, "{} of {runs} answered", found.len());
    let errors: Vec<f64> = found.iter().map(|cycles| 100.0 * (cycles.value / latency - 1.0)).collect();
    let held = found.iter().filter(|cycles| cycles.estimate(0.95).contains(latency)).count();
    let worst = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
    (errors.iter().sum::<f64>() / found.len() as f64, worst, held as f64 / found.len() as f64)
}

#[test]
fn a_calm_core_gives_the_same_value() {
    for latency in [1.0, 4.0] {
        let table = CALM.table(latency, 7);
        let (quiet, plain) = (quiet(&table).unwrap(), plain(&table));
        assert!((quiet.value / plain.value - 1.0).abs() < 1e-3, "{} {}", quiet.value, plain.value);
        assert!(quiet.estimate(0.95).contains(latency), "{quiet:?}");
    }
}

#[test]
fn a_neighbour_that_stalls_leaves_the_length_right() {
    for core in [STALLS, EPISODES] {
        let table = core.table(1.0, 3);
        assert!(plain(&table).value > 1.01, "the neighbour must matter: {}", plain(&table).value);
        let (mean, worst, held) = errors(core, 1.0, 40);
        assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && held >= 0.9, "mean {mean}, worst {worst}, held {held}");
    }
}

#[test]
fn long_chains_beside_a_neighbour_are_right() {
    let (mean, worst, held) = errors(Core { stalls: (3_000.0, 1_500.0), slower: 0.01, ..STALLS }, 4.0, 40);
    assert!(mean.abs() < 0.1 && worst.abs() < 0.4 && held >= 0.9, "mean {mean}, worst {worst}, held {held}");
}

#[test]
fn code_that_is_always_lengthened_is_not_answered_as_undisturbed() {
    // The neighbour never stalls, and lengthens throughput by half.
    let core = Core { stalls: (1.0, 1e9), slower: 0.5, ..STALLS };
    let answered: Vec<f64> = (0..10).filter_map(|seed| quiet(&core.table(1.0, seed))).map(|cycles| cycles.value).collect();
    assert!(answered.iter().all(|value| *value > 1.3), "{answered:?}");
}

#[test]
fn throughput_that_is_lengthened_by_chance_is_refused() {
    let core = Core { stalls: (60.0, 2_000.0), slower: 0.6, ..STALLS };
    let answered = (0..10).filter(|seed| quiet(&core.table(1.0, *seed)).is_some_and(|cycles| cycles.value < 1.2)).count();
    assert_eq!(answered, 0);
}

#[test]
fn a_coarse_clock_is_not_used() {
    let table = Core { quantum: 26.0, ..STALLS }.table(1.0, 1);
    assert!(Quiet::of(&table, "reference", 3.0).is_none());
}

#[test]
fn the_share_of_short_guards_is_that_of_the_quiet_time() {
    let share = |core: Core| Quiet::of(&core.table(1.0, 5), "reference", 3.0).unwrap().share().unwrap();
    assert!(share(CALM) > 0.95, "{}", share(CALM));
    assert!(share(STALLS) < 0.4, "{}", share(STALLS));
}

#[test]
fn tables_without_guards_or_reference_do_not_panic() {
    let mut table = CALM.table(1.0, 2);
    assert!(Quiet::of(&table, "nobody", 3.0).is_none());
    let code = table.find_series("code").unwrap();
    let quiet = Quiet::of(&table, "reference", 3.0).unwrap();
    let row = table.row(code, &[0.0]);
    quiet.solve(&table, code, &Options::default());
    table.push(row, 0, f64::MAX);
    quiet.solve(&table, code, &Options::default());
    let empty = Observations::new(vec!["body".into()]);
    assert!(Quiet::of(&empty, "reference", 3.0).is_none());
}
