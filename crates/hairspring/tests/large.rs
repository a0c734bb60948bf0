//! Tables of many rows of which none was repeated.

use hairspring::estimate::Source;
use hairspring::judge::{FindingKind, Question, SeriesResult, assess};
use hairspring::observations::Observations;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// 25,000 rows with counts of their own; the totals bend by so much at the end.
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
fn a_bent_plane_is_found() {
    let bent = solved(200.0);
    assert!(bent.findings.iter().any(|finding| matches!(finding.kind, FindingKind::NonLinear { .. })), "{:?}", bent.findings);
    let component = &bent.solution.components[0];
    assert!(component.uncertain.part(Source::LackOfFit, 0.95) > component.uncertain.part(Source::Stochastic, 0.95));
}

#[test]
fn a_straight_plane_is_checked_and_none_the_wider() {
    let straight = solved(0.0);
    assert!(straight.findings.is_empty(), "{:?}", straight.findings);
    assert!(straight.solution.lack_of_fit.unwrap().p > 0.001);
    assert_eq!(straight.solution.components[0].uncertain.part(Source::LackOfFit, 0.95), 0.0);
    let ticks = straight.solution.components[0].ticks;
    assert!((ticks.value - 20.0).abs() < 2.0 * ticks.half_width(), "{ticks:?}");
}
