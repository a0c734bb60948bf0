//! The levels of a value that steps and is read with noise: the segments with the least squares
//! plus a penalty for each (PELT: Killick, Fearnhead and Eckley 2012, Optimal detection of
//! changepoints with a linear computational cost).

use crate::math::ln;

/// The level at each of some values in the order of time, given with the variances of their noise.
/// The penalty of a step is `3 ln n`, so that a steady value has one level: a segment costs its
/// mean and its place.
///
/// # Cost
/// `n` times the mean length of a segment.
pub(crate) fn levels_with_steps(values: &[f64], variances: &[f64]) -> Vec<f64> {
    let penalty = 3.0 * ln(values.len() as f64);
    let origin = values.first().copied().unwrap_or(0.0);
    let (mut open, mut sums, mut least_cost) = (Open::default(), Sums::default(), -penalty);
    // The sums before each value, and where the last segment of the best segmentation that ends
    // behind it begins.
    let (mut before, mut begins) = (vec![sums], Vec::new());
    let mut costs = Vec::new();
    for (at, (value, variance)) in values.iter().zip(variances).enumerate() {
        open.push(at, least_cost + penalty, sums);
        sums = sums.with(value - origin, 1.0 / variance);
        open.costs(sums, &mut costs);
        let (best, cost) = costs
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(b.1))
            .map_or((0, 0.0), |(at, cost)| (at, *cost));
        least_cost = cost;
        begins.push(open.from[best]);
        before.push(sums);
        open.keep(&costs, least_cost + penalty);
    }
    let (mut levels, mut end) = (vec![0.0; values.len()], values.len());
    while end > 0 {
        let from = begins[end - 1];
        levels[from..end].fill(origin + before[end].mean_since(before[from]));
        end = from;
    }
    levels
}

/// Sums of weights, of weighted values and of their squares.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    weights: f64,
    values: f64,
    squares: f64,
}

impl Sums {
    fn with(self, value: f64, weight: f64) -> Sums {
        let weighted = weight * value;
        Sums {
            weights: self.weights + weight,
            values: self.values + weighted,
            squares: self.squares + weighted * value,
        }
    }

    fn mean_since(self, begin: Sums) -> f64 {
        (self.values - begin.values) / (self.weights - begin.weights)
    }
}

/// Where the last segment may begin: the least cost of what is before, with the penalty, and the
/// sums there.
#[derive(Debug, Default)]
struct Open {
    from: Vec<usize>,
    cost: Vec<f64>,
    weights: Vec<f64>,
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Open {
    fn push(&mut self, from: usize, cost: f64, sums: Sums) {
        self.from.push(from);
        self.cost.push(cost);
        self.weights.push(sums.weights);
        self.values.push(sums.values);
        self.squares.push(sums.squares);
    }

    /// The costs of all values until these sums, for each of the beginnings.
    fn costs(&self, until: Sums, costs: &mut Vec<f64>) {
        costs.clear();
        costs.extend((0..self.from.len()).map(|at| {
            let values = until.values - self.values[at];
            self.cost[at] + until.squares
                - self.squares[at]
                - values * values / (until.weights - self.weights[at])
        }));
    }

    /// Forgets beginnings that cannot become the best: those that cost more than this already.
    fn keep(&mut self, costs: &[f64], most_cost: f64) {
        let mut kept_beginnings = 0;
        for at in (0..costs.len()).filter(|at| costs[*at] <= most_cost) {
            self.from[kept_beginnings] = self.from[at];
            for one in [&mut self.cost, &mut self.weights, &mut self.values, &mut self.squares] {
                one[kept_beginnings] = one[at];
            }
            kept_beginnings += 1;
        }
        self.from.truncate(kept_beginnings);
        [&mut self.cost, &mut self.weights, &mut self.values, &mut self.squares]
            .into_iter()
            .for_each(|one| one.truncate(kept_beginnings));
    }
}

/// Standard deviation of one of several values in the order of time, from the median of the
/// successive differences, which steps and slow changes hardly affect.
pub fn noise(values: &[f64]) -> f64 {
    const MEDIAN_OF_DIFFERENCES: f64 = 0.6745 * std::f64::consts::SQRT_2;
    let mut steps: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).map_or(0.0, |median| median / MEDIAN_OF_DIFFERENCES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn noisy(levels: &[(f64, usize)], sd: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
        let exact: Vec<f64> =
            levels.iter().flat_map(|(level, count)| vec![*level; *count]).collect();
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (exact.iter().map(|level| level + sd * normal()).collect(), exact)
    }

    fn steps(levels: &[f64]) -> usize {
        levels.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn a_steady_value_has_one_level() {
        let with_steps = (0..200)
            .filter(|seed| {
                steps(&levels_with_steps(&noisy(&[(0.7, 300)], 0.003, *seed).0, &[9e-6; 300])) > 0
            })
            .count();
        assert!(with_steps < 10, "{with_steps} of 200");
        assert!(levels_with_steps(&[], &[]).is_empty());
        assert_eq!(levels_with_steps(&[3.0], &[1.0]), [3.0]);
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let (values, exact) =
            noisy(&[(0.75, 40), (0.90, 1), (0.75, 30), (0.72, 25), (0.78, 60)], 0.003, 7);
        let levels = levels_with_steps(&values, &[9e-6; 156]);
        assert_eq!(steps(&levels), 4);
        assert!(
            levels.iter().zip(exact).all(|(level, exact)| (level - exact).abs() < 0.009),
            "{levels:?}"
        );
    }

    #[test]
    fn the_least_cost_is_that_of_all_segmentations() {
        for seed in 0..20 {
            let (values, _) = noisy(&[(1.0, 4), (1.6, 3), (1.1, 4)], 0.3, seed);
            let cost = |levels: &[f64]| {
                let squares: f64 =
                    values.iter().zip(levels).map(|(value, level)| (value - level).powi(2)).sum();
                squares / 0.09 + 3.0 * 11f64.ln() * steps(levels) as f64
            };
            // Each bit of a number says whether a segment ends there.
            let by_bits = |bits: u32| {
                let ends: Vec<usize> =
                    (1..11).filter(|at| bits >> (at - 1) & 1 == 1).chain([11]).collect();
                let mut from = 0;
                let level = |end: usize| {
                    let part = &values[from..end];
                    from = end;
                    vec![part.iter().sum::<f64>() / part.len() as f64; part.len()]
                };
                ends.into_iter().flat_map(level).collect::<Vec<f64>>()
            };
            let least = (0..1024).map(|bits| cost(&by_bits(bits))).fold(f64::INFINITY, f64::min);
            assert!((cost(&levels_with_steps(&values, &[0.09; 11])) - least).abs() < 1e-9);
        }
    }
}
