//! Simulated coverage of the intervals of readings that were taken in the order of their counts, as
//! Criterion takes its samples, with errors that follow one another. Fixed seeds make the test
//! deterministic.

use hairspring_core::judge::{Question, Severity, assess};
use hairspring_core::observations::Observations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

const TRIALS: u64 = 200;
const BODY: f64 = 18.0;

/// A normal number.
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let (a, b): (f64, f64) = (random.random_range(f64::MIN_POSITIVE..1.0), random.random());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Readings of rising counts with errors of this correlation; those of longer readings are larger
/// if they follow the counts.
fn table(random: &mut Pcg64Mcg, number: usize, correlation: f64, follow: bool) -> Observations {
    let mut table = Observations::new(vec!["body".into()]);
    let series = table.series("main");
    let mut error = normal(random);
    for at in 1..=number {
        let k = at as f64 * 10.0;
        let size = if follow { 2.0 * at as f64 / number as f64 } else { 1.0 };
        let row = table.row(series, &[k]);
        table.push(row, 0, BODY * k + 300.0 + 40.0 * size * error);
        error = correlation * error + (1.0 - correlation * correlation).sqrt() * normal(random);
    }
    table
}

/// What many intervals did.
#[derive(Debug, Default)]
struct Seen {
    /// Contain the true time.
    held: f64,
    /// Are trusted.
    trusted: f64,
    /// Are trusted, and do not contain it.
    misled: f64,
    /// Mean half-width.
    half: f64,
}

fn seen(number: usize, correlation: f64, follow: bool, without: &[String]) -> Seen {
    let mut sum = Seen::default();
    for seed in 0..TRIALS {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let table = table(&mut random, number, correlation, follow);
        let mut question = Question::default();
        question.options.without = without.to_vec();
        let assessment = assess(&table, &question).unwrap();
        let series = &assessment.series[0];
        let time = &series.components[0].time.ticks;
        let is_trusted = series.findings.iter().all(|one| one.severity != Severity::Untrusted);
        let share = |holds: bool| if holds { 1.0 / TRIALS as f64 } else { 0.0 };
        sum.held += share(time.contains(BODY));
        sum.trusted += share(is_trusted);
        sum.misled += share(is_trusted && !time.contains(BODY));
        sum.half += time.half_width() / TRIALS as f64;
    }
    println!("{number} readings, correlation {correlation}, {follow}: {sum:?}");
    sum
}

#[test]
fn intervals_hold_where_errors_of_neighbours_are_alike() {
    for number in [10, 30, 100] {
        for correlation in [0.0, 0.3, 0.5, 0.7, 0.9] {
            for follow in [false, true] {
                let outcome = seen(number, correlation, follow, &[]);
                assert!(outcome.misled <= 0.09, "{number} {correlation} {follow}: {outcome:?}");
                if number >= 30 && correlation < 0.9 {
                    assert!(outcome.held >= 0.9, "{number} {correlation} {follow}: {outcome:?}");
                }
            }
        }
    }
}

#[test]
fn independent_errors_are_trusted_and_hardly_widen_the_interval() {
    let order = ["order".to_owned()];
    for (number, trusted, wider) in [(50, 0.95, 1.08), (100, 0.98, 1.05), (200, 0.98, 1.05)] {
        let (plain, with) = (seen(number, 0.0, false, &order), seen(number, 0.0, false, &[]));
        assert!(with.trusted >= trusted, "{with:?}");
        assert!(with.half <= wider * plain.half && with.half >= plain.half, "{plain:?} {with:?}");
    }
}

#[test]
fn the_plain_interval_misses_where_errors_are_alike() {
    let plain = seen(100, 0.7, false, &["order".to_owned()]);
    assert!(plain.held < 0.7, "{plain:?}");
}

#[test]
fn a_drift_of_the_time_is_not_trusted_and_rows_in_random_order_are() {
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut drifting = Observations::new(vec!["body".into()]);
    let mut shuffled = drifting.clone();
    let (first, second) = (drifting.series("main"), shuffled.series("main"));
    for at in 1..=100_u32 {
        let k = f64::from(at);
        let row = drifting.row(first, &[k]);
        drifting.push(row, 0, k * (100.0 + 0.01 * k) + normal(&mut random));
        // 37 and 101 have no common divisor.
        let k = f64::from(at * 37 % 101);
        let row = shuffled.row(second, &[k]);
        shuffled.push(row, 0, k * 100.0 + f64::from(at) * 0.1 + normal(&mut random));
    }
    let codes = |table: &Observations| -> Vec<String> {
        let assessment = assess(table, &Question::default()).unwrap();
        assessment.series[0].findings.iter().map(|one| one.code.to_string()).collect()
    };
    assert!(codes(&drifting).contains(&"correlated".to_owned()), "{:?}", codes(&drifting));
    assert!(!codes(&shuffled).contains(&"correlated".to_owned()), "{:?}", codes(&shuffled));
}
