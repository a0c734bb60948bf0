//! Errors of recordings, with the place.

use std::fmt;

/// Result of reading a recording.
pub type Result<T> = std::result::Result<T, Error>;

/// A place in a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// Byte of the file, counted from 0.
    Byte(u64),
    /// Line of the file, counted from 1.
    Line(u64),
    /// Seconds from the beginning of the recording.
    Seconds(f64),
    /// Ticks of the recording, where its rate is unknown.
    Ticks(f64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Byte(byte) => write!(f, "byte {byte}"),
            Place::Line(line) => write!(f, "line {line}"),
            Place::Seconds(seconds) => write!(f, "at {seconds:.6} s"),
            Place::Ticks(ticks) => write!(f, "at tick {ticks}"),
        }
    }
}

/// Why a recording cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is invalid at a place.
    #[error("{place}: {reason}")]
    At {
        /// Where.
        place: Place,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// The recording as a whole cannot be used.
    #[error("{0}")]
    Unusable(String),
}

impl Error {
    /// An error at a byte.
    pub fn byte(byte: u64, reason: impl Into<String>) -> Error {
        Error::At { place: Place::Byte(byte), reason: reason.into() }
    }

    /// An error in a line.
    pub fn line(line: u64, reason: impl Into<String>) -> Error {
        Error::At { place: Place::Line(line), reason: reason.into() }
    }

    /// An I/O error of a stream.
    pub fn stream(error: &std::io::Error) -> Error {
        Error::Unusable(format!("cannot be read: {error}"))
    }
}

/// Text from a file for a message: shortened, without control characters.
pub(crate) fn shown(text: &str) -> String {
    const MOST_CHARACTERS: usize = 40;
    let short: String =
        text.chars().take(MOST_CHARACTERS).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().count() > MOST_CHARACTERS { format!("{short}...") } else { short }
}
