//! Units, and the dimensions that they measure.

use std::fmt::{Display, Formatter};

/// Largest exponent of a unit.
const MOST_EXPONENT: f64 = 12.0;

/// What a number measures: exponents of time, core cycles, ticks and bytes. Counts and shares are
/// plain numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Dimension([i8; 4]);

/// The units of [`Dimension`] in which values are kept: nanoseconds, cycles, ticks, bytes.
const BASE: [&str; 4] = ["ns", "cycles", "ticks", "bytes"];

impl Dimension {
    /// A plain number: a count, a share, a ratio.
    pub const NUMBER: Dimension = Dimension([0, 0, 0, 0]);
    /// A time.
    pub const TIME: Dimension = Dimension([1, 0, 0, 0]);
    /// Core cycles.
    pub const CYCLES: Dimension = Dimension([0, 1, 0, 0]);
    /// Ticks of a clock.
    pub const TICKS: Dimension = Dimension([0, 0, 1, 0]);
    /// Bytes.
    pub const BYTES: Dimension = Dimension([0, 0, 0, 1]);
    /// A frequency: something per time.
    pub const FREQUENCY: Dimension = Dimension([-1, 0, 0, 0]);

    /// The dimension of a product, or of a quotient with `sign` -1; `None` where an exponent is too
    /// large.
    pub(crate) fn times(self, other: Dimension, sign: i8) -> Option<Dimension> {
        let mut product = [0; 4];
        for ((to, a), b) in product.iter_mut().zip(self.0).zip(other.0) {
            *to = exponent(f64::from(a) + f64::from(sign) * f64::from(b))?;
        }
        Some(Dimension(product))
    }

    /// The dimension of a power; `None` where an exponent is not whole or too large.
    pub(crate) fn power(self, by: f64) -> Option<Dimension> {
        let mut power = [0; 4];
        for (to, own) in power.iter_mut().zip(self.0) {
            *to = exponent(f64::from(own) * by)?;
        }
        Some(Dimension(power))
    }

    /// The dimension in words: `a time`, `core cycles`.
    pub fn words(self) -> String {
        match self {
            Dimension::NUMBER => "a plain number".into(),
            Dimension::TIME => "a time".into(),
            Dimension::CYCLES => "core cycles".into(),
            Dimension::TICKS => "ticks".into(),
            Dimension::BYTES => "bytes".into(),
            Dimension::FREQUENCY => "a frequency".into(),
            other => format!("`{other}`"),
        }
    }
}

fn exponent(exponent: f64) -> Option<i8> {
    (exponent.fract() == 0.0 && exponent.abs() <= MOST_EXPONENT).then_some(exponent as i8)
}

/// The dimension as an expression: `ns`, `bytes * cycles^-1`; empty for a plain number.
impl Display for Dimension {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let factor = |(name, exponent): (&str, i8)| {
            if exponent == 1 { name.to_owned() } else { format!("{name}^{exponent}") }
        };
        let factors: Vec<String> = BASE
            .into_iter()
            .zip(self.0)
            .filter(|(_, exponent)| *exponent != 0)
            .map(factor)
            .collect();
        f.write_str(&factors.join(" * "))
    }
}

/// A unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Its name.
    pub name: &'static str,
    /// What it measures.
    pub dimension: Dimension,
    /// Its size in nanoseconds, cycles, ticks and bytes.
    pub size: f64,
}

const fn unit(name: &'static str, dimension: Dimension, size: f64) -> Unit {
    Unit { name, dimension, size }
}

/// All units. The first of each dimension's size is the one that is printed.
pub const UNITS: [Unit; 28] = [
    unit("s", Dimension::TIME, 1e9),
    unit("ms", Dimension::TIME, 1e6),
    unit("us", Dimension::TIME, 1e3),
    unit("\u{b5}s", Dimension::TIME, 1e3),
    unit("\u{3bc}s", Dimension::TIME, 1e3),
    unit("ns", Dimension::TIME, 1.0),
    unit("ps", Dimension::TIME, 1e-3),
    unit("cycles", Dimension::CYCLES, 1.0),
    unit("cycle", Dimension::CYCLES, 1.0),
    unit("ticks", Dimension::TICKS, 1.0),
    unit("tick", Dimension::TICKS, 1.0),
    unit("bytes", Dimension::BYTES, 1.0),
    unit("byte", Dimension::BYTES, 1.0),
    unit("B", Dimension::BYTES, 1.0),
    unit("kB", Dimension::BYTES, 1e3),
    unit("MB", Dimension::BYTES, 1e6),
    unit("GB", Dimension::BYTES, 1e9),
    unit("KiB", Dimension::BYTES, 1024.0),
    unit("MiB", Dimension::BYTES, 1_048_576.0),
    unit("GiB", Dimension::BYTES, 1_073_741_824.0),
    unit("Hz", Dimension::FREQUENCY, 1e-9),
    unit("kHz", Dimension::FREQUENCY, 1e-6),
    unit("MHz", Dimension::FREQUENCY, 1e-3),
    unit("GHz", Dimension::FREQUENCY, 1.0),
    unit("counts", Dimension::NUMBER, 1.0),
    unit("count", Dimension::NUMBER, 1.0),
    unit("%", Dimension::NUMBER, 0.01),
    unit("ppm", Dimension::NUMBER, 1e-6),
];

impl Unit {
    /// The unit of this name.
    pub fn find(name: &str) -> Option<Unit> {
        UNITS.iter().find(|unit| unit.name == name).copied()
    }
}

/// The unit that shows a number of this size and dimension best: the largest that the number is a
/// thousand of or more, up to the limits that the reports use.
pub fn readable(dimension: Dimension, value: f64) -> Option<Unit> {
    let size = value.abs();
    let name = match dimension {
        Dimension::TIME if size < 1e5 => "ns",
        Dimension::TIME if size < 1e8 => "us",
        Dimension::TIME if size < 1e11 => "ms",
        Dimension::TIME => "s",
        Dimension::FREQUENCY if size >= 1.0 => "GHz",
        Dimension::FREQUENCY if size >= 1e-3 => "MHz",
        Dimension::FREQUENCY if size >= 1e-5 => "kHz",
        Dimension::FREQUENCY => "Hz",
        Dimension::CYCLES => "cycles",
        Dimension::TICKS => "ticks",
        Dimension::BYTES => "bytes",
        _ => return None,
    };
    Unit::find(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_multiply_and_print() {
        let rate = Dimension::BYTES.times(Dimension::CYCLES, -1).unwrap();
        assert_eq!(
            (rate.to_string().as_str(), rate.words().as_str()),
            ("cycles^-1 * bytes", "`cycles^-1 * bytes`")
        );
        assert_eq!(rate.times(Dimension::CYCLES, 1), Some(Dimension::BYTES));
        assert_eq!(Dimension::TIME.power(-1.0), Some(Dimension::FREQUENCY));
        assert_eq!(
            (
                Dimension::TIME.power(0.5),
                Dimension::TIME.power(13.0),
                Dimension::TIME.power(f64::NAN)
            ),
            (None, None, None)
        );
    }

    #[test]
    fn names_of_units_differ() {
        for (at, unit) in UNITS.iter().enumerate() {
            assert_eq!(UNITS.iter().position(|other| other.name == unit.name), Some(at));
        }
    }
}
