//! A value with its interval and its unit, as three cells of a table.

use crate::format::{bound, digits, ends, frequency_unit, significant, time_unit};
use hairspring_core::Estimate;
use hairspring_result::document::{Standing, standing};

/// Three cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quantity {
    /// The value, or its bound.
    pub value: String,
    /// `0.81022 to 0.81144`; empty behind a bound.
    pub interval: String,
    /// The unit; empty for a ratio.
    pub unit: String,
}

impl Quantity {
    /// A value in a unit; nanoseconds and Hz get a prefix that suits their size.
    pub fn new(estimate: &Estimate, unit: &str) -> Quantity {
        let size = estimate.value.abs().max(estimate.half_width());
        let (factor, unit) = scale(if size.is_finite() { size } else { estimate.value }, unit);
        let scaled = estimate.scaled(factor);
        let ([low, high], value) = if is_lopsided(&scaled) {
            let ends = [scaled.low, scaled.high].map(|end| significant(end, 3));
            (ends, significant(scaled.value, 4))
        } else {
            (ends(&scaled), digits(&scaled).value)
        };
        Quantity { value, interval: format!("{low} to {high}"), unit: unit.to_owned() }
    }

    /// A time of code: one that is not above zero is no time.
    pub fn time(estimate: &Estimate, unit: &str) -> Quantity {
        match standing(estimate) {
            Standing::Above => Quantity::new(estimate, unit),
            Standing::BelowResolution => Quantity::below(estimate.high, unit),
            Standing::Negative => {
                Quantity { value: "negative".into(), ..Quantity::new(estimate, unit) }
            }
        }
    }

    /// What is known only to be below a bound.
    pub fn below(most: f64, unit: &str) -> Quantity {
        let (factor, unit) = scale(most, unit);
        let value = format!("below {}", bound(most * factor));
        Quantity { value, interval: String::new(), unit: unit.to_owned() }
    }

    /// The three cells.
    pub fn cells(self) -> [String; 3] {
        [self.value, self.interval, self.unit]
    }
}

/// Whether one half of the interval is longer than the other by a fifth: then the digits of its
/// half-width are too few for one of its ends.
fn is_lopsided(estimate: &Estimate) -> bool {
    let (below, above) = (estimate.value - estimate.low, estimate.high - estimate.value);
    estimate.half_width().is_finite() && below.max(above) > 1.2 * below.min(above)
}

fn scale(size: f64, unit: &str) -> (f64, &str) {
    match unit {
        unit if !size.is_finite() => (1.0, unit),
        "ns" => time_unit(size),
        "Hz" => frequency_unit(size),
        unit => (1.0, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(value: f64, half: f64, unit: &str) -> String {
        let (low, high) = (value - half, value + half);
        Quantity::time(&Estimate { value, low, high, level: 0.95 }, unit).cells().join(" | ")
    }

    #[test]
    fn values_have_their_digits_and_units() {
        assert_eq!(cells(0.810_83, 0.000_61, "ns"), "0.81083 | 0.81022 to 0.81144 | ns");
        assert_eq!(cells(2.5e6, 1e3, "ns"), "2500.0 | 2499.0 to 2501.0 | us");
        assert_eq!(cells(3.694e9, 1e6, "Hz"), "3.6940 | 3.6930 to 3.6950 | GHz");
        assert_eq!(cells(0.1, 0.2, "cycles"), "below 0.3 |  | cycles");
        let open = Estimate { value: 1000.0, low: 531.2, high: 4123.0, level: 0.95 };
        assert_eq!(Quantity::new(&open, "").cells().join(" | "), "1000 | 531 to 4120 | ");
        let near = Estimate { value: 1.0, low: 0.997_87, high: 1.002_13, level: 0.95 };
        assert_eq!(Quantity::new(&near, "").cells().join(" | "), "1.0000 | 0.9979 to 1.0021 | ");
        assert_eq!(cells(1e30, 1e28, "ns"), "1.000e21 | 9.90e20 to 1.010e21 | s");
        assert_eq!(cells(2.0, f64::INFINITY, "ns"), "below unknown |  | ns");
    }
}
