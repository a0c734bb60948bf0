//! The changes of a dump.
//!
//! Nearly all words of a large dump are times and changes of variables. These are skimmed
//! ([`Body::skim`]); all that is rare goes word by word ([`Body::word`]), which means the same.

use super::header::Channel;
use super::skim::Key;
use super::words::ticks;
use crate::edge::Edge;
use crate::error::shown;
use crate::read::dump::{Levels, MOST_TIME, level_of_port};

/// What a word is by its first byte.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Other,
    Blank,
    Time,
    Scalar,
    /// A vector, a real number or a string, whose identifier is the next word.
    Vector,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let all_kinds: [(&[u8], Kind); 4] = [
        (b"\t\n\r ", Kind::Blank),
        (b"#", Kind::Time),
        (b"01xXzZuUwWlLhH-", Kind::Scalar),
        (b"bBrRsS", Kind::Vector),
    ];
    let mut row = 0;
    while row < all_kinds.len() {
        let mut at = 0;
        while at < all_kinds[row].0.len() {
            kinds[all_kinds[row].0[at] as usize] = all_kinds[row].1;
            at += 1;
        }
        row += 1;
    }
    kinds
};

/// What a word is by its first byte.
#[inline]
pub(super) fn kind_of(first: u8) -> Kind {
    KINDS[usize::from(first)]
}

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
    pub(super) key: Key,
    next: Next,
    pub(super) levels: Levels,
}

impl Body {
    pub(super) fn new(channel: Channel) -> Body {
        Body { key: Key::new(&channel.id), channel, ..Body::default() }
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

    /// The bit of a vector.
    pub(super) fn bit(&self) -> usize {
        self.channel.bit
    }

    /// Whether the next word is a time or the beginning of a change.
    pub(super) fn is_between_changes(&self) -> bool {
        matches!(self.next, Next::Change)
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
        match kind_of(*kind) {
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

/// A bit of a vector; digits omitted on the left are 0, or x or z if the leftmost digit is.
pub(super) fn bit(value: &[u8], bit: usize) -> u8 {
    let place = value.len().checked_sub(1).and_then(|last| last.checked_sub(bit));
    match (place.and_then(|at| value.get(at)), value.first()) {
        (Some(digit), _) => *digit,
        (None, Some(b'1') | None) => b'0',
        (None, Some(leftmost)) => *leftmost,
    }
}
