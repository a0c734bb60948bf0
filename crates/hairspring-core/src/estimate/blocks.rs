//! Means of the rows within blocks of consecutive rounds (batch means): their variation shows the real uncertainty,
//! including correlated noise and frequency steps.

use super::location::{Grouped, Sample, total_weight};

/// Blocks that a run is divided into, if it has at least as many rounds.
const BLOCKS: usize = 32;

/// Fewest blocks into which a run is divided so that they are complete.
const FEWEST_BLOCKS: usize = 6;

/// Least sum of weights for the mean of a row in a block.
const LEAST_WEIGHT: f64 = 0.9;

/// Mean of every row in every block.
#[derive(Debug, Clone)]
pub struct BlockMeans {
    /// One vector per block, one mean per row.
    pub means: Vec<Vec<f64>>,
    /// First round of each block.
    pub from_round: Vec<u32>,
    /// Blocks left out because a row had no usable reading in them.
    pub incomplete: usize,
}

impl BlockMeans {
    /// Divides the rounds into blocks and averages the usable readings of each row in each block.
    pub fn new(grouped: &Grouped, rounds: u32) -> BlockMeans {
        BlockMeans::of(grouped, rounds, BLOCKS.min(rounds as usize).max(1))
    }

    /// The same in fewer and longer blocks, if rows have no usable reading in many of the shorter ones: left out they would leave rounds
    /// of all rows unused because of single rows.
    pub fn complete(grouped: &Grouped, rounds: u32) -> BlockMeans {
        let mut count = BLOCKS.min(rounds as usize).max(1);
        loop {
            let blocks = BlockMeans::of(grouped, rounds, count);
            if blocks.incomplete == 0 {
                return blocks;
            }
            if count / 2 < FEWEST_BLOCKS {
                return BlockMeans::filled(grouped, rounds, count);
            }
            count /= 2;
        }
    }

    /// Blocks in which a row without a usable reading has the mean of all its readings: among many rows some always lack one.
    fn filled(grouped: &Grouped, rounds: u32, count: usize) -> BlockMeans {
        let overall: Vec<f64> = grouped.readings.iter().map(|row| mean_of(row)).collect();
        let sums = sums(grouped, rounds, count);
        let mean = |(cell, overall): (&(f64, f64), &f64)| if cell.1 < LEAST_WEIGHT { *overall } else { cell.0 / cell.1 };
        let means = sums.iter().map(|cells| cells.iter().zip(&overall).map(mean).collect()).collect();
        BlockMeans { means, from_round: (0..count).map(|block| first_round(block, rounds, count)).collect(), incomplete: 0 }
    }

    fn of(grouped: &Grouped, rounds: u32, count: usize) -> BlockMeans {
        let sums = sums(grouped, rounds, count);
        let mut blocks = BlockMeans { means: Vec::new(), from_round: Vec::new(), incomplete: 0 };
        for (block, cells) in sums.into_iter().enumerate() {
            if cells.iter().any(|cell| cell.1 < LEAST_WEIGHT) {
                blocks.incomplete += 1;
            } else {
                blocks.means.push(cells.iter().map(|cell| cell.0 / cell.1).collect());
                blocks.from_round.push(first_round(block, rounds, count));
            }
        }
        blocks
    }

    /// Number of complete blocks.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Mean of each row over the blocks.
    pub fn overall(&self) -> Vec<f64> {
        let rows = self.means.first().map_or(0, Vec::len);
        (0..rows).map(|row| self.means.iter().map(|block| block[row]).sum::<f64>() / self.len() as f64).collect()
    }
}

/// Sum and weight of the usable readings of each row in each block.
fn sums(grouped: &Grouped, rounds: u32, count: usize) -> Vec<Vec<(f64, f64)>> {
    let mut sums = vec![vec![(0.0, 0.0); grouped.rows.len()]; count];
    for (row, readings) in grouped.readings.iter().enumerate() {
        for sample in readings.iter().filter(|sample| sample.is_used()) {
            let (cell, weight) = (&mut sums[block_of(sample.round, rounds, count)][row], f64::from(sample.weight));
            *cell = (cell.0 + weight * sample.ticks, cell.1 + weight);
        }
    }
    sums
}

fn mean_of(readings: &[Sample]) -> f64 {
    let sum: f64 = readings.iter().map(|sample| f64::from(sample.weight) * sample.ticks).sum();
    sum / total_weight(readings)
}

fn first_round(block: usize, rounds: u32, count: usize) -> u32 {
    (block as u64 * u64::from(rounds)).div_ceil(count as u64) as u32
}

fn block_of(round: u32, rounds: u32, count: usize) -> usize {
    (u64::from(round) * count as u64 / u64::from(rounds.max(1))) as usize
}

/// Sample variance, with one degree of freedom less than values; NaN for fewer than two.
///
/// ```
/// assert_eq!(hairspring_core::estimate::variance(&[1.0, 2.0, 3.0]), 1.0);
/// ```
pub fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

/// Variance of the values of successive runs as the latest of them sees it; NaN for fewer than two.
///
/// Two runs differ by the root of two standard deviations if what they measure stays where it was. It does not: it drifts as the load
/// of the machine changes. A latest run that is far from the others will be as far from the next ones, so half of the mean square of its
/// distances to the others counts, if that is more. In 47 minutes of runs on an AMD EPYC of family 26, 6.6 % of all pairs of intervals
/// of a core clock did not overlap by the variance alone, and 0.03 % with this.
///
/// ```
/// use hairspring_core::estimate::{variance, variance_of_runs};
/// assert_eq!(variance_of_runs(&[1.0, 3.0, 2.0]), variance(&[1.0, 3.0, 2.0]));
/// assert!(variance_of_runs(&[1.0, 1.1, 0.9, 2.0]) > variance(&[1.0, 1.1, 0.9, 2.0]));
/// ```
pub fn variance_of_runs(values: &[f64]) -> f64 {
    let Some(latest) = values.last() else { return f64::NAN };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let own = variance(values);
    own.max((own + (latest - mean).powi(2)) / 2.0)
}

/// Correlation of neighbouring blocks above which they do not count as independent (about one standard deviation of the
/// chance correlation of independent blocks).
const CORRELATED: f64 = 0.15;

/// Fewer blocks than this do not show a correlation below the limit.
const FEW: usize = 16;

/// Variance of the mean of block values, and its degrees of freedom. Where neighbouring blocks are correlated (noise slower
/// than a block, a frequency step) fewer of them are independent: the variance is larger and the degrees of freedom fewer.
pub fn variance_of_mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let plain = variance(values) / n;
    let correlation = neighbour_correlation(values);
    if values.len() < 8 || correlation < CORRELATED {
        let floor = if values.len() < FEW { variance_by_halves(values) } else { 0.0 };
        return (plain.max(floor), n - 1.0);
    }
    // The sum of the autocorrelations of a first-order process; bounded, because the estimate is poor near 1.
    let inflation = ((1.0 + correlation) / (1.0 - correlation)).min(n / 2.0);
    (plain * inflation, ((n - 1.0) / inflation).max(1.0))
}

/// Variance of the mean by the difference between the halves of the run: few blocks do not show how far their neighbours are correlated.
fn variance_by_halves(values: &[f64]) -> f64 {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let (first, second) = values.split_at(values.len() / 2);
    ((mean(first) - mean(second)) / 2.0).powi(2)
}

fn neighbour_correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lasting_step_leaves_few_independent_blocks() {
        let alternating: Vec<f64> = (0..32).map(|i| f64::from(i % 2)).collect();
        let step: Vec<f64> = (0..32).map(|i| f64::from(u8::from(i >= 16))).collect();
        let (fast, slow) = (variance_of_mean(&alternating), variance_of_mean(&step));
        assert!(slow.0 > 5.0 * fast.0);
        assert!(slow.1 < 6.0 && fast.1 == 31.0);
        // Few blocks: the halves differ by 1, so the mean may be off by a half.
        assert_eq!(variance_of_mean(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]).0, 0.25);
    }
}
