//! Figures: an estimate with its interval, and a time in the units that can be had.

use hairspring_core::Estimate;
use hairspring_core::judge::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// An estimate with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct E {
    /// The most likely value.
    pub value: f64,
    /// Lower end of the interval; `null` where it has none.
    pub low: Option<f64>,
    /// Upper end of the interval; `null` where it has none.
    pub high: Option<f64>,
    /// Confidence level, as 0.95.
    pub level: f64,
}

impl E {
    /// The estimate; an end that is `null` has no bound.
    pub fn estimate(&self) -> Estimate {
        let (low, high) = (self.low.unwrap_or(f64::NEG_INFINITY), self.high.unwrap_or(f64::INFINITY));
        Estimate { value: self.value, low, high, level: self.level }
    }

    /// The estimate as it stands in JSON; `None` where its value is not a finite number.
    pub fn of(estimate: &Estimate) -> Option<E> {
        let value = finite(estimate.value)?;
        Some(E { value, low: finite(estimate.low), high: finite(estimate.high), level: estimate.level })
    }
}

/// The number, if it is finite.
pub(super) fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// A number in nanoseconds or ticks, as two fields of which one is there.
pub(super) type Split = (Option<Option<f64>>, Option<Option<f64>>);

/// Factor from the table's unit to nanoseconds, where there is one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale(pub Option<f64>);

impl Scale {
    /// Splits a number of the table's unit into its fields for nanoseconds and for ticks.
    pub fn split(self, number: f64) -> Split {
        match self.0 {
            Some(factor) => (Some(finite(number * factor)), None),
            None => (None, Some(finite(number))),
        }
    }
}

/// A time in the units that can be had: `time_ns`, or `ticks` where the clock's rate is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// In nanoseconds. The solved value as it is: never clamped, see `below_resolution`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<Option<E>>,
    /// In ticks of the clock, where its rate is unknown.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub ticks: Option<Option<E>>,
    /// Why there is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_reason: Option<String>,
    /// In core cycles.
    pub cycles: Option<E>,
    /// Why there are no core cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_reason: Option<String>,
    /// Whether the time cannot be told from zero (its interval contains zero, or it is below what the clock can show): it
    /// must not be shown as a plain time.
    pub below_resolution: bool,
    /// Below resolution: the time is at most this, in nanoseconds.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub bound_ns: Option<Option<f64>>,
    /// Below resolution: the time is at most this, in ticks.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub bound_ticks: Option<Option<f64>>,
}

impl Figure {
    /// A time at a level; the reason is why core cycles are missing, where they are.
    pub(super) fn of(time: &Time, level: f64, no_cycles: &str) -> Figure {
        let shown = crate::document::in_unit(time, level);
        let bound = crate::document::bound(time, level);
        let e = E::of(&shown);
        let in_ns = time.ns.is_some();
        let cycles = time.cycles.as_ref().and_then(|cycles| E::of(&cycles.estimate(level)));
        Figure {
            time_ns: in_ns.then_some(e),
            ticks: (!in_ns).then_some(e),
            time_reason: e.is_none().then(|| "the solved value is not a finite number".to_owned()),
            cycles,
            cycles_reason: cycles.is_none().then(|| no_cycles.to_owned()),
            below_resolution: bound.is_some(),
            bound_ns: bound.filter(|_| in_ns).map(finite),
            bound_ticks: bound.filter(|_| !in_ns).map(finite),
        }
    }
}

/// A key that is there, be it `null`, apart from one that is not.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_null() {
        let estimate = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half, level: 0.95 };
        assert_eq!(E::of(&estimate(f64::NAN, 1.0)), None);
        assert_eq!(E::of(&estimate(1.0, f64::INFINITY)), Some(E { value: 1.0, low: None, high: None, level: 0.95 }));
    }

    #[test]
    fn below_resolution_keeps_the_raw_value_and_gives_the_bound() {
        let ticks = Estimate { value: -1.0, low: -3.0, high: 1.0, level: 0.95 };
        let figure = Figure::of(&Time { ticks, ns: None, cycles: None, bound: None }, 0.95, "none");
        assert_eq!(figure.ticks.flatten().map(|e| e.value), Some(-1.0));
        assert!(figure.below_resolution);
        assert_eq!(figure.bound_ticks, Some(Some(2.0)));
    }
}
