//! The blocks of a dump, and its header.

use super::file::{File, Packing, Part};
use crate::error::{Error, Result};

/// Bytes of a block's length, which counts them.
const LENGTH: u64 = 8;
/// Where the header has its numbers, from its length on, and the sizes of its texts.
const FLAG_OF_FLOATS: u64 = 24;
const MOST_HANDLE: u64 = 56;
const VERSION: u64 = 128;
const DATE: u64 = 119;
/// Way out of a dump that this reader cannot read.
pub(super) const CONVERT: &str = "convert it to VCD by `fst2vcd FILE`, of GTKWave";

/// What the header states.
#[derive(Debug, Clone, Default)]
pub(super) struct Header {
    /// Number of signals, 0 until the dump is closed.
    pub signals: u64,
    /// Number of blocks of changes.
    pub blocks: u64,
    /// Ticks per second.
    pub hz: f64,
    /// What wrote the dump, and when.
    pub version: String,
    pub date: String,
}

impl Header {
    fn read(file: &mut File, part: Part) -> Result<Header> {
        let mut bytes = file.plain(part)?;
        bytes.skip(FLAG_OF_FLOATS)?;
        let flag: Vec<u8> = (0..8).map(|_| bytes.byte()).collect::<Result<_>>()?;
        if !is_e(&flag) {
            return Err(bytes.wrong("the number e is not at its place: this is no FST dump"));
        }
        bytes.skip(MOST_HANDLE - FLAG_OF_FLOATS - 8)?;
        let (signals, blocks) = (bytes.u64()?, bytes.u64()?);
        let exponent = i8::from_be_bytes([bytes.byte()?]);
        let mut text = |length: u64| -> Result<String> {
            let all_bytes = (0..length).map(|_| bytes.byte()).collect::<Result<Vec<u8>>>()?;
            let text = all_bytes.split(|byte| *byte == 0).next().unwrap_or(&[]);
            Ok(String::from_utf8_lossy(text).trim().to_owned())
        };
        let (version, date) = (text(VERSION)?, text(DATE)?);
        Ok(Header { signals, blocks, hz: 10f64.powi(-i32::from(exponent)), version, date })
    }
}

/// Whether 8 bytes are the number e, in either order of bytes.
fn is_e(bytes: &[u8]) -> bool {
    let e = std::f64::consts::E.to_le_bytes();
    bytes == e || bytes.iter().rev().eq(&e)
}

/// How a block of changes states the places of its signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// An alias is a number of its own behind a 0.
    Plain,
    /// An alias is a negative number.
    Signed,
}

/// The blocks of a dump, from their lengths on.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub header: Header,
    pub changes: Vec<(Index, Part)>,
    pub geometry: Option<Part>,
    pub hierarchy: Option<(Packing, Part)>,
    pub blackouts: Option<Part>,
}

impl Blocks {
    /// Finds all blocks.
    ///
    /// # Errors
    /// A dump that was not closed, that was cut, or that has blocks of an unknown kind.
    pub fn find(file: &mut File) -> Result<Blocks> {
        let mut blocks = Blocks::default();
        let mut place = 0;
        while place < file.length {
            let Some(length) = blocks.block(file, place)? else { break };
            place += 1 + length;
        }
        match blocks.hierarchy {
            Some(_) => Ok(blocks),
            None => Err(blocks.unfinished(file.length)),
        }
    }

    /// Takes the block at a place, the kind of which is its first byte; its length.
    fn block(&mut self, file: &mut File, place: u64) -> Result<Option<u64>> {
        let name_of_part = "a block of the dump";
        let mut start = file.plain(Part { place, length: 1, what: name_of_part })?;
        let kind = start.byte()?;
        drop(start);
        let place = place + 1;
        if file.length - place < LENGTH {
            return Err(self.unfinished(file.length));
        }
        let length = file.plain(Part { place, length: LENGTH, what: name_of_part })?.u64()?;
        // Where a writer was stopped, the length of its last block is 0.
        if kind == 255 && length == 0 {
            return Ok(None);
        }
        if length > file.length - place {
            return Err(self.unfinished(file.length));
        }
        if length < LENGTH {
            let reason = format!("a block of {length} bytes, expected {LENGTH} or more: {CONVERT}");
            return Err(Error::byte(place, reason));
        }
        self.take(file, kind, Part { place, length, what: name_of_part })?;
        Ok(Some(length))
    }

    fn take(&mut self, file: &mut File, kind: u8, part: Part) -> Result<()> {
        let named = |what| Part { what, ..part };
        let mut hierarchy = |packing| -> Result<()> {
            match self.hierarchy.replace((packing, named("the block of names"))) {
                Some(_) => Err(Error::byte(part.place, "a second block of names")),
                None => Ok(()),
            }
        };
        let changes = named("a block of changes");
        match kind {
            0 => self.header = Header::read(file, named("the header"))?,
            1 | 5 => self.changes.push((Index::Plain, changes)),
            8 => self.changes.push((Index::Signed, changes)),
            2 => self.blackouts = Some(named("the block of blackouts")),
            3 => self.geometry = Some(named("the block of widths")),
            4 => hierarchy(Packing::Gzip)?,
            6 => hierarchy(Packing::Lz4)?,
            7 => hierarchy(Packing::Lz4Duo)?,
            255 => (),
            _ => {
                let reason = format!("a block of the unknown kind {kind}: {CONVERT}");
                return Err(Error::byte(part.place.saturating_sub(1), reason));
            }
        }
        Ok(())
    }

    /// Why the block of names, which is written last, is missing.
    fn unfinished(&self, length: u64) -> Error {
        if self.header.signals == 0 {
            return Error::Unusable(format!(
                "the dump was not closed, so its names are not in it: let the simulation end by \
                 itself ($finish; in Verilator `close()`), or, with the file `.hier` beside it, \
                 {CONVERT}"
            ));
        }
        Error::byte(length, "the dump was cut: it ends before its names, which are the last block")
    }
}
