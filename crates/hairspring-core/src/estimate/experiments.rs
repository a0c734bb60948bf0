//! The result of several experiments: their median with an interval, or their minimum with the next
//! larger value (Staelin and McVoy, 6.5 and 7).
//!
//! The paper reports the median of eleven experiments without an interval. Here the order
//! statistics around the median give an interval that only assumes independent experiments. The
//! location of [`crate::pipeline::solve`], the mean of inliers over dithered rounds, is more
//! precise on a coarse clock, because a median of coarse readings is a multiple of the quantum.

use super::interval::Estimate;
use super::median;
use crate::laws::more_events;
use serde::{Deserialize, Serialize};

/// The values of the same quantity from several experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiments {
    /// Values in the order of the experiments.
    pub values: Vec<f64>,
    /// How far the true value may lie below all values, because of the clock's quantum or of a
    /// subtracted overhead.
    pub below: f64,
    /// How far the true value may lie above all values.
    pub above: f64,
}

/// The smallest value, and the next larger value, which shows how far the smallest can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Minimum {
    /// Smallest value.
    pub value: f64,
    /// Second smallest value; may equal the smallest.
    pub next: f64,
}

impl Experiments {
    /// Values that may be off by a bound in either direction. The bound is in the unit of the
    /// values.
    pub fn new(values: Vec<f64>, bound: f64) -> Experiments {
        Experiments { values, below: bound, above: bound }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// The median; `None` for fewer than two values, which have no spread.
    ///
    /// Its interval lies between the nearest two symmetric order statistics that cover at least
    /// `level`, and the bounds are added on both sides. [`Estimate::level`] is their actual
    /// coverage: 0.988 for eleven values and a level of 0.95. It is less than `level` if even all
    /// values do not cover it (0.75 for three values).
    pub fn median(&self, level: f64) -> Option<Estimate> {
        let sorted = self.sorted();
        if sorted.len() < 2 {
            return None;
        }
        let (rank, coverage) = median_rank(sorted.len(), level);
        let (low, high) = (sorted[rank - 1] - self.below, sorted[sorted.len() - rank] + self.above);
        Some(Estimate { value: median(&mut sorted.clone()), low, high, level: coverage })
    }

    /// A single value with its bounds; `None` unless there is exactly one value. The level is 0
    /// because the spread is unknown.
    pub fn alone(&self) -> Option<Estimate> {
        let [value] = self.values[..] else { return None };
        Some(Estimate { value, low: value - self.below, high: value + self.above, level: 0.0 })
    }

    /// The minimum and the next larger value; `None` for fewer than two values.
    ///
    /// Use it for quantities that noise can only increase. In the paper the distance of the two
    /// values shows whether the minimum can be trusted.
    pub fn minimum(&self) -> Option<Minimum> {
        let sorted = self.sorted();
        Some(Minimum { value: *sorted.first()?, next: *sorted.get(1)? })
    }
}

impl Minimum {
    /// Distance of the next larger value, as a share of the smallest.
    pub fn gap(&self) -> f64 {
        (self.next - self.value) / self.value.abs()
    }
}

/// The largest rank from both ends whose order statistics cover the median with at least `level`,
/// and their coverage.
fn median_rank(count: usize, level: f64) -> (usize, f64) {
    // Half of the values lie above the median, as below it.
    let below = |rank: usize| more_events((count - rank) as u64, count as u64, 0.5);
    let coverage = |rank: usize| 1.0 - 2.0 * below(rank);
    let rank = (1..=count / 2).take_while(|rank| coverage(*rank) >= level).last().unwrap_or(1);
    (rank, coverage(rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn ranks_agree_with_published_tables() {
        // Tables of order-statistic intervals: 11 values 2nd to 10th, 0.988; 20 values 6th to 15th,
        // 0.959.
        assert_eq!(median_rank(11, 0.95).0, 2);
        assert!((median_rank(11, 0.95).1 - 0.988_281_25).abs() < 1e-9);
        assert_eq!(median_rank(20, 0.95).0, 6);
        assert!((median_rank(20, 0.95).1 - 0.958_610).abs() < 1e-5);
        assert_eq!(median_rank(6, 0.95).0, 1);
        assert_eq!(median_rank(3, 0.95).0, 1);
        assert!((median_rank(3, 0.95).1 - 0.75).abs() < 1e-12);
    }

    #[test]
    fn interval_covers_the_median_of_skewed_noise() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        let covered = (0..4_000).filter(|_| {
            // Skewed with rare spikes; the true median of `u^3` is 1/8.
            let skewed_value = |random: &mut rand_pcg::Pcg64Mcg| {
                let u: f64 = random.random();
                u.powi(3) + if u > 0.95 { 1_000.0 } else { 0.0 }
            };
            Experiments::new((0..11).map(|_| skewed_value(&mut random)).collect(), 0.0)
                .median(0.95)
                .unwrap()
                .contains(0.125)
        });
        let share = covered.count() as f64 / 4_000.0;
        assert!((share - 0.988).abs() < 0.008, "{share}");
    }

    #[test]
    fn equal_readings_of_a_coarse_clock_have_an_interval() {
        let found = Experiments::new(vec![10.0; 11], 2.5).median(0.95).unwrap();
        assert_eq!((found.value, found.low, found.high), (10.0, 7.5, 12.5));
    }

    #[test]
    fn minimum_comes_with_the_next_larger_value() {
        let minimum = Experiments::new(vec![5.0, 4.0, 9.0, 4.2], 0.0).minimum().unwrap();
        assert_eq!((minimum.value, minimum.next), (4.0, 4.2));
        assert!((minimum.gap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn fewer_than_two_experiments_have_no_median_or_minimum() {
        for few in [vec![], vec![4.0]] {
            let few = Experiments::new(few, 1.0);
            assert!(few.median(0.95).is_none() && few.minimum().is_none());
        }
    }
}
