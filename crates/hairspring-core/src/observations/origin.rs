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

/// How a series that checks another one arranges what the other one runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Every body behind an equal number of inits, where the other series has the further inits at the end of the row.
    InPlace,
    /// A fence before and behind every init.
    Fenced,
}

impl Role {
    /// All roles with their names in an observation file.
    pub const NAMES: [(&str, Role); 2] = [("in_place", Role::InPlace), ("fenced", Role::Fenced)];
}

/// A series that runs what another one runs, in another arrangement, as a check; or (`of` itself) the arrangement that a
/// series has throughout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Name of the series.
    pub series: String,
    /// Its arrangement.
    pub role: Role,
    /// The series that it checks.
    pub of: String,
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
    /// Names of series that ran further chains of known length as a control, and the length of one copy in core cycles.
    pub controls: Vec<(String, f64)>,
    /// Name of the series that ran a chain of known length behind fences, and the length of one body in core cycles: it
    /// shows how much a fence hides.
    pub shadow: Option<(String, f64)>,
    /// Series that run another one's code in another arrangement.
    pub variants: Vec<Variant>,
    /// Further `# key: value` lines of the file, kept as they came.
    pub notes: Vec<(String, String)>,
}

impl Origin {
    /// Quantum of the readings: as stated, else one tick; unknown (0) for nanoseconds from elsewhere.
    pub fn quantum(&self) -> f64 {
        self.granularity.unwrap_or(if self.unit == Unit::Ticks { 1.0 } else { 0.0 })
    }

    /// Whether a series serves to check others, and has no result of its own.
    pub fn is_auxiliary(&self, series: &str) -> bool {
        let mut chains = self.reference.iter().chain(&self.controls).chain(&self.shadow);
        chains.any(|(name, _)| name == series) || self.variants.iter().any(|variant| variant.series == series && variant.of != series)
    }

    /// Whether a series has fences around every init throughout.
    pub fn is_fenced(&self, series: &str) -> bool {
        self.variants.iter().any(|variant| variant.series == series && variant.of == series && variant.role == Role::Fenced)
    }

    /// The series that runs another one's code in a given arrangement.
    pub fn variant(&self, of: &str, role: Role) -> Option<&str> {
        self.variants.iter().find(|v| v.of == of && v.series != of && v.role == role).map(|v| v.series.as_str())
    }

    /// Nanoseconds for one unit of the readings, where they can be had.
    pub fn ns_per_unit(&self) -> Option<f64> {
        match self.unit {
            Unit::TimeNs => Some(1.0),
            Unit::Ticks => self.rate.as_ref().map(|rate| 1e9 / rate.hz),
        }
    }
}
