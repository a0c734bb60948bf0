//! The fields of a table's rows: numbers with a point or, between semicolons, with a comma; dates
//! of day and time.

use crate::error::shown;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Parses rows. Dates count from the first one, so that no digit is lost.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Seconds from 1970 to the first date.
    origin: Option<i64>,
    /// Columns before the first that counts, which some oscilloscopes fill with their settings.
    pub(super) skipped: usize,
    /// Whether empty fields at the end of a row do not count.
    pub(super) open_end: bool,
}

/// Levels that are neither 0 nor 1, as logic analysers and simulators write them.
const UNDEFINED_LEVELS: [&str; 8] = ["x", "X", "z", "Z", "u", "U", "-", "?"];
/// What PicoScope writes for a voltage beyond its range.
const BEYOND_RANGE: [&str; 2] = ["∞", "-∞"];

impl Fields {
    /// The numbers of a row; a level that is not defined, or a voltage beyond the range, is NaN.
    ///
    /// # Errors
    /// The field that is not a number.
    pub(super) fn numbers(&mut self, text: &str) -> Result<Vec<f64>, String> {
        let (separator, comma) = separator(text);
        let text = if self.open_end { text.trim_end_matches([separator, ' ']) } else { text };
        text.split(separator)
            .skip(self.skipped)
            .enumerate()
            .map(|(at, field)| self.number(at, field, comma))
            .collect()
    }

    fn number(&mut self, at: usize, field: &str, comma: bool) -> Result<f64, String> {
        let field = field.trim().trim_matches('"');
        let parsed = if comma { field.replacen(',', ".", 1).parse() } else { field.parse() };
        let number = parsed.ok().filter(|value: &f64| value.is_finite());
        let dated = || {
            let (seconds, fraction) = date(field).filter(|_| at == 0)?;
            Some((seconds - *self.origin.get_or_insert(seconds)) as f64 + fraction)
        };
        let with_unit = || time_with_unit(field, comma).filter(|_| at == 0);
        let no_level = || {
            (at > 0 && (UNDEFINED_LEVELS.contains(&field) || BEYOND_RANGE.contains(&field)))
                .then_some(f64::NAN)
        };
        // Rigol writes its digital channels beside the volts as bytes, `0x00`.
        let byte = || {
            field
                .strip_prefix("0x")
                .and_then(|digits| u32::from_str_radix(digits, 16).ok())
                .map(f64::from)
        };
        number
            .or_else(byte)
            .or_else(with_unit)
            .or_else(dated)
            .or_else(no_level)
            .ok_or_else(|| format!("`{}` is not a number", shown(field)))
    }
}

/// Whether a row has a time and no values.
pub(super) fn is_blank(text: &str) -> bool {
    let (separator, _) = separator(text);
    text.split_once(separator).is_some_and(|(time, values)| {
        !time.trim().is_empty() && values.trim_matches([separator, ' ']).is_empty()
    })
}

/// Seconds of a time with its own unit and gaps between its digits, as ScanaStudio writes it:
/// `4.860 530 ms`, or `4,860 530 ms` where numbers have a comma.
fn time_with_unit(text: &str, comma: bool) -> Option<f64> {
    const UNITS: [(&str, f64); 7] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("μs", 1e-6),
        ("ms", 1e-3),
        ("ps", 1e-12),
        ("s", 1.0),
    ];
    let (digits, unit) = text.rsplit_once(' ')?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let digits = digits.replace(' ', "");
    let number: f64 = if comma { digits.replacen(',', ".", 1) } else { digits }.parse().ok()?;
    Some(number * factor).filter(|seconds| seconds.is_finite())
}

/// Names of columns.
pub(super) fn names(text: &str) -> Vec<String> {
    text.split(separator(text).0).map(|name| name.trim().trim_matches('"').to_owned()).collect()
}

/// The separator of the fields, and whether numbers have a decimal comma.
fn separator(text: &str) -> (char, bool) {
    match text {
        _ if text.contains(';') => (';', true),
        _ if text.contains('\t') => ('\t', true),
        _ => (',', false),
    }
}

/// Seconds from 1970 and the fraction of one, of a date and time of ISO 8601 such as
/// `2024-03-01T12:00:00.25+00:00`; without a zone it is UTC. The fraction may have more digits than
/// nanoseconds, the limit of the library.
fn date(text: &str) -> Option<(i64, f64)> {
    // The library accepts a date without a time.
    text.find(':')?;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let zone_at = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, zone) = rest.split_at(zone_at);
    let whole = format!("{whole}{zone}");
    let zoned = whole.parse::<Timestamp>().map(Timestamp::as_second);
    let seconds = zoned
        .or_else(|_| {
            whole
                .parse::<DateTime>()?
                .to_zoned(TimeZone::UTC)
                .map(|time| time.timestamp().as_second())
        })
        .ok()?;
    Some((seconds, format!("0.{digits}").parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_convert_to_seconds() {
        assert_eq!(date("1970-01-01T00:00:00Z"), Some((0, 0.0)));
        assert_eq!(date("2024-03-01T12:00:00.25+00:00"), Some((1_709_294_400, 0.25)));
        assert_eq!(date("2024-03-01 13:30:00.25+01:30"), Some((1_709_294_400, 0.25)));
        assert_eq!(date("2000-02-29T00:00:00-01:00"), Some((951_786_000, 0.0)));
        for wrong in [
            "",
            "2024-03-01",
            "2024-13-01T00:00:00",
            "24-03-01T00:00:00",
            "2024-03-01T0:00:00",
            "2024-03-01T00:00:00.x",
            "xTy",
            "Tä+é",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_with_units_are_seconds() {
        let near = |text: &str, seconds: f64| {
            assert!((time_with_unit(text, false).unwrap() / seconds - 1.0).abs() < 1e-12, "{text}")
        };
        near("4.860 530 ms", 4.860_53e-3);
        near("1 250 ns", 1.25e-6);
        near("12.5 µs", 1.25e-5);
        near("2.000 001 5 s", 2.000_001_5);
        assert_eq!(time_with_unit("0 ns", true), Some(0.0));
        for wrong in
            ["", "5", "ms", " ms", "5 parsecs", "1..2 ms", "1e999 s", "5ms", "4,860 530 ms"]
        {
            assert_eq!(time_with_unit(wrong, false), None, "{wrong}");
        }
        let mut fields = Fields::default();
        let row = fields.numbers("4.860 530 ms;1;0").unwrap();
        assert!((row[0] - 4.860_53e-3).abs() < 1e-15 && row[1..] == [1.0, 0.0]);
        assert_eq!(fields.numbers("4,860 530 ms;1;0").unwrap(), row);
        assert!(
            fields.numbers("4,860,530 ms;1;0").is_err()
                && fields.numbers("4,860 530 ms,1,0").is_err()
        );
        assert!(fields.numbers("0;1 ms").is_err());
    }

    #[test]
    fn decimal_points_and_commas_are_read() {
        let mut fields = Fields::default();
        assert_eq!(fields.numbers("0.5, 1"), Ok(vec![0.5, 1.0]));
        assert_eq!(fields.numbers("0,5;1;-2,25"), Ok(vec![0.5, 1.0, -2.25]));
        assert_eq!(fields.numbers("0,5\t\"1\""), Ok(vec![0.5, 1.0]));
        assert!(fields.numbers("1,y").unwrap_err().contains("`y` is not a number"));
        assert!(fields.numbers("1,X").unwrap()[1].is_nan() && fields.numbers("X,1").is_err());
        let mut open = Fields { skipped: 1, open_end: true, ..Fields::default() };
        assert_eq!(open.numbers("Volts,1.5,2,,"), Ok(vec![1.5, 2.0]));
        assert!(fields.numbers("0;1,2,3").unwrap_err().contains("`1,2,3` is not a number"));
        assert_eq!(fields.numbers("2024-03-01T23:59:59.999999999Z,0").unwrap()[0], 0.999_999_999);
        assert_eq!(fields.numbers("2024-03-02T00:00:00.000000001Z,0").unwrap()[0], 1.000_000_001);
        assert!(fields.numbers("0,2024-03-02T00:00:00Z").is_err());
        assert_eq!(names("Time [s];Kanal 1"), ["Time [s]", "Kanal 1"]);
    }
}
