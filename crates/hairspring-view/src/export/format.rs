//! What a format is.

use super::{Entry, Timed};
use hairspring_result::Environment;

/// A format of another tool.
#[derive(Debug, Clone)]
pub struct Format {
    /// Its name: one word of lower-case letters, with hyphens.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// What it is for in a list of all formats: the name of the tool.
    pub purpose: &'static str,
    /// The format in one sentence, without a full stop.
    pub help: &'static str,
    /// Where it has the interval, for `spec/result.md`.
    pub interval: &'static str,
    /// How it writes names.
    pub names: Names,
    /// What it has a place for, and the function that writes it.
    pub(super) holds: Holds,
    /// The labels in a text of this format, as its reader finds them.
    #[cfg(test)]
    pub(super) labels: fn(&str) -> Vec<String>,
}

/// How a format writes names, which may hold any characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// As strings in one JSON document.
    Json,
    /// With some characters written in another way, as this says for `spec/result.md`.
    Escaped(&'static str),
}

/// What a format has a place for, with the function from it to the text. The text ends in a
/// newline.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holds {
    /// Everything: times, cycles and ticks, with their intervals.
    Everything(fn(&[Entry], &Environment) -> String),
    /// Times with their intervals; a component in ticks, whose clock's rate is unknown, is left
    /// out.
    Intervals(fn(&[Timed], &Environment) -> String),
    /// Times without intervals: a component below resolution is left out as well.
    PlainTimes(fn(&[Timed], &Environment) -> String),
}

impl Format {
    /// Whether it is one JSON document.
    pub fn is_json(&self) -> bool {
        self.names == Names::Json
    }

    /// What is left out of it, for `spec/result.md`.
    #[cfg(test)]
    pub(super) fn left_out(&self) -> &'static str {
        match self.holds {
            Holds::Everything(_) => "nothing",
            Holds::Intervals(_) => "no time in ns",
            Holds::PlainTimes(_) => "no time in ns, below resolution",
        }
    }
}
