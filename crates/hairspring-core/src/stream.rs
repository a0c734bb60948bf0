//! Running mean, spread, extremes and batch means of a stream: memory does not grow with the length
//! of the run.

use crate::estimate::variance_of_mean;
use serde::{Deserialize, Serialize};

/// The smallest or largest value, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Extreme {
    /// The value.
    pub value: f64,
    /// Number of the value, from 0: of the cycle of a task.
    pub cycle: u64,
}

/// Mean, spread and extremes of a stream of values (Welford's recurrence, which avoids the
/// cancellation of a sum of squares).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    least_value: Extreme,
    most_value: Extreme,
}

impl Moments {
    /// Adds the value of a number.
    pub fn push(&mut self, value: f64, cycle: u64) {
        self.count += 1;
        let distance = value - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (value - self.mean);
        if self.count == 1 || value < self.least_value.value {
            self.least_value = Extreme { value, cycle };
        }
        if self.count == 1 || value > self.most_value.value {
            self.most_value = Extreme { value, cycle };
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean; 0 without values.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Sample variance; 0 for fewer than two values.
    pub fn variance(&self) -> f64 {
        if self.count < 2 { 0.0 } else { self.squares / (self.count - 1) as f64 }
    }

    /// The smallest value.
    pub fn least(&self) -> Extreme {
        self.least_value
    }

    /// The largest value.
    pub fn most(&self) -> Extreme {
        self.most_value
    }
}

/// Most batches that are kept.
const MOST_BATCHES: usize = 64;

/// Means of batches of consecutive values. When there are too many, neighbours are merged and
/// batches become twice as long, so a run of any length ends with 32 to 64 of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Batches {
    size: u64,
    means: Vec<f64>,
    sum: f64,
    open: u64,
}

impl Default for Batches {
    fn default() -> Self {
        Batches { size: 1, means: Vec::with_capacity(MOST_BATCHES), sum: 0.0, open: 0 }
    }
}

impl Batches {
    /// Adds the next value.
    pub fn push(&mut self, value: f64) {
        self.sum += value;
        self.open += 1;
        if self.open == self.size {
            self.means.push(self.sum / self.size as f64);
            (self.sum, self.open) = (0.0, 0);
        }
        if self.means.len() == MOST_BATCHES {
            self.merge();
        }
    }

    /// Merges in place, because nothing may be allocated while the task runs.
    fn merge(&mut self) {
        for at in 0..MOST_BATCHES / 2 {
            self.means[at] = (self.means[2 * at] + self.means[2 * at + 1]) / 2.0;
        }
        self.means.truncate(MOST_BATCHES / 2);
        self.size *= 2;
    }

    /// Standard deviation of the mean and its degrees of freedom, from the variation between
    /// batches, because neighbouring values are correlated. `None` for fewer than two batches.
    pub fn sd_of_mean(&self) -> Option<(f64, f64)> {
        Batches::sd_of(&self.means)
    }

    /// The same for values of batches, such as their variances.
    pub fn sd_of(values: &[f64]) -> Option<(f64, f64)> {
        if values.len() < 2 {
            return None;
        }
        let (variance, dof) = variance_of_mean(values);
        Some((variance.sqrt(), dof))
    }

    /// The means of the batches that are complete.
    pub fn means(&self) -> &[f64] {
        &self.means
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_agree_with_the_definitions_and_extremes_have_their_cycle() {
        let mut moments = Moments::default();
        for (cycle, value) in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().enumerate() {
            moments.push(value, cycle as u64);
        }
        assert_eq!((moments.mean(), moments.count()), (5.0, 8));
        assert!((moments.variance() - 32.0 / 7.0).abs() < 1e-12);
        assert_eq!(moments.least(), Extreme { value: 2.0, cycle: 0 });
        assert_eq!(moments.most(), Extreme { value: 9.0, cycle: 7 });
    }

    #[test]
    fn a_long_stream_keeps_few_batches_and_its_mean() {
        let mut batches = Batches::default();
        (0..1_000_000).for_each(|at| batches.push(f64::from(at % 10)));
        assert!(
            (32..=64).contains(&batches.means.len()) && batches.means.capacity() == MOST_BATCHES
        );
        assert!(batches.means.iter().all(|mean| (mean - 4.5).abs() < 0.01));
    }

    #[test]
    fn the_mean_of_correlated_values_is_less_certain() {
        let (mut quick, mut slow) = (Batches::default(), Batches::default());
        for at in 0..10_000u32 {
            quick.push(f64::from(at % 2));
            slow.push(f64::from(at / 2_500 % 2));
        }
        assert!(slow.sd_of_mean().unwrap().0 > 100.0 * quick.sd_of_mean().unwrap().0);
        assert_eq!(Batches::default().sd_of_mean(), None);
    }
}
