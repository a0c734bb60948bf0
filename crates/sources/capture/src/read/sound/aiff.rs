//! The beginning of AIFF files, and of AIFF-C files that are not compressed.

use super::samples::{Layout, Sample};
use super::{Counted, Head, Size, check_channels, check_chunk, check_rate, unknown_samples};
use crate::error::{Error, Result, shown};
use std::io::Read;

/// Bytes of the chunk `COMM`, and of the name of an encoding behind them.
const COMMON_BYTES: u64 = 18;
const ENCODING: u64 = 4;

/// Reads everything up to the samples, after the first four bytes.
pub(super) fn header<R: Read>(stream: &mut Counted<R>) -> Result<Head> {
    let start: [u8; 8] = stream.whole("the first 12 bytes")?;
    if !matches!(&start[4..], b"AIFF" | b"AIFC") {
        return Err(Error::byte(8, "this is not an AIFF file: AIFF or AIFC is missing"));
    }
    let mut layout = None;
    loop {
        let name: [u8; 4] = stream.whole("the list of chunks, before any samples")?;
        let size = u64::from(stream.number("the list of chunks, before any samples")?);
        match &name {
            b"COMM" => layout = Some(common(stream, size, start[7] == b'C')?),
            b"SSND" => {
                let Some(layout) = layout else {
                    return Err(Error::byte(stream.place, "the samples come before their format"));
                };
                let offset = u64::from(stream.number("the chunk SSND")?);
                stream.number("the chunk SSND")?;
                check_chunk(stream.place, &name, offset)?;
                stream.skip(offset, "the chunk SSND")?;
                let stated = if size < 8 + offset { 0 } else { size - 8 - offset };
                return Ok(Head { layout, size: Size { stated, large: false } });
            }
            _ => {
                check_chunk(stream.place, &name, size)?;
                stream.skip(size + size % 2, "a chunk before the samples")?;
            }
        }
    }
}

/// The chunk `COMM`.
fn common<R: Read>(stream: &mut Counted<R>, size: u64, named: bool) -> Result<Layout> {
    let place = stream.place;
    check_chunk(place, b"COMM", size)?;
    let least_bytes = COMMON_BYTES + if named { ENCODING } else { 0 };
    if size < least_bytes {
        return Err(Error::byte(
            place,
            format!("the chunk `COMM` has {size} bytes, at least {least_bytes} are expected"),
        ));
    }
    let bytes: [u8; COMMON_BYTES as usize] = stream.whole("the chunk COMM")?;
    let encoding: [u8; ENCODING as usize] =
        if named { stream.whole("the chunk COMM")? } else { *b"NONE" };
    stream.skip(size - least_bytes + size % 2, "the chunk COMM")?;
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let hz = check_rate(place + 8, extended(&bytes[8..]))?;
    // Samples of 12 bits take two bytes.
    let integer = Sample::integer(u32::from(word(6)).div_ceil(8));
    let (sample, big) = match &encoding {
        b"NONE" | b"twos" => (integer, true),
        b"sowt" => (integer, false),
        b"in24" | b"42n1" => (Some(Sample::I24), encoding == *b"in24"),
        b"in32" | b"23ni" => (Some(Sample::I32), encoding == *b"in32"),
        b"fl32" | b"FL32" => (Some(Sample::F32), true),
        b"fl64" | b"FL64" => (Some(Sample::F64), true),
        _ => (None, true),
    };
    let wrong = || {
        unknown_samples(
            place,
            &format!("{} bits, encoding `{}`", word(6), shown(&String::from_utf8_lossy(&encoding))),
        )
    };
    Ok(Layout {
        sample: sample.ok_or_else(wrong)?,
        big,
        hz,
        channels: check_channels(place, u32::from(word(0)))?,
    })
}

/// A float of 80 bits, as AIFF has its rate; one beyond the range of 64 bits is infinite or 0.
fn extended(bytes: &[u8]) -> f64 {
    const BIAS: i32 = 16383 + 63;
    let power = i32::from(u16::from_be_bytes([bytes[0] & 0x7f, bytes[1]])) - BIAS;
    let digits = u64::from_be_bytes(std::array::from_fn(|n| bytes[2 + n])) as f64;
    let sign = if bytes[0] & 0x80 == 0 { 1.0 } else { -1.0 };
    sign * digits * 2f64.powi(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_80_bits_convert() {
        assert_eq!(extended(&[0x40, 0x0e, 0xac, 0x44, 0, 0, 0, 0, 0, 0]), 44_100.0);
        assert_eq!(extended(&[0x40, 0x10, 0xbb, 0x80, 0, 0, 0, 0, 0, 0]), 192_000.0);
        assert_eq!(extended(&[0xbf, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0]), -1.0);
        assert_eq!(extended(&[0; 10]), 0.0);
        assert_eq!(extended(&[0x7f, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0]), f64::INFINITY);
    }
}
