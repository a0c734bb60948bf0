//! Several experiments, one answer: their median with an interval, or their minimum with the next larger value
//! (Staelin and McVoy, 6.5 and 7).
//!
//! The paper reports the median of eleven experiments without an interval. Here the order statistics around it give one
//! that assumes nothing of the noise but that the experiments are independent. The engine's own location, the mean of
//! inliers over dithered rounds, is narrower on a coarse clock: a median of coarse readings stays on the clock's steps.

use super::interval::Estimate;
use super::location::median;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

/// The values that several experiments gave for the same quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiments {
    /// Values in the order in which they came.
    pub values: Vec<f64>,
    /// How far the truth may lie below every value, all in the same direction: the clock's quantum, the doubt of a subtracted
    /// overhead.
    pub below: f64,
    /// How far it may lie above.
    pub above: f64,
}

/// The smallest value, and the next larger one beside it as a measure of how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Minimum {
    /// Smallest value.
    pub value: f64,
    /// Second smallest value; equal to the smallest where two experiments agree.
    pub next: f64,
}

impl Experiments {
    /// Values of which each may be off by a bound in either direction; both in the unit of the values.
    pub fn new(values: Vec<f64>, bound: f64) -> Experiments {
        Experiments { values, below: bound, above: bound }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// The median; `None` for fewer than two values, of which one can say no spread.
    ///
    /// Its interval lies between the nearest two symmetric order statistics that cover at least `level`, and the bound is
    /// added on both sides. [`Estimate::level`] is the coverage that they really have: 0.988 for eleven values and a level
    /// of 0.95, and less than was asked for where all values together do not cover it (0.75 for three).
    pub fn median(&self, level: f64) -> Option<Estimate> {
        let sorted = self.sorted();
        if sorted.len() < 2 {
            return None;
        }
        let (rank, coverage) = median_rank(sorted.len(), level);
        let (low, high) = (sorted[rank - 1] - self.below, sorted[sorted.len() - rank] + self.above);
        Some(Estimate { value: median(&mut sorted.clone()), low, high, level: coverage })
    }

    /// A single value with its bounds; `None` where there are none or more. The level is 0: it says nothing of its spread.
    pub fn alone(&self) -> Option<Estimate> {
        let [value] = self.values[..] else { return None };
        Some(Estimate { value, low: value - self.below, high: value + self.above, level: 0.0 })
    }

    /// The minimum and the next larger value; `None` for fewer than two values.
    ///
    /// For quantities that noise can only make longer. The paper takes the distance of the two as the test of whether the
    /// minimum may be believed.
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

/// The largest rank from both ends whose order statistics cover the median with at least `level`, and what they cover.
fn median_rank(count: usize, level: f64) -> (usize, f64) {
    let below = |rank: usize| Binomial::new(0.5, count as u64).map_or(0.0, |fair| fair.cdf(rank as u64 - 1));
    let coverage = |rank: usize| 1.0 - 2.0 * below(rank);
    let rank = (1..=count / 2).take_while(|rank| coverage(*rank) >= level).last().unwrap_or(1);
    (rank, coverage(rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn the_ranks_are_the_textbook_ones() {
        // Tables of order-statistic intervals: 11 values 2nd to 10th, 0.988; 20 values 6th to 15th, 0.959.
        assert_eq!(median_rank(11, 0.95).0, 2);
        assert!((median_rank(11, 0.95).1 - 0.988_281_25).abs() < 1e-9);
        assert_eq!(median_rank(20, 0.95).0, 6);
        assert!((median_rank(20, 0.95).1 - 0.958_610).abs() < 1e-5);
        assert_eq!(median_rank(6, 0.95).0, 1);
        assert_eq!(median_rank(3, 0.95).0, 1);
        assert!((median_rank(3, 0.95).1 - 0.75).abs() < 1e-12);
    }

    #[test]
    fn the_interval_covers_the_median_whatever_the_noise() {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(3);
        let covered = (0..4_000).filter(|_| {
            // Skewed with rare spikes; the true median of `u^3` is 1/8.
            let one = |random: &mut rand_pcg::Pcg64Mcg| {
                let u: f64 = random.random();
                u.powi(3) + if u > 0.95 { 1_000.0 } else { 0.0 }
            };
            Experiments::new((0..11).map(|_| one(&mut random)).collect(), 0.0).median(0.95).unwrap().contains(0.125)
        });
        let share = covered.count() as f64 / 4_000.0;
        assert!((share - 0.988).abs() < 0.008, "{share}");
    }

    #[test]
    fn equal_readings_of_a_coarse_clock_still_have_an_interval() {
        let found = Experiments::new(vec![10.0; 11], 2.5).median(0.95).unwrap();
        assert_eq!((found.value, found.low, found.high), (10.0, 7.5, 12.5));
    }

    #[test]
    fn the_minimum_stands_beside_the_next_larger_value() {
        let found = Experiments::new(vec![5.0, 4.0, 9.0, 4.2], 0.0).minimum().unwrap();
        assert_eq!((found.value, found.next), (4.0, 4.2));
        assert!((found.gap() - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_single_experiment_says_nothing_of_its_spread() {
        for few in [vec![], vec![4.0]] {
            let few = Experiments::new(few, 1.0);
            assert!(few.median(0.95).is_none() && few.minimum().is_none());
        }
    }
}
