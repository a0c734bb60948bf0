//! The constant part of the differences of two clocks: the rest of the cost of their reads, not a
//! difference of the clocks.

use super::SpanPoint;
use hairspring_core::estimate::{Contribution, Source, Uncertain};

/// Fewest points for a line with a constant and a degree of freedom.
const FEWEST_POINTS: usize = 3;

/// The constant part of the differences in nanoseconds: the intercept of the weighted line
/// (difference in nanoseconds over length) through all resolved points, with their intervals as
/// weights. Its interval is wider if the points lie further off the line than their intervals
/// allow; then its source is the lack of fit. `None` for fewer than three points.
pub fn constant_ns(points: &[SpanPoint], level: f64) -> Option<Uncertain> {
    let resolved: Vec<[f64; 3]> =
        points.iter().filter_map(|point| weighted(point, level)).collect();
    if resolved.len() < FEWEST_POINTS {
        return None;
    }
    let sum = |of: fn(&[f64; 3]) -> f64| resolved.iter().map(of).sum::<f64>();
    let (w, x, y) = (sum(|p| p[2]), sum(|p| p[2] * p[0]), sum(|p| p[2] * p[1]));
    let (xx, xy) = (sum(|p| p[2] * p[0] * p[0]), sum(|p| p[2] * p[0] * p[1]));
    let determinant = w * xx - x * x;
    let (intercept, slope) = ((xx * y - x * xy) / determinant, (w * xy - x * y) / determinant);
    let freedom = (resolved.len() - 2) as f64;
    let scatter =
        resolved.iter().map(|p| p[2] * (p[1] - intercept - slope * p[0]).powi(2)).sum::<f64>()
            / freedom;
    let source = if scatter > 1.0 { Source::Departure } else { Source::Noise };
    let entry =
        Contribution::standard(source, (xx / determinant * scatter.max(1.0)).sqrt(), freedom);
    intercept.is_finite().then(|| Uncertain { value: intercept, budget: vec![entry] })
}

/// Length and difference in nanoseconds, and the difference's weight.
fn weighted(point: &SpanPoint, level: f64) -> Option<[f64; 3]> {
    const TWO_SIDED: f64 = 1.96;
    let percent =
        point.percent.as_ref().filter(|_| point.bound_percent(level).is_none())?.estimate(0.95);
    let standard_ns = percent.half_width() / TWO_SIDED / 100.0 * point.seen_ns;
    (standard_ns > 0.0)
        .then(|| [point.seen_ns, percent.value / 100.0 * point.seen_ns, standard_ns.powi(-2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(constant_ns: f64, ppm: f64) -> Vec<SpanPoint> {
        let lengths = [1e2, 1e3, 1e4, 1e5, 1e6];
        let point = |seen_ns: f64| SpanPoint {
            aimed_ns: seen_ns,
            seen_ns,
            percent: Some(Uncertain {
                value: 100.0 * constant_ns / seen_ns + ppm * 1e-4,
                budget: vec![Contribution::standard(Source::Noise, 10.0 / seen_ns, f64::INFINITY)],
            }),
            sd_percent: 1.0,
            used: 100,
            left_out: 0,
        };
        lengths.into_iter().map(point).collect()
    }

    #[test]
    fn a_constant_is_separate_from_a_rate_difference() {
        for (constant, ppm) in [(0.0, 0.0), (-4.0, 0.0), (7.0, 30.0)] {
            let found = constant_ns(&points(constant, ppm), 0.95).unwrap().estimate(0.95);
            assert!((found.value - constant).abs() < 1e-6 && found.half_width() < 1.0, "{found:?}");
        }
    }

    #[test]
    fn the_constant_is_not_a_difference_of_the_clocks() {
        let constant = constant_ns(&points(-4.0, 0.0), 0.95).map(|found| found.estimate(0.95));
        assert!(
            points(-4.0, 0.0)
                .iter()
                .all(|point| !point.differs(constant.as_ref(), 0.95) && point.differs(None, 0.95))
        );
        let constant = constant_ns(&points(-4.0, 30.0), 0.95).map(|found| found.estimate(0.95));
        assert!(points(-4.0, 30.0)[4].differs(constant.as_ref(), 0.95));
    }

    #[test]
    fn two_points_have_no_constant() {
        assert_eq!(constant_ns(&points(1.0, 0.0)[..2], 0.95), None);
    }
}
