//! What a page asks for, as JSON.

use hairspring_core::estimate::Options;
use hairspring_core::pipeline::optional_stages;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::ops::RangeInclusive;

/// Confidence levels of intervals.
const LEVELS: RangeInclusive<f64> = 0.5..=0.9999;
/// Core clocks at which times may be stated, in hertz.
const CLOCKS: RangeInclusive<f64> = 1e3..=1e12;

/// How a file is to be read.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// What it is; found from its content without it.
    pub kind: Option<super::kind::Kind>,
    /// Of a recording: the channel, by its name or its number from 1.
    pub channel: Option<String>,
    /// The counts of the pulses: `pattern`, or a list that repeats, such as `1..20`.
    pub k: Option<String>,
    /// Whether incomplete rounds of the list are left out.
    pub trim: bool,
    /// Names of the components that the pattern counts, separated by commas.
    pub components: String,
    /// The edge before the code: `rising` or `falling`.
    pub polarity: Option<Polarity>,
    /// Length of the reference intervals in the recording, in seconds.
    pub reference: Option<f64>,
    /// Whether the times are those of a simulator.
    pub exact_clock: bool,
}

/// The edge before the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Polarity {
    /// Low when idle.
    Rising,
    /// High when idle.
    Falling,
}

/// How a table is to be solved.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Solving {
    /// Confidence level of all intervals.
    pub confidence: Option<f64>,
    /// Whether rows off the line are used.
    pub keep_all: bool,
    /// Names of stages that do not run.
    pub without: Vec<String>,
    /// Rows that are left out, by their place in the table.
    pub rows: Vec<u32>,
    /// Rounds that are left out: the first and the last of each range.
    pub rounds: Vec<(u32, u32)>,
    /// The core clock at which times are also stated, in hertz.
    pub at_clock: Option<f64>,
}

impl Solving {
    /// The options of the solver.
    ///
    /// # Errors
    /// A level or a name that it does not have, with those that it has.
    pub fn options(&self) -> Result<Options, String> {
        let level = self.confidence.unwrap_or(Options::default().level);
        within("confidence", level, &LEVELS)?;
        self.at_clock.map_or(Ok(()), |hz| within("at_clock", hz, &CLOCKS))?;
        self.without.iter().try_for_each(|name| known(name))?;
        let without = self.without.clone();
        Ok(Options { level, leave_rows_out: !self.keep_all, without, ..Options::default() })
    }

    /// Whether a reading of this row and round is left out by the page.
    pub fn leaves_out(&self, row: u32, round: u32) -> bool {
        self.rows.contains(&row)
            || self.rounds.iter().any(|(first, last)| (*first..=*last).contains(&round))
    }

    /// Whether the page leaves any reading out.
    pub fn is_partial(&self) -> bool {
        !self.rows.is_empty() || !self.rounds.is_empty()
    }
}

/// What is asked for.
///
/// # Errors
/// The text is not JSON, or has a key or a value of another kind.
pub fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| format!("the options of the page: {error}"))
}

fn within(name: &str, value: f64, range: &RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("`{name}` is {value}: it lies between {} and {}", range.start(), range.end()))
}

fn known(name: &str) -> Result<(), String> {
    let names = || optional_stages().into_iter().map(|stage| stage.name);
    if names().any(|known| known == name) {
        return Ok(());
    }
    let all: Vec<&str> = names().collect();
    Err(format!("`{name}` is no stage that can be left out; these can: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<Options, String> {
        parsed::<Solving>(text)?.options()
    }

    #[test]
    fn options_are_those_of_the_command() {
        assert_eq!(options("{}"), Ok(Options::default()));
        let asked = options(r#"{"confidence": 0.99, "keep_all": true, "without": ["spikes"]}"#);
        let asked = asked.unwrap();
        assert_eq!((asked.level, asked.leave_rows_out), (0.99, false));
        assert_eq!(asked.without, ["spikes"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, reason) in [
            (r#"{"confidence": 1e30}"#, "between 0.5 and 0.9999"),
            (r#"{"confidence": "high"}"#, "expected f64"),
            (r#"{"without": ["rows"]}"#, "`rows` is no stage that can be left out"),
            (r#"{"at_clock": -1}"#, "`at_clock` is -1"),
            (r#"{"row": [1]}"#, "unknown field `row`"),
            (r#"{"rows": [-1]}"#, "invalid value"),
            ("", "the options of the page"),
        ] {
            let error = options(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn rows_and_rounds_are_left_out() {
        let asked: Solving = parsed(r#"{"rows": [2], "rounds": [[5, 9], [20, 20]]}"#).unwrap();
        let out = |row, round| asked.leaves_out(row, round);
        assert!(out(2, 0) && out(0, 5) && out(0, 9) && out(1, 20));
        assert!(!out(0, 4) && !out(1, 10) && asked.is_partial());
    }
}
