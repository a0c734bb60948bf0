//! The bound of a time that cannot be told from zero: made here once, for findings, tables and documents alike.

use crate::estimate::{Estimate, Solution};

/// Share of the clock's quantum that a component must add to the longest row to be told from nothing.
const SHOWN_QUANTA: f64 = 0.02;

/// What a time below resolution is at the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// In nanoseconds where the clock's rate is known, else in the table's unit.
    pub shown: f64,
    /// In core cycles, where a reference chain ran.
    pub cycles: Option<f64>,
}

/// Least time of a component that the readings of this solution can show, in the table's unit.
pub(super) fn component_floor(solution: &Solution) -> f64 {
    let most_runs = solution.rows.iter().flat_map(|row| &row.counts).copied().fold(1.0, f64::max);
    overhead_floor(solution) / most_runs
}

/// Least overhead that the readings can show: it is in each row once.
pub(super) fn overhead_floor(solution: &Solution) -> f64 {
    SHOWN_QUANTA * solution.quantum
}

/// The most that a time can be which its interval does not tell from zero, or which is below the floor; `None` where it
/// can be told. A value below zero makes the bound no smaller than zero itself would: half the width of the interval.
///
/// ```
/// use hairspring_core::{Estimate, judge::upper_bound};
/// let time = |value, half| Estimate { value, low: value - half, high: value + half, level: 0.95 };
/// assert_eq!(upper_bound(&time(1.0, 2.0), 0.0), Some(3.0));
/// assert_eq!(upper_bound(&time(-1.0, 2.0), 0.0), Some(2.0));
/// assert_eq!(upper_bound(&time(3.0, 2.0), 0.0), None);
/// assert_eq!(upper_bound(&time(3.0, 2.0), 10.0), Some(10.0));
/// ```
pub fn upper_bound(time: &Estimate, floor: f64) -> Option<f64> {
    let below = time.contains(0.0) || time.value.abs() < floor;
    below.then(|| time.high.max(time.half_width()).max(floor))
}
