//! The beginning of RIFF and RF64 files.

use super::samples::{Layout, Sample};
use super::{Counted, Head, Size, check_channels, check_chunk, check_rate};
use crate::error::{Error, Result};
use std::io::Read;

/// Reads everything up to the samples: their format and stated size.
pub(super) fn header<R: Read>(stream: &mut Counted<R>) -> Result<Head> {
    let start: [u8; 8] = stream.whole("the first 12 bytes")?;
    if start[4..] != *b"WAVE" {
        return Err(Error::byte(0, "this is not a WAV file: RIFF (or RF64) and WAVE are missing"));
    }
    let (mut format, mut data) = (None, None);
    loop {
        let head: [u8; 8] = stream.whole("the list of chunks, before any samples")?;
        let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        match &head[..4] {
            b"ds64" if size >= 16 => {
                let sizes: [u8; 16] = stream.whole("the chunk ds64")?;
                data = Some(u64::from_le_bytes(std::array::from_fn(|n| sizes[8 + n])));
                stream.skip(size - 16 + size % 2, "the chunk ds64")?;
            }
            b"fmt " => format = Some(read_format(stream, size)?),
            b"data" => {
                let Some(format) = format else {
                    return Err(Error::byte(stream.place, "the samples come before their format"));
                };
                let size = match data {
                    Some(stated) if size == 0xffff_ffff => Size { stated, large: true },
                    _ => Size { stated: size, large: false },
                };
                return Ok(Head { layout: format, size });
            }
            name => {
                check_chunk(stream.place, name, size)?;
                stream.skip(size + size % 2, "a chunk before the samples")?;
            }
        }
    }
}

/// The chunk `fmt `, which W64 has too.
pub(super) fn read_format<R: Read>(stream: &mut Counted<R>, size: u64) -> Result<Layout> {
    let place = stream.place;
    if !(16..=4096).contains(&size) {
        return Err(Error::byte(
            place,
            format!("the chunk `fmt ` has {size} bytes, and 16 to 4096 are expected"),
        ));
    }
    let mut bytes = vec![0; (size + size % 2) as usize];
    if stream.fill(&mut bytes)? < bytes.len() {
        return Err(Error::byte(stream.place, "the file ends within the chunk `fmt `"));
    }
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let hz = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    // An extensible format has its tag at the beginning of an identifier.
    let tag = if word(0) == 0xfffe && size >= 26 { word(24) } else { word(0) };
    let (channels, align, bits) = (word(2), word(12), word(14));
    check_rate(place + 4, f64::from(hz))?;
    check_channels(place + 2, u32::from(channels))?;
    let sample = match (tag, align / channels) {
        (1, 1) => Sample::U8,
        (1, 2) => Sample::I16,
        (1, 3) => Sample::I24,
        (1, 4) => Sample::I32,
        (3, 4) => Sample::F32,
        (3, 8) => Sample::F64,
        (1 | 3, bytes) => {
            return Err(Error::byte(
                place + 12,
                format!("samples of {bytes} bytes ({bits} bits) are not supported"),
            ));
        }
        (tag, _) => {
            let advice = "expected 1 (integers) or 3 (floats); convert it, with `sox in out.wav` \
                          for instance";
            return Err(Error::byte(
                place,
                format!("samples of format {tag:#06x} are not supported: {advice}"),
            ));
        }
    };
    if usize::from(align) != sample.bytes() * usize::from(channels) {
        return Err(Error::byte(
            place + 12,
            format!("a frame of {align} bytes does not hold {channels} channels of equal size"),
        ));
    }
    Ok(Layout { sample, big: false, channels, hz: f64::from(hz) })
}
