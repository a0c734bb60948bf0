//! Running statistics of one quantity of a waveform, such as its period.

use super::counts::Counts;
use hairspring_core::stream::{Batches, Moments};

/// Statistics of a stream of values in ticks, in memory that does not grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// The first value: others are kept as distances from it, whose squares cancel less.
    first: f64,
    /// Mean, spread and extremes, whose number is the tick at which they ended.
    pub moments: Moments,
    /// Means of batches of distances from the first value.
    distances: Batches,
    /// The same of their squares.
    squares: Batches,
    /// The distribution.
    pub counts: Counts,
}

impl Quantity {
    /// An empty stream, whose distribution has bins of this width.
    pub fn new(width: f64) -> Quantity {
        Quantity {
            first: 0.0,
            moments: Moments::default(),
            distances: Batches::default(),
            squares: Batches::default(),
            counts: Counts::new(width),
        }
    }

    /// Takes a value, and the time at which it was complete.
    pub fn push(&mut self, value: f64, at: f64) {
        if self.moments.count() == 0 {
            self.first = value;
        }
        let distance = value - self.first;
        self.moments.push(value, at.max(0.0) as u64);
        self.distances.push(distance);
        self.squares.push(distance * distance);
        self.counts.push(value);
    }

    /// Standard deviation of the mean and its degrees of freedom, by means of batches: neighbouring
    /// values are correlated. `None` for fewer than two values.
    pub fn sd_of_mean(&self) -> Option<(f64, f64)> {
        self.distances.sd_of_mean()
    }

    /// The same for the variance of the values: in each batch, the mean square of the distances
    /// from the mean of all.
    pub fn sd_of_variance(&self) -> Option<(f64, f64)> {
        let mean = self.moments.mean() - self.first;
        let of_batches = self.squares.means().iter().zip(self.distances.means());
        let variances: Vec<f64> = of_batches
            .map(|(square, distance)| square - 2.0 * mean * distance + mean * mean)
            .collect();
        Batches::sd_of(&variances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_variance_holds_for_correlated_values() {
        let mut quantity = Quantity::new(1.0);
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        // A sum of the last four numbers: variance 4/12, correlation 3/4 of neighbours.
        let mut last = [0.0; 4];
        for n in 0..40_000 {
            last[n % 4] = random();
            quantity.push(1e6 + last.iter().sum::<f64>(), n as f64);
        }
        let (sd, dof) = quantity.sd_of_variance().unwrap();
        assert!((quantity.moments.variance() - 4.0 / 12.0).abs() < 4.0 * sd, "{sd}");
        assert!(sd < 0.02 && dof > 5.0, "{sd} {dof}");
        assert_eq!(Quantity::new(1.0).sd_of_mean(), None);
    }
}
