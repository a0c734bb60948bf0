//! The levels of a value that steps and is read with noise: the segments with the least squares plus a penalty for each (PELT: Killick, Fearnhead and
//! Eckley 2012, Optimal detection of changepoints with a linear computational cost).

/// The level at each of some values in the order of time, given with the variances of their noise. The penalty of a step is `3 ln n`, so that a
/// steady value has one level: a segment costs its mean and its place.
///
/// # Cost
/// `n` times the mean length of a segment.
pub(crate) fn levels_with_steps(values: &[f64], variances: &[f64]) -> Vec<f64> {
    let penalty = 3.0 * (values.len() as f64).ln();
    let sums = Sums::of(values, variances);
    // The least cost of the values before each place, and where their last segment begins.
    let (mut least, mut begins) = (vec![-penalty], vec![0]);
    let mut candidates = vec![0];
    for end in 1..=values.len() {
        let cost = |from: &usize| least[*from] + sums.squares(*from, end) + penalty;
        let (from, best) = candidates.iter().map(|from| (*from, cost(from))).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0));
        let kept = candidates.iter().copied().filter(|from| cost(from) - penalty <= best).chain([end]).collect();
        candidates = kept;
        least.push(best);
        begins.push(from);
    }
    let (mut levels, mut end) = (vec![0.0; values.len()], values.len());
    while end > 0 {
        let from = begins[end];
        levels[from..end].fill(sums.mean(from, end));
        end = from;
    }
    levels
}

/// Sums of weights, of weighted values and of their squares, about the first value.
struct Sums {
    origin: f64,
    sums: Vec<[f64; 3]>,
}

impl Sums {
    fn of(values: &[f64], variances: &[f64]) -> Sums {
        let origin = values.first().copied().unwrap_or(0.0);
        let mut sums = vec![[0.0; 3]];
        for (value, variance) in values.iter().zip(variances) {
            let ([weights, sum, squares], weight, off) = (sums[sums.len() - 1], 1.0 / variance, value - origin);
            sums.push([weights + weight, sum + weight * off, squares + weight * off * off]);
        }
        Sums { origin, sums }
    }

    fn between(&self, from: usize, end: usize) -> [f64; 3] {
        std::array::from_fn(|at| self.sums[end][at] - self.sums[from][at])
    }

    /// The sum of the weighted squares of the values in a range about their mean.
    fn squares(&self, from: usize, end: usize) -> f64 {
        let [weights, sum, squares] = self.between(from, end);
        (squares - sum * sum / weights).max(0.0)
    }

    fn mean(&self, from: usize, end: usize) -> f64 {
        let [weights, sum, _] = self.between(from, end);
        self.origin + sum / weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn noisy(levels: &[(f64, usize)], sd: f64, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
        let exact: Vec<f64> = levels.iter().flat_map(|(level, count)| vec![*level; *count]).collect();
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (exact.iter().map(|level| level + sd * normal()).collect(), exact)
    }

    fn steps(levels: &[f64]) -> usize {
        levels.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    #[test]
    fn a_steady_value_has_one_level() {
        let with_steps = (0..200).filter(|seed| steps(&levels_with_steps(&noisy(&[(0.7, 300)], 0.003, *seed).0, &[9e-6; 300])) > 0).count();
        assert!(with_steps < 10, "{with_steps} of 200");
        assert!(levels_with_steps(&[], &[]).is_empty());
        assert_eq!(levels_with_steps(&[3.0], &[1.0]), [3.0]);
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let (values, exact) = noisy(&[(0.75, 40), (0.90, 1), (0.75, 30), (0.72, 25), (0.78, 60)], 0.003, 7);
        let levels = levels_with_steps(&values, &[9e-6; 156]);
        assert_eq!(steps(&levels), 4);
        assert!(levels.iter().zip(exact).all(|(level, exact)| (level - exact).abs() < 0.009), "{levels:?}");
    }

    #[test]
    fn the_least_cost_is_that_of_all_segmentations() {
        for seed in 0..20 {
            let (values, _) = noisy(&[(1.0, 4), (1.6, 3), (1.1, 4)], 0.3, seed);
            let cost = |levels: &[f64]| {
                let squares: f64 = values.iter().zip(levels).map(|(value, level)| (value - level).powi(2)).sum();
                squares / 0.09 + 3.0 * 11f64.ln() * steps(levels) as f64
            };
            // Each bit of a number says whether a segment ends there.
            let by_bits = |bits: u32| {
                let ends: Vec<usize> = (1..11).filter(|at| bits >> (at - 1) & 1 == 1).chain([11]).collect();
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
