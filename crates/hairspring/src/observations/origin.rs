//! Where the readings of a table come from: clock, unit, rate, granularity.

use serde::{Deserialize, Serialize};

/// Unit of the readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Ticks of the clock; nanoseconds follow from the rate, where it is known.
    #[default]
    Ticks,
    /// Nanoseconds.
    TimeNs,
}

/// Ticks per second of a clock, and how that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Ticks per second.
    pub hz: f64,
    /// Standard uncertainty of the rate, in parts per million.
    pub uncertainty_ppm: f64,
    /// How the rate is known, in words.
    pub provenance: String,
}

/// What is known of the readings of a table.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Origin {
    /// Unit of the readings.
    pub unit: Unit,
    /// Name of the clock.
    pub clock: Option<String>,
    /// Rate of the clock.
    pub rate: Option<Rate>,
    /// Resolution of the clock (its quantum) in the table's unit.
    pub granularity: Option<f64>,
    /// Name of the series that ran a chain of known length, and the length of one copy in core cycles.
    pub reference: Option<(String, f64)>,
    /// Name of the series that ran a second chain of known length as a control, and the length of one copy in core cycles.
    pub control: Option<(String, f64)>,
    /// Further `# key: value` lines of the file, kept as they came.
    pub notes: Vec<(String, String)>,
}

impl Origin {
    /// Quantum of the readings: as stated, else one tick; unknown (0) for nanoseconds from elsewhere.
    pub fn quantum(&self) -> f64 {
        self.granularity.unwrap_or(if self.unit == Unit::Ticks { 1.0 } else { 0.0 })
    }

    /// Nanoseconds for one unit of the readings, where they can be had.
    pub fn ns_per_unit(&self) -> Option<f64> {
        match self.unit {
            Unit::TimeNs => Some(1.0),
            Unit::Ticks => self.rate.as_ref().map(|rate| 1e9 / rate.hz),
        }
    }
}
