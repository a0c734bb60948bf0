//! The beginning of AU files (Sun, NeXT).

use super::samples::{Layout, Sample};
use super::{Counted, Head, Size, check_channels, check_chunk, check_rate, unknown_samples};
use crate::error::{Error, Result};
use std::io::Read;

/// Bytes of the shortest head, and of those that were read when this is called.
const SHORTEST_HEAD: u32 = 24;
const READ: u32 = 4;

/// Reads everything up to the samples, after the first four bytes.
pub(super) fn header<R: Read>(stream: &mut Counted<R>) -> Result<Head> {
    const HEAD_NAME: &str = "the head of an AU file";
    let (samples, size, encoding) =
        (stream.number(HEAD_NAME)?, stream.number(HEAD_NAME)?, stream.number(HEAD_NAME)?);
    let (hz, channels) = (stream.number(HEAD_NAME)?, stream.number(HEAD_NAME)?);
    if samples < SHORTEST_HEAD {
        return Err(Error::byte(
            u64::from(READ),
            format!(
                "the samples begin at byte {samples}, within the head of {SHORTEST_HEAD} bytes"
            ),
        ));
    }
    check_chunk(u64::from(READ), b".snd", u64::from(samples))?;
    let sample = match encoding {
        2..=5 => Sample::integer(encoding - 1),
        6 => Some(Sample::F32),
        7 => Some(Sample::F64),
        _ => None,
    };
    let sample = sample.ok_or_else(|| unknown_samples(12, &format!("encoding {encoding}")))?;
    let layout = Layout {
        sample,
        big: true,
        hz: check_rate(16, f64::from(hz))?,
        channels: check_channels(20, channels)?,
    };
    stream.skip(u64::from(samples - SHORTEST_HEAD), "the text before the samples")?;
    Ok(Head { layout, size: Size { stated: u64::from(size), large: false } })
}
