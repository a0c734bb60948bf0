//! Simulated coverage of the ratio of two pieces of code whose rows depart from their lines: alike,
//! as those of equal code do, or each by itself. Fixed seeds make the test deterministic.

use hairspring_core::judge::{Question, assess};
use hairspring_core::observations::Observations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const COPIES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 8.0];
const TRIALS: u64 = 150;

/// Whether the interval of the ratio contains it, and its half-width.
fn trial(seed: u64, alike: bool) -> (bool, f64) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut normal =
        move |sd: f64| sd * ((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0);
    let mut table = Observations::new(vec!["body".into()]);
    let departs: Vec<f64> = COPIES.iter().map(|_| normal(10.0)).collect();
    for (name, time) in [("one", 1_000.0), ("other", 1_020.0)] {
        let series = table.series(name);
        for (copies, common) in COPIES.iter().zip(&departs) {
            let own_departure = if alike { *common } else { normal(10.0) };
            let row = table.row(series, &[*copies]);
            (0..40).for_each(|round| {
                table.push(row, round, 300.0 + time * copies + own_departure + normal(5.0))
            });
        }
    }
    let assessment = assess(&table, &Question::default()).unwrap();
    let ratio = assessment.comparisons[0].ratio;
    (ratio.contains(1.02), ratio.half_width())
}

#[test]
fn ratios_hold_whether_rows_depart_alike_or_not_and_are_closer_if_they_do() {
    let run = |alike: bool| {
        let outcomes: Vec<(bool, f64)> = (0..TRIALS).map(|seed| trial(seed, alike)).collect();
        let held = outcomes.iter().filter(|one| one.0).count() as f64 / TRIALS as f64;
        (held, outcomes.iter().map(|one| one.1).sum::<f64>() / TRIALS as f64)
    };
    let (alike, apart) = (run(true), run(false));
    println!("share that holds and half-width: alike {alike:?}, each by itself {apart:?}");
    assert!(alike.0 > 0.94 && apart.0 > 0.92, "{alike:?} {apart:?}");
    assert!(alike.1 < 0.5 * apart.1, "{alike:?} {apart:?}");
}
