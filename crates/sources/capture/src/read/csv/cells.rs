//! The cells of a table's rows: numbers with a point or, between semicolons or tabs, with a comma;
//! dates and times of day; words for levels.

use super::decimal::Decimal;
use crate::error::shown;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// What stands between the cells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Separator {
    #[default]
    Comma,
    Semicolon,
    Tab,
    /// Any number of blanks.
    Blanks,
}

impl Separator {
    /// The separator of a line; blanks only if there is no other one.
    pub(super) fn of(text: &str) -> Separator {
        match text {
            _ if text.contains(';') => Separator::Semicolon,
            _ if text.contains('\t') => Separator::Tab,
            _ => Separator::Comma,
        }
    }

    /// The separator of a row of numbers, which may be blanks.
    pub(super) fn of_row(text: &str) -> Separator {
        let is_number = |cell: &str| Decimal::parse(cell).is_some();
        let mut cells = text.split_ascii_whitespace();
        let by_blanks = !text.contains([',', ';', '\t'])
            && cells.clone().nth(1).is_some()
            && cells.all(is_number);
        if by_blanks { Separator::Blanks } else { Separator::of(text) }
    }

    /// Whether numbers may have a decimal comma.
    fn comma(self) -> bool {
        self != Separator::Comma
    }

    /// The cells of a line, without quotes and blanks around them.
    pub(super) fn cells(self, text: &str) -> Cells<'_> {
        let separator = match self {
            Separator::Comma => ',',
            Separator::Semicolon => ';',
            Separator::Tab => '\t',
            Separator::Blanks => ' ',
        };
        Cells { rest: Some(text), separator, blanks: self == Separator::Blanks }
    }
}

/// Cells of a line, from left to right.
#[derive(Debug, Clone)]
pub(super) struct Cells<'a> {
    rest: Option<&'a str>,
    separator: char,
    blanks: bool,
}

impl<'a> Iterator for Cells<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest?.trim_start_matches(' ');
        // A separator between quotes belongs to the cell.
        let quoted =
            rest.strip_prefix('"').and_then(|inner| inner.find('"')).map_or(0, |at| at + 2);
        let end = rest[quoted..].find(self.separator).map(|at| at + quoted);
        let (cell, rest) = match end {
            Some(end) => (&rest[..end], Some(&rest[end + self.separator.len_utf8()..])),
            None => (rest, None),
        };
        self.rest = rest.filter(|rest| !self.blanks || !rest.trim().is_empty());
        Some(cell.trim().trim_matches('"').trim())
    }
}

/// Names of columns: the cells of a line without empty ones at its end.
pub(super) fn names(text: &str) -> Vec<String> {
    owned(Separator::of(text).cells(text))
}

/// Cells as text, without empty ones at the end.
pub(super) fn owned(cells: Cells<'_>) -> Vec<String> {
    let mut names: Vec<String> = cells.map(str::to_owned).collect();
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    names
}

/// Whether a row has no values: separators alone, or a time alone.
pub(super) fn is_blank(text: &str) -> bool {
    let mut cells = Separator::of(text).cells(text);
    cells.next();
    let mut rest = cells.peekable();
    rest.peek().is_some() && rest.all(str::is_empty)
}

/// Whether a row has several columns.
pub(super) fn has_columns(text: &str) -> bool {
    owned(Separator::of(text).cells(text)).len() > 1
}

/// Words for levels that are neither high nor low, as logic analysers and simulators write them.
const UNDEFINED_LEVELS: [&str; 8] = ["x", "X", "z", "Z", "u", "U", "-", "?"];
/// What PicoScope writes for a voltage beyond its range.
const BEYOND_RANGE: [&str; 2] = ["∞", "-∞"];
/// Words for the levels 0 and 1, in lower case.
const LEVELS: [(&str, f64); 8] = [
    ("low", 0.0),
    ("high", 1.0),
    ("l", 0.0),
    ("h", 1.0),
    ("false", 0.0),
    ("true", 1.0),
    ("off", 0.0),
    ("on", 1.0),
];

/// A value: a number or a level; NaN for a level that is not defined or a voltage beyond the range.
///
/// # Errors
/// A cell that is neither.
pub(super) fn value(cell: &str, separator: Separator) -> Result<f64, String> {
    // Rigol writes its digital channels beside the volts as bytes, `0x00`.
    let byte = || {
        let digits = cell.strip_prefix("0x").filter(|digits| !digits.starts_with('+'))?;
        u32::from_str_radix(digits, 16).ok().map(f64::from)
    };
    let level = || {
        let cell = cell.to_lowercase();
        LEVELS.iter().find(|(word, _)| *word == cell).map(|(_, level)| *level)
    };
    let undefined =
        || (UNDEFINED_LEVELS.contains(&cell) || BEYOND_RANGE.contains(&cell)).then_some(f64::NAN);
    number(cell, separator)
        .map(Decimal::to_f64)
        .filter(|value| value.is_finite())
        .or_else(byte)
        .or_else(undefined)
        .or_else(level)
        .ok_or_else(|| no_number(cell))
}

/// The error of a cell that is no number.
pub(super) fn no_number(cell: &str) -> String {
    format!("`{}` is not a number", shown(cell))
}

/// A plain number.
pub(super) fn number(cell: &str, separator: Separator) -> Option<Decimal> {
    Decimal::parse(cell).or_else(|| {
        let comma = separator.comma() && cell.contains(',');
        comma.then(|| Decimal::parse(&cell.replacen(',', ".", 1))).flatten()
    })
}

/// A time in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Time {
    /// The number.
    pub(super) at: Decimal,
    /// Whether it is in seconds whatever the name of the column says: a date, or a number with its
    /// own unit.
    pub(super) in_seconds: bool,
}

/// The time in a cell.
pub(super) fn time(cell: &str, separator: Separator) -> Option<Time> {
    if let Some(at) = number(cell, separator) {
        return Some(Time { at, in_seconds: false });
    }
    let at =
        time_with_unit(cell, separator).or_else(|| date(cell)).or_else(|| time_of_day(cell))?;
    Some(Time { at, in_seconds: true })
}

/// Seconds of a time with its own unit and gaps between its digits, as ScanaStudio writes it:
/// `4.860 530 ms`, or `4,860 530 ms` where numbers have a comma; also `5ms`.
fn time_with_unit(text: &str, separator: Separator) -> Option<Decimal> {
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == 'µ');
    let power = super::units::unit(&text[digits.len()..])?;
    let digits = digits.replace(' ', "");
    Some(number(&digits, separator)?.shifted(power))
}

/// Seconds from 1970 of a date and time of ISO 8601 such as `2024-03-01T12:00:00.25+00:00`; without
/// a zone it is UTC. The fraction may have more digits than nanoseconds, the limit of the library.
fn date(text: &str) -> Option<Decimal> {
    // The library accepts a date without a time.
    text.find(':')?;
    let (whole, rest) = text.split_once(['.', ',']).unwrap_or((text, ""));
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
    Decimal::with_fraction(seconds, if digits.is_empty() { "0" } else { digits })
}

/// Seconds of a time of day such as `12:34:56.789`.
fn time_of_day(text: &str) -> Option<Decimal> {
    let mut parts = text.splitn(3, ':');
    let mut whole = |most_value: i64| {
        let part = parts.next().filter(|part| (1..=2).contains(&part.len()))?;
        let is_digits = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<i64>().ok().filter(|value| is_digits && *value <= most_value)
    };
    let minutes = whole(23)? * 60 + whole(59)?;
    let (seconds, fraction) =
        parts.next().map(|part| part.split_once(['.', ',']).unwrap_or((part, "0")))?;
    let is_seconds = seconds.len() == 2 && seconds.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = seconds.parse::<i64>().ok().filter(|seconds| is_seconds && *seconds <= 60)?;
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    Decimal::with_fraction(60 * minutes + seconds, fraction).filter(|_| is_fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_convert_to_seconds() {
        let of = |text: &str| date(text).map(Decimal::to_f64);
        assert_eq!(of("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(of("2024-03-01T12:00:00.25+00:00"), Some(1_709_294_400.25));
        assert_eq!(of("2024-03-01 13:30:00.25+01:30"), Some(1_709_294_400.25));
        assert_eq!(of("2024-03-01T12:00:00,25"), Some(1_709_294_400.25));
        assert_eq!(of("2000-02-29T00:00:00-01:00"), Some(951_786_000.0));
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
            assert_eq!(of(wrong), None, "{wrong}");
        }
        let of = |text: &str| time_of_day(text).map(Decimal::to_f64);
        assert_eq!(of("12:34:56.789"), Some(45_296.789));
        assert_eq!(of("12:34:56,789"), Some(45_296.789));
        assert_eq!(of("0:00:01"), Some(1.0));
        for wrong in ["12:34", "24:00:00", "1:2:3", "12:34:56.", "-1:00:00", "12:34:5a", "1:+1:00"]
        {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_with_units_are_seconds() {
        let of = |text: &str, separator| {
            time(text, separator).filter(|time| time.in_seconds).map(|time| time.at.to_f64())
        };
        let comma = Separator::Comma;
        assert_eq!(of("4.860 530 ms", comma), Some(4.860_53e-3));
        assert_eq!(of("1 250 ns", comma), Some(1.25e-6));
        assert_eq!(of("12.5 µs", comma), Some(1.25e-5));
        assert_eq!(of("2.000 001 5 s", comma), Some(2.000_001_5));
        assert_eq!(of("5ms", comma), Some(5e-3));
        assert_eq!(of("4,860 530 ms", Separator::Semicolon), Some(4.860_53e-3));
        for wrong in ["", "5", "ms", " ms", "5 parsecs", "1..2 ms", "1e999 s", "4,860 530 ms"] {
            assert_eq!(of(wrong, comma), None, "{wrong}");
        }
    }

    #[test]
    fn values_are_numbers_and_levels() {
        let of = |text: &str| value(text, Separator::Semicolon);
        assert_eq!((of("0.5"), of("-2,25"), of("0x1f")), (Ok(0.5), Ok(-2.25), Ok(31.0)));
        assert_eq!((of("High"), of("false"), of("L")), (Ok(1.0), Ok(0.0), Ok(0.0)));
        assert!(of("X").unwrap().is_nan() && of("∞").unwrap().is_nan());
        assert!(of("1,2,3").unwrap_err().contains("`1,2,3` is not a number"));
        assert!(of("h4F").is_err() && of("").is_err() && of("nan").is_err());
        assert!(value("1,5", Separator::Comma).is_err());
    }

    #[test]
    fn cells_have_quotes_and_separators() {
        let of = |text: &str| names(text);
        assert_eq!(of("Time [s];Kanal 1"), ["Time [s]", "Kanal 1"]);
        assert_eq!(of("\"a,b\", \"c\",,"), ["a,b", "c"]);
        assert_eq!(of("\"0,5\",1"), ["0,5", "1"]);
        assert_eq!(of("\"open,1"), ["open", "1"]);
        let row = "  0.5   1 ";
        assert_eq!(Separator::of_row(row), Separator::Blanks);
        assert_eq!(owned(Separator::Blanks.cells(row)), ["0.5", "1"]);
        assert_eq!(Separator::of_row("4.860 530 ms"), Separator::Comma);
        assert_eq!(Separator::of_row("5"), Separator::Comma);
        assert!(is_blank(",,") && is_blank("1.5,") && is_blank(",") && is_blank("1; ;"));
        assert!(!is_blank("1") && !is_blank(",1") && !is_blank("0,1,"));
    }
}
