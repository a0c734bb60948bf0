//! The upper bound of a time that is indistinguishable from zero. Findings, tables and documents
//! all use it.

use crate::estimate::{Estimate, Solution};
use crate::limit::{Basis, limits};

limits! {
    /// What a component must add to the longest row to be distinguishable from zero.
    SHOWN_QUANTA = 0.02, "quanta of the clock",
        Basis::Derived("a thousand readings at random phases show a hundredth");
}

/// Upper bound of a time below resolution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// In nanoseconds where the clock's rate is known, else in the table's unit.
    pub shown: f64,
    /// In core cycles, where a reference chain ran.
    pub cycles: Option<f64>,
}

/// Shortest time of a component that the readings of this solution can show, in the table's unit.
pub(crate) fn component_floor(solution: &Solution) -> f64 {
    let most_runs = solution.rows.iter().flat_map(|row| &row.counts).copied().fold(1.0, f64::max);
    overhead_floor(solution) / most_runs
}

/// Smallest overhead that the readings can show, in the table's unit. The overhead occurs once in
/// each row.
pub(crate) fn overhead_floor(solution: &Solution) -> f64 {
    SHOWN_QUANTA * solution.quantum
}

/// Upper bound of a time whose interval contains zero or that is below the floor; `None` for any
/// other time. A negative value gives the same bound as zero would: half the width of the interval.
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
