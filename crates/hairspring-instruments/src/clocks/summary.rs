//! Summarizes differences of readings: mean with its interval, spread, histogram.

use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::observations::Rate;

/// A bin of a histogram, from its low end (inclusive) to its high end (exclusive).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Low end.
    pub low: f64,
    /// High end; infinite for the last one.
    pub high: f64,
    /// Values in it.
    pub count: usize,
}

/// The summary of a list of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub count: usize,
    /// Their mean.
    pub mean: Estimate,
    /// The error budget of the mean.
    pub budget: Vec<Contribution>,
    /// Standard deviation of a single value.
    pub sd: f64,
    /// Smallest, median, 99 % quantile, largest.
    pub quantiles: [f64; 4],
    /// The distribution.
    pub histogram: Vec<Bin>,
}

/// Blocks of neighbouring values whose means give the interval, because neighbouring values are
/// disturbed together.
const BLOCKS: usize = 20;
/// Bins of a histogram; the last one is the overflow.
const BINS: usize = 12;
/// Share of the values in the other bins.
const SHOWN_SHARE: f64 = 0.99;

impl Summary {
    /// Summarizes at least one value, in the order of measurement. `quantum` is the clock's, in the
    /// unit of the values; it limits the precision of the mean. `rate` is that of the clock, by
    /// which the values were converted.
    pub fn new(values: &[f64], quantum: f64, rate: &Rate, level: f64) -> Summary {
        let (mean, sd) = mean_sd(values);
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        let mut budget = budget(values, quantum, level);
        budget.push(Contribution::rate(mean, rate));
        Summary {
            count: values.len(),
            mean: Uncertain { value: mean, budget: budget.clone() }.estimate(level),
            budget,
            sd,
            quantiles: [at(0.0), at(0.5), at(SHOWN_SHARE), at(1.0)],
            histogram: histogram(&sorted, at(SHOWN_SHARE), quantum),
        }
    }
}

fn mean_sd(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance =
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, variance.sqrt())
}

/// Noise from the means of blocks. A clock that showed no step in n values may still step once in
/// every n / -ln(1 - level).
fn budget(values: &[f64], quantum: f64, level: f64) -> Vec<Contribution> {
    let blocks = BLOCKS.min(values.len());
    let means: Vec<f64> = (0..blocks)
        .map(|block| {
            mean_sd(&values[block * values.len() / blocks..(block + 1) * values.len() / blocks]).0
        })
        .collect();
    let noise = mean_sd(&means).1 / (blocks as f64).sqrt();
    let unseen = quantum * -(1.0 - level).ln() / values.len() as f64;
    vec![
        Contribution::standard(Source::Noise, noise, (blocks.max(2) - 1) as f64),
        Contribution::bound(Source::Quantum, unseen.min(quantum)),
    ]
}

/// Bins of one width, a multiple of the quantum, and a last one for all larger values.
fn histogram(sorted: &[f64], end: f64, quantum: f64) -> Vec<Bin> {
    let (start, step) = (sorted[0], if quantum > 0.0 { quantum } else { 1.0 });
    let width = step * ((end - start) / step / (BINS - 1) as f64).floor().max(0.0) + step;
    // Half a step below, so that rounding does not move a value into the bin before.
    let low = |bin: usize| start - step / 2.0 + bin as f64 * width;
    let within = |low: f64, high: f64| {
        sorted.partition_point(|value| *value < high) - sorted.partition_point(|value| *value < low)
    };
    let mut bins: Vec<Bin> = (0..BINS - 1)
        .map(|bin| Bin { low: low(bin), high: low(bin + 1), count: within(low(bin), low(bin + 1)) })
        .collect();
    let last = low(BINS - 1);
    bins.push(Bin { low: last, high: f64::INFINITY, count: within(last, f64::INFINITY) });
    while bins.len() > 1 && bins[bins.len() - 1].count == 0 {
        bins.pop();
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact() -> Rate {
        Rate { hz: 1e9, uncertainty_ppm: 0.0, provenance: "invented".into() }
    }

    #[test]
    fn known_values_have_the_expected_summary() {
        let values: Vec<f64> = (0..1_000).map(|at| [20.0, 30.0, 30.0, 40.0][at % 4]).collect();
        let summary = Summary::new(&values, 10.0, &exact(), 0.95);
        assert!((summary.mean.value - 30.0).abs() < 1e-9 && (summary.sd - 7.074).abs() < 0.01);
        assert_eq!(summary.quantiles, [20.0, 30.0, 40.0, 40.0]);
        let counts: Vec<usize> = summary.histogram.iter().map(|bin| bin.count).collect();
        assert_eq!(counts, [250, 500, 250]);
    }

    #[test]
    fn every_value_is_in_one_bin() {
        let values: Vec<f64> = (0..1_000u32)
            .map(|at| f64::from(at * at % 977) + if at % 200 == 3 { 1e5 } else { 0.0 })
            .collect();
        let summary = Summary::new(&values, 0.0, &exact(), 0.95);
        assert_eq!(summary.histogram.iter().map(|bin| bin.count).sum::<usize>(), 1_000);
        assert!(
            summary.histogram.len() <= 12 && summary.histogram.last().unwrap().high.is_infinite()
        );
    }

    #[test]
    fn a_clock_without_steps_has_a_bound() {
        let summary = Summary::new(&[0.0; 1_000], 1_000.0, &exact(), 0.95);
        assert!((summary.mean.high - 3.0).abs() < 0.01 && summary.mean.low <= 0.0, "{summary:?}");
        assert_eq!(summary.histogram.len(), 1);
        assert_eq!(Summary::new(&[5.0], 1.0, &exact(), 0.95).count, 1);
    }
}
