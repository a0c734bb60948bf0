//! A time as it is reported.

use super::Bound;
use crate::estimate::{Estimate, Uncertain};

/// A time in every unit that is available.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    /// In the table's unit.
    pub ticks: Estimate,
    /// In nanoseconds, where the clock's rate is known.
    pub ns: Option<Uncertain>,
    /// In core cycles, where a reference chain ran in the same rounds.
    pub cycles: Option<Uncertain>,
    /// Upper bound of the time, where it is indistinguishable from zero.
    pub bound: Option<Bound>,
}

impl Time {
    /// The time that its precision is judged by: in core cycles where available, since they do not
    /// change with the core clock, else in the table's unit.
    pub fn judged(&self, level: f64) -> Estimate {
        self.cycles.as_ref().map_or(self.ticks, |cycles| cycles.estimate(level))
    }
}
