//! The beginning of W64 files (Sony Wave64): RIFF with sizes of 64 bits and names of 16 bytes.

use super::wav::read_format;
use super::{Counted, Head, Size, check_chunk};
use crate::error::{Error, Result};
use std::io::Read;

/// Bytes of the name and the size of a chunk, which its size includes, and the multiple on which
/// chunks begin.
const CHUNK: u64 = 24;
const ALIGNED_BYTES: u64 = 8;
/// What all names but that of the file have behind their first four bytes.
const NAME_END: [u8; 12] = [0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0x00, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a];

/// Reads everything up to the samples, after the first four bytes.
pub(super) fn header<R: Read>(stream: &mut Counted<R>) -> Result<Head> {
    let start: [u8; 36] = stream.whole("the first 40 bytes")?;
    if start[20..24] != *b"wave" {
        return Err(Error::byte(24, "this is not a W64 file: `wave` is missing"));
    }
    let mut format = None;
    loop {
        let place = stream.place;
        let head: [u8; CHUNK as usize] = stream.whole("the list of chunks, before any samples")?;
        let (name, size) = (&head[..4], u64::from_le_bytes(std::array::from_fn(|n| head[16 + n])));
        let Some(size) =
            size.checked_sub(CHUNK).filter(|_| head[4..16] == NAME_END || name != b"data")
        else {
            return Err(Error::byte(
                place,
                format!("a chunk of {size} bytes has no room for its own head of {CHUNK} bytes"),
            ));
        };
        match name {
            b"fmt " => {
                format = Some(read_format(stream, size)?);
                stream.skip(
                    (size + size % 2).next_multiple_of(ALIGNED_BYTES) - size - size % 2,
                    "the chunk `fmt `",
                )?;
            }
            b"data" => {
                let Some(layout) = format else {
                    return Err(Error::byte(stream.place, "the samples come before their format"));
                };
                return Ok(Head { layout, size: Size { stated: size, large: size > 0 } });
            }
            _ => {
                check_chunk(place, name, size)?;
                stream.skip(size.next_multiple_of(ALIGNED_BYTES), "a chunk before the samples")?;
            }
        }
    }
}
