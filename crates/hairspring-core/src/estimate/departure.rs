//! Lack of fit without repeats: residuals in bins of the fitted value, and of the count of each
//! component. Readings that are nearly equal in one of these serve as repeats. If the plane fits,
//! the mean residual of every bin is zero within its noise. The noise may differ from bin to bin:
//! the F test is that of Welch (1951).

use super::interval::f_tail;
use super::moments::Moments;
use super::solution::LackOfFit;
use crate::limit::{Basis, limits};
use std::ops::Range;

limits! {
    /// Most bins of the fitted value, or of the count of a component.
    MOST_BINS = 64.0, "bins", Basis::Size("a bend shows in a few");
    /// Fewest readings in each bin of the fitted value.
    FEWEST_IN_BIN = 50.0, "readings", Basis::Derived("the noise of a bin is known to a tenth");
    /// The same for each component. Many tests need small probabilities, and means of few readings
    /// with skewed noise are too far from normal for these.
    FEWEST_IN_BIN_OF_COMPONENT = 400.0, "readings",
        Basis::Simulated("straight_plane_is_checked_without_a_wider_interval");
    /// Fewest bins that show a bend.
    FEWEST_BINS = 4.0, "bins", Basis::Derived("the plane itself takes two degrees of freedom");
    /// Equal steps of the fitted value or count that bins are composed of, which avoids sorting.
    MOST_STEPS = 4096.0, "steps", Basis::Size("time and memory");
}

/// A used reading: its fitted value and its residual.
pub type Point = (f64, f64);

/// A lack of fit, and the number of bins it was found with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    /// F test of the bins' means against the noise within each bin.
    pub lack_of_fit: LackOfFit,
    /// Number of bins.
    pub bins: usize,
}

/// Variance within a bin, at least that of rounding.
fn variance_in(bin: &Moments, rounding: f64) -> f64 {
    (bin.around_mean() / (bin.count - 1.0)).max(rounding * rounding)
}

/// Residuals of readings by a size (fitted value or count), in equal steps from the lowest to the
/// highest size.
struct Steps {
    low: f64,
    per_unit: f64,
    steps: Vec<Moments>,
}

impl Steps {
    /// `None` if all sizes are equal.
    fn between(low: f64, high: f64) -> Option<Steps> {
        let per_unit = ((MOST_STEPS as usize) - 1) as f64 / (high - low);
        per_unit.is_finite().then(|| Steps {
            low,
            per_unit,
            steps: vec![Moments::default(); MOST_STEPS as usize],
        })
    }

    fn add(&mut self, size: f64, residual: f64) {
        let step = ((size - self.low) * self.per_unit) as usize;
        self.steps[step].add(&Moments::of(residual));
    }

    /// Bins with about the same number of readings each.
    fn bins(&self, most_bins: usize, fewest_readings: usize) -> Vec<Moments> {
        let readings: f64 = self.steps.iter().map(|step| step.count).sum();
        let full = (readings / most_bins as f64).max(fewest_readings as f64);
        let mut bins = vec![Moments::default()];
        for step in &self.steps {
            if bins.last().is_some_and(|bin| bin.count >= full) {
                bins.push(Moments::default());
            }
            if let Some(bin) = bins.last_mut() {
                bin.add(step);
            }
        }
        bins.retain(|bin| bin.count >= fewest_readings as f64 / 2.0);
        bins
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// Residuals below this are rounding, for a largest fitted value.
pub fn rounding(largest: f64) -> f64 {
    1e-9 * largest.max(1e-12)
}

/// The departure of single readings from their plane, by fitted value; `None` if there are too few
/// readings, or all fitted values are equal.
pub fn departure(points: impl Iterator<Item = Point> + Clone) -> Option<Departure> {
    let (low, high) = range(points.clone().map(|point| point.0));
    let mut steps = Steps::between(low, high)?;
    points.for_each(|(fitted, residual)| steps.add(fitted, residual));
    welch_test(
        &steps.bins(MOST_BINS as usize, FEWEST_IN_BIN as usize),
        rounding(low.abs().max(high.abs())),
    )
}

/// The departure along each of some columns of the design. `rows` are indices into the design with
/// residuals.
pub fn along_columns(
    columns: Range<usize>,
    design: &[Vec<f64>],
    rows: &[(usize, f64)],
    rounding: f64,
) -> Vec<Option<Departure>> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); columns.len()];
    for (row, _) in rows {
        let counts = &design[*row][columns.clone()];
        ranges
            .iter_mut()
            .zip(counts)
            .for_each(|((low, high), count)| (*low, *high) = (low.min(*count), high.max(*count)));
    }
    let mut steps_of_columns: Vec<Option<Steps>> =
        ranges.into_iter().map(|(low, high)| Steps::between(low, high)).collect();
    for (row, residual) in rows {
        for (steps, count) in steps_of_columns.iter_mut().zip(&design[*row][columns.clone()]) {
            if let Some(steps) = steps {
                steps.add(*count, *residual);
            }
        }
    }
    steps_of_columns
        .iter()
        .map(|steps| {
            welch_test(
                &steps.as_ref()?.bins(MOST_BINS as usize, FEWEST_IN_BIN_OF_COMPONENT as usize),
                rounding,
            )
        })
        .collect()
}

/// The most significant of several departures. Many tests find more by chance, so its probability
/// is multiplied by their number (Bonferroni).
pub fn clearest(tests: impl Iterator<Item = Departure> + Clone) -> Option<Departure> {
    let number = tests.clone().count() as f64;
    let order = |a: &Departure, b: &Departure| {
        let (a, b) = (a.lack_of_fit, b.lack_of_fit);
        a.p.total_cmp(&b.p).then(b.sd.total_cmp(&a.sd))
    };
    let mut clearest_departure = tests.min_by(order)?;
    clearest_departure.lack_of_fit.p = (clearest_departure.lack_of_fit.p * number).min(1.0);
    Some(clearest_departure)
}

/// Welch's test that all bins have mean 0, less the two degrees of freedom of the plane.
fn welch_test(bins: &[Moments], rounding: f64) -> Option<Departure> {
    if bins.len() < FEWEST_BINS as usize {
        return None;
    }
    let (readings, dof) = (bins.iter().map(|bin| bin.count).sum::<f64>(), bins.len() - 2);
    let weight = |bin: &Moments| bin.count / variance_in(bin, rounding);
    let weights: f64 = bins.iter().map(weight).sum();
    let chi2: f64 = bins.iter().map(|bin| bin.mean().powi(2) * weight(bin)).sum();
    // Correction for the variances being estimates, which also sets the second degrees of freedom.
    let estimated: f64 =
        bins.iter().map(|bin| (1.0 - weight(bin) / weights).powi(2) / (bin.count - 1.0)).sum();
    let squared = (bins.len() * bins.len() - 1) as f64;
    let f = chi2 / dof as f64 / (1.0 + 2.0 * dof as f64 / squared * estimated);
    let p = f_tail(f, dof as f64, squared / (3.0 * estimated));
    let systematic: f64 =
        bins.iter().map(|bin| bin.count * bin.mean().powi(2) - variance_in(bin, rounding)).sum();
    Some(Departure {
        lack_of_fit: LackOfFit { f, dof, p, sd: (systematic / readings).max(0.0).sqrt() },
        bins: bins.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Fitted values from 0 to 1000, and noise that grows with them.
    fn points(count: usize, seed: u64, bend: f64) -> Vec<Point> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let point = |_| {
            let fitted = 1000.0 * random.random::<f64>();
            let noise: f64 = (0..4).map(|_| random.random_range(-1.0..1.0)).sum::<f64>()
                * (1.0 + fitted / 100.0);
            // A parabola without mean and slope.
            let u = fitted / 500.0 - 1.0;
            (fitted, noise + bend * (u * u - 1.0 / 3.0))
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn noise_on_a_plane_is_not_a_departure() {
        let chance_of =
            |seed| departure(points(20_000, seed, 0.0).into_iter()).unwrap().lack_of_fit.p;
        let low = (0..100).filter(|seed| chance_of(*seed) < 0.01).count();
        assert!(low <= 5, "{low} of 100 below 1 %");
    }

    #[test]
    fn bend_below_the_noise_of_one_reading_is_found() {
        let lack_of_fit = departure(points(20_000, 1, 3.0).into_iter()).unwrap().lack_of_fit;
        assert!(lack_of_fit.p < 1e-6, "{lack_of_fit:?}");
        // The standard deviation of u^2 - 1/3 is 0.298.
        assert!((lack_of_fit.sd / (3.0 * 0.298) - 1.0).abs() < 0.2, "{lack_of_fit:?}");
    }

    #[test]
    fn too_few_or_equal_readings_are_not_tested() {
        assert_eq!(departure(points(100, 1, 9.0).into_iter()), None);
        assert_eq!(departure(std::iter::repeat_n((5.0, 0.1), 9_000)), None);
    }

    #[test]
    fn rounding_is_not_a_departure() {
        let exact = (0..10_000).map(|i| (f64::from(i), if i < 5_000 { 1e-12 } else { -1e-12 }));
        assert!(departure(exact).unwrap().lack_of_fit.p > 0.99);
    }

    /// Probability of the most significant test along eight components with counts up to 1; the
    /// residuals have no bend.
    fn along_eight(count: usize, seed: u64, noise: impl Fn(f64, f64) -> f64) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let design: Vec<Vec<f64>> =
            (0..count).map(|_| (0..8).map(|_| random.random::<f64>()).collect()).collect();
        let mut rows: Vec<(usize, f64)> =
            (0..count).map(|row| (row, noise(random.random::<f64>(), design[row][0]))).collect();
        // Removes what a fit would absorb; the columns are nearly independent.
        (0..8).for_each(|column| {
            let mean = rows.iter().map(|row| row.1).sum::<f64>() / count as f64;
            let slope = rows.iter().map(|row| row.1 * (design[row.0][column] - 0.5)).sum::<f64>()
                * 12.0
                / count as f64;
            rows.iter_mut().for_each(|row| row.1 -= mean + slope * (design[row.0][column] - 0.5));
        });
        let tests: Vec<Departure> =
            along_columns(0..8, &design, &rows, 1e-9).into_iter().flatten().collect();
        assert_eq!(tests.len(), 8);
        clearest(tests.into_iter()).unwrap().lack_of_fit.p
    }

    #[test]
    fn many_tests_do_not_raise_false_alarms() {
        // Skewed noise, as in timing, that grows along one component; and symmetric noise.
        let skewed = |u: f64, size: f64| (-(1.0 - u).ln() - 1.0) * (1.0 + size);
        for (count, noise) in [
            (3_000, &skewed as &dyn Fn(f64, f64) -> f64),
            (10_000, &skewed),
            (3_000, &|u, _| u - 0.5),
        ] {
            let probabilities: Vec<f64> =
                (0..200).map(|seed| along_eight(count, seed, noise)).collect();
            let below = |level: f64| probabilities.iter().filter(|p| **p < level).count();
            assert!(
                below(0.05) <= 20 && below(0.01) <= 6 && below(1e-4) == 0,
                "{count}: {} {} of 200",
                below(0.05),
                below(0.01)
            );
        }
    }

    #[test]
    fn bend_along_one_component_is_found() {
        let design: Vec<Vec<f64>> = (0..20_000)
            .map(|row| vec![f64::from(row % 101) / 100.0, f64::from(row % 97) / 96.0, 1.0])
            .collect();
        let bent = |row: usize| {
            (design[row][1] - 0.5).powi(2) - 1.0 / 12.0 + f64::from(row as u32 % 89) / 88.0 - 0.5
        };
        let rows: Vec<(usize, f64)> = (0..design.len()).map(|row| (row, bent(row))).collect();
        let departures = along_columns(0..3, &design, &rows, 1e-9);
        assert!(
            departures[1].unwrap().lack_of_fit.p < 1e-9
                && departures[0].unwrap().lack_of_fit.p > 0.01
                && departures[2].is_none(),
            "{departures:?}"
        );
    }
}
