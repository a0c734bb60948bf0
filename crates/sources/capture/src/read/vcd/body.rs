//! The changes of a dump.
//!
//! Nearly all words of a large dump are times and changes of other variables. These are looked at
//! eight bytes at a time ([`Body::skim`]); all that is rare goes word by word ([`Body::word`]),
//! which means the same.

use super::header::Channel;
use super::level::Levels;
use super::words::{byte, eight, first, is_blank, short_number, ticks, word_length};
use crate::edge::Edge;
use crate::error::shown;

/// Larger times are not exact in a double.
const MOST_TIME: u64 = 1 << 53;

/// What the next word is.
#[derive(Debug, Default)]
enum Next {
    /// A time, or the beginning of a change.
    #[default]
    Change,
    /// A word of a comment, up to `$end`.
    Comment,
    /// The variable of a value.
    Variable(Vec<u8>),
    /// One of so many strengths of a port, in front of the variable of a value.
    Strength(Vec<u8>, u8),
}

#[derive(Debug, Default)]
pub(super) struct Body {
    channel: Channel,
    /// The identifier as the lowest bytes of a number; longer ones are compared as words.
    key: u64,
    next: Next,
    pub(super) levels: Levels,
}

impl Body {
    pub(super) fn new(channel: Channel) -> Body {
        let mut key = [0; 8];
        key.iter_mut().zip(&channel.id).for_each(|(key, id)| *key = *id);
        Body { channel, key: u64::from_le_bytes(key), ..Body::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.channel.name
    }

    /// Whether a word at the end of the file, without a line end, cannot be the beginning of a
    /// longer one that concerns the channel.
    pub(super) fn is_whole(&self, word: &[u8]) -> bool {
        let id = match (&self.next, word) {
            (_, b"$end") => return true,
            (Next::Variable(_), id) => id,
            (Next::Change, [b'#' | b'b' | b'B' | b'p' | b'$', ..]) => return false,
            (Next::Change, [_, id @ ..]) => id,
            _ => return false,
        };
        match id == self.channel.id {
            true => !self.channel.has_longer_id,
            false => !self.channel.id.starts_with(id),
        }
    }

    /// Processes words from a place on, up to one that [`Body::word`] has to look at, whose place
    /// is returned, or up to the last bytes.
    #[inline]
    pub(super) fn skim(&mut self, bytes: &[u8], at: usize, sink: &mut dyn FnMut(Edge)) -> usize {
        let mut at = at;
        if !matches!(self.next, Next::Change) {
            return at;
        }
        while let Some(word) = eight(bytes, at) {
            let length = match word as u8 {
                b'#' => self.skim_time(bytes, at),
                b'0' | b'1' | b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'l'
                | b'L' | b'h' | b'H' | b'-' => self.skim_level(word, sink),
                b'b' | b'B' | b'r' | b'R' | b's' | b'S' => self.skim_value(bytes, at),
                b'\t'..=b' ' => Some(0),
                _ => None,
            };
            let Some(length) = length else { break };
            // The blank behind a word.
            at += length + 1;
        }
        at
    }

    #[inline]
    fn skim_time(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let (time, digits) = short_number(bytes, at + 1)?;
        if time < self.levels.time {
            return None;
        }
        self.levels.time = time;
        Some(1 + digits)
    }

    #[inline]
    fn skim_level(&mut self, word: u64, sink: &mut dyn FnMut(Edge)) -> Option<usize> {
        let length = word_length(word);
        if !(2..8).contains(&length) || !is_blank(byte(word, length)) {
            return None;
        }
        if length == self.channel.id.len() + 1 && first(word, length) >> 8 == self.key {
            self.levels.set(word as u8, sink);
        }
        Some(length)
    }

    /// Skips a value of another variable.
    #[inline]
    fn skim_value(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let mut blank = at;
        loop {
            let length = word_length(eight(bytes, blank)?);
            blank += length;
            if length < 8 {
                break;
            }
        }
        let id = eight(bytes, blank + 1)?;
        let length = word_length(id);
        let is_plain = (1..8).contains(&length)
            && is_blank(byte(id, length))
            && bytes.get(blank).copied().is_some_and(is_blank);
        if !is_plain || (length == self.channel.id.len() && first(id, length) == self.key) {
            return None;
        }
        Some(blank + 1 + length - at)
    }

    /// Processes a word.
    ///
    /// # Errors
    /// What is wrong, without the place.
    pub(super) fn word(&mut self, word: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<(), String> {
        match std::mem::take(&mut self.next) {
            Next::Change => self.change(word, sink)?,
            Next::Comment if word == b"$end" => (),
            Next::Comment => self.next = Next::Comment,
            Next::Strength(value, more) => {
                self.next = match more {
                    0 | 1 => Next::Variable(value),
                    more => Next::Strength(value, more - 1),
                }
            }
            Next::Variable(value) => {
                if word == self.channel.id && !value.is_empty() {
                    self.levels.set(bit(&value, self.channel.bit), sink);
                }
            }
        }
        Ok(())
    }

    fn change(&mut self, word: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<(), String> {
        let (kind, rest) = word.split_first().unwrap_or((&b' ', &[]));
        match kind {
            b'#' => self.levels.time = self.time(word, rest)?,
            b'0' | b'1' | b'x' | b'X' | b'z' | b'Z' | b'u' | b'U' | b'w' | b'W' | b'l' | b'L'
            | b'h' | b'H' | b'-' => {
                if rest == self.channel.id {
                    self.levels.set(*kind, sink);
                } else if rest.is_empty() {
                    // A blank stands between the value and the identifier.
                    self.next = Next::Variable(word.to_vec());
                }
            }
            b'b' | b'B' => self.next = Next::Variable(rest.to_vec()),
            b'r' | b'R' | b's' | b'S' => self.next = Next::Variable(Vec::new()),
            b'p' => self.next = Next::Strength(rest.iter().map(level_of_port).collect(), 2),
            b'$' if word == b"$comment" => self.next = Next::Comment,
            b'$' => (),
            _ => {
                let text = shown(&String::from_utf8_lossy(word));
                return Err(format!("`{text}` is not a value change"));
            }
        }
        Ok(())
    }

    fn time(&self, word: &[u8], digits: &[u8]) -> Result<u64, String> {
        let text = || shown(&String::from_utf8_lossy(word));
        match ticks(digits) {
            Some(time) if time < self.levels.time => {
                Err(format!("the time goes backwards, from {} to {time}", self.levels.time))
            }
            Some(time) if time < MOST_TIME => Ok(time),
            Some(_) => Err(format!("the time `{}` is beyond 2^53", text())),
            None => Err(format!("`{}` is not a time", text())),
        }
    }
}

/// The value of a port's state (IEEE 1364, extended dumps): low and high driven from outside, from
/// inside or from both sides; all others are undefined.
fn level_of_port(state: &u8) -> u8 {
    match state {
        b'D' | b'd' | b'L' | b'l' | b'0' => b'0',
        b'U' | b'u' | b'H' | b'h' | b'1' => b'1',
        _ => b'x',
    }
}

/// A bit of a vector; digits omitted on the left are 0, or x or z if the leftmost digit is.
fn bit(value: &[u8], bit: usize) -> u8 {
    let place = value.len().checked_sub(1).and_then(|last| last.checked_sub(bit));
    match (place.and_then(|at| value.get(at)), value.first()) {
        (Some(digit), _) => *digit,
        (None, Some(b'1') | None) => b'0',
        (None, Some(leftmost)) => *leftmost,
    }
}
