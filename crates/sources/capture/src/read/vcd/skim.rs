//! Skims the changes of a dump: finds the ends of the words in blocks of 64 bytes and looks at the
//! words' lengths and first bytes. All that is rare is left to [`Body::word`].
//!
//! Where a word ends does not depend on the words before it, so that the processor works on
//! several words at a time.

use super::body::{Body, Kind, bit, kind_of};
use super::words::{BLOCK, eight, ends, short_number};
use crate::edge::Edge;
use crate::read::dump::MOST_TIME;

/// The words so far.
#[derive(Clone, Copy)]
struct Words {
    /// Where the next word begins.
    start: usize,
    /// The word before it.
    before: (usize, usize),
    /// Whether that is a value, whose identifier follows.
    is_value: bool,
}

impl Words {
    /// Where all has to begin again that is not done yet.
    fn undone(&self) -> usize {
        if self.is_value { self.before.0 } else { self.start }
    }
}

impl Body {
    /// Processes words from a place on, up to one that [`Body::word`] has to look at, whose place
    /// is returned, or up to the last bytes.
    pub(super) fn skim(&mut self, bytes: &[u8], at: usize, sink: &mut dyn FnMut(Edge)) -> usize {
        let mut words = Words { start: at, before: (at, at), is_value: false };
        if !self.is_between_changes() {
            return at;
        }
        for (block, place) in bytes.get(at..).unwrap_or_default().chunks_exact(BLOCK).zip(0..) {
            let Some(mut ends) = block.try_into().ok().and_then(ends) else { break };
            while ends != 0 {
                let end = at + BLOCK * place + ends.trailing_zeros() as usize;
                ends &= ends - 1;
                if !self.skim_word(bytes, &mut words, end, sink) {
                    return words.undone();
                }
            }
        }
        words.undone()
    }

    /// Processes the word up to its end; whether it is done.
    #[inline(always)]
    fn skim_word(
        &mut self,
        bytes: &[u8],
        words: &mut Words,
        end: usize,
        sink: &mut dyn FnMut(Edge),
    ) -> bool {
        let start = words.start;
        let length = end.wrapping_sub(start);
        if length == 0 {
            words.start = end + 1;
            return true;
        }
        let Some(word) = eight(bytes, start) else { return false };
        let is_name = words.is_value;
        let kind = kind_of(word as u8);
        if !is_name && matches!(kind, Kind::Time) {
            let known_times = self.levels.time..MOST_TIME;
            let time = short_number(bytes, start + 1, length - 1);
            let Some(time) = time.filter(|time| known_times.contains(time)) else { return false };
            self.levels.time = time;
            words.start = end + 1;
            return true;
        }
        // No branches between scalars, values and names: these could not be foreseen.
        let is_value = !is_name & matches!(kind, Kind::Vector);
        let is_scalar = !is_name & matches!(kind, Kind::Scalar) & (length > 1);
        let shift = usize::from(!is_name);
        let is_own = !is_value
            & (length == self.key.length + shift)
            & ((word >> (8 * shift)) & self.key.mask == self.key.first);
        let is_rare = !(is_name | is_value | is_scalar);
        if (is_own | is_rare) && (is_rare || !self.own(bytes, words, end, sink)) {
            return false;
        }
        *words = Words { start: end + 1, before: (start, end), is_value };
        true
    }

    /// Takes a change that is the channel's by the first bytes of its identifier; whether it is
    /// done.
    #[inline]
    fn own(&mut self, bytes: &[u8], words: &Words, end: usize, sink: &mut dyn FnMut(Edge)) -> bool {
        if !self.key.is_whole {
            return false;
        }
        let (from, to) = if words.is_value { words.before } else { (words.start, end) };
        match bytes.get(from..to) {
            Some([b'b' | b'B', value @ ..]) if words.is_value && !value.is_empty() => {
                self.levels.set(bit(value, self.bit()), sink);
            }
            Some([value, ..]) if !words.is_value => self.levels.set(*value, sink),
            _ => (),
        }
        true
    }
}

/// The identifier of the channel.
#[derive(Debug, Default)]
pub(super) struct Key {
    /// Its first seven bytes, the first one lowest.
    first: u64,
    mask: u64,
    length: usize,
    /// Whether these are all.
    is_whole: bool,
}

impl Key {
    pub(super) fn new(id: &[u8]) -> Key {
        const MOST_BYTES: usize = 7;
        let first =
            id.iter().take(MOST_BYTES).rev().fold(0, |key, byte| key << 8 | u64::from(*byte));
        let mask = (1 << (8 * id.len().min(MOST_BYTES))) - 1;
        Key { first, mask, length: id.len(), is_whole: id.len() <= MOST_BYTES }
    }
}
