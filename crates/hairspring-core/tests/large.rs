//! Large tables without repeated rows.

use hairspring_core::estimate::Source;
use hairspring_core::judge::{Question, SeriesResult, assess, code};
use hairspring_core::observations::Observations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The result of 25,000 different rows whose totals bend by `bend` at the end.
fn solved(bend: f64) -> SeriesResult {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    let mut table = Observations::new(vec!["a".into(), "b".into()]);
    let series = table.series("main");
    for _ in 0..25_000 {
        let (a, b): (f64, f64) = (random.random_range(0.0..50.0), random.random_range(0.0..50.0));
        let noise: f64 = (0..4).map(|_| random.random_range(-3.0..3.0)).sum();
        let total = 20.0 * a + 30.0 * b + 50.0;
        let row = table.row(series, &[a, b]);
        table.push(row, 0, total + noise + bend * (total / 2_500.0).powi(2));
    }
    assess(&table, &Question::default()).unwrap().series.remove(0)
}

#[test]
fn bent_plane_is_reported() {
    let bent = solved(200.0);
    assert!(
        bent.findings.iter().any(|finding| finding.is(code::NON_LINEAR)),
        "{:?}",
        bent.findings
    );
    let component = &bent.solution.components[0];
    assert!(
        component.uncertain.part(Source::Departure, 0.95)
            > component.uncertain.part(Source::Noise, 0.95)
    );
}

#[test]
fn straight_plane_is_checked_without_a_wider_interval() {
    let straight = solved(0.0);
    assert!(straight.findings.is_empty(), "{:?}", straight.findings);
    assert!(straight.solution.lack_of_fit.unwrap().p > 0.001);
    assert_eq!(straight.solution.components[0].uncertain.part(Source::Departure, 0.95), 0.0);
    let ticks = straight.solution.components[0].ticks;
    assert!((ticks.value - 20.0).abs() < 2.0 * ticks.half_width(), "{ticks:?}");
}

/// The result of 60,000 rows of eight components with counts from 0 to 20,000, and noise of
/// standard deviation 3.
fn solved_eight(total: impl Fn(&[f64; 8]) -> f64) -> SeriesResult {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let mut table = Observations::new("abcdefgh".chars().map(String::from).collect());
    let series = table.series("main");
    for _ in 0..60_000 {
        let counts: [f64; 8] = std::array::from_fn(|_| f64::from(random.random_range(0..=20_000)));
        let noise: f64 = (0..3).map(|_| random.random_range(-3.0..3.0)).sum();
        let row = table.row(series, &counts);
        table.push(row, 0, total(&counts) + noise);
    }
    assess(&table, &Question::default()).unwrap().series.remove(0)
}

fn is_bent(result: &SeriesResult) -> bool {
    result.findings.iter().any(|finding| finding.is(code::NON_LINEAR))
}

#[test]
fn bend_along_one_of_many_components_is_reported() {
    let parabola =
        solved_eight(|n| 50.0 + 0.3 * n[1..].iter().sum::<f64>() + 2e-5 * (n[0] - 1e4).powi(2));
    assert!(is_bent(&parabola), "{:?}", parabola.findings);
    let step =
        solved_eight(|n| 0.3 * n.iter().sum::<f64>() + if n[0] > 15_000.0 { 1_000.0 } else { 0.0 });
    assert!(is_bent(&step), "{:?}", step.findings);
    let straight = solved_eight(|n| 50.0 + 0.3 * n.iter().sum::<f64>());
    assert!(
        !is_bent(&straight) && straight.solution.lack_of_fit.unwrap().p > 0.001,
        "{:?}",
        straight.solution.lack_of_fit
    );
}

#[test]
fn interaction_of_components_is_reported() {
    let together = solved_eight(|n| 0.3 * n[0] + 0.7 * n[1] + 2e-6 * (n[0] - 1e4) * (n[1] - 1e4));
    assert!(is_bent(&together), "{:?}", together.findings);
}
