//! Numbers as tools write them: also quoted, `null`, and words such as `NaN`.

use serde::de::{Deserialize, Deserializer, Visitor};
use std::fmt;

/// A number; NaN for `null`, a text without a number, and a word that JSON lacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

impl Default for Number {
    fn default() -> Number {
        Number(f64::NAN)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        from.deserialize_any(Numbers)
    }
}

struct Numbers;

impl Visitor<'_> for Numbers {
    type Value = Number;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a number")
    }

    fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
        Ok(Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
        Ok(Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
        Ok(Number(number as f64))
    }

    fn visit_str<E>(self, text: &str) -> Result<Number, E> {
        Ok(Number(text.trim().parse().unwrap_or(f64::NAN)))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::default())
    }
}

impl Number {
    /// The number, if it is finite.
    pub fn finite(self) -> Option<f64> {
        Some(self.0).filter(|number| number.is_finite())
    }
}

/// All numbers; `None` if one is not finite.
pub fn all(numbers: &[Number]) -> Option<Vec<f64>> {
    numbers.iter().map(|number| number.finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_no_numbers() {
        let read = |text: &str| serde_json::from_str::<Number>(text).unwrap().finite();
        assert_eq!(
            [read("3"), read("-2"), read("1e3"), read("\"4.5\"")],
            [3.0, -2.0, 1e3, 4.5].map(Some)
        );
        assert_eq!([read("null"), read("\"NaN\""), read("\"Infinity\""), read("\"\"")], [None; 4]);
    }
}
