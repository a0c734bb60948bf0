//! The distribution of edges between samples: only if it is even does an estimator's bias average
//! out.

/// Minimum number of readings of a row.
const LEAST_READINGS: u32 = 8;
/// Concentration beyond which a phase is locked: edges evenly within a third of a sample have 0.83.
const LOCKED_CONCENTRATION: f64 = 0.8;

/// Phases of the leading edges, in fractions of a sample, for each row.
#[derive(Debug, Clone, Default)]
pub struct Phases {
    /// Sum of the unit vectors and their number, by row.
    rows: Vec<(f64, f64, u32)>,
}

/// How evenly the phases are distributed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Rows with enough readings.
    pub rows: usize,
    /// Rows whose readings all began at about the same phase.
    pub locked: usize,
    /// Largest concentration of a row: 0 if evenly spread, 1 if always the same.
    pub most: f64,
}

impl Coverage {
    /// Whether the recording is locked: at least half of the rows are, because a row of few
    /// readings is locked by chance in one of 170 cases.
    pub fn is_locked(&self) -> bool {
        self.locked > 0 && 2 * self.locked >= self.rows
    }
}

impl Phases {
    /// Takes an edge of a row.
    pub fn push(&mut self, row: usize, at: f64) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, (0.0, 0.0, 0));
        }
        let (sin, cos) = (std::f64::consts::TAU * at.fract()).sin_cos();
        let entry = &mut self.rows[row];
        *entry = (entry.0 + cos, entry.1 + sin, entry.2 + 1);
    }

    /// The coverage so far.
    pub fn coverage(&self) -> Coverage {
        let told = || self.rows.iter().filter(|row| row.2 >= LEAST_READINGS);
        let concentrations = || told().map(|(cos, sin, n)| cos.hypot(*sin) / f64::from(*n));
        Coverage {
            rows: told().count(),
            locked: concentrations().filter(|r| *r > LOCKED_CONCENTRATION).count(),
            most: concentrations().fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_phases_are_detected_and_dithered_ones_pass() {
        let mut phases = Phases::default();
        for n in 0..50u32 {
            phases.push(0, 384.0 * f64::from(n) + 0.98 + 0.001 * f64::from(n));
            phases.push(1, 384.37 * f64::from(n));
            phases.push(2, if n < 3 { 7.5 } else { f64::from(n) * 0.618 });
        }
        phases.push(3, 1.0);
        let coverage = phases.coverage();
        assert_eq!((coverage.rows, coverage.locked, coverage.is_locked()), (3, 1, false));
        let (locked, none) =
            (Coverage { locked: 2, ..coverage }, Coverage { rows: 0, locked: 0, most: 0.0 });
        assert!(locked.is_locked() && !none.is_locked());
        assert!(coverage.most > 0.99);
    }
}
