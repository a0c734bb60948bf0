//! The declarations of a dump.

use super::names::{Variable, channel};
use super::writer::{Writer, acquired_at, writer};
use crate::error::{Result, shown};

/// Most variables.
const MOST_VARIABLES: usize = 1 << 20;
/// Most words of a declaration that are kept.
const MOST_WORDS: usize = 16;

/// What was declared so far.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The words of the command so far.
    words: Vec<String>,
    scope: Vec<String>,
    variables: Vec<Variable>,
    pub(super) seconds: Option<f64>,
    pub(super) writer: Writer,
    /// Samples per second of a recorder that rounds their times to stamps.
    pub(super) sample_hz: Option<f64>,
}

/// The channel that was chosen.
#[derive(Debug, Default)]
pub(super) struct Channel {
    pub(super) id: Vec<u8>,
    /// The bit, counted from the lowest.
    pub(super) bit: usize,
    pub(super) name: String,
    /// Whether another identifier begins with that of the channel.
    pub(super) has_longer_id: bool,
}

impl Header {
    /// Nothing but the samples per second, if something outside of the file states them.
    pub(super) fn new(sample_hz: Option<f64>) -> Header {
        Header { sample_hz, ..Header::default() }
    }

    /// Takes a word; whether the header ends with it.
    ///
    /// # Errors
    /// What is wrong, without the place.
    pub(super) fn word(&mut self, word: &[u8]) -> std::result::Result<bool, String> {
        if word == b"$end" {
            let words = std::mem::take(&mut self.words);
            return self.declare(&words.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let text = String::from_utf8_lossy(word);
        if self.words.is_empty() && word.first() != Some(&b'$') {
            return Err(format!(
                "`{}` where a declaration such as $timescale is expected: this is not a value \
                 change dump",
                shown(&text)
            ));
        }
        if self.words.len() < MOST_WORDS {
            self.words.push(text.into_owned());
        }
        Ok(false)
    }

    fn declare(&mut self, words: &[&str]) -> std::result::Result<bool, String> {
        match words {
            ["$timescale", rest @ ..] => self.seconds = Some(timescale(&rest.concat())?),
            ["$comment", rest @ ..] => {
                self.sample_hz = acquired_at(rest).or(self.sample_hz);
                self.written_by(rest);
            }
            ["$version" | "$date", rest @ ..] => self.written_by(rest),
            ["$scope", _, name, ..] => self.scope.push((*name).to_owned()),
            ["$upscope", ..] => drop(self.scope.pop()),
            ["$var", _, width, id, name, rest @ ..] => self.variable(width, id, name, rest)?,
            ["$var", ..] => {
                return Err("$var needs a type, a width, an identifier and a name".into());
            }
            ["$enddefinitions", ..] => return Ok(true),
            _ => (),
        }
        Ok(false)
    }

    /// The first text that names a writer counts.
    fn written_by(&mut self, words: &[&str]) {
        if self.writer == Writer::Unknown {
            self.writer = writer(&words.join(" "));
        }
    }

    fn variable(
        &mut self,
        width: &str,
        id: &str,
        name: &str,
        range: &[&str],
    ) -> std::result::Result<(), String> {
        // A port of several bits has its range in place of the width.
        let of_port = ends_of(width.trim_start_matches('['));
        let bits = of_port.map(|(left, right)| left.abs_diff(right).checked_add(1));
        let Some(width) = bits.unwrap_or_else(|| width.parse().ok()) else {
            return Err(format!(
                "the width of `{}` is `{}`, expected a number",
                shown(name),
                shown(width)
            ));
        };
        if self.variables.len() == MOST_VARIABLES {
            return Err(format!("more than {MOST_VARIABLES} variables"));
        }
        let full = name.to_owned() + &range.concat();
        // The range of a vector is not part of its name.
        let (name, range) = match full.rsplit_once('[') {
            Some((name, range)) if range.contains(':') => (name.to_owned(), range),
            _ => (full.clone(), ""),
        };
        let scoped: Vec<&str> =
            self.scope.iter().map(String::as_str).chain([name.as_str()]).collect();
        self.variables.push(Variable {
            id: id.as_bytes().to_vec(),
            name: scoped.join("."),
            width,
            ends: ends_of(range).or(of_port).unwrap_or((u32::MAX, 0)),
        });
        Ok(())
    }

    /// Chooses the channel at the end of the header.
    ///
    /// # Errors
    /// A missing channel, or several and none requested.
    pub(super) fn channel(&mut self, wanted: Option<&str>) -> Result<Channel> {
        let (at, bit) = channel(&self.variables, wanted)?;
        let variables = std::mem::take(&mut self.variables);
        let Some(chosen) = variables.get(at) else { return Ok(Channel::default()) };
        let is_longer = |variable: &Variable| {
            variable.id.len() > chosen.id.len() && variable.id.starts_with(&chosen.id)
        };
        Ok(Channel {
            id: chosen.id.clone(),
            bit,
            name: wanted.map_or_else(|| chosen.name.clone(), str::to_owned),
            has_longer_id: variables.iter().any(is_longer),
        })
    }
}

/// The numbers of a range such as `7:0]`.
fn ends_of(range: &str) -> Option<(u32, u32)> {
    let (left, right) = range.trim_end_matches(']').split_once(':')?;
    Some((left.trim().parse().ok()?, right.trim().parse().ok()?))
}

/// Seconds of a timescale such as `10ns`. The standard has 1, 10 and 100 only, but simulators of
/// boards write their clock's period, such as `41666667 fs`.
fn timescale(text: &str) -> std::result::Result<f64, String> {
    const UNITS: [(&str, f64); 6] =
        [("fs", 1e15), ("ps", 1e12), ("ns", 1e9), ("us", 1e6), ("ms", 1e3), ("s", 1.0)];
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let per_second =
        UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, per_second)| *per_second);
    let number = number.parse::<f64>().ok().filter(|number| *number > 0.0 && number.is_finite());
    match number.zip(per_second) {
        Some((number, per_second)) => Ok(number / per_second),
        None => Err(format!(
            "the timescale is `{}`, expected a number above 0 and a unit, such as 10 ns",
            shown(text)
        )),
    }
}
