//! The greatest common divisor of real-valued times (Staelin and McVoy, 4.2 and figure 2).

use serde::{Deserialize, Serialize};

/// The shortest time may be 1, 2, 3, 4 or 5 periods: the loop of figure 2 ends before its MAX_COUNT
/// of 6.
const MOST_PARTS: u32 = 5;

/// A period of which all times are nearly multiples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Divisor {
    /// The period, in the unit of the times: the slope of the regression.
    pub period: f64,
    /// Periods in the shortest time.
    pub parts: u32,
    /// Sum of the squared distances from the regression line, in the square of the unit of the
    /// times.
    pub chi2: f64,
}

/// The greatest common divisor of some times by the paper's method; `None` without times, or if one
/// is not a positive number.
///
/// The guesses of the period are the shortest time over i = 1, 2, ... The times, the differences of
/// all pairs and the point (0, 0) are divided by the guess and rounded; the slope of their linear
/// regression improves it. A guess replaces an earlier one only if `i^2 chi2` is smaller, because
/// every fraction of the true period also fits.
///
/// With noise the period becomes too short, which means too high a speed. Times that are not
/// multiples of one period still get an answer, where [`hairspring_measure::lattice`] gives none.
///
/// ```
/// use hairspring_instruments::mhz::classic::gcd::greatest_common_divisor;
/// // The paper's example of 2 and 3 cycles of 5.55 ns: this is 180 MHz, not 120 as printed there.
/// let found = greatest_common_divisor(&[11.1, 16.6]).unwrap();
/// assert!((found.period - 5.55).abs() < 0.03);
/// ```
pub fn greatest_common_divisor(times: &[f64]) -> Option<Divisor> {
    if times.iter().any(|time| !(time.is_normal() && *time > 0.0)) {
        return None;
    }
    let shortest = times.iter().copied().reduce(f64::min)?;
    let points = points(times);
    let mut best: Option<Divisor> = None;
    for parts in 1..=MOST_PARTS {
        let divisor = fit(&points, shortest, parts);
        let weight = f64::from(parts * parts);
        if best.is_none_or(|best| weight * divisor.chi2 < best.chi2) {
            best = Some(divisor);
        }
    }
    best
}

/// The times, the absolute differences of all pairs, and 0.
fn points(times: &[f64]) -> Vec<f64> {
    let pairs = times
        .iter()
        .enumerate()
        .flat_map(|(at, one)| times[..at].iter().map(move |other| (one - other).abs()));
    times.iter().copied().chain(pairs).chain([0.0]).collect()
}

/// Regression of the points on their whole numbers of periods.
fn fit(points: &[f64], shortest: f64, parts: u32) -> Divisor {
    let guess = shortest / f64::from(parts);
    let counted: Vec<(f64, f64)> =
        points.iter().map(|time| ((time / guess + 0.5).floor(), *time)).collect();
    let (intercept, period) = regression(&counted);
    let chi2 = counted.iter().map(|(x, y)| (y - intercept - period * x).powi(2)).sum();
    Divisor { period, parts, chi2 }
}

/// Least squares line `y = intercept + slope x`. The values of x differ, because one is 0 and the
/// shortest time is not.
fn regression(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let (mean_x, mean_y) = (
        points.iter().map(|p| p.0).sum::<f64>() / count,
        points.iter().map(|p| p.1).sum::<f64>() / count,
    );
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let slope = covariance / variance;
    (mean_y - slope * mean_x, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of these cycles on a core with this period, each off by a different amount of up to
    /// one in a thousand.
    fn times(period: f64, cycles: &[f64]) -> Vec<f64> {
        cycles
            .iter()
            .enumerate()
            .map(|(at, n)| n * period * (1.0 + 1e-3 * ((at * 7 % 5) as f64 / 2.0 - 1.0)))
            .collect()
    }

    #[test]
    fn coprime_times_give_the_period() {
        for (cycles, parts) in [
            (&[2.0, 3.0][..], 2),
            (&[1.0, 3.0, 4.0], 1),
            (&[3.0, 4.0, 5.0], 3),
            (&[4.0, 9.0], 4),
            (&[5.0, 7.0], 5),
        ] {
            let divisor = greatest_common_divisor(&times(0.2439, cycles)).unwrap();
            assert_eq!(divisor.parts, parts, "{cycles:?}");
            assert!((divisor.period / 0.2439 - 1.0).abs() < 2e-3, "{cycles:?} {divisor:?}");
        }
    }

    #[test]
    fn a_common_factor_stays_in_the_period() {
        // The paper's second example: 2 and 4 cycles look like 1 and 2.
        let found = greatest_common_divisor(&[11.1, 22.2]).unwrap();
        assert!((found.period - 11.1).abs() < 0.01);
    }

    #[test]
    fn times_of_equal_length_give_that_length() {
        let found = greatest_common_divisor(&[2.0, 2.001, 1.999]).unwrap();
        assert!((found.period - 2.0).abs() < 0.002);
    }

    #[test]
    fn a_shortest_time_of_more_than_five_periods_is_out_of_reach() {
        let found = greatest_common_divisor(&times(1.0, &[6.0, 7.0])).unwrap();
        assert!((found.period - 1.0).abs() > 0.1, "{found:?}");
    }

    #[test]
    fn invalid_times_have_no_divisor() {
        for times in [&[][..], &[0.0, 1.0], &[-1.0, 2.0], &[f64::NAN, 1.0], &[f64::INFINITY, 1.0]] {
            assert!(greatest_common_divisor(times).is_none(), "{times:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_divisor_does_not_depend_on_the_unit(scale in 1e-3f64..1e6,
            noise in proptest::array::uniform5(-1e-3f64..1e-3)) {
            let one: Vec<f64> = [1.0, 2.0, 2.0, 3.0,
                4.0].iter().zip(noise).map(|(n, off)| n * (1.0 + off)).collect();
            let other: Vec<f64> = one.iter().map(|time| time * scale).collect();
            let (one, other) = (greatest_common_divisor(&one).unwrap(),
                greatest_common_divisor(&other).unwrap());
            proptest::prop_assert_eq!(one.parts, other.parts);
            proptest::prop_assert!((other.period / one.period / scale - 1.0).abs() < 1e-9);
        }
    }
}
