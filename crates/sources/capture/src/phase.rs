//! The distribution of edges between samples: only if it is even does an estimator's bias average
//! out.

use hairspring_core::math::sin_cos;
use std::f64::consts::TAU;

/// Concentration beyond which the phases are alike: edges evenly within a third of a sample have
/// 0.83.
const LOCKED_CONCENTRATION: f64 = 0.8;

/// Phases of the leading edges, in fractions of a sample, for each row.
#[derive(Debug, Clone, Default)]
pub struct Phases {
    /// Sum of the unit vectors and their number, by row.
    rows: Vec<(f64, f64, u32)>,
}

/// How evenly the phases of a row are distributed, over all rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Mean squared concentration of a row: 0 if evenly spread, 1 if always the same; below 0 by
    /// chance.
    pub squared: f64,
    /// Standard deviation of it for phases that are evenly spread: large for few readings.
    pub chance: f64,
}

impl Coverage {
    /// Concentration of a row.
    pub fn concentration(&self) -> f64 {
        self.squared.max(0.0).sqrt()
    }

    /// Whether the edges of a row are always at about the same place.
    pub fn is_locked(&self) -> bool {
        self.squared > LOCKED_CONCENTRATION.powi(2)
    }

    /// The same, or whether there are too few readings to know that they are not.
    pub fn may_be_locked(&self) -> bool {
        self.squared + self.chance > LOCKED_CONCENTRATION.powi(2)
    }
}

impl Phases {
    /// Takes an edge of a row.
    pub fn push(&mut self, row: usize, at: f64) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, (0.0, 0.0, 0));
        }
        let (sin, cos) = sin_cos(TAU * at.fract());
        let entry = &mut self.rows[row];
        *entry = (entry.0 + cos, entry.1 + sin, entry.2 + 1);
    }

    /// The coverage so far. The squared sum of `n` unit vectors is `n + n (n - 1) c` for the
    /// squared concentration `c`; its standard deviation is about `n` if they are evenly spread.
    pub fn coverage(&self) -> Coverage {
        let rows = || self.rows.iter().filter(|row| row.2 >= 2);
        let over: f64 =
            rows().map(|(cos, sin, n)| (cos * cos + sin * sin) / f64::from(*n) - 1.0).sum();
        let possible: f64 = rows().map(|row| f64::from(row.2) - 1.0).sum();
        match possible > 0.0 {
            true => Coverage {
                squared: over / possible,
                chance: (rows().count() as f64).sqrt() / possible,
            },
            false => Coverage { squared: 0.0, chance: f64::INFINITY },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coverage of rows with so many readings at phases by a rule.
    fn of(rows: usize, readings: u32, phase: impl Fn(usize, u32) -> f64) -> Coverage {
        let mut phases = Phases::default();
        for row in 0..rows {
            (0..readings).for_each(|n| phases.push(row, 384.0 * f64::from(n) + phase(row, n)));
        }
        phases.coverage()
    }

    #[test]
    fn locked_phases_are_detected_and_dithered_ones_pass() {
        let locked = of(4, 50, |row, n| 0.37 * row as f64 + 0.001 * f64::from(n));
        assert!(locked.is_locked() && locked.concentration() > 0.99, "{locked:?}");
        let spread = of(4, 50, |row, n| (f64::from(n) + 7.0 * row as f64) * 0.618_034);
        assert!(!spread.may_be_locked() && spread.concentration() < 0.2, "{spread:?}");
    }

    #[test]
    fn few_readings_may_be_locked() {
        for spread in [of(1, 3, |_, n| f64::from(n) / 6.0), of(9, 1, |_, _| 0.5)] {
            assert!(spread.may_be_locked() && !spread.is_locked(), "{spread:?}");
        }
        let many_rows = of(20, 3, |row, n| (f64::from(n) + 3.0 * row as f64) * 0.618_034);
        assert!(!many_rows.may_be_locked(), "{many_rows:?}");
        assert!(of(4, 3, |row, _| 0.3 * row as f64).is_locked());
    }
}
