//! Readings in whole ticks whose jitter is smaller than a tick: repeats do not average the rounding
//! out, and intervals must hold it.

use hairspring_core::judge::{Question, assess};
use hairspring_core::observations::Observations;
use rand::{Rng, SeedableRng};

const TABLES: u64 = 300;

/// A line of eight rows, each at its own phase, and its time for one copy.
/// `taken_off` was subtracted from its readings.
fn table(
    seed: u64,
    jitter: f64,
    rounds: u32,
    granularity: Option<f64>,
    taken_off: f64,
) -> (Observations, f64) {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let (copy, overhead) = (random.random_range(0.2..20.0), random.random_range(5.0..50.0));
    let mut table = Observations::new(vec!["body".into()]);
    table.origin.granularity = granularity;
    let series = table.series("main");
    for round in 0..rounds {
        for copies in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0] {
            let noise: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let row = table.row(series, &[copies]);
            table.push(row, round, (overhead + copies * copy + jitter * noise).floor() - taken_off);
        }
    }
    (table, copy)
}

#[test]
fn intervals_hold_the_rounding_that_repeats_do_not_average_out() {
    for (jitter, rounds) in [(0.1, 12), (0.2, 12), (0.2, 40), (0.2, 200), (0.3, 40)] {
        for (granularity, taken_off) in [(None, 0.0), (Some(1.0), 0.0), (Some(1.0), 3.37)] {
            let holds = |seed: &u64| {
                let (table, copy) = table(*seed, jitter, rounds, granularity, taken_off);
                let found = assess(&table, &Question::default()).unwrap();
                found.series[0].components[0].time.ticks.contains(copy)
            };
            let share = (0..TABLES).filter(holds).count() as f64 / TABLES as f64;
            assert!(
                share >= 0.91,
                "jitter {jitter}, {rounds} rounds, granularity {granularity:?}, {taken_off} off: \
                 {share}"
            );
        }
    }
}
