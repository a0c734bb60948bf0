//! The changes of a dump.
//!
//! Nearly all words of a large dump are times and changes of other variables. These are looked at
//! eight bytes at a time ([`Body::skim`]); all that is rare goes word by word ([`Body::word`]),
//! which means the same.

use super::header::Channel;
use super::words::{blanks, is_blank, part, short_number, sixteen, ticks};
use crate::edge::Edge;
use crate::error::shown;
use crate::read::dump::{Levels, MOST_TIME, level_of_port};

/// What a word is by its first byte.
#[derive(Clone, Copy)]
enum Kind {
    Other,
    Blank,
    Time,
    Scalar,
    /// A vector, a real number or a string, whose identifier is the next word.
    Vector,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let all: [(&[u8], Kind); 4] = [
        (b"\t\n\r ", Kind::Blank),
        (b"#", Kind::Time),
        (b"01xXzZuUwWlLhH-", Kind::Scalar),
        (b"bBrRsS", Kind::Vector),
    ];
    let mut row = 0;
    while row < all.len() {
        let mut at = 0;
        while at < all[row].0.len() {
            kinds[all[row].0[at] as usize] = all[row].1;
            at += 1;
        }
        row += 1;
    }
    kinds
};

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
        let (key, id_length) = (self.key, self.channel.id.len());
        while let Some(words) = sixteen(bytes, at) {
            let kind = KINDS[usize::from(words as u8)];
            let length = if matches!(kind, Kind::Scalar | Kind::Vector) {
                // Both kinds go the same way: branches between them could not be foreseen.
                let is_vector = matches!(kind, Kind::Vector);
                match short_value(words, is_vector) {
                    Some((id, length, end)) if id != key || length != id_length => Some(end),
                    Some((_, _, end)) if !is_vector => {
                        self.levels.set(words as u8, sink);
                        Some(end)
                    }
                    Some(_) => None,
                    None if is_vector => self.skim_long(bytes, at),
                    None => None,
                }
            } else if matches!(kind, Kind::Time) {
                self.skim_time(bytes, at)
            } else {
                matches!(kind, Kind::Blank).then_some(0)
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

    /// Skips a long value of another variable.
    fn skim_long(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..)?;
        let blank = rest.iter().position(|byte| *byte <= b' ')?;
        let words = sixteen(rest, blank + 1)?;
        let (length, _) = blanks(words);
        let is_plain = (1..8).contains(&length)
            && is_blank((words >> (8 * length)) as u8)
            && rest.get(blank).copied().is_some_and(is_blank);
        if !is_plain || (length == self.channel.id.len() && part(words, 0, length) == self.key) {
            return None;
        }
        Some(blank + 1 + length)
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
        match KINDS[usize::from(*kind)] {
            Kind::Time => self.levels.time = self.time(word, rest)?,
            Kind::Scalar => {
                if rest == self.channel.id {
                    self.levels.set(*kind, sink);
                } else if rest.is_empty() {
                    // A blank stands between the value and the identifier.
                    self.next = Next::Variable(word.to_vec());
                }
            }
            Kind::Vector => {
                let is_bits = matches!(kind, b'b' | b'B');
                self.next = Next::Variable(if is_bits { rest.to_vec() } else { Vec::new() });
            }
            Kind::Blank => (),
            Kind::Other => self.rare(word, sink)?,
        }
        Ok(())
    }

    fn rare(&mut self, word: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<(), String> {
        match word {
            [b'p', states @ ..] => {
                self.next = Next::Strength(states.iter().map(level_of_port).collect(), 2);
            }
            b"$comment" => self.next = Next::Comment,
            b"$dumpoff" | b"$dumpportsoff" => self.levels.switch(false, sink),
            b"$dumpon" | b"$dumpportson" => self.levels.switch(true, sink),
            [b'$', ..] => (),
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

/// The identifier of a value, its length, and the end of the value and the identifier; `None` if
/// these are long, or something else than a blank stands behind them.
#[inline]
fn short_value(words: u128, is_vector: bool) -> Option<(u64, usize, usize)> {
    let (first, second) = blanks(words);
    let (start, end) = if is_vector { (first + 1, second) } else { (1, first) };
    let length = end.wrapping_sub(start);
    let is_text = |at: usize| is_blank((words >> (8 * at)) as u8);
    let is_short = end < 16 && (1..8).contains(&length) && is_text(first) && is_text(end);
    is_short.then(|| (part(words, start, length), length, end))
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
