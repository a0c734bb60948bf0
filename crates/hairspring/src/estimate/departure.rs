//! Lack of fit where nothing was repeated: residuals in bins of the fitted value. Readings of nearly equal fitted value
//! take the place of repeats; on a plane that holds, the mean residual of every bin is zero within its noise.

use super::solution::LackOfFit;
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Bins at the most, and readings of each at the least.
const MOST_BINS: usize = 64;
const FEWEST_IN_BIN: usize = 50;
/// Fewest bins that show a bend: the plane itself takes up two.
const FEWEST_BINS: usize = 4;
/// Equal steps of the fitted value that bins are put together from, so that nothing has to be sorted.
const STEPS: usize = 4096;

/// A used reading: its fitted value and its residual.
pub type Point = (f64, f64);

/// The lack of fit with the number of bins it was seen in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Departure {
    /// F test of the bins' means against the noise within each bin (noise may differ from bin to bin).
    pub lack_of_fit: LackOfFit,
    /// Bins.
    pub bins: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Bin {
    fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Variance within the bin; rounding is no noise.
    fn variance(&self, rounding: f64) -> f64 {
        ((self.squares - self.sum * self.sum / self.count) / (self.count - 1.0)).max(rounding * rounding)
    }
}

/// The departure of single readings from their plane; `None` where they are too few, or all of one size.
pub fn departure(points: impl Iterator<Item = Point> + Clone) -> Option<Departure> {
    let range = |(low, high): (f64, f64), (fitted, _): Point| (low.min(fitted), high.max(fitted));
    let (low, high) = points.clone().fold((f64::INFINITY, f64::NEG_INFINITY), range);
    let rounding = 1e-9 * low.abs().max(high.abs()).max(1e-12);
    let bins: Vec<Bin> = bins(points, low, high)?.into_iter().filter(|bin| bin.count >= FEWEST_IN_BIN as f64 / 2.0).collect();
    if bins.len() < FEWEST_BINS {
        return None;
    }
    let readings: f64 = bins.iter().map(|bin| bin.count).sum();
    let dof = bins.len() - 2;
    let chi2: f64 = bins.iter().map(|bin| bin.mean().powi(2) * bin.count / bin.variance(rounding)).sum();
    let f = chi2 / dof as f64;
    let p = FisherSnedecor::new(dof as f64, readings - bins.len() as f64).map_or(f64::NAN, |law| 1.0 - law.cdf(f));
    let systematic: f64 = bins.iter().map(|bin| bin.count * bin.mean().powi(2) - bin.variance(rounding)).sum();
    Some(Departure { lack_of_fit: LackOfFit { f, dof, p, sd: (systematic / readings).max(0.0).sqrt() }, bins: bins.len() })
}

/// Bins of about equally many readings, by fitted value from the lowest to the highest.
fn bins(points: impl Iterator<Item = Point>, low: f64, high: f64) -> Option<Vec<Bin>> {
    let per_unit = (STEPS - 1) as f64 / (high - low);
    if !per_unit.is_finite() {
        return None;
    }
    let mut steps = vec![Bin::default(); STEPS];
    for (fitted, residual) in points {
        let step = &mut steps[((fitted - low) * per_unit) as usize];
        *step = Bin { count: step.count + 1.0, sum: step.sum + residual, squares: step.squares + residual * residual };
    }
    let readings: f64 = steps.iter().map(|step| step.count).sum();
    let full = (readings / MOST_BINS as f64).max(FEWEST_IN_BIN as f64);
    let mut bins = vec![Bin::default()];
    for step in steps {
        if bins.last().is_some_and(|bin| bin.count >= full) {
            bins.push(Bin::default());
        }
        if let Some(bin) = bins.last_mut() {
            *bin = Bin { count: bin.count + step.count, sum: bin.sum + step.sum, squares: bin.squares + step.squares };
        }
    }
    Some(bins)
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
            let noise: f64 = (0..4).map(|_| random.random_range(-1.0..1.0)).sum::<f64>() * (1.0 + fitted / 100.0);
            // A parabola without mean and slope.
            let u = fitted / 500.0 - 1.0;
            (fitted, noise + bend * (u * u - 1.0 / 3.0))
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn noise_on_a_plane_is_no_departure() {
        let found = |seed| departure(points(20_000, seed, 0.0).into_iter()).unwrap().lack_of_fit.p;
        let low = (0..100).filter(|seed| found(*seed) < 0.01).count();
        assert!(low <= 5, "{low} of 100 below 1 %");
    }

    #[test]
    fn a_bend_below_the_noise_of_one_reading_is_seen() {
        let found = departure(points(20_000, 1, 3.0).into_iter()).unwrap().lack_of_fit;
        assert!(found.p < 1e-6, "{found:?}");
        // The standard deviation of u^2 - 1/3 is 0.298.
        assert!((found.sd / (3.0 * 0.298) - 1.0).abs() < 0.2, "{found:?}");
    }

    #[test]
    fn too_few_and_all_alike_are_not_judged() {
        assert_eq!(departure(points(100, 1, 9.0).into_iter()), None);
        assert_eq!(departure(std::iter::repeat_n((5.0, 0.1), 9_000)), None);
    }

    #[test]
    fn rounding_is_no_departure() {
        let exact = (0..10_000).map(|i| (f64::from(i), if i < 5_000 { 1e-12 } else { -1e-12 }));
        assert!(departure(exact).unwrap().lack_of_fit.p > 0.99);
    }
}
