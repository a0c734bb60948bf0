//! Formatting for messages: numbers with their units, and lists of limited length.

use crate::estimate::Estimate;
use crate::math::log10;

/// A percentage; a small one is not shown as zero.
pub fn in_percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "below 0.01 %".to_owned() } else { format!("{share:.2} %") }
}

/// The first four names of a list, and how many more there are.
///
/// ```
/// use hairspring_core::judge::words::shortened;
/// let names: Vec<String> = (1..=6).map(|number| format!("B{number}")).collect();
/// assert_eq!(shortened(&names), "B1; B2; B3; B4; and 2 more");
/// ```
pub fn shortened(names: &[String]) -> String {
    const SHOWN_NAMES: usize = 4;
    let list = names[..names.len().min(SHOWN_NAMES)].join("; ");
    if names.len() > SHOWN_NAMES {
        format!("{list}; and {} more", names.len() - SHOWN_NAMES)
    } else {
        list
    }
}

/// A number with the singular or plural of its noun.
///
/// ```
/// use hairspring_core::judge::words::counted;
/// assert_eq!(counted(1, "row", "rows"), "1 row");
/// assert_eq!(counted(2, "row", "rows"), "2 rows");
/// ```
pub fn counted(number: u64, singular: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { several })
}

/// A time with its interval, or its upper bound where it is indistinguishable from zero.
pub(crate) fn interval(time: &Estimate, unit: &str) -> String {
    match time.low > 0.0 {
        true => format!("{:.3} +- {:.3} {unit}", time.value, time.half_width()),
        false => format!("at most {:.3} {unit}", time.high.max(time.half_width())),
    }
}

/// What the hypervisor took, where it took something.
pub(crate) fn taken(stolen_ms: Option<f64>) -> String {
    stolen_ms
        .filter(|ms| *ms > 0.0)
        .map(|ms| format!("; the hypervisor took {ms:.0} ms"))
        .unwrap_or_default()
}

/// A factor with two decimals.
pub(crate) fn times(factor: f64) -> String {
    format!("{factor:.2}")
}

/// A share in percent without decimals, unless it is a small one.
pub(crate) fn share(percent: f64) -> String {
    match () {
        () if percent >= 1.0 => format!("{percent:.0}"),
        () if percent >= 0.1 => format!("{percent:.1}"),
        () => "below 0.1".to_owned(),
    }
}

pub(crate) fn rows_of(rows: usize) -> String {
    counted(rows as u64, "row", "rows")
}

/// A number by its first three digits, without the noise of its last ones: 100 times 0.000001 is
/// 0.0001.
pub(crate) fn short(number: f64) -> String {
    format!("{number:.2e}").parse::<f64>().unwrap_or(number).to_string()
}

/// An upper bound with two digits, rounded up so that it remains a bound.
pub(crate) fn bound(bound: f64) -> String {
    if bound.is_nan() || bound <= 0.0 || bound.is_infinite() {
        return bound.to_string();
    }
    let place = log10(bound).floor() as i32 - 1;
    let up = (bound / 10f64.powi(place) - 1e-9).ceil() * 10f64.powi(place);
    let text = format!("{up:.*}", (-place).max(0) as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_have_no_noise_of_the_last_digits() {
        assert_eq!([100.0 * 0.000_001, 0.05, 0.012_345].map(short), ["0.0001", "0.05", "0.0123"]);
    }

    #[test]
    fn bounds_are_rounded_up() {
        for (value, text) in [
            (0.01234, "0.013"),
            (0.02, "0.02"),
            (123.0, "130"),
            (99.5, "100"),
            (0.0, "0"),
            (7.0, "7"),
        ] {
            assert_eq!(bound(value), text);
        }
    }
}
