//! The declarations of a dump.

use crate::error::{Result, shown};
use crate::read::dump::{Declared, Names, Origin, Variable, ends_of};

/// Most words of a declaration that are kept.
const MOST_WORDS: usize = 16;

/// What was declared so far.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The words of the command so far.
    words: Vec<String>,
    names: Names,
    pub(super) seconds: Option<f64>,
    pub(super) origin: Origin,
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
        Header { origin: Origin::new(sample_hz), ..Header::default() }
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
            ["$timescale", rest @ ..] => self.unit(timescale(&rest.concat())?)?,
            ["$comment", rest @ ..] => self.origin.comment(rest),
            ["$version" | "$date", rest @ ..] => self.origin.version(rest),
            ["$scope", _, name, ..] => self.names.enter(name)?,
            ["$upscope", ..] => self.names.leave(),
            // No bit of these is a channel.
            ["$var", "real" | "realtime" | "shortreal" | "string", _, id, name, rest @ ..] => {
                self.variable("0", id, name, rest)?;
            }
            ["$var", _, width, id, name, rest @ ..] => self.variable(width, id, name, rest)?,
            ["$var", ..] => {
                return Err("$var needs a type, a width, an identifier and a name".into());
            }
            ["$enddefinitions", ..] => return Ok(true),
            _ => (),
        }
        Ok(false)
    }

    /// Takes the unit of the times.
    fn unit(&mut self, seconds: f64) -> std::result::Result<(), String> {
        match self.seconds.replace(seconds).filter(|before| *before != seconds) {
            Some(before) => Err(format!(
                "there are two timescales, {before:e} s and {seconds:e} s: remove the wrong one"
            )),
            None => Ok(()),
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
        let bits = of_port.map(|(left, right)| {
            left.abs_diff(right).checked_add(1).and_then(|bits| u32::try_from(bits).ok())
        });
        let Some(width) = bits.unwrap_or_else(|| width.parse().ok()) else {
            return Err(format!(
                "the width of `{}` is `{}`, expected a number",
                shown(name),
                shown(width)
            ));
        };
        let name = name.to_owned() + &range.concat();
        let id = id.as_bytes();
        self.names.declare(&Declared { id, name: &name, width, ends: of_port })
    }

    /// Chooses the channel at the end of the header.
    ///
    /// # Errors
    /// A missing channel, or several and none requested.
    pub(super) fn channel(&mut self, wanted_channel: Option<&str>) -> Result<Channel> {
        let names = std::mem::take(&mut self.names);
        let Some((chosen, bit)) = names.choose(wanted_channel)? else {
            return Ok(Channel::default());
        };
        let is_longer = |variable: &Variable| {
            variable.id.len() > chosen.id.len() && variable.id.starts_with(&chosen.id)
        };
        Ok(Channel {
            id: chosen.id.clone(),
            bit,
            name: wanted_channel.map_or_else(|| chosen.name.clone(), str::to_owned),
            has_longer_id: names.variables().iter().any(is_longer),
        })
    }
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
