//! Numbers as text. A half-width has two digits, and its value has the same decimals.

use hairspring_core::Estimate;
use hairspring_core::math::log10;

/// Smallest half-width that is shown, as a share of the value: a double holds no more digits.
const FINEST_WIDTH: f64 = 1e-9;
/// Values from here on are written with an exponent, and so are values with more than
/// `MOST_DECIMALS`.
const LARGE_VALUE: f64 = 1e12;
const MOST_DECIMALS: i32 = 12;

/// A value and its half-width as text with matching digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digits {
    /// The value.
    pub value: String,
    /// The half-width; `unknown` where it is not finite.
    pub half: String,
}

/// Digits of an estimate: `0.81083` and `0.00061`, `123,500` and `1200`.
pub fn digits(estimate: &Estimate) -> Digits {
    let (value, half) = (estimate.value, estimate.half_width());
    if !half.is_finite() {
        return Digits { value: significant(value, 3), half: "unknown".into() };
    }
    if half == 0.0 {
        return Digits { value: significant(value, 7), half: "0".into() };
    }
    let half = half.max(value.abs() * FINEST_WIDTH);
    let places = decimals(half, 2);
    if value.abs().max(half) >= LARGE_VALUE || places > MOST_DECIMALS {
        return Digits { value: exponent(value, half), half: format!("{half:.1e}") };
    }
    Digits { value: fixed(value, places), half: fixed(half, places) }
}

/// Both ends of the interval, with the decimals of `digits`: `0.81022` and `0.81144`. An end that
/// the interval does not have is `open`.
pub fn ends(estimate: &Estimate) -> [String; 2] {
    let (value, half) = (estimate.value, estimate.half_width());
    let finest = half.max(value.abs() * FINEST_WIDTH);
    [estimate.low, estimate.high].map(|end| match end {
        end if end.is_infinite() => "open".into(),
        end if !half.is_finite() || half <= 0.0 => significant(end, 7),
        end => {
            let places = decimals(finest, 2);
            if value.abs().max(finest) >= LARGE_VALUE || places > MOST_DECIMALS {
                exponent(end, finest)
            } else {
                fixed(end, places)
            }
        }
    })
}

/// `0.81083 +- 0.00061`.
pub fn plus_minus(estimate: &Estimate) -> String {
    let Digits { value, half } = digits(estimate);
    format!("{value} +- {half}")
}

/// Whether the value is not in the middle of its interval.
pub fn is_lopsided(estimate: &Estimate) -> bool {
    let (below, above) = (estimate.value - estimate.low, estimate.high - estimate.value);
    (above - below).abs() > 1e-6 * (above + below)
}

/// `80.0 +- 8.0`; with both ends where the value is not in the middle of them:
/// `1000, from 530 to 4100`.
pub fn with_interval(estimate: &Estimate) -> String {
    if is_lopsided(estimate) {
        let ends = [estimate.low, estimate.high].map(|end| significant(end, 3));
        return format!("{}, from {} to {}", significant(estimate.value, 4), ends[0], ends[1]);
    }
    plus_minus(estimate)
}

/// The decimals that give a number of significant digits; negative for digits before the point.
fn decimals(number: f64, significant: i32) -> i32 {
    significant - 1 - log10(number.abs()).floor() as i32
}

fn exponent(value: f64, half: f64) -> String {
    let places = (log10(value.abs()).floor() - log10(half).floor() + 1.0).clamp(1.0, 9.0);
    format!("{value:.*e}", places as usize)
}

/// A number with `places` decimals; thousands are separated from 10,000 on.
pub fn fixed(number: f64, places: i32) -> String {
    if !number.is_finite() {
        return "unknown".into();
    }
    let step = 10f64.powi(-places.min(0));
    let text = if places < 0 {
        format!("{:.0}", (number / step).round_ties_even() * step)
    } else {
        format!("{number:.*}", places as usize)
    };
    let unsigned = text.trim_start_matches('-');
    let zero = unsigned.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    grouped(if zero { unsigned } else { &text })
}

/// A number with at most `count` significant digits, without trailing zeros.
pub fn significant(number: f64, count: i32) -> String {
    if !number.is_finite() {
        return "unknown".into();
    }
    if number == 0.0 {
        return "0".into();
    }
    let places = decimals(number, count);
    if number.abs() >= LARGE_VALUE || places > MOST_DECIMALS {
        return format!("{number:.*e}", (count - 1).max(0) as usize);
    }
    let text = fixed(number, places);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// An upper bound with two significant digits, rounded up so that it stays a bound.
pub fn bound(number: f64) -> String {
    if !number.is_finite() {
        return "unknown".into();
    }
    if number <= 0.0 {
        return "0".into();
    }
    let step = 10f64.powi(-decimals(number, 2));
    significant((number / step - 1e-9).ceil() * step, 3)
}

/// A whole number with separated thousands.
pub fn count(number: usize) -> String {
    grouped_from(&number.to_string(), 4)
}

/// A bar of a histogram: `width` marks for the largest number. Even one value in thousands gets a
/// mark, because the tail matters.
pub fn bar(number: u64, largest: u64, width: usize) -> String {
    let share = number as f64 / largest.max(1) as f64;
    "#".repeat(((share * width as f64).round() as usize).max(number.min(1) as usize))
}

/// A probability: two digits, and `< 0.0001` below that.
pub fn probability(p: f64) -> String {
    match p {
        p if !p.is_finite() => "unknown".into(),
        p if p < 1e-4 => "< 0.0001".into(),
        p => format!("= {}", significant(p, 2)),
    }
}

fn grouped(text: &str) -> String {
    grouped_from(text, 5)
}

/// Separates thousands of the integer part if it has at least `fewest` digits.
fn grouped_from(text: &str, fewest: usize) -> String {
    let start = usize::from(text.starts_with('-'));
    let end = text.find('.').unwrap_or(text.len());
    if end - start < fewest {
        return text.to_owned();
    }
    let mut out = text[..start].to_owned();
    for (at, digit) in text[start..end].char_indices() {
        if at > 0 && (end - start - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + &text[end..]
}

/// Factor and unit for a readable time; the time is in nanoseconds.
pub fn time_unit(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        size if size < 1e5 => (1.0, "ns"),
        size if size < 1e8 => (1e-3, "us"),
        size if size < 1e11 => (1e-6, "ms"),
        _ => (1e-9, "s"),
    }
}

/// An estimate in a readable unit, and that unit: long times are not shown in nanoseconds.
pub fn readable<'u>(estimate: &Estimate, unit: &'u str) -> (Estimate, &'u str) {
    let (factor, unit) = if unit == "ns" { time_unit(estimate.value) } else { (1.0, unit) };
    (estimate.scaled(factor), unit)
}

/// Factor and unit for a readable frequency; the frequency is in Hz.
pub fn frequency_unit(hz: f64) -> (f64, &'static str) {
    match hz.abs() {
        size if size < 1e4 => (1.0, "Hz"),
        size if size < 1e6 => (1e-3, "kHz"),
        size if size < 1e9 => (1e-6, "MHz"),
        _ => (1e-9, "GHz"),
    }
}

/// `3.69400 GHz +- 0.00012`.
pub fn frequency(hz: &Estimate) -> String {
    let (factor, unit) = frequency_unit(hz.value);
    let Digits { value, half } = digits(&hz.scaled(factor));
    format!("{value} {unit} +- {half}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: f64, half: f64) -> String {
        plus_minus(&Estimate { value, low: value - half, high: value + half, level: 0.95 })
    }

    #[test]
    fn digits_follow_the_half_width() {
        assert_eq!(shown(0.810_834, 0.000_612), "0.81083 +- 0.00061");
        assert_eq!(shown(22.7, 0.03), "22.700 +- 0.030");
        assert_eq!(shown(123_456.0, 1_234.0), "123,500 +- 1200");
        assert_eq!(shown(3.0, 0.0), "3 +- 0");
        assert_eq!(shown(-0.000_01, 0.5), "0.00 +- 0.50");
        assert_eq!(shown(1.0, 1e-14), "1.0000000000 +- 0.0000000010");
        assert_eq!(shown(2.5e14, 1e12), "2.500e14 +- 1.0e12");
        assert_eq!(shown(f64::NAN, f64::NAN), "unknown +- unknown");
        assert_eq!(shown(12.0, f64::INFINITY), "12 +- unknown");
    }

    #[test]
    fn lopsided_intervals_have_both_ends() {
        let of = |low, high| with_interval(&Estimate { value: 1000.0, low, high, level: 0.95 });
        assert_eq!(
            (of(990.0, 1010.0), of(531.2, 4123.0)),
            ("1000 +- 10".into(), "1000, from 531 to 4120".to_owned())
        );
        assert_eq!(of(f64::NEG_INFINITY, f64::INFINITY), "1000 +- unknown");
    }

    #[test]
    fn ends_have_the_digits_of_the_half_width() {
        let of = |low, high| ends(&Estimate { value: 1.0, low, high, level: 0.95 }).join(" to ");
        assert_eq!(of(0.998, 1.002), "0.9980 to 1.0020");
        assert_eq!(of(1.0, 1.0), "1 to 1");
        assert_eq!(of(f64::NEG_INFINITY, 2.0), "open to 2");
        assert_eq!(of(f64::NAN, 2.0), "unknown to 2");
    }

    #[test]
    fn bounds_are_rounded_up() {
        assert_eq!(bound(0.0121), "0.013");
        assert_eq!(bound(0.012), "0.012");
        assert_eq!(bound(99.5), "100");
        assert_eq!(bound(-1.0), "0");
    }

    #[test]
    fn every_value_has_a_mark() {
        assert_eq!([0, 1, 500, 1000].map(|number| bar(number, 1000, 10).len()), [0, 1, 5, 10]);
        assert_eq!(bar(0, 0, 10), "");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(count(38_400), "38,400");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(999), "999");
        assert_eq!(fixed(-12_345.678, 1), "-12,345.7");
    }

    #[test]
    fn units_follow_the_size() {
        let hz = Estimate { value: 3.694e9, low: 3.693e9, high: 3.695e9, level: 0.95 };
        assert_eq!(frequency(&hz), "3.6940 GHz +- 0.0010");
        assert_eq!(time_unit(2.5e6), (1e-3, "us"));
    }

    proptest::proptest! {
        #[test]
        fn formatting_never_panics(value in proptest::num::f64::ANY,
            half in proptest::num::f64::ANY) {
            let text = shown(value, half.abs());
            proptest::prop_assert!(text.len() < 60, "{}", text);
            let ends = ends(&Estimate { value, low: value - half, high: half, level: 0.5 });
            proptest::prop_assert!(ends.iter().all(|end| end.len() < 40), "{:?}", ends);
            let _ = (bound(value), significant(value, 2), fixed(value % 1e15, 3),
                probability(value));
        }
    }
}
