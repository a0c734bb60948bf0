//! Levels of a quantity that steps, such as the core clock: each with its own mean, interval and share of the time. A
//! mean over several levels is the speed at which the core never ran.

use super::blocks::variance_of_mean;
use super::interval::{Contribution, Estimate, Source, Uncertain};

/// A level that the values stayed on for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Mean of the values on it.
    pub value: Estimate,
    /// Share of the values, from 0 to 1.
    pub share: f64,
}

/// Distance between two levels that is told, as a share of the value ...
const STEP: f64 = 0.004;
/// ... if it is also this many times the noise of a value.
const OVER_NOISE: f64 = 6.0;
/// A level with a smaller share of the values is a transition, or something else that ran.
const LEAST_SHARE: f64 = 0.06;

/// Finds the levels of a series of values in the order of time, the most frequent first. Values of one level that never
/// stepped give one level with all of them; no values give none.
///
/// The noise of a value is taken from successive differences, which see it and not the steps: their median, so that the
/// steps themselves do not count.
pub fn levels(values: &[f64], level: f64) -> Vec<Level> {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(middle) = sorted.get(sorted.len() / 2).copied() else { return Vec::new() };
    let gap = (STEP * middle.abs()).max(OVER_NOISE * noise(values));
    let groups = sorted.chunk_by(|a, b| b - a <= gap);
    let share = |group: &[f64]| group.len() as f64 / sorted.len() as f64;
    let mut found: Vec<Level> = groups
        .filter(|group| share(group) >= LEAST_SHARE && (group.len() > 1 || sorted.len() == 1))
        .map(|group| {
            let (low, high) = (group[0], group[group.len() - 1]);
            // In the order of time: neighbours in time may be alike.
            let members: Vec<f64> = values.iter().copied().filter(|value| (low..=high).contains(value)).collect();
            Level { value: mean(&members, level), share: share(group) }
        })
        .collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    found
}

/// Standard deviation of one value of a series in the order of time, from the median of the successive differences: it
/// sees the noise, and neither steps nor slow changes.
pub fn noise(values: &[f64]) -> f64 {
    const MEDIAN_OF_DIFFERENCES: f64 = 0.6745 * std::f64::consts::SQRT_2;
    let mut steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).map_or(0.0, |median| median / MEDIAN_OF_DIFFERENCES)
}

fn mean(values: &[f64], level: f64) -> Estimate {
    let value = values.iter().sum::<f64>() / values.len() as f64;
    let (variance, dof) = if values.len() > 1 { variance_of_mean(values) } else { (f64::INFINITY, 1.0) };
    Uncertain { value, budget: vec![Contribution::standard(Source::Stochastic, variance.sqrt(), dof)] }.estimate(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn stepping(steps: &[(f64, usize)], noise: f64) -> Vec<f64> {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(5);
        let run = |(value, count): &(f64, usize)| vec![*value; *count];
        steps.iter().flat_map(run).map(|value| value * (1.0 + noise * (random.random::<f64>() - 0.5))).collect()
    }

    #[test]
    fn a_steady_value_is_one_level_whatever_its_noise() {
        for noise in [0.0, 1e-4, 0.01, 0.1] {
            let found = levels(&stepping(&[(3700.0, 32)], noise), 0.95);
            assert_eq!(found.len(), 1, "{noise}");
            assert!((found[0].value.value / 3700.0 - 1.0).abs() < 0.02 && found[0].share == 1.0);
        }
    }

    #[test]
    fn steps_are_told_apart_and_the_most_frequent_comes_first() {
        let found = levels(&stepping(&[(3700.0, 8), (3600.0, 16), (3700.0, 4), (3300.0, 1), (2600.0, 3)], 1e-3), 0.95);
        let values: Vec<f64> = found.iter().map(|level| (level.value.value / 100.0).round()).collect();
        assert_eq!(values, [36.0, 37.0, 26.0]);
        assert_eq!(found[0].share, 0.5);
        assert!(found.iter().all(|level| level.value.contains(100.0 * (level.value.value / 100.0).round())));
    }

    #[test]
    fn nothing_has_no_level() {
        assert_eq!(levels(&[], 0.95), []);
        assert_eq!(levels(&[3.0], 0.95).len(), 1);
    }
}
