//! How the rows of two pieces of code depart from their lines.
//!
//! Copies of code one after the other are predicted, aligned and overlapped as their number has it, so that rows depart from the line by more
//! than noise. A time carries that in its interval, as nothing says what the rows that there are not would show. But the rows of equal code
//! depart by the same: what that does to a time it does to both, and their ratio is off only by what differs between them.

use std::collections::BTreeMap;

/// Fewest rows with the same counts in both beyond the unknowns, and the least share of all rows.
const FEWEST_SPARE: usize = 3;
const LEAST_SHARE: f64 = 0.75;
/// Rows that differ by a larger share may be alike by chance.
const MOST_DIFFERING: f64 = 0.5;

/// The mean departure of the rows with each count, in times of the component.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Departures(BTreeMap<Vec<u64>, f64>);

impl Departures {
    /// Of rows with these counts and residuals, and a time in the unit of the residuals.
    pub fn new<'r>(rows: impl IntoIterator<Item = (&'r [f64], f64)>, time: f64) -> Departures {
        let mut sums: BTreeMap<Vec<u64>, (f64, f64)> = BTreeMap::new();
        for (counts, residual) in rows {
            let sum = sums.entry(counts.iter().map(|count| count.to_bits()).collect()).or_default();
            *sum = (sum.0 + residual / time, sum.1 + 1.0);
        }
        Departures(sums.into_iter().map(|(counts, (sum, number))| (counts, sum / number)).collect())
    }

    /// The share of the departures that differs from those of another fit of as many unknowns: the root mean square of the differences over
    /// that of both together, which is about 1 where the two have nothing to do with each other. 1 where it is more than a half, as few rows
    /// may be alike by chance, or where too few rows have the same counts.
    ///
    /// ```
    /// use hairspring_core::estimate::Departures;
    /// let rows: Vec<[f64; 1]> = (1..=6).map(|copies| [f64::from(copies)]).collect();
    /// let of = |residuals: [f64; 6]| Departures::new(rows.iter().map(|row| &row[..]).zip(residuals), 10.0);
    /// let one = of([0.3, -0.2, 0.4, -0.5, 0.1, -0.1]);
    /// assert_eq!(one.differing(&one, 2), 0.0);
    /// assert_eq!(one.differing(&of([-0.3, 0.2, -0.4, 0.5, -0.1, 0.1]), 2), 1.0);
    /// assert_eq!(one.differing(&Departures::default(), 2), 1.0);
    /// ```
    pub fn differing(&self, other: &Departures, unknowns: usize) -> f64 {
        let shared: Vec<(f64, f64)> = self.0.iter().filter_map(|(counts, departure)| Some((*departure, *other.0.get(counts)?))).collect();
        let all = self.0.len().max(other.0.len()) as f64;
        if shared.len() < unknowns + FEWEST_SPARE || (shared.len() as f64) < LEAST_SHARE * all {
            return 1.0;
        }
        let squares = |of: &dyn Fn(&(f64, f64)) -> f64| shared.iter().map(|pair| of(pair).powi(2)).sum::<f64>();
        let both = squares(&|pair| pair.0) + squares(&|pair| pair.1);
        let share = (squares(&|pair| pair.1 - pair.0) / both).sqrt();
        if share <= MOST_DIFFERING { share } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(residuals: &[f64]) -> Departures {
        let counts: Vec<[f64; 1]> = (0..residuals.len()).map(|at| [at as f64]).collect();
        Departures::new(counts.iter().map(|row| &row[..]).zip(residuals.iter().copied()), 2.0)
    }

    #[test]
    fn rows_that_are_too_few_or_not_those_of_both_say_nothing() {
        let all = [0.3, -0.2, 0.4, -0.5, 0.1, 0.2, -0.3, 0.25, 0.1];
        assert_eq!(of(&all[..5]).differing(&of(&all[..5]), 2), 0.0);
        assert_eq!(of(&all[..4]).differing(&of(&all[..4]), 2), 1.0);
        assert_eq!(of(&all[..5]).differing(&of(&all[..5]), 3), 1.0);
        // Six of nine are less than three quarters.
        assert_eq!(of(&all[..6]).differing(&of(&all), 2), 1.0);
        assert_eq!(of(&[0.0; 8]).differing(&of(&[0.0; 8]), 2), 1.0);
        assert_eq!(of(&[f64::NAN; 8]).differing(&of(&[f64::NAN; 8]), 2), 1.0);
    }

    #[test]
    fn rows_with_equal_counts_count_by_their_mean() {
        let rows = [[1.0], [1.0], [2.0], [3.0], [4.0], [5.0]];
        let with = |residuals: [f64; 6]| Departures::new(rows.iter().map(|row| &row[..]).zip(residuals), 1.0);
        let (one, other) = (with([0.5, -0.1, 0.3, -0.4, 0.2, 0.1]), with([0.1, 0.3, 0.3, -0.4, 0.2, 0.1]));
        assert!(one.differing(&other, 2) < 1e-12);
    }
}
