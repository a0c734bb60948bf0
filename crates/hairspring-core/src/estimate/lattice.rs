//! The unit for which several slopes are integers: the core cycle, found from dependent chains whose lengths nobody
//! has to know (Staelin and McVoy's greatest common divisor, with real tolerances).

use super::interval::Estimate;

/// Largest number of units that the shortest chain may take.
const MOST_UNITS: u32 = 6;
/// Distance from an integer that is accepted, for a chain of one unit; longer chains may be off in proportion.
const TOLERANCE: f64 = 0.015;

/// The lattice that a set of slopes lies on.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// Length of one unit, in the unit of the slopes.
    pub unit: f64,
    /// Each slope in whole units; `None` for one that does not fit.
    pub integers: Vec<Option<u32>>,
    /// Each slope in units.
    pub units: Vec<f64>,
}

/// Finds the largest unit that makes at least `needed` of the slopes integers.
///
/// The largest such unit is only known up to a whole factor where all chains share one; chains of coprime lengths
/// (1, 3, 4) make it certain.
pub fn lattice(slopes: &[Estimate], needed: usize) -> Option<Lattice> {
    let shortest = slopes.iter().map(|slope| slope.value).filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    (1..=MOST_UNITS)
        .map(|parts| fit_unit(slopes, shortest / f64::from(parts)))
        .find(|found| found.integers.iter().flatten().count() >= needed.max(2))
}

/// Rounds every slope with a first unit, then refines the unit by all that fit.
fn fit_unit(slopes: &[Estimate], first: f64) -> Lattice {
    let mut unit = first;
    for _ in 0..3 {
        let fitting: Vec<(f64, f64)> = slopes.iter().filter_map(|s| nearest(s, unit).map(|n| (s.value, f64::from(n)))).collect();
        let weight: f64 = fitting.len() as f64;
        if weight > 0.0 {
            unit = fitting.iter().map(|(value, n)| value / n).sum::<f64>() / weight;
        }
    }
    Lattice { unit, integers: slopes.iter().map(|s| nearest(s, unit)).collect(), units: slopes.iter().map(|s| s.value / unit).collect() }
}

fn nearest(slope: &Estimate, unit: f64) -> Option<u32> {
    let units = slope.value / unit;
    let integer = units.round();
    let reach = (TOLERANCE * units.max(1.0)).min(0.2);
    (integer >= 1.0 && (units - integer).abs() <= reach && slope.half_width() / unit < 0.25).then_some(integer as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slopes(values: &[f64]) -> Vec<Estimate> {
        values.iter().map(|v| Estimate { value: *v, low: v * 0.999, high: v * 1.001, level: 0.95 }).collect()
    }

    #[test]
    fn coprime_chains_give_the_unit() {
        let found = lattice(&slopes(&[0.7029, 2.1081, 2.8119, 9.137]), 4).unwrap();
        assert_eq!(found.integers, [Some(1), Some(3), Some(4), Some(13)]);
        assert!((found.unit - 0.7029).abs() < 1e-3);
    }

    #[test]
    fn the_unit_may_be_shorter_than_every_chain() {
        let found = lattice(&slopes(&[2.0, 3.0, 5.0]), 3).unwrap();
        assert_eq!(found.integers, [Some(2), Some(3), Some(5)]);
    }

    #[test]
    fn a_chain_off_the_lattice_is_named_and_nothing_is_forced() {
        let found = lattice(&slopes(&[1.0, 3.0, 4.5, 4.0]), 3).unwrap();
        assert_eq!(found.integers, [Some(1), Some(3), None, Some(4)]);
        assert!(lattice(&slopes(&[1.0, 1.37, 2.71]), 3).is_none());
    }
}
