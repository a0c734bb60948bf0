//! A block of changes: the values of all signals at its beginning, a chain of changes of each
//! signal, the places of the chains, and the times of the block.

use super::file::{File, Packing, Part};
use super::header::Index;
use super::index::{Place, place_of};
use super::reader::Reader;
use super::signal::{Signal, Values};
use super::tracker::Tracker;
use crate::edge::Edge;
use crate::error::Result;
use crate::read::Request;
use crate::read::dump::{MOST_TIME, level_of_port};

/// Bytes of numbers in front of the frame, and behind the times.
const FRONT: u64 = 32;
const TAIL: u64 = 24;
/// Aliases of aliases that are followed; writers have none.
const MOST_ALIASES: u32 = 8;

/// Where a block has its parts.
struct Block {
    begin: u64,
    /// The values at its beginning, and their size decompressed.
    frame: (Part, u64),
    signals_of_frame: u64,
    /// From the byte that names the compression of the chains on.
    chains: Part,
    signals: u64,
    /// The places of the chains.
    index: Part,
    /// The times, and their size decompressed.
    times: (Part, u64),
}

impl Block {
    fn find(file: &mut File, part: Part) -> Result<Block> {
        let mut front = file.plain(part)?;
        front.skip(8)?;
        let begin = front.u64()?;
        front.skip(FRONT - 16)?;
        let (unpacked, packed, signals_of_frame) =
            (front.varint()?, front.varint()?, front.varint()?);
        let name_of_part = "the values at the beginning of a block of changes";
        let rest = part.behind(front.taken())?;
        front.skip(packed)?;
        let signals = front.varint()?;
        let chains = part.behind(front.taken())?;
        drop(front);
        let frame = (Part { length: packed, what: name_of_part, ..rest }, unpacked);

        let (_, tail) = back(chains, TAIL)?;
        let mut numbers = file.plain(tail)?;
        let (unpacked, packed) = (numbers.u64()?, numbers.u64()?);
        drop(numbers);
        let (before, times) = back(back(chains, TAIL)?.0, packed)?;
        let (before, length) = back(before, 8)?;
        let length = file.plain(length)?.u64()?;
        let (chains, index) = back(before, length)?;
        let times = Part { what: "the times of a block of changes", ..times };
        Ok(Block {
            begin,
            frame,
            signals_of_frame,
            chains,
            signals,
            index,
            times: (times, unpacked),
        })
    }

    /// The chain of a signal, if it changes in the block.
    fn chain(&self, file: &mut File, kind: Index, number: u64) -> Result<Option<Part>> {
        let mut wanted_signal = number;
        for _ in 0..MOST_ALIASES {
            let index = file.plain(self.index)?;
            let place = place_of(index, self.index.length, kind, wanted_signal)?;
            match place {
                Place::None => return Ok(None),
                Place::Alias(other) => wanted_signal = other,
                Place::Chain { start, end } => {
                    let length = end.unwrap_or(self.chains.length).checked_sub(start);
                    let rest = self.chains.behind(start)?;
                    return match length.filter(|length| *length <= rest.length) {
                        Some(length) => Ok(Some(Part { length, ..rest })),
                        None => Err(self.index.wrong("a chain ends before it begins")),
                    };
                }
            }
        }
        Err(self.index.wrong("aliases of aliases, so the file is damaged"))
    }

    /// The changes of a chain, decompressed.
    fn changes(&self, file: &mut File, chain: Part) -> Result<Reader<'static>> {
        let packing = match file.plain(self.chains)?.byte()? {
            b'4' => Packing::Lz4,
            b'F' => Packing::FastLz,
            _ => Packing::Zlib,
        };
        let mut start = file.plain(chain)?;
        let (unpacked, taken_bytes) = (start.varint()?, start.taken());
        drop(start);
        let rest = chain.behind(taken_bytes)?;
        let bytes = match unpacked {
            0 => file.load(rest)?,
            _ => file.unpack(rest, packing, unpacked)?,
        };
        Ok(Reader::memory(bytes, chain.place, chain.what))
    }
}

/// A part without its last bytes, and these.
fn back(part: Part, bytes: u64) -> Result<(Part, Part)> {
    part.behind(bytes)?;
    let length = part.length - bytes;
    Ok((Part { length, ..part }, part.behind(length)?))
}

/// The times of a block, one after the other.
struct Times<'a> {
    bytes: Reader<'a>,
    now: u64,
}

impl Times<'_> {
    /// Goes forward by so many times.
    #[inline]
    fn forward(&mut self, steps: u64) -> Result<u64> {
        for _ in 0..steps {
            let later = self.now.checked_add(self.bytes.varint()?);
            self.now = later
                .filter(|time| *time < MOST_TIME)
                .ok_or_else(|| self.bytes.wrong("a time beyond 2^53"))?;
        }
        Ok(self.now)
    }
}

/// Reads the changes of the signal in a block.
///
/// # Errors
/// A damaged block, or one whose times lie before those of the block before.
pub(super) fn read_changes(
    file: &mut File,
    (kind, part): (Index, Part),
    signal: &Signal,
    tracker: &mut Tracker,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<()> {
    request.go_on()?;
    let block = Block::find(file, part)?;
    if block.begin < MOST_TIME && tracker.is_new() && signal.number < block.signals_of_frame {
        tracker.begin(block.begin, signal.in_frame(file, block.frame.0, block.frame.1)?);
    }
    if signal.number >= block.signals {
        return Ok(());
    }
    let Some(chain) = block.chain(file, kind, signal.number)? else { return Ok(()) };
    let mut changes = block.changes(file, chain)?;
    let mut times = Times { bytes: file.zlib(block.times.0, block.times.1)?, now: 0 };
    // The first change counts from the first time on.
    times.forward(1)?;
    while let Some((steps, value)) = change(&mut changes, signal.values)? {
        request.go_on()?;
        let time = times.forward(steps)?;
        if time < tracker.time() {
            let before = tracker.time();
            return Err(times.bytes.wrong(format!("go backwards, from {before} to {time}")));
        }
        tracker.change(time, value, sink);
    }
    Ok(())
}

/// The next change: by how many times it is later than the one before, and the value.
#[inline]
fn change(bytes: &mut Reader, values: Values) -> Result<Option<(u64, u8)>> {
    if bytes.is_at_end()? {
        return Ok(None);
    }
    let number = bytes.varint()?;
    let is_plain = number & 1 == 0;
    let value = match values {
        Values::Bit if is_plain => return Ok(Some((number >> 2, b'0' | (number >> 1 & 1) as u8))),
        Values::Bit => {
            const LEVELS: [u8; 8] = *b"xzhuwl-?";
            return Ok(Some((number >> 4, LEVELS[(number >> 1 & 7) as usize])));
        }
        Values::Vector { width, at } | Values::Port { width, at } if is_plain => {
            let byte = bytes.pick(width.div_ceil(8), at / 8)?;
            b'0' | (byte >> (7 - at % 8) & 1)
        }
        Values::Vector { width, at } => bytes.pick(width, at)?,
        Values::Port { width, at } => level_of_port(&bytes.pick(width, at)?),
    };
    Ok(Some((number >> 1, value)))
}
