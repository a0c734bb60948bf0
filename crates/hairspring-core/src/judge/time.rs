//! A time as it is reported.

use super::Bound;
use crate::estimate::{Contribution, Estimate, Source, Uncertain};

/// A time in every unit that is available.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    /// In the table's unit.
    pub ticks: Estimate,
    /// In nanoseconds, where the clock's rate is known.
    pub ns: Option<Uncertain>,
    /// In core cycles, where a reference chain ran in the same rounds.
    pub cycles: Option<Uncertain>,
    /// Upper bound of the time, where it cannot be told from zero.
    pub bound: Option<Bound>,
}

impl Time {
    /// The time that its precision is judged by: in core cycles where available, since they do not change with the core
    /// clock, else in the table's unit.
    pub fn judged(&self, level: f64) -> Estimate {
        self.cycles.as_ref().map_or(self.ticks, |cycles| cycles.estimate(level))
    }

    /// Multiplies the time with its interval.
    pub(super) fn scale(&mut self, factor: f64) {
        self.ticks = self.ticks.scaled(factor);
        self.ns = self.ns.take().map(|ns| ns.scaled(factor));
        self.cycles = self.cycles.take().map(|cycles| cycles.scaled(factor));
    }

    /// Adds a bound, as a share of the time.
    pub(super) fn bound_by(&mut self, share: f64, source: Source) {
        if share == 0.0 {
            return;
        }
        let bound = |value: f64| share * value.abs();
        let with = |time: Uncertain| {
            let entry = Contribution::bound(source, bound(time.value));
            time.with(entry)
        };
        let Estimate { value, low, high, level } = self.ticks;
        self.ticks = Estimate { value, low: low - bound(value), high: high + bound(value), level };
        self.ns = self.ns.take().map(with);
        self.cycles = self.cycles.take().map(with);
    }
}
