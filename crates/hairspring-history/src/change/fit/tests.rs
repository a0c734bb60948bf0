use super::super::multiscale;
use super::super::student::Student;
use super::*;
use proptest::prelude::*;

fn thresholds(quantile: f64, n: usize) -> Vec<f64> {
    multiscale::thresholds(quantile, n, n, &Student::new(f64::INFINITY))
}

fn sums(values: &[f64], variances: &[f64]) -> Sums {
    let points: Vec<Scaled> = values.iter().map(|x| Scaled { x: *x, sd: 0.0 }).collect();
    Sums::new(&points, variances, 0.0)
}

/// Whether a level fits: every run, one after the other.
fn range(values: &[f64], variances: &[f64], limits: &[f64]) -> (f64, f64) {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for from in 0..values.len() {
        for to in from + 1..=values.len() {
            let weight: f64 = variances[from..to].iter().map(|v| 1.0 / v).sum();
            let pairs = values[from..to].iter().zip(&variances[from..to]);
            let mean = pairs.map(|(x, v)| x / v).sum::<f64>() / weight;
            low = low.max(mean - limits[to - from] / weight.sqrt());
            high = high.min(mean + limits[to - from] / weight.sqrt());
        }
    }
    (low, high)
}

/// Levels and sum of squares of a stretch.
fn cost(values: &[f64], variances: &[f64], limits: &[f64]) -> Option<f64> {
    let (low, high) = range(values, variances, limits);
    let pairs = || values.iter().zip(variances);
    let weight: f64 = pairs().map(|(_, v)| 1.0 / v).sum();
    let level = (pairs().map(|(x, v)| x / v).sum::<f64>() / weight).max(low).min(high);
    (low <= high).then(|| pairs().map(|(x, v)| (x - level) * (x - level) / v).sum())
}

/// All ways to part the points, one after the other.
fn exhaustive(values: &[f64], variances: &[f64], limits: &[f64]) -> (usize, f64) {
    let n = values.len();
    let mut best = (usize::MAX, f64::INFINITY);
    for cuts in 0..1_u32 << (n - 1) {
        let mut starts = vec![0];
        starts.extend((1..n).filter(|at| cuts >> (at - 1) & 1 == 1));
        starts.push(n);
        let parts = starts.windows(2).map(|ends| (ends[0], ends[1]));
        let total: Option<f64> =
            parts.map(|(a, b)| cost(&values[a..b], &variances[a..b], limits)).sum();
        if let Some(total) = total {
            let this = (starts.len() - 1, total);
            best = if this < best { this } else { best };
        }
    }
    best
}

proptest! {
    #[test]
    fn the_fit_is_the_best_of_all_ways(
        points in prop::collection::vec((-4.0..4.0_f64, 0.05..2.0_f64), 1..11),
        quantile in -0.5..2.0_f64,
    ) {
        let (values, variances): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let limits = thresholds(quantile, values.len());
        let all = sums(&values, &variances);
        let found = fit(&all, &limits);
        let mut ends = found.clone();
        ends.push(values.len());
        let parts = ends.windows(2).map(|ends| (ends[0], ends[1]));
        let total: Option<f64> =
            parts.clone().map(|(a, b)| cost(&values[a..b], &variances[a..b], &limits)).sum();
        let best = exhaustive(&values, &variances, &limits);
        prop_assert_eq!(found.len(), best.0);
        let total = total.unwrap();
        prop_assert!((total - best.1).abs() <= 1e-9 * (1.0 + best.1), "{} {}", total, best.1);
        prop_assert_eq!(is_level(&all, &limits, 0, values.len()), found.len() == 1);
    }
}

#[test]
fn a_step_is_found_where_it_is() {
    let values: Vec<f64> = (0..40).map(|at| if at < 25 { 0.0 } else { 5.0 }).collect();
    let limits = thresholds(1.5, 40);
    assert_eq!(fit(&sums(&values, &[1.0; 40]), &limits), [0, 25]);
    assert_eq!(fit(&sums(&[], &[]), &limits), [0_usize; 0]);
    assert_eq!(fit(&sums(&[3.0], &[1.0]), &limits), [0]);
}
