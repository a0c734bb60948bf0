//! From the times of a benchmark to a time with its interval.

use super::model::Times;
use hairspring_core::Estimate;
use hairspring_core::estimate::{
    Contribution, Source, Uncertain, inflation, lag_one_correlation, skewness_bound, variance,
    variance_of_mean,
};

/// The level of intervals that are computed here.
const LEVEL: f64 = 0.95;
/// Values whose order is lost may be correlated to any degree, and no more of them than this count
/// as independent: ten blocks of values that have everything in common within a block.
pub const MOST_WITHOUT_ORDER: f64 = 10.0;

/// A time with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// The time; its ends are infinite where no interval follows.
    pub time: Estimate,
    /// The error budget; empty for an interval of the tool, and without one.
    pub budget: Vec<Contribution>,
    /// What it is of the values: `mean` or `median`.
    pub statistic: &'static str,
    /// How many independent values the interval counts.
    pub independent: Option<u32>,
    /// Why no interval follows.
    pub reason: Option<String>,
}

impl Times {
    /// The mean of the values with an interval that counts how they are correlated, or what the
    /// tool gives.
    pub fn timed(&self) -> Timed {
        match self {
            Times::Processes(groups) => of_processes(groups),
            Times::Rounded { values, step } => of_values(values, Source::Noise, *step),
            Times::Sorted(values) => of_sorted(values),
            Times::Summary { mean, sd, count, step } => of_summary(*mean, *sd, *count, *step),
            Times::Given { interval, statistic } => Timed {
                time: *interval,
                budget: Vec::new(),
                statistic,
                independent: None,
                reason: None,
            },
            Times::Alone { value, statistic, reason } => without(*value, statistic, reason),
        }
    }
}

/// A number that no interval follows for.
fn without(value: f64, statistic: &'static str, reason: &str) -> Timed {
    let time = Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY, level: LEVEL };
    Timed {
        time,
        budget: Vec::new(),
        statistic,
        independent: None,
        reason: Some(reason.to_owned()),
    }
}

/// Several processes: what is common to the values of one does not average out over them, so each
/// counts as one value, unless its values vary by more.
fn of_processes(groups: &[Vec<f64>]) -> Timed {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let all_values: Vec<f64> = groups.iter().copied().flatten().copied().collect();
    let alone = || of_values(&all_values, Source::Noise, 0.0);
    if groups.len() < 2 {
        return alone();
    }
    let means: Vec<f64> = groups.iter().map(|group| mean(group)).collect();
    let between = of_values(&means, Source::Runs, 0.0);
    if groups.iter().all(|group| group.len() < 2) {
        return between;
    }
    let within = alone();
    if within.reason.is_none() && within.time.half_width() > between.time.half_width() {
        let half = within.time.half_width();
        let value = between.time.value;
        return Timed {
            time: Estimate { value, low: value - half, high: value + half, level: LEVEL },
            ..within
        };
    }
    between
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Values in their order, each rounded to a multiple of `step`.
fn of_values(values: &[f64], source: Source, step: f64) -> Timed {
    let value = mean(values);
    if values.len() < 2 {
        return without(value, "mean", "there is one value, and nothing shows how it varies");
    }
    let (variance, dof) =
        if source == Source::Runs { variance_of_mean(values) } else { of_neighbours(values) };
    let error = variance.sqrt();
    let skewed = skewness_bound(values, error, LEVEL);
    uncertain(value, Spread { error, dof, skewed, step }, source)
}

/// Largest correlation of neighbours that is reckoned with.
const MOST_CORRELATION: f64 = 0.9;

/// Variance of the mean of values of one process, and its degrees of freedom. Few values hardly
/// show how far neighbours are correlated: the estimate is too low by about (1 + 4 r) / n (Marriott
/// and Pope 1954), and has a standard deviation of 1 / sqrt(n). Both are added to it, so that the
/// interval holds for a correlation up to 0.7 of ten values or more, and is 1.1 (100 values) to 1.7
/// (5 values) times as wide as it need be without any.
fn of_neighbours(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let (variance_as_seen, dof) = variance_of_mean(values);
    let seen_correlation = lag_one_correlation(values);
    let at_most =
        (seen_correlation + (1.0 + 4.0 * seen_correlation) / count + count.sqrt().recip())
            .clamp(0.0, MOST_CORRELATION);
    let inflation = inflation(at_most, count).max(1.0);
    let widened = variance(values) / count * inflation;
    (variance_as_seen.max(widened), dof.min((count - 1.0) / inflation).max(1.0))
}

/// Values whose order is lost.
fn of_sorted(values: &[f64]) -> Timed {
    of_summary(mean(values), variance(values).sqrt(), values.len() as f64, 0.0)
}

/// Mean and standard deviation of values whose order is unknown.
fn of_summary(mean: f64, sd: f64, count: f64, step: f64) -> Timed {
    let independent = count.min(MOST_WITHOUT_ORDER);
    if independent.is_nan() || independent < 2.0 || !sd.is_finite() {
        return without(mean, "mean", "there is one value, and nothing shows how it varies");
    }
    let error = sd / independent.sqrt();
    uncertain(mean, Spread { error, dof: independent - 1.0, skewed: 0.0, step }, Source::Noise)
}

/// How a mean varies.
struct Spread {
    error: f64,
    dof: f64,
    skewed: f64,
    step: f64,
}

fn uncertain(value: f64, spread: Spread, source: Source) -> Timed {
    if [spread.error, spread.step].iter().all(|part| part.is_nan() || *part <= 0.0) {
        let reason = "all values are equal: a clock or a rounding is coarser than their spread";
        return without(value, "mean", reason);
    }
    let mut uncertain =
        Uncertain { value, budget: vec![Contribution::standard(source, spread.error, spread.dof)] };
    for (source, bound) in [(source, spread.skewed), (Source::Quantum, spread.step / 2.0)] {
        if bound > 0.0 {
            uncertain.budget.push(Contribution::bound(source, bound));
        }
    }
    let time = uncertain.estimate(LEVEL);
    if !time.low.is_finite() || !time.high.is_finite() {
        return without(value, "mean", "the spread of the values is not a finite number");
    }
    Timed {
        time,
        budget: uncertain.budget,
        statistic: "mean",
        independent: Some((spread.dof + 1.0).clamp(2.0, f64::from(u32::MAX)) as u32),
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(times: &Times) -> f64 {
        times.timed().time.half_width()
    }

    #[test]
    fn values_that_are_correlated_have_a_wider_interval() {
        let alternating: Vec<f64> = (0..40).map(|n| f64::from(n % 2)).collect();
        let mut in_order = alternating.clone();
        in_order.sort_by(f64::total_cmp);
        let (free, bound) = (half(&Times::of(alternating)), half(&Times::of(in_order)));
        assert!(bound > 3.0 * free, "{bound} {free}");
    }

    /// Share of the intervals that hold of means of so many values with this correlation.
    fn held(count: usize, correlation: f64) -> f64 {
        const RUNS: u32 = 2_000;
        let mut state = 1_u64;
        // The sum of twelve uniform numbers is nearly normal.
        let mut normal = || {
            let uniform = (0..12).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            });
            uniform.sum::<f64>() - 6.0
        };
        let mut holds = 0;
        for _ in 0..RUNS {
            let mut value = normal();
            let values = (0..count).map(|_| {
                value = correlation * value + (1.0 - correlation.powi(2)).sqrt() * normal();
                100.0 + value
            });
            holds += u32::from(Times::of(values.collect()).timed().time.contains(100.0));
        }
        f64::from(holds) / f64::from(RUNS)
    }

    #[test]
    fn intervals_hold_whatever_the_correlation() {
        for count in [10, 20, 50, 100] {
            for correlation in [0.0, 0.3, 0.5, 0.7] {
                let share = held(count, correlation);
                assert!((0.925..0.995).contains(&share), "{count} {correlation}: {share}");
            }
        }
        assert!(held(5, 0.0) > 0.96 && held(5, 0.5) > 0.9);
    }

    #[test]
    fn processes_that_differ_count_as_one_value_each() {
        let process = |mean: f64| (0..50).map(|n| mean + 0.01 * f64::from(n % 3)).collect();
        let times = Times::Processes(vec![process(10.0), process(11.0), process(12.0)]);
        let timed = times.timed();
        assert!(timed.time.half_width() > 2.0, "{timed:?}");
        assert_eq!((timed.independent, timed.budget[0].source), (Some(3), Source::Runs));
    }

    #[test]
    fn processes_that_agree_by_chance_do_not_narrow_the_interval() {
        let times = Times::Processes(vec![vec![1.0, 3.0, 2.0, 2.2], vec![3.0, 1.0, 2.2, 2.0]]);
        let found = times.timed();
        assert!(found.time.half_width() > 0.3, "{found:?}");
    }

    #[test]
    fn of_sorted_values_ten_count() {
        let sorted: Vec<f64> = (0..1_000).map(f64::from).collect();
        let timed = Times::Sorted(sorted).timed();
        assert_eq!(timed.independent, Some(10));
        assert!(timed.time.half_width() > 200.0, "{timed:?}");
    }

    #[test]
    fn no_interval_follows_from_one_value_nor_from_equal_ones() {
        for times in [
            Times::of(vec![3.0]),
            Times::of(vec![3.0; 9]),
            Times::Summary { mean: 3.0, sd: 0.0, count: 9.0, step: 0.0 },
            Times::Summary { mean: 3.0, sd: 1.0, count: 1.0, step: 0.0 },
        ] {
            let found = times.timed();
            assert!(found.reason.is_some() && found.time.high == f64::INFINITY, "{found:?}");
        }
        let rounded = Times::Rounded { values: vec![3.0; 9], step: 1.0 }.timed();
        assert_eq!((rounded.time.low, rounded.time.high), (2.5, 3.5));
    }
}
