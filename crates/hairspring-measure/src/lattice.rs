//! The unit for which several slopes are integers: the core cycle, found from dependent chains of
//! unknown lengths (Staelin and McVoy's greatest common divisor, with tolerances).

use hairspring_core::estimate::Estimate;

/// Largest number of units that the shortest chain may take.
const MOST_UNITS: u32 = 6;
/// Accepted distance from an integer for a chain of one unit; it grows in proportion for longer
/// chains ...
const TOLERANCE: f64 = 0.015;
/// ... up to so many units if the shortest chain is the unit, ...
const MOST_OFF: f64 = 0.2;
/// ... and up to so many if it has several units: disturbed slopes are near some multiples of a
/// short unit by chance.
const MOST_OFF_OF_PARTS: f64 = 0.03;

/// The common unit of a set of slopes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// Length of one unit, in the unit of the slopes.
    pub unit: f64,
    /// Each slope in whole units; `None` for a slope that does not fit.
    pub integers: Vec<Option<u32>>,
    /// Each slope in units.
    pub units: Vec<f64>,
}

/// Finds the largest unit that makes at least `needed` of the slopes integers.
///
/// If the lengths of all chains have a common factor, the unit is too large by that factor. Chains
/// of coprime lengths (1, 3, 4) make it unique.
pub fn lattice(slopes: &[Estimate], needed: usize) -> Option<Lattice> {
    let shortest = slopes
        .iter()
        .map(|slope| slope.value)
        .filter(|value| *value > 0.0)
        .fold(f64::INFINITY, f64::min);
    (1..=MOST_UNITS)
        .map(|parts| {
            fit_unit(
                slopes,
                shortest / f64::from(parts),
                if parts == 1 { MOST_OFF } else { MOST_OFF_OF_PARTS },
            )
        })
        .find(|found| found.integers.iter().flatten().count() >= needed.max(2))
}

/// Largest distance from an integer, in units, of chains that a co-runner on the core lengthens:
/// chains of one cycle by up to 8 %, chains of integer multiplications by 1 to 2 %.
const LENGTHENED_DISTANCE: f64 = 0.1;

/// Finds the largest whole part of the first slope that makes all slopes integers, where a
/// co-runner on the core lengthens the others: it does not change the length of a chain of integer
/// multiplications much. The chains must have coprime lengths, as in [`lattice`].
pub fn lattice_of_first(slopes: &[Estimate]) -> Option<Lattice> {
    let first = slopes.first()?.value;
    let fitted = |parts: u32| {
        let unit = first / f64::from(parts);
        let integer = |slope: &Estimate| {
            let units = slope.value / unit;
            let fits = units.round() >= 1.0
                && (units - units.round()).abs() <= LENGTHENED_DISTANCE
                && slope.half_width() / unit <= LENGTHENED_DISTANCE;
            fits.then_some(units.round() as u32)
        };
        Lattice {
            unit,
            integers: slopes.iter().map(integer).collect(),
            units: slopes.iter().map(|slope| slope.value / unit).collect(),
        }
    };
    (1..=MOST_UNITS).map(fitted).find(|found| found.integers.iter().all(Option::is_some))
}

/// Rounds every slope with a first unit, then refines the unit from all slopes that fit.
fn fit_unit(slopes: &[Estimate], first: f64, most_off: f64) -> Lattice {
    let mut unit = first;
    for _ in 0..3 {
        let fitting: Vec<(f64, f64)> = slopes
            .iter()
            .filter_map(|s| nearest(s, unit, most_off).map(|n| (s.value, f64::from(n))))
            .collect();
        let weight: f64 = fitting.len() as f64;
        if weight > 0.0 {
            unit = fitting.iter().map(|(value, n)| value / n).sum::<f64>() / weight;
        }
    }
    Lattice {
        unit,
        integers: slopes.iter().map(|s| nearest(s, unit, most_off)).collect(),
        units: slopes.iter().map(|s| s.value / unit).collect(),
    }
}

fn nearest(slope: &Estimate, unit: f64, most_off: f64) -> Option<u32> {
    let units = slope.value / unit;
    let integer = units.round();
    let reach = (TOLERANCE * units.max(1.0)).min(most_off);
    (integer >= 1.0 && (units - integer).abs() <= reach && slope.half_width() / unit < 0.25)
        .then_some(integer as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slopes(values: &[f64]) -> Vec<Estimate> {
        values
            .iter()
            .map(|v| Estimate { value: *v, low: v * 0.999, high: v * 1.001, level: 0.95 })
            .collect()
    }

    #[test]
    fn coprime_chains_give_the_unit() {
        let lattice = lattice(&slopes(&[0.7029, 2.1081, 2.8119, 9.137]), 4).unwrap();
        assert_eq!(lattice.integers, [Some(1), Some(3), Some(4), Some(13)]);
        assert!((lattice.unit - 0.7029).abs() < 1e-3);
    }

    #[test]
    fn unit_may_be_shorter_than_every_chain() {
        let found = lattice(&slopes(&[2.0, 3.0, 5.0]), 3).unwrap();
        assert_eq!(found.integers, [Some(2), Some(3), Some(5)]);
    }

    #[test]
    fn slope_off_the_lattice_is_none() {
        let found_lattice = lattice(&slopes(&[1.0, 3.0, 4.5, 4.0]), 3).unwrap();
        assert_eq!(found_lattice.integers, [Some(1), Some(3), None, Some(4)]);
        assert!(lattice(&slopes(&[1.0, 1.37, 2.71]), 3).is_none());
        // Measured beside a co-runner: lengths 3, 1, 4, 5.
        assert!(lattice(&slopes(&[17.10, 5.99, 22.99, 28.91]), 4).is_none());
    }

    #[test]
    fn first_slope_gives_the_unit_where_a_co_runner_lengthens_the_others() {
        let integers =
            |values: &[f64]| lattice_of_first(&slopes(values)).map(|found| found.integers);
        assert_eq!(
            integers(&[17.10, 5.99, 22.99, 28.91]),
            Some(vec![Some(3), Some(1), Some(4), Some(5)])
        );
        assert_eq!(
            integers(&[4.0, 1.06, 5.04, 6.08]),
            Some(vec![Some(4), Some(1), Some(5), Some(6)])
        );
        assert_eq!(integers(&[3.0, 1.2, 4.0, 5.0]), None);
        assert_eq!(
            integers(&[3.0, 0.01, 4.0, 5.0]),
            None,
            "a chain that is renamed away is off the lattice"
        );
        assert_eq!(integers(&[]), None);
        let wide = [3.0, 1.0, 4.0, 5.0].map(|value| Estimate {
            value,
            low: value - 0.4,
            high: value + 0.4,
            level: 0.95,
        });
        assert_eq!(lattice_of_first(&wide), None);
    }
}
