//! FLAC, which the crate `claxon` decodes.

use super::pin::Pin;
use super::{Counted, check_rate};
use crate::edge::Edge;
use crate::error::{Error, Place, Result};
use crate::read::{Recording, Remark, Request};
use claxon::{Block, FlacReader};
use std::io::Read;

/// Place of the rate behind the first four bytes.
const RATE: u64 = 14;

/// Reads the file after its first four bytes.
pub(super) fn read<R: Read>(
    stream: &mut Counted<R>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let start = stream.place;
    let whole = (&b"fLaC"[..]).chain(&mut stream.stream);
    let mut reader = FlacReader::new(whole)
        .map_err(|error| Error::Unusable(format!("the head of the FLAC file: {error}")))?;
    let head = reader.streaminfo();
    let hz = check_rate(start + RATE, f64::from(head.sample_rate))?;
    let full = 2f64.powi(head.bits_per_sample as i32 - 1);
    // A few steps of a converter of 16 bits, as in other files.
    let floor = (8.0 / full).clamp(1e-5, 4.0 / 128.0);
    let mut pin = Pin::new(request, head.channels, hz, floor)?;
    let found = blocks(&mut reader, head.channels, &mut |block| {
        pin.push(
            |channel, values| {
                values.extend(
                    block
                        .channel(channel as u32)
                        .iter()
                        .map(|value| (f64::from(*value) / full) as f32),
                )
            },
            sink,
        )
    })?;
    let (samples, damage) = (found.samples, found.damage);
    if samples == 0 {
        let why = damage.map_or_else(
            || "it has no samples".to_owned(),
            |damage| format!("its first samples cannot be decoded: {damage}"),
        );
        return Err(Error::Unusable(format!("the FLAC file: {why}")));
    }
    let short = || {
        head.samples
            .filter(|stated| *stated > samples)
            .map(|stated| format!("its header promises {stated} samples"))
    };
    let remark = damage
        .or_else(short)
        .map(|reason| Remark::Truncated { place: Place::Seconds(samples as f64 / hz), reason });
    pin.finish(remark.into_iter().collect(), sink)
}

/// Samples that could be decoded, and why the next ones could not.
struct Found {
    samples: u64,
    damage: Option<String>,
}

/// Passes on the blocks up to the end, or to the first that is damaged.
fn blocks<R: Read>(
    reader: &mut FlacReader<R>,
    channels: u32,
    take: &mut dyn FnMut(&Block) -> Result<()>,
) -> Result<Found> {
    let (mut samples, mut frames, mut buffer) = (0, reader.blocks(), Vec::new());
    loop {
        let block = match frames.read_next_or_eof(buffer) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(Found { samples, damage: None }),
            Err(error) => return Ok(Found { samples, damage: Some(error.to_string()) }),
        };
        if block.channels() != channels {
            let damage =
                format!("a block has {} channels, the header states {channels}", block.channels());
            return Ok(Found { samples, damage: Some(damage) });
        }
        take(&block)?;
        samples += u64::from(block.duration());
        buffer = block.into_buffer();
    }
}
