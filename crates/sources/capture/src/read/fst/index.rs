//! Where the changes of a signal are in a block.

use super::header::Index;
use super::reader::Reader;
use crate::error::{Error, Result};

/// Where the changes of a signal are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It does not change.
    None,
    /// Those of a signal before it, which has the same.
    Alias(u64),
    /// From a place on, to the next chain or to the end of all chains.
    Chain {
        /// The first byte, counted from the one that names the compression on.
        start: u64,
        /// The first byte behind; `None` for the last chain.
        end: Option<u64>,
    },
}

/// An entry of the index.
#[derive(Debug, Clone, Copy)]
enum Entry {
    /// So many signals do not change.
    Without(u64),
    Alias(u64),
    /// A chain that is so many bytes behind the one before.
    Chain(u64),
}

/// The place of a signal's changes in an index of so many bytes.
pub(super) fn place_of(
    mut index: Reader,
    length: u64,
    kind: Index,
    wanted_signal: u64,
) -> Result<Place> {
    let damaged = |index: &Reader| -> Error {
        index.wrong("an impossible place of changes, so the file is damaged")
    };
    let (mut number, mut offset, mut alias) = (0u64, 0u64, 0u64);
    let mut start = None;
    while index.taken() < length && (number <= wanted_signal || start.is_some()) {
        let next = match entry(&mut index, kind, alias)? {
            Entry::Without(signals) => number.checked_add(signals),
            Entry::Alias(other_signal) => {
                alias = other_signal;
                if number == wanted_signal {
                    return if other_signal < wanted_signal {
                        Ok(Place::Alias(other_signal))
                    } else {
                        Err(damaged(&index))
                    };
                }
                number.checked_add(1)
            }
            Entry::Chain(bytes) => {
                offset = offset.checked_add(bytes).ok_or_else(|| damaged(&index))?;
                if let Some(start) = start {
                    return Ok(Place::Chain { start, end: Some(offset) });
                }
                start = (number == wanted_signal).then_some(offset);
                number.checked_add(1)
            }
        };
        number = next.ok_or_else(|| damaged(&index))?;
    }
    Ok(start.map_or(Place::None, |start| Place::Chain { start, end: None }))
}

/// The next entry; `alias` is the one before.
fn entry(index: &mut Reader, kind: Index, alias: u64) -> Result<Entry> {
    let (plain, signed) = index.both()?;
    Ok(match kind {
        Index::Plain if plain == 0 => {
            let other = index.varint()?.checked_sub(1);
            Entry::Alias(other.ok_or_else(|| index.wrong("an alias of no signal"))?)
        }
        _ if plain & 1 == 0 => Entry::Without(plain >> 1),
        Index::Plain => Entry::Chain(plain >> 1),
        Index::Signed => match signed >> 1 {
            0 => Entry::Alias(alias),
            other if other < 0 => Entry::Alias(other.unsigned_abs() - 1),
            bytes => Entry::Chain(bytes.unsigned_abs()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(kind: Index, bytes: &[u8], signals: u64) -> Vec<Place> {
        let index = || Reader::memory(bytes.to_vec(), 0, "an index");
        (0..signals)
            .map(|wanted| place_of(index(), bytes.len() as u64, kind, wanted).unwrap())
            .collect()
    }

    fn chain(start: u64, end: Option<u64>) -> Place {
        Place::Chain { start, end }
    }

    #[test]
    fn both_kinds_of_index_say_the_same() {
        // A chain at 1, two signals without changes, an alias of the first, twice, a chain at 6.
        let plain = [1 << 1 | 1, 2 << 1, 0, 1, 0, 1, 5 << 1 | 1];
        let signed = [1 << 1 | 1, 2 << 1, 0x7f, 1, 5 << 1 | 1];
        let expected = [
            chain(1, Some(6)),
            Place::None,
            Place::None,
            Place::Alias(0),
            Place::Alias(0),
            chain(6, None),
            Place::None,
        ];
        assert_eq!(places(Index::Plain, &plain, 7), expected);
        assert_eq!(places(Index::Signed, &signed, 7), expected);
    }

    #[test]
    fn aliases_of_later_signals_are_refused() {
        let index = Reader::memory(vec![0, 2], 0, "an index");
        assert!(place_of(index, 2, Index::Plain, 0).is_err());
        let index = Reader::memory(vec![0, 0], 0, "an index");
        assert!(place_of(index, 2, Index::Plain, 0).is_err());
    }
}
