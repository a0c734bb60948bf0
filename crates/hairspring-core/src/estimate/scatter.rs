//! How far single readings scatter about the line of their round.
//!
//! A step of the core clock makes all readings of a round longer by the same factor, so it does not take any row off the line.
//! The scatter of the rows' locations about the line therefore excludes such factors; with them the noise would seem so large
//! that real departures of rows could not be told from it.

use super::location::Sample;

/// Fewest independent readings that show a variance.
const FEWEST: f64 = 2.0;

/// Variance of a reading of each row about the product of the row's location and the factor of its round; `None` for rows whose
/// rounds have too few other readings.
pub fn scatter(readings: &[Vec<Sample>], location: &[f64]) -> Vec<Option<f64>> {
    let factors = factors(readings, location);
    readings.iter().zip(location).map(|(row, location)| about(row, *location, &factors)).collect()
}

/// The factor of a round, fitted to its readings through the origin.
#[derive(Debug, Clone, Copy, Default)]
struct Factor {
    /// Sum of the products of readings and locations.
    products: f64,
    /// Sum of the squared locations.
    squares: f64,
}

fn factors(readings: &[Vec<Sample>], location: &[f64]) -> Vec<Factor> {
    let rounds = readings.iter().flatten().map(|sample| sample.round as usize + 1).max().unwrap_or(0);
    let mut factors = vec![Factor::default(); rounds];
    for (row, location) in readings.iter().zip(location) {
        for sample in row.iter().filter(|sample| sample.is_used()) {
            let (factor, weight) = (&mut factors[sample.round as usize], f64::from(sample.weight));
            factor.products += weight * sample.ticks * location;
            factor.squares += weight * location * location;
        }
    }
    factors
}

/// Sum of the squared departures of a row's readings over the number of independent ones: the fit of each factor has used up
/// the reading's leverage.
fn about(row: &[Sample], location: f64, factors: &[Factor]) -> Option<f64> {
    let (mut squares, mut independent) = (0.0, 0.0);
    for sample in row.iter().filter(|sample| sample.is_used()) {
        let (factor, weight) = (factors[sample.round as usize], f64::from(sample.weight));
        if factor.squares > 0.0 {
            squares += weight * (sample.ticks - location * factor.products / factor.squares).powi(2);
            independent += weight * (1.0 - weight * location * location / factor.squares);
        }
    }
    (independent >= FEWEST).then(|| squares / independent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    const LOCATIONS: [f64; 4] = [100.0, 200.0, 400.0, 800.0];

    /// Readings with noise of variance 1 at a clock that steps between two levels.
    fn stepping(rounds: u32, step: f64) -> Vec<Vec<Sample>> {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let mut reading = |round: u32, location: f64| {
            let factor = if round % 7 < 3 { 1.0 + step } else { 1.0 - step };
            Sample { round, weight: 1.0, ticks: factor * location + normal() }
        };
        LOCATIONS.iter().map(|location| (0..rounds).map(|round| reading(round, *location)).collect()).collect()
    }

    #[test]
    fn steps_of_the_clock_do_not_count() {
        for step in [0.0, 0.03] {
            for variance in scatter(&stepping(4_000, step), &LOCATIONS) {
                assert!((variance.unwrap() - 1.0).abs() < 0.1, "{variance:?}");
            }
        }
    }

    #[test]
    fn row_that_is_alone_in_its_rounds_shows_nothing() {
        let mut readings = stepping(50, 0.0);
        readings[3].iter_mut().for_each(|sample| sample.round += 50);
        let found = scatter(&readings, &LOCATIONS);
        assert!(found[0].is_some() && found[3].is_none());
        assert_eq!(scatter(&[Vec::new()], &[1.0]), [None]);
    }
}
