//! How often the largest statistic of the multiscale test exceeds a limit, where there is no step:
//! simulated (the example `quantiles`), and interpolated between.

use super::tail_table::LOGARITHMS;
use hairspring_core::math::{exp, log2};

/// The first limit of the table, and the distance of two.
const FIRST: f64 = -1.0;
const STEP: f64 = 0.25;

/// Most points for which the table holds; longer series are taken in parts.
pub const MOST_POINTS: usize = 1 << (LOGARITHMS.len() - 1);

/// Probability that the largest statistic of `n` points is above a limit.
pub fn chance_above(limit: f64, n: usize) -> f64 {
    let power = log2(n.clamp(1, MOST_POINTS) as f64);
    let below = (power as usize).min(LOGARITHMS.len() - 2);
    let share = power - below as f64;
    let logarithm =
        (1.0 - share) * at(&LOGARITHMS[below], limit) + share * at(&LOGARITHMS[below + 1], limit);
    exp(logarithm.min(0.0))
}

/// The logarithm between two limits of a line; beyond the last one it falls as it did before.
fn at(line: &[f64], limit: f64) -> f64 {
    let place = ((limit - FIRST) / STEP).max(0.0);
    let below = (place as usize).min(line.len() - 2);
    let share = place - below as f64;
    line[below] + share * (line[below + 1] - line[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_falls_with_the_limit_and_hardly_rises_with_the_points() {
        for n in [1, 2, 3, 10, 77, 1_000, 1_024, 100_000] {
            let all: Vec<f64> =
                (-8..60).map(|step| chance_above(f64::from(step) * 0.25, n)).collect();
            assert!(all.windows(2).all(|pair| pair[1] <= pair[0]), "{n}: {all:?}");
            assert!(all[0] <= 1.0 && all[67] > 0.0 && all[67] < 1e-30, "{n}: {all:?}");
        }
        assert!(chance_above(1.5, 1_000) < 3.0 * chance_above(1.5, 30));
    }
}
