//! The origin of the readings of a table: clock, unit, rate, granularity.

use super::Pauses;
use serde::{Deserialize, Serialize};

/// Unit of the readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Ticks of the clock; the rate, if known, converts them to nanoseconds.
    #[default]
    Ticks,
    /// Nanoseconds.
    TimeNs,
}

/// Ticks per second of a clock, and where the value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Ticks per second.
    pub hz: f64,
    /// Standard uncertainty of the rate, in parts per million.
    pub uncertainty_ppm: f64,
    /// Where the rate comes from, in words.
    pub provenance: String,
}

/// How the core clock moved from run to run on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClockSpread {
    /// Standard deviation of the runs' mean core clocks, as a share of their mean.
    pub sd: f64,
    /// Number of runs; at least 2.
    pub runs: u32,
}

/// A core clock that was measured beside the readings, and not by a chain among them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CoreClock {
    /// Core cycles per second.
    pub hz: f64,
    /// Its standard uncertainty, as a share: how far it may have moved while the readings were
    /// taken.
    pub sd: f64,
}

/// How a series that checks another one arranges the bodies and inits of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The same number of inits before every body; the other series has the further inits at the
    /// end of the row.
    InPlace,
    /// A fence before and after every init.
    Fenced,
    /// As many inits as bodies, the first of them right behind a body.
    BehindBody,
    /// The same, with the first of them right behind an init.
    BehindInit,
}

impl Role {
    /// All roles, with their names in an observation file.
    pub const NAMES: [(&str, Role); 4] = [
        ("in_place", Role::InPlace),
        ("fenced", Role::Fenced),
        ("behind_body", Role::BehindBody),
        ("behind_init", Role::BehindInit),
    ];
}

/// A series that runs the code of another one in a different arrangement, as a check. If `of` is
/// the series itself, it states the arrangement of the series throughout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Name of the series.
    pub series: String,
    /// Its arrangement.
    pub role: Role,
    /// The series that it checks.
    pub of: String,
}

/// How copies of a series use the core, where their code shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occupancy {
    /// A chain: each instruction waits for the one before, so that units of the core are mostly
    /// free.
    Waits,
    /// Independent copies: they take as long as the units of the core need for them.
    Fills,
}

impl Occupancy {
    /// The key in the head of an observation file.
    pub fn key(self) -> &'static str {
        match self {
            Occupancy::Waits => "waits",
            Occupancy::Fills => "fills",
        }
    }
}

/// Kinds of units of the core by name, such as `multiply`, and how many instructions use each.
pub type Uses = Vec<(String, u32)>;

/// What is known about the readings of a table.
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
    /// Largest error of a reading that may follow its counts, in the table's unit, where the source
    /// of the readings doubts them: neither repeats nor rows show it.
    pub reading_bound: Option<f64>,
    /// The core clock, if it was measured beside the readings. A reference chain among them knows
    /// it better.
    pub core_clock: Option<CoreClock>,
    /// How the core clock moved between runs on this machine, if that is known.
    pub clock_spread: Option<ClockSpread>,
    /// Pauses of the CPU that were seen beside the readings.
    pub pauses: Pauses,
    /// Name of the series that ran the reference chain, and the length of one copy in core cycles.
    pub reference: Option<(String, f64)>,
    /// Names of series that ran control chains, and the length of one copy in core cycles.
    pub controls: Vec<(String, f64)>,
    /// Name of the series that ran a chain of known length after fences, and the length of one body
    /// in core cycles. It shows how much a fence hides.
    pub fenced_chain: Option<(String, f64)>,
    /// Series that run the code of another one in a different arrangement.
    pub variants: Vec<Variant>,
    /// Names of series whose code was compiled without optimisation, as far as the compiler tells.
    pub unoptimised: Vec<String>,
    /// Names of series with what their copies do to the core.
    pub occupancy: Vec<(String, Occupancy)>,
    /// Names of series with the kinds of units that one of their copies uses.
    pub uses: Vec<(String, Uses)>,
    /// First round of each further placement, ascending: from this round on the rows ran in a fresh
    /// process, where code, data and stack had other addresses. Empty if all rounds ran in the same
    /// place.
    pub placements: Vec<u32>,
    /// Number of layouts of the code that the placements take in turns, the first one the first:
    /// the distances between its parts are the same in all, and its addresses within lines of the
    /// cache are not. 0 or 1 if the code has one layout.
    pub layouts: u32,
    /// Number of neighbouring layouts that differ only by the order of the alternatives in memory,
    /// each of which is once at the place of every other one (a crossover design). A part of the
    /// layouts; 0 or 1 if that order is the same in all.
    pub crossover: u32,
    /// Whether the code runs other threads: what slows it may be their doing, and so its own.
    pub threads: bool,
    /// Components that only serve: they are separated from the time that is asked for, such as an
    /// init.
    pub serving: Vec<String>,
    /// Other `# key: value` lines of the file, unchanged.
    pub notes: Vec<(String, String)>,
}

/// Beginning of the clock's name of a recording.
pub const RECORDING: &str = "capture of ";

impl Origin {
    /// Whether the readings are those of a recording of a pin.
    pub fn is_recording(&self) -> bool {
        self.clock.as_deref().is_some_and(|clock| clock.starts_with(RECORDING))
    }

    /// Quantum of the readings: the granularity if known, else one tick; 0 (unknown) for
    /// nanoseconds.
    pub fn quantum(&self) -> f64 {
        self.granularity.unwrap_or(if self.unit == Unit::Ticks { 1.0 } else { 0.0 })
    }

    /// What the copies of a series do to the core, if that is known.
    pub fn occupancy_of(&self, series: &str) -> Option<Occupancy> {
        self.occupancy.iter().find(|(name, _)| name == series).map(|(_, occupancy)| *occupancy)
    }

    /// The kinds of units that a copy of a series uses, if that is known.
    pub fn uses_of(&self, series: &str) -> Option<&Uses> {
        self.uses.iter().find(|(name, _)| name == series).map(|(_, uses)| uses)
    }

    /// The chains of known length that run in the same rounds: the reference and the controls, each
    /// with its core cycles.
    pub fn chains(&self) -> impl Iterator<Item = &(String, f64)> {
        self.reference.iter().chain(&self.controls)
    }

    /// Whether a series only serves to check others and has no result of its own.
    pub fn is_auxiliary(&self, series: &str) -> bool {
        self.chains().chain(&self.fenced_chain).any(|(name, _)| name == series)
            || self.variants.iter().any(|variant| variant.series == series && variant.of != series)
    }

    /// Whether a series has fences around every init in all its rows.
    pub fn is_fenced(&self, series: &str) -> bool {
        self.variants.iter().any(|variant| {
            variant.series == series && variant.of == series && variant.role == Role::Fenced
        })
    }

    /// Whether a time is made only of components that serve; its parts are given with their
    /// coefficients.
    pub fn serves(&self, parts: &[(String, f64)]) -> bool {
        parts.iter().all(|(part, _)| self.serving.contains(part))
    }

    /// The series that runs the code of `of` in the given arrangement.
    pub fn variant(&self, of: &str, role: Role) -> Option<&str> {
        self.variants
            .iter()
            .find(|v| v.of == of && v.series != of && v.role == role)
            .map(|v| v.series.as_str())
    }

    /// The factor and the name of the unit in which times are told: nanoseconds where the clock's
    /// rate is known.
    pub fn shown_unit(&self) -> (f64, &'static str) {
        self.ns_per_unit().map_or((1.0, "ticks"), |factor| (factor, "ns"))
    }

    /// Nanoseconds per unit of the readings, if the rate is known.
    pub fn ns_per_unit(&self) -> Option<f64> {
        match self.unit {
            Unit::TimeNs => Some(1.0),
            Unit::Ticks => self.rate.as_ref().map(|rate| 1e9 / rate.hz),
        }
    }
}
