//! How far measurements can be trusted on this machine now, in numbers, whether the checks pass or
//! not.

use super::coverage::Coverage;
use super::{Certificate, PairResult, Standing};

/// What the certificate found, summed up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trust {
    /// Largest distance of a chain from its integer, in percent, of those with a whole length that
    /// nothing slows.
    pub chains_percent: f64,
    /// Largest distance of a body behind an init from its true length, in percent; `None` without
    /// pairs.
    pub bodies_percent: Option<f64>,
    /// The intervals of all chains in short runs; `None` where there were none.
    pub coverage: Option<Coverage>,
    /// Short runs that were refused, because somebody else used the core most of the time.
    pub refused: u32,
    /// Factor on the half-widths of the intervals of short runs with which the share that holds
    /// would be the confidence level; below 1 where the intervals are wider than necessary. `None`
    /// where there were no short runs.
    pub widening: Option<f64>,
}

impl Certificate {
    /// How far measurements can be trusted on this machine now.
    pub fn trust(&self) -> Trust {
        let largest =
            |distances: &mut dyn Iterator<Item = f64>| distances.map(f64::abs).reduce(f64::max);
        let body = |pair: &PairResult| 100.0 * (pair.body.0.value / pair.body.1 - 1.0);
        let covered = self.covered();
        let whole = self.chains.iter().filter(|chain| chain.standing == Standing::Whole);
        let sum = |part: fn(&Coverage) -> u32| {
            covered.iter().map(|(_, coverage)| part(coverage)).sum::<u32>()
        };
        Trust {
            chains_percent: largest(&mut whole.map(|chain| chain.distance_percent))
                .unwrap_or(f64::NAN),
            bodies_percent: largest(&mut self.pairs.iter().map(body)),
            coverage: (!covered.is_empty())
                .then(|| Coverage { hits: sum(|one| one.hits), runs: sum(|one| one.runs) }),
            refused: self.refused,
            widening: self.widening,
        }
    }
}

/// The factor on half-widths with which a share `level` of intervals would hold, from the distance
/// of each from the truth in units of its half-width: the quantile of these distances. Infinite
/// where so many runs gave no interval; `None` without runs.
pub fn widening(mut distances: Vec<f64>, level: f64) -> Option<f64> {
    distances.sort_unstable_by(f64::total_cmp);
    let at = ((level * distances.len() as f64).ceil() as usize).max(1) - 1;
    distances.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_makes_the_share_that_holds_the_level() {
        let distances: Vec<f64> = (1..=100).map(|n| f64::from(n) / 50.0).collect();
        assert_eq!(widening(distances.clone(), 0.95), Some(1.9));
        assert_eq!(distances.iter().filter(|distance| **distance <= 1.9).count(), 95);
        assert_eq!(widening(vec![0.2], 0.95), Some(0.2));
        assert_eq!(
            widening(vec![0.5, f64::INFINITY], 0.95),
            Some(f64::INFINITY),
            "a run without an interval holds nothing"
        );
        assert_eq!(widening(Vec::new(), 0.95), None);
    }
}
