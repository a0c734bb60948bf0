//! Decimal numbers as a file writes them, so that large times lose no digit before they are
//! subtracted.

/// Digits that are kept; all further ones are below the resolution of any clock.
const MOST_DIGITS: u32 = 30;
/// Largest exponent that a text may state; a double ends at 308.
const MOST_EXPONENT: i32 = 400;

/// An exact decimal: `digits * 10^exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// 0.
    pub(super) const ZERO: Decimal = Decimal { digits: 0, exponent: 0 };

    /// A whole number of seconds and the digits of its fraction.
    pub(super) fn with_fraction(seconds: i64, fraction: &str) -> Option<Decimal> {
        let fraction = Decimal::parse(&format!("0.{fraction}"))?;
        Decimal { digits: i128::from(seconds), exponent: 0 }.plus(fraction)
    }

    /// Reads `-12.5e-6`; `None` if the text is no decimal number.
    pub(super) fn parse(text: &str) -> Option<Decimal> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (mut digits, mut kept_digits, mut shift) = (0i128, 0, 0i32);
        let (mut behind_point, mut any) = (false, false);
        for byte in mantissa.bytes() {
            match byte {
                b'.' if !behind_point => behind_point = true,
                b'0'..=b'9' => {
                    any = true;
                    if kept_digits < MOST_DIGITS {
                        digits = digits * 10 + i128::from(byte - b'0');
                        kept_digits += u32::from(digits != 0);
                        shift -= i32::from(behind_point);
                    } else {
                        shift += i32::from(!behind_point);
                    }
                }
                _ => return None,
            }
        }
        let exponent = exponent.checked_add(shift).filter(|_| any)?;
        let is_small = exponent.abs() <= MOST_EXPONENT || digits == 0;
        let digits = if text.starts_with('-') { -digits } else { digits };
        let exponent = exponent.clamp(-MOST_EXPONENT, MOST_EXPONENT);
        is_small.then_some(Decimal { digits, exponent })
    }

    /// The number times a power of ten.
    pub(super) fn shifted(self, powers: i32) -> Decimal {
        Decimal { exponent: self.exponent.saturating_add(powers), ..self }
    }

    fn plus(self, other: Decimal) -> Option<Decimal> {
        let exponent = self.exponent.min(other.exponent);
        let at = |number: Decimal| {
            let powers = u32::try_from(number.exponent - exponent).ok()?;
            10i128.checked_pow(powers)?.checked_mul(number.digits)
        };
        let digits = match (self.digits, other.digits) {
            (0, _) => return Some(Decimal { exponent, digits: at(other)? }),
            (_, 0) => return Some(Decimal { exponent, digits: at(self)? }),
            _ => at(self)?.checked_add(at(other)?)?,
        };
        Some(Decimal { digits, exponent })
    }

    /// The exact difference as a double; of numbers that are too far apart, the difference of the
    /// doubles.
    pub(super) fn minus(self, other: Decimal) -> f64 {
        if other.digits == 0 {
            return self.to_f64();
        }
        let exact = self.plus(Decimal { digits: -other.digits, ..other });
        exact.map_or_else(|| self.to_f64() - other.to_f64(), Decimal::to_f64)
    }

    /// The nearest double.
    pub(super) fn to_f64(self) -> f64 {
        const EXACT: i128 = 1 << 53;
        let power = || 10f64.powi(self.exponent.abs());
        match self.exponent {
            _ if self.digits == 0 => 0.0,
            0..=22 if self.digits.abs() < EXACT => self.digits as f64 * power(),
            -22..0 if self.digits.abs() < EXACT => self.digits as f64 / power(),
            _ => format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN),
        }
    }

    /// The value if it is a whole number that is not negative.
    pub(super) fn whole(self) -> Option<u64> {
        let power = 10i128.checked_pow(self.exponent.unsigned_abs())?;
        let value = match self.exponent {
            0.. => self.digits.checked_mul(power)?,
            _ if self.digits % power == 0 => self.digits / power,
            _ => return None,
        };
        u64::try_from(value).ok()
    }

    /// Power of ten of the last digit.
    pub(super) fn last_digit(self) -> i32 {
        self.exponent
    }

    /// Number of digits from the first that is not 0.
    pub(super) fn significant(self) -> i32 {
        let digits = self.digits.unsigned_abs();
        // The logarithm of 128 bits is slow.
        let log =
            u64::try_from(digits).map_or_else(|_| digits.checked_ilog10(), u64::checked_ilog10);
        log.map_or(0, |log| log as i32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn decimals_are_read_as_rust_reads_them() {
        for text in [
            "0",
            "-0.0",
            "1",
            "+2.5",
            "-12.5e-6",
            "1e308",
            "2.",
            ".5",
            "0.1",
            "1E3",
            "4.35e-310",
            "123456789012345678901234567890.125",
            "0.30000000000000004",
        ] {
            let close = |a: f64, b: f64| a == b || (a / b - 1.0).abs() < 1e-15;
            assert!(close(of(text).to_f64(), text.parse().unwrap()), "{text}");
        }
        for wrong in ["", "-", ".", "e5", "1e", "1.2.3", "0x10", "nan", "inf", "1 2", "1e999999"] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
        let zeros = "0".repeat(1000);
        assert_eq!(of(&zeros).to_f64(), 0.0);
        assert_eq!(of("0e-99999").to_f64(), 0.0);
    }

    #[test]
    fn differences_are_exact() {
        assert_eq!(of("1600000000.000000123").minus(of("1600000000")), 123e-9);
        assert_eq!(of("1600000000123456789").minus(of("1600000000123456788")), 1.0);
        assert_eq!(of("1e300").minus(of("1e-300")), 1e300);
        assert_eq!(of("1600000000.25").shifted(9).minus(of("1600000000").shifted(9)), 0.25e9);
        let date = Decimal::with_fraction(1_700_000_000, "123456789012").unwrap();
        assert_eq!(date.minus(of("1700000000")), 0.123_456_789_012);
    }

    #[test]
    fn digits_are_counted() {
        assert_eq!((of("0.0120").last_digit(), of("0.0120").significant()), (-4, 3));
        assert_eq!((of("-5.00E-03").last_digit(), of("-5.00E-03").significant()), (-5, 3));
        assert_eq!(
            (of("12.000").whole(), of("1.5").whole(), of("2e3").whole()),
            (Some(12), None, Some(2000))
        );
        assert_eq!((of("-1").whole(), of("1e40").whole(), of("0").significant()), (None, None, 0));
    }
}
