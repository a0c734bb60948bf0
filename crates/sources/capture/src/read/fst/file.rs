//! Parts of a file by their place, and how they are decompressed.

use super::fastlz;
use super::reader::Reader;
use crate::error::{Error, Result};
use crate::read::Source;
use flate2::read::{GzDecoder, ZlibDecoder};
use std::io::{Read, SeekFrom};

/// Most bytes that are decompressed to memory at a time.
const MOST_UNPACKED: u64 = 256 << 20;
/// Bytes that one compressed byte can become: LZ4 and FastLZ repeat up to 255 bytes for each.
const MOST_RATIO: u64 = 256;

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Its first byte.
    pub place: u64,
    /// Number of bytes.
    pub length: u64,
    /// What it is, for messages.
    pub what: &'static str,
}

impl Part {
    /// An error about the part.
    pub fn wrong(&self, reason: impl std::fmt::Display) -> Error {
        Error::byte(self.place, format!("{}: {reason}", self.what))
    }

    /// What is left of it behind its first bytes.
    pub fn behind(&self, bytes: u64) -> Result<Part> {
        let end = self.place.checked_add(bytes).zip(self.length.checked_sub(bytes));
        let (place, length) = end.ok_or_else(|| {
            self.wrong(format!("has {} bytes, expected {bytes} or more", self.length))
        })?;
        Ok(Part { place, length, what: self.what })
    }
}

/// How bytes are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// zlib.
    Zlib,
    /// gzip.
    Gzip,
    /// LZ4.
    Lz4,
    /// LZ4 twice, with the length after the first decompression in front.
    Lz4Duo,
    /// FastLZ.
    FastLz,
}

/// A file that is read from place to place.
pub(super) struct File<'a> {
    stream: &'a mut dyn Source,
    /// Number of bytes.
    pub length: u64,
}

impl<'a> File<'a> {
    pub fn new(stream: &'a mut dyn Source) -> Result<File<'a>> {
        let length = stream.seek(SeekFrom::End(0)).map_err(|error| Error::stream(&error))?;
        Ok(File { stream, length })
    }

    /// The bytes of a part, which must lie within the file.
    fn bytes(&mut self, part: Part) -> Result<impl Read + '_> {
        let end = part.place.checked_add(part.length);
        if end.is_none_or(|end| end > self.length) {
            return Err(part.wrong(format!(
                "has {} bytes, but the file of {} bytes ends before: it was cut or is damaged",
                part.length, self.length
            )));
        }
        self.stream.seek(SeekFrom::Start(part.place)).map_err(|error| Error::stream(&error))?;
        Ok(self.stream.take(part.length))
    }

    /// A part as it is.
    pub fn plain(&mut self, part: Part) -> Result<Reader<'_>> {
        Ok(Reader::new(Box::new(self.bytes(part)?), part.length, part.place, part.what))
    }

    /// A part that zlib compressed, if that made it shorter.
    pub fn zlib(&mut self, part: Part, unpacked: u64) -> Result<Reader<'_>> {
        if part.length == unpacked {
            return self.plain(part);
        }
        let bytes = ZlibDecoder::new(self.bytes(part)?).take(unpacked);
        Ok(Reader::new(Box::new(bytes), unpacked, part.place, part.what))
    }

    /// A part that gzip compressed, without keeping all of it.
    pub fn gzip(&mut self, part: Part, unpacked: u64) -> Result<Reader<'_>> {
        let bytes = GzDecoder::new(self.bytes(part)?).take(unpacked);
        Ok(Reader::new(Box::new(bytes), unpacked, part.place, part.what))
    }

    /// All bytes of a part.
    pub fn load(&mut self, part: Part) -> Result<Vec<u8>> {
        bounded(part, part.length)?;
        let mut bytes = Vec::new();
        let read = self.bytes(part)?.read_to_end(&mut bytes);
        read.map_err(|error| Error::stream(&error))?;
        Ok(bytes)
    }

    /// All bytes of a compressed part.
    ///
    /// # Errors
    /// A part that is damaged, or becomes larger than it states or than is kept in memory.
    pub fn unpack(&mut self, part: Part, packing: Packing, unpacked: u64) -> Result<Vec<u8>> {
        match packing {
            Packing::Zlib => inflate(part, ZlibDecoder::new(self.bytes(part)?), unpacked),
            Packing::Gzip => inflate(part, GzDecoder::new(self.bytes(part)?), unpacked),
            Packing::Lz4 | Packing::FastLz => block(part, packing, &self.load(part)?, unpacked),
            Packing::Lz4Duo => {
                let mut start = self.plain(part)?;
                let (between, taken_bytes) = (start.varint()?, start.taken());
                drop(start);
                let packed = self.load(part.behind(taken_bytes)?)?;
                let once = block(part, Packing::Lz4, &packed, between)?;
                block(part, Packing::Lz4, &once, unpacked)
            }
        }
    }
}

/// All bytes of a decoder.
fn inflate(part: Part, decoder: impl Read, unpacked: u64) -> Result<Vec<u8>> {
    bounded(part, unpacked)?;
    let mut all_bytes = Vec::new();
    let read = decoder.take(unpacked).read_to_end(&mut all_bytes);
    read.map_err(|error| part.wrong(format!("cannot be decompressed: {error}")))?;
    complete(part, all_bytes, unpacked)
}

/// An error if so many bytes are more than are kept in memory.
fn bounded(part: Part, bytes: u64) -> Result<()> {
    if bytes > MOST_UNPACKED {
        return Err(part.wrong(format!(
            "has {bytes} bytes decompressed, expected at most {MOST_UNPACKED}: convert the file to \
             VCD by `fst2vcd FILE`, of GTKWave"
        )));
    }
    Ok(())
}

/// Bytes that must be as many as the file states.
fn complete(part: Part, bytes: Vec<u8>, stated: u64) -> Result<Vec<u8>> {
    if bytes.len() as u64 == stated {
        return Ok(bytes);
    }
    Err(part.wrong(format!(
        "has {} bytes decompressed, {stated} by the file, which is damaged",
        bytes.len()
    )))
}

/// Decompresses a block of LZ4 or FastLZ.
fn block(part: Part, packing: Packing, packed: &[u8], unpacked: u64) -> Result<Vec<u8>> {
    bounded(part, unpacked)?;
    if unpacked > (packed.len() as u64).saturating_mul(MOST_RATIO) {
        return Err(part.wrong(format!(
            "has {unpacked} bytes decompressed by the file, more than its {} bytes can become",
            packed.len()
        )));
    }
    let size = unpacked as usize;
    let bytes = match packing {
        Packing::FastLz => fastlz::decompress(packed, size).map_err(str::to_owned),
        _ => lz4_flex::block::decompress(packed, size).map_err(|error| error.to_string()),
    };
    let bytes = bytes.map_err(|error| part.wrong(format!("cannot be decompressed: {error}")))?;
    complete(part, bytes, unpacked)
}
