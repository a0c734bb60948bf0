//! The identity of a document: when, where and by which version it was made.

use hairspring_core::hash;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// When, where and by which version a document was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// Time at which it was made (RFC 3339, UTC).
    pub created: String,
    /// Fingerprint of the machine that ran Hairspring: equal for runs on the same installation of
    /// the same machine.
    pub host: Option<String>,
    /// Version of Hairspring.
    pub version: String,
    /// Commit of the working directory, if it is a git checkout.
    pub commit: Option<String>,
}

impl Identity {
    /// The identity of a document that is made by this version.
    ///
    /// ```
    /// use hairspring_result::Identity;
    /// use std::time::{Duration, SystemTime};
    /// let identity = Identity::new(SystemTime::UNIX_EPOCH + Duration::from_secs(86_400), None,
    ///     None);
    /// assert_eq!(identity.created, "1970-01-02T00:00:00Z");
    /// ```
    pub fn new(created: SystemTime, host: Option<String>, commit: Option<String>) -> Identity {
        Identity {
            created: rfc3339(created),
            host,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit,
        }
    }
}

/// A time in UTC in the format of RFC 3339, in whole seconds. Times before 1970 are shown as the
/// start of 1970.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day in the Gregorian calendar of the day this many days after 1970-01-01.
fn date(mut days: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970 + 400 * (days / 146_097);
    days %= 146_097;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let mut month = 0;
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month + 1, days + 1)
}

/// Seconds since 1970 of a time that a document has; `None` if it is in another format.
///
/// ```
/// use hairspring_result::identity::seconds;
/// assert_eq!(seconds("1970-01-02T00:00:07Z"), Some(86_407));
/// assert_eq!(seconds("yesterday"), None);
/// ```
pub fn seconds(created: &str) -> Option<i64> {
    let digits = |from: usize, to: usize| {
        let text = created.get(from..to).filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        text.and_then(|text| text.parse::<i64>().ok())
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    let bytes = created.as_bytes();
    if bytes.len() != 20 || marks.iter().any(|(at, mark)| bytes[*at] != *mark) {
        return None;
    }
    let days = days(digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    Some(days * 86_400 + digits(11, 13)? * 3_600 + digits(14, 16)? * 60 + digits(17, 19)?)
}

/// Days from 1970-01-01 to a day of the Gregorian calendar. The year is counted from March, so that
/// the leap day is its last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (153 * month + 2) / 5 + day - 719_469
}

/// Hash of a piece of code for documents: 64-bit FNV-1a, in hexadecimal. It shows whether two
/// results are about the same code; it is not a cryptographic hash.
pub fn code_hash(code: &str) -> String {
    hash::fingerprint(code.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_agree_with_humantime() {
        // Steps of 1 day, 1 hour, 1 minute and 1 second through two cycles of the calendar.
        for seconds in (0..800 * 31_556_952).step_by(86_400 + 3_600 + 60 + 1) {
            let time = UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            assert_eq!(rfc3339(time), humantime::format_rfc3339_seconds(time).to_string());
            assert_eq!(super::seconds(&rfc3339(time)), Some(seconds as i64));
        }
    }

    #[test]
    fn the_hash_differs_with_the_code() {
        assert_ne!(code_hash("x = x * c"), code_hash("x = x * d"));
    }
}
