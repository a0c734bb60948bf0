//! The beginning of CAF files (Core Audio) that are not compressed.

use super::samples::{Layout, Sample};
use super::{Counted, Head, Size, check_channels, check_chunk, check_rate, unknown_samples};
use crate::error::{Error, Result, shown};
use std::io::Read;

/// Bytes of the chunk `desc`.
const DESCRIPTION: u64 = 32;
/// Bits of the flags of samples.
const IS_FLOAT: u32 = 1;
const IS_LITTLE: u32 = 2;
/// Bytes in the chunk `data` before the samples: a count of edits.
const EDITS: u64 = 4;

/// Reads everything up to the samples, after the first four bytes.
pub(super) fn header<R: Read>(stream: &mut Counted<R>) -> Result<Head> {
    let version = stream.number("the head of a CAF file")? >> 16;
    if version != 1 {
        return Err(Error::byte(
            4,
            format!("the version of the CAF file is {version}, expected 1"),
        ));
    }
    let mut layout = None;
    loop {
        let name: [u8; 4] = stream.whole("the list of chunks, before any samples")?;
        let size = u64::from_be_bytes(stream.whole("the list of chunks, before any samples")?);
        match &name {
            b"desc" if size >= DESCRIPTION => {
                check_chunk(stream.place, &name, size)?;
                layout = Some(description(stream)?);
                stream.skip(size - DESCRIPTION, "the chunk desc")?;
            }
            b"data" => {
                let Some(layout) = layout else {
                    return Err(Error::byte(stream.place, "the samples come before their format"));
                };
                stream.number("the chunk data")?;
                // A stream that was never completed has -1.
                let stream = size == u64::MAX || size < EDITS;
                let size = if stream {
                    Size { stated: 0, large: false }
                } else {
                    Size { stated: size - EDITS, large: true }
                };
                return Ok(Head { layout, size });
            }
            _ => {
                check_chunk(stream.place, &name, size)?;
                stream.skip(size, "a chunk before the samples")?;
            }
        }
    }
}

/// The chunk `desc`.
fn description<R: Read>(stream: &mut Counted<R>) -> Result<Layout> {
    const CHUNK_NAME: &str = "the chunk desc";
    let place = stream.place;
    let hz = check_rate(place, f64::from_be_bytes(stream.whole(CHUNK_NAME)?))?;
    let encoding: [u8; 4] = stream.whole(CHUNK_NAME)?;
    let (flags, packet, frames) =
        (stream.number(CHUNK_NAME)?, stream.number(CHUNK_NAME)?, stream.number(CHUNK_NAME)?);
    let (channels, bits) = (stream.number(CHUNK_NAME)?, stream.number(CHUNK_NAME)?);
    let channels = check_channels(place + 24, channels)?;
    let bytes = packet / u32::from(channels);
    let sample = match (flags & IS_FLOAT, bytes) {
        (IS_FLOAT, 4) => Some(Sample::F32),
        (IS_FLOAT, 8) => Some(Sample::F64),
        (0, bytes) => Sample::integer(bytes),
        _ => None,
    };
    let plain = encoding == *b"lpcm" && frames == 1 && packet % u32::from(channels) == 0;
    let format_name = || {
        format!(
            "{bits} bits, encoding `{}`, {packet} bytes a packet",
            shown(&String::from_utf8_lossy(&encoding))
        )
    };
    let sample =
        sample.filter(|_| plain).ok_or_else(|| unknown_samples(place + 8, &format_name()))?;
    Ok(Layout { sample, big: flags & IS_LITTLE == 0, channels, hz })
}
