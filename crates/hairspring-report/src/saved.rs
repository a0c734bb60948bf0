//! A saved result read back: the part of a `hairspring/result/1` document that comparing and exporting need.
//!
//! Keys that are not known are skipped: within a version keys may be added. What a reader relies on is checked here, so
//! that intervals are never upside down behind it.

use hairspring_core::Estimate;
use indexmap::IndexMap;
use serde::Deserialize;

/// The format that is read.
const SCHEMA: &str = "hairspring/result/1";

/// A result of `time` or `fit`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedResult {
    schema: String,
    /// The verb that made it.
    pub command: String,
    /// Circumstances.
    pub environment: SavedEnvironment,
    /// One entry for each piece of code or series.
    pub results: Vec<SavedSeries>,
    /// Ratios of those that ran in the same rounds.
    #[serde(default)]
    pub comparisons: Vec<SavedComparison>,
}

/// Two series that ran in the same rounds.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedComparison {
    /// Name of the series compared ...
    pub a: String,
    /// ... and of the one it is compared with.
    pub b: String,
    /// Time of `a` over time of `b`.
    pub ratio: Option<SavedEstimate>,
    /// What the interval says, as a word.
    pub verdict: String,
}

/// Circumstances; what was not known is `None`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct SavedEnvironment {
    /// The machine.
    pub cpu: Option<SavedCpu>,
    /// Operating system and kernel.
    pub system: Option<String>,
    /// The clock.
    pub clock: Option<SavedClock>,
    /// Frequency of the core during the run.
    pub core_clock_hz: Option<SavedEstimate>,
    /// Compiler and version.
    pub compiler: Option<String>,
    /// Flags given to the compiler.
    pub compiler_flags: Option<String>,
    /// CPU that the measuring thread was bound to.
    pub pinned_cpu: Option<usize>,
}

/// A machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedCpu {
    /// Model name.
    pub model: String,
    /// CPUs online.
    pub cpus: usize,
    /// Architecture.
    pub architecture: String,
    /// Whether the CPU reports a hypervisor.
    pub hypervisor: bool,
}

/// A clock.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedClock {
    /// Name by which it is asked for.
    pub name: String,
}

/// One piece of code, or one series.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedSeries {
    /// Name of the series.
    pub name: String,
    /// The code that was timed.
    pub code: Option<String>,
    /// Components in the order of the columns; the first one is the body.
    pub components: IndexMap<String, SavedFigure>,
    /// What all rows have in common.
    pub overhead: Option<SavedFigure>,
    /// How the rows lie on the line.
    pub fit: SavedFit,
    /// Doubts.
    #[serde(default)]
    pub findings: Vec<SavedFinding>,
}

/// A time in the units that can be had.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct SavedFigure {
    /// In nanoseconds.
    pub time_ns: Option<SavedEstimate>,
    /// In ticks, where the clock's rate is unknown.
    pub ticks: Option<SavedEstimate>,
    /// In core cycles.
    pub cycles: Option<SavedEstimate>,
    /// Why there are no core cycles.
    pub cycles_reason: Option<String>,
    /// Whether the time cannot be told from zero.
    #[serde(default)]
    pub below_resolution: bool,
    /// Below resolution: the most that it can be, in nanoseconds.
    pub bound_ns: Option<f64>,
    /// Below resolution: the most that it can be, in ticks.
    pub bound_ticks: Option<f64>,
    /// What the slope means, as a word.
    pub mode: Option<String>,
}

/// A value with its interval; an end that is `null` is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Ends")]
pub struct SavedEstimate(pub Estimate);

#[derive(Deserialize)]
struct Ends {
    value: f64,
    low: Option<f64>,
    high: Option<f64>,
    level: f64,
}

impl TryFrom<Ends> for SavedEstimate {
    type Error = String;

    fn try_from(ends: Ends) -> Result<Self, String> {
        let (low, high) = (ends.low.unwrap_or(f64::NEG_INFINITY), ends.high.unwrap_or(f64::INFINITY));
        if !(low <= ends.value && ends.value <= high) {
            return Err(format!("the value {} is not between `low` and `high` ({low} and {high})", ends.value));
        }
        if !(0.0 < ends.level && ends.level < 1.0) {
            return Err(format!("the level {} is not between 0 and 1", ends.level));
        }
        Ok(SavedEstimate(Estimate { value: ends.value, low, high, level: ends.level }))
    }
}

/// How the rows lie on the line.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct SavedFit {
    /// Readings used.
    #[serde(default)]
    pub readings_used: usize,
    /// Every row, where they are listed.
    #[serde(default)]
    pub rows_detail: Vec<SavedRow>,
}

/// One row of the design.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedRow {
    /// How often each component ran.
    pub counts: Vec<f64>,
    /// Readings used.
    pub used: usize,
    /// Location of its readings, in nanoseconds.
    pub location_ns: Option<f64>,
    /// Why it was left out; `None` for a row in use.
    pub left_out: Option<String>,
}

/// A doubt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct SavedFinding {
    /// How much it weighs, as a word.
    pub severity: String,
    /// It in words.
    pub message: String,
    /// What to do about it.
    #[serde(default)]
    pub remedy: String,
}

/// Reads a document.
///
/// # Errors
/// What is wrong with it and what is expected: no JSON (with line and column), another document, an interval upside down.
pub fn read(text: &str) -> Result<SavedResult, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| format!("is no JSON document of hairspring: {error}"))?;
    match head.schema.as_deref() {
        Some(SCHEMA) => serde_json::from_str(text).map_err(|error| format!("is no sound {SCHEMA} document: {error}")),
        Some(other) => {
            Err(format!("is a document of `{}`: expected {SCHEMA}, what `time --json` and `fit --json` print", crate::clean::clean(other)))
        }
        None => Err(format!("has no key `schema`: expected {SCHEMA}, what `time --json` and `fit --json` print")),
    }
}

impl SavedSeries {
    /// What it is called where nothing else stands beside it: the code, or the name of the series where there is none.
    pub fn title(&self) -> &str {
        self.code.as_deref().unwrap_or(&self.name)
    }

    /// The first component: what a comparison is about.
    pub fn body(&self) -> Option<(&str, &SavedFigure)> {
        self.components.first().map(|(name, figure)| (name.as_str(), figure))
    }
}

impl SavedFigure {
    /// The time in a unit as an interval that a verdict may rest on: below resolution it reaches from zero or lower up to the
    /// bound.
    pub fn interval(&self, unit: Unit) -> Option<Estimate> {
        let (estimate, bound) = match unit {
            Unit::Cycles if self.below_resolution => return None,
            Unit::Cycles => (self.cycles?.0, None),
            Unit::Nanoseconds => (self.time_ns?.0, self.bound_ns),
            Unit::Ticks => (self.ticks?.0, self.bound_ticks),
        };
        if !self.below_resolution {
            return Some(estimate);
        }
        Some(Estimate { low: estimate.low.min(0.0), high: estimate.high.max(bound.unwrap_or(f64::INFINITY)), ..estimate })
    }
}

/// Unit of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Core cycles.
    Cycles,
    /// Nanoseconds.
    Nanoseconds,
    /// Ticks of the clock.
    Ticks,
}

impl Unit {
    /// The unit behind a number.
    pub fn word(self) -> &'static str {
        match self {
            Unit::Cycles => "cycles",
            Unit::Nanoseconds => "ns",
            Unit::Ticks => "ticks",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_documents_are_told_apart() {
        for (text, reason) in [
            ("", "is no JSON document"),
            ("{\"schema\": \"hairspring/mhz/1\"}", "is a document of `hairspring/mhz/1`"),
            ("{}", "has no key `schema`"),
            ("{\"schema\": \"hairspring/result/1\"}", "is no sound hairspring/result/1 document: missing field"),
            ("[1, 2", "is no JSON document"),
        ] {
            assert!(read(text).is_err_and(|error| error.contains(reason)), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn intervals_upside_down_are_refused() {
        let estimate = |text: &str| serde_json::from_str::<SavedEstimate>(text);
        assert!(estimate(r#"{"value": 1.0, "low": 2.0, "high": 3.0, "level": 0.95}"#).is_err());
        assert!(estimate(r#"{"value": 1.0, "low": 0.0, "high": 3.0, "level": 95}"#).is_err());
        let open = estimate(r#"{"value": 1.0, "low": null, "high": 3.0, "level": 0.95}"#).unwrap().0;
        assert_eq!((open.low, open.high), (f64::NEG_INFINITY, 3.0));
    }

    #[test]
    fn below_resolution_the_interval_reaches_from_zero_to_the_bound() {
        let e = |value: f64, half: f64| Some(SavedEstimate(Estimate { value, low: value - half, high: value + half, level: 0.95 }));
        let figure = SavedFigure {
            time_ns: e(0.2, 0.1),
            cycles: e(0.6, 0.3),
            below_resolution: true,
            bound_ns: Some(0.9),
            ..SavedFigure::default()
        };
        let interval = figure.interval(Unit::Nanoseconds).unwrap();
        assert_eq!((interval.low, interval.high), (0.0, 0.9));
        assert_eq!(figure.interval(Unit::Cycles), None);
    }
}
