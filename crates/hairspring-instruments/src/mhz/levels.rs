//! Levels of a quantity that steps, such as the core clock: each with its own mean, interval and
//! share of the time. The mean over several levels would be a speed at which the core never ran.

use hairspring_core::estimate::{
    Contribution, Estimate, Source, Uncertain, noise, variance_of_mean,
};

/// A level that the values stayed at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Mean of the values at this level.
    pub value: Estimate,
    /// Share of the values, from 0 to 1.
    pub share: f64,
}

/// Two levels are separate if their distance is more than this share of the value ...
const STEP: f64 = 0.004;
/// ... and more than this many times the noise of a value.
const OVER_NOISE: f64 = 6.0;
/// A level with a smaller share of the values is a transition or an interruption, and is not
/// reported.
const LEAST_SHARE: f64 = 0.06;

/// Finds the levels of values in the order of time, at a confidence level. The most frequent level
/// comes first. Values that never stepped give one level with all of them; no values give no level.
///
/// The noise of a value is computed by [`noise`].
pub fn levels(values: &[f64], level: f64) -> Vec<Level> {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(middle) = sorted.get(sorted.len() / 2).copied() else { return Vec::new() };
    let gap = (STEP * middle.abs()).max(OVER_NOISE * noise(values));
    let groups = sorted.chunk_by(|a, b| b - a <= gap);
    let share = |group: &[f64]| group.len() as f64 / sorted.len() as f64;
    let mut levels: Vec<Level> = groups
        .filter(|group| share(group) >= LEAST_SHARE && (group.len() > 1 || sorted.len() == 1))
        .map(|group| {
            let (low, high) = (group[0], group[group.len() - 1]);
            // In the order of time, because neighbours in time may be correlated.
            let members: Vec<f64> =
                values.iter().copied().filter(|value| (low..=high).contains(value)).collect();
            Level { value: mean(&members, level), share: share(group) }
        })
        .collect();
    levels.sort_by(|a, b| b.share.total_cmp(&a.share));
    levels
}

fn mean(values: &[f64], level: f64) -> Estimate {
    let value = values.iter().sum::<f64>() / values.len() as f64;
    let (variance, dof) =
        if values.len() > 1 { variance_of_mean(values) } else { (f64::INFINITY, 1.0) };
    Uncertain { value, budget: vec![Contribution::standard(Source::Noise, variance.sqrt(), dof)] }
        .estimate(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn stepping(steps: &[(f64, usize)], noise: f64) -> Vec<f64> {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(5);
        let run = |(value, count): &(f64, usize)| vec![*value; *count];
        steps
            .iter()
            .flat_map(run)
            .map(|value| value * (1.0 + noise * (random.random::<f64>() - 0.5)))
            .collect()
    }

    #[test]
    fn steady_value_has_one_level_at_any_noise() {
        for noise in [0.0, 1e-4, 0.01, 0.1] {
            let levels = levels(&stepping(&[(3700.0, 32)], noise), 0.95);
            assert_eq!(levels.len(), 1, "{noise}");
            assert!((levels[0].value.value / 3700.0 - 1.0).abs() < 0.02 && levels[0].share == 1.0);
        }
    }

    #[test]
    fn levels_are_separated_and_the_most_frequent_comes_first() {
        let levels = levels(
            &stepping(&[(3700.0, 8), (3600.0, 16), (3700.0, 4), (3300.0, 1), (2600.0, 3)], 1e-3),
            0.95,
        );
        let values: Vec<f64> =
            levels.iter().map(|level| (level.value.value / 100.0).round()).collect();
        assert_eq!(values, [36.0, 37.0, 26.0]);
        assert_eq!(levels[0].share, 0.5);
        assert!(
            levels
                .iter()
                .all(|level| level.value.contains(100.0 * (level.value.value / 100.0).round()))
        );
    }

    #[test]
    fn no_values_have_no_level_and_one_value_has_one() {
        assert_eq!(levels(&[], 0.95), []);
        assert_eq!(levels(&[3.0], 0.95).len(), 1);
    }
}
