//! The fields of a table's rows: numbers with a point or, between semicolons, with a comma; dates of day and time.

use crate::error::shown;

/// Reads rows. Times of day count from the first one, so that no digit of them is lost.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Seconds from 1970 to the first date.
    origin: Option<i64>,
}

impl Fields {
    /// The numbers of a row.
    ///
    /// # Errors
    /// The field that is none.
    pub(super) fn numbers(&mut self, text: &str) -> Result<Vec<f64>, String> {
        let (separator, comma) = separator(text);
        text.split(separator).enumerate().map(|(at, field)| self.number(at, field, comma)).collect()
    }

    fn number(&mut self, at: usize, field: &str, comma: bool) -> Result<f64, String> {
        let field = field.trim().trim_matches('"');
        let parsed = if comma { field.replacen(',', ".", 1).parse() } else { field.parse() };
        let number = parsed.ok().filter(|value: &f64| value.is_finite());
        let dated = || {
            let (seconds, fraction) = date(field).filter(|_| at == 0)?;
            Some((seconds - *self.origin.get_or_insert(seconds)) as f64 + fraction)
        };
        number.or_else(dated).ok_or_else(|| format!("`{}` is no number", shown(field)))
    }
}

/// Names of columns.
pub(super) fn names(text: &str) -> Vec<String> {
    text.split(separator(text).0).map(|name| name.trim().trim_matches('"').to_owned()).collect()
}

/// What stands between the fields, and whether numbers have a comma where others have a point.
fn separator(text: &str) -> (char, bool) {
    match text {
        _ if text.contains(';') => (';', true),
        _ if text.contains('\t') => ('\t', true),
        _ => (',', false),
    }
}

/// Seconds from 1970 and the fraction of one, of a date and time of ISO 8601 such as `2024-03-01T12:00:00.25+00:00`.
fn date(text: &str) -> Option<(i64, f64)> {
    let (day, time) = text.split_once(['T', ' '])?;
    let number = |text: &str, digits: usize| text.parse::<i64>().ok().filter(|_| text.len() == digits && text.is_ascii());
    let mut parts = day.split('-');
    let (year, month, day) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let zone_at = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (time, zone) = time.split_at(zone_at);
    let zone = match zone.get(1..).filter(|zone| !zone.is_empty()) {
        None => 0,
        Some(offset) => {
            let (hours, minutes) = offset.split_once(':')?;
            (number(hours, 2)? * 3600 + number(minutes, 2)? * 60) * if zone.starts_with('-') { -1 } else { 1 }
        }
    };
    let (whole, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let fraction = format!("0.{fraction}").parse::<f64>().ok()?;
    let mut parts = whole.split(':');
    let (hours, minutes, seconds) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let possible = (1..=12).contains(&month) && (1..=31).contains(&day) && hours < 24 && minutes < 60 && seconds <= 60;
    possible.then(|| (days(year, month, day) * 86_400 + hours * 3600 + minutes * 60 + seconds - zone, fraction))
}

/// Days from 1970-01-01, in the calendar of today; years begin in March, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        assert_eq!(date("1970-01-01T00:00:00Z"), Some((0, 0.0)));
        assert_eq!(date("2024-03-01T12:00:00.25+00:00"), Some((1_709_294_400, 0.25)));
        assert_eq!(date("2024-03-01 13:30:00.25+01:30"), Some((1_709_294_400, 0.25)));
        assert_eq!(date("2000-02-29T00:00:00-01:00"), Some((951_786_000, 0.0)));
        for wrong in
            ["", "2024-03-01", "2024-13-01T00:00:00", "24-03-01T00:00:00", "2024-03-01T0:00:00", "2024-03-01T00:00:00.x", "xTy", "Tä+é"]
        {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rows_have_points_or_commas() {
        let mut fields = Fields::default();
        assert_eq!(fields.numbers("0.5, 1"), Ok(vec![0.5, 1.0]));
        assert_eq!(fields.numbers("0,5;1;-2,25"), Ok(vec![0.5, 1.0, -2.25]));
        assert_eq!(fields.numbers("0,5\t\"1\""), Ok(vec![0.5, 1.0]));
        assert!(fields.numbers("1,x").unwrap_err().contains("`x` is no number"));
        assert!(fields.numbers("0;1,2,3").unwrap_err().contains("`1,2,3` is no number"));
        assert_eq!(fields.numbers("2024-03-01T23:59:59.999999999Z,0").unwrap()[0], 0.999_999_999);
        assert_eq!(fields.numbers("2024-03-02T00:00:00.000000001Z,0").unwrap()[0], 1.000_000_001);
        assert!(fields.numbers("0,2024-03-02T00:00:00Z").is_err());
        assert_eq!(names("Time [s];Kanal 1"), ["Time [s]", "Kanal 1"]);
    }
}
