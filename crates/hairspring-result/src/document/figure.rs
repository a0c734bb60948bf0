//! A time in all its units, and numbers that are in one of two units.

use hairspring_core::Estimate;
use hairspring_core::judge::Time;
use serde::{Deserialize, Deserializer, Serialize};

/// The number, if it is finite.
pub fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// A number in nanoseconds or in ticks, as two fields of which one is `Some`.
pub type Split = (Option<Option<f64>>, Option<Option<f64>>);

/// Factor from the table's unit to nanoseconds, if the rate is known.
#[derive(Debug, Clone, Copy)]
pub struct Scale(pub Option<f64>);

impl Scale {
    /// Splits a number of the table's unit into its fields for nanoseconds and for ticks.
    pub fn split(self, number: f64) -> Split {
        match self.0 {
            Some(factor) => (Some(finite(number * factor)), None),
            None => (None, Some(finite(number))),
        }
    }
}

/// A time: `time_ns`, or `ticks` if the clock's rate is unknown, and `cycles` if they are known.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Figure {
    /// In nanoseconds: the solved value, never clamped; see `below_resolution`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<Option<Estimate>>,
    /// In ticks of the clock, where its rate is unknown.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub ticks: Option<Option<Estimate>>,
    /// Why there is no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_reason: Option<String>,
    /// In core cycles.
    pub cycles: Option<Estimate>,
    /// Why there are no core cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_reason: Option<String>,
    /// The core cycles in nanoseconds at the stated core clock, if one is stated and the cycles are
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_clock_ns: Option<Estimate>,
    /// Whether the time is indistinguishable from zero (its interval contains zero, or it is below
    /// what the clock can show): it must not be shown as a plain time.
    pub below_resolution: bool,
    /// Below resolution: the time is at most this, in nanoseconds.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub bound_ns: Option<Option<f64>>,
    /// Below resolution: the time is at most this, in ticks.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub bound_ticks: Option<Option<f64>>,
    /// Below resolution: the time is at most this, in core cycles, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound_cycles: Option<f64>,
}

impl Figure {
    /// A time at a confidence level. `no_cycles` is the reason that is given where core cycles are
    /// missing.
    pub fn new(time: &Time, level: f64, no_cycles: &str) -> Figure {
        let shown = super::time::in_unit(time, level);
        let bound = super::time::bound(time, level);
        let e = shown.if_finite();
        let in_ns = time.ns.is_some();
        let cycles = time.cycles.as_ref().and_then(|cycles| cycles.estimate(level).if_finite());
        Figure {
            time_ns: in_ns.then_some(e),
            ticks: (!in_ns).then_some(e),
            time_reason: e.is_none().then(|| "the solved value is not a finite number".to_owned()),
            cycles,
            cycles_reason: cycles.is_none().then(|| no_cycles.to_owned()),
            stated_clock_ns: None,
            below_resolution: bound.is_some(),
            bound_ns: bound.filter(|_| in_ns).map(finite),
            bound_ticks: bound.filter(|_| !in_ns).map(finite),
            bound_cycles: time.bound.and_then(|bound| bound.cycles).and_then(finite),
        }
    }

    /// The time in the unit that it is shown in; `None` where the solved value is not a finite
    /// number.
    pub fn time(&self) -> Option<Estimate> {
        self.time_ns.or(self.ticks).flatten()
    }

    /// The time that its width is judged by: in core cycles where available, since they do not
    /// change with the core clock.
    pub fn judged(&self) -> Option<Estimate> {
        self.cycles.or_else(|| self.time())
    }

    /// Whether the time is in nanoseconds, and not in ticks.
    pub fn in_ns(&self) -> bool {
        self.time_ns.is_some()
    }

    /// The upper bound of a time below resolution, in the unit that it is shown in; else `None`.
    pub fn bound(&self) -> Option<f64> {
        let bound = if self.in_ns() { self.bound_ns } else { self.bound_ticks };
        bound.flatten().filter(|_| self.below_resolution)
    }

    /// The interval of the time in a unit, for a verdict: below resolution it reaches from zero or
    /// lower up to the bound.
    pub fn interval(&self, unit: Unit) -> Option<Estimate> {
        let (estimate, bound) = match unit {
            Unit::Cycles if self.below_resolution => return None,
            Unit::Cycles => (self.cycles?, None),
            Unit::Nanoseconds => (self.time_ns??, self.bound_ns.flatten()),
            Unit::Ticks => (self.ticks??, self.bound_ticks.flatten()),
        };
        if !self.below_resolution {
            return Some(estimate);
        }
        Some(Estimate {
            low: estimate.low.min(0.0),
            high: estimate.high.max(bound.unwrap_or(f64::INFINITY)),
            ..estimate
        })
    }
}

/// Unit of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Core cycles.
    Cycles,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Ticks of the clock.
    Ticks,
}

impl Unit {
    /// The unit as printed after a number.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Nanoseconds => "ns",
            Unit::Ticks => "ticks",
        }
    }
}

/// Deserializes a key that is present, even as `null`, to `Some`, so that it differs from a missing
/// key.
pub fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_resolution_keeps_the_raw_value_and_gives_the_bound() {
        let ticks = Estimate { value: -1.0, low: -3.0, high: 1.0, level: 0.95 };
        let figure =
            Figure::new(&Time { ticks, ns: None, cycles: None, bound: None }, 0.95, "none");
        assert_eq!(figure.ticks.flatten().map(|e| e.value), Some(-1.0));
        assert!(figure.below_resolution);
        assert_eq!(figure.bound_ticks, Some(Some(2.0)));
    }

    #[test]
    fn below_resolution_the_interval_reaches_from_zero_to_the_bound() {
        let estimate = |value: f64, half: f64| Estimate {
            value,
            low: value - half,
            high: value + half,
            level: 0.95,
        };
        let figure = Figure {
            time_ns: Some(Some(estimate(0.2, 0.1))),
            cycles: Some(estimate(0.6, 0.3)),
            below_resolution: true,
            bound_ns: Some(Some(0.9)),
            ..Figure::default()
        };
        let interval = figure.interval(Unit::Nanoseconds).unwrap();
        assert_eq!((interval.low, interval.high), (0.0, 0.9));
        assert_eq!(figure.interval(Unit::Cycles), None);
    }
}
