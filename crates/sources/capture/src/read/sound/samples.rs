//! Samples that are not compressed, as numbers.

use super::Counted;
use super::pin::Pin;
use crate::edge::Edge;
use crate::error::Result;
use std::io::Read;

/// Bytes that are read at a time.
const BYTES: usize = 1 << 16;

/// How a sample is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sample {
    U8,
    I8,
    I16,
    I24,
    I32,
    F32,
    F64,
}

impl Sample {
    /// An integer with a sign of this many bytes.
    pub(super) fn integer(bytes: u32) -> Option<Sample> {
        Some(match bytes {
            1 => Sample::I8,
            2 => Sample::I16,
            3 => Sample::I24,
            4 => Sample::I32,
            _ => return None,
        })
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Sample::U8 | Sample::I8 => 1,
            Sample::I16 => 2,
            Sample::I24 => 3,
            Sample::I32 | Sample::F32 => 4,
            Sample::F64 => 8,
        }
    }

    /// Whether samples are floats, which may be beyond 1.
    pub(super) fn is_float(self) -> bool {
        matches!(self, Sample::F32 | Sample::F64)
    }

    /// The smallest difference that can be an edge: a few steps of the converter.
    pub(super) fn floor(self) -> f64 {
        match self {
            Sample::U8 | Sample::I8 => 4.0 / 128.0,
            Sample::I16 => 8.0 / 32768.0,
            _ => 1e-5,
        }
    }
}

/// How the samples are written, and their rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) sample: Sample,
    /// Whether the highest byte of a sample comes first.
    pub(super) big: bool,
    pub(super) channels: u16,
    pub(super) hz: f64,
}

impl Layout {
    /// Bytes of one frame.
    fn frame(&self) -> usize {
        self.sample.bytes() * usize::from(self.channels)
    }

    /// Passes on the whole frames of these bytes.
    fn push(&self, bytes: &mut [u8], pin: &mut Pin, sink: &mut dyn FnMut(Edge)) -> Result<()> {
        let whole = bytes.len() / self.frame() * self.frame();
        if self.big {
            bytes[..whole].chunks_exact_mut(self.sample.bytes()).for_each(<[u8]>::reverse);
        }
        let bytes = &bytes[..whole];
        pin.push(|channel, values| self.convert(bytes, channel, values), sink)
    }

    /// One channel of whole frames as numbers, with the lowest byte first; full scale of integers
    /// is 1.
    fn convert(&self, bytes: &[u8], channel: usize, values: &mut Vec<f32>) {
        let size = self.sample.bytes();
        let channel_samples =
            bytes.chunks_exact(self.frame()).map(|frame| &frame[channel * size..][..size]);
        match self.sample {
            Sample::U8 => values.extend(channel_samples.map(|b| (f32::from(b[0]) - 128.0) / 128.0)),
            Sample::I8 => values.extend(channel_samples.map(|b| f32::from(b[0] as i8) / 128.0)),
            Sample::I16 => values.extend(
                channel_samples.map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32768.0),
            ),
            Sample::I24 => values
                .extend(channel_samples.map(|b| {
                    (i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8) as f32 / 8_388_608.0
                })),
            Sample::I32 => values
                .extend(channel_samples.map(|b| {
                    i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32 / 2_147_483_648.0
                })),
            Sample::F32 => {
                values.extend(channel_samples.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])))
            }
            Sample::F64 => values.extend(
                channel_samples.map(|b| f64::from_le_bytes(std::array::from_fn(|n| b[n])) as f32),
            ),
        }
    }
}

/// The result of reading the samples.
pub(super) struct Done {
    /// Bytes of samples.
    pub(super) found: u64,
    /// Whether samples are missing at the end.
    pub(super) cut: bool,
    /// Whether there are more than the header states.
    pub(super) wrong: bool,
}

/// Reads the samples, as many bytes as are stated, or up to the end.
pub(super) fn read<R: Read>(
    stream: &mut Counted<R>,
    layout: Layout,
    stated: Option<u64>,
    pin: &mut Pin,
    sink: &mut dyn FnMut(Edge),
) -> Result<Done> {
    let frame = layout.frame();
    let mut bytes = vec![0u8; (BYTES / frame).max(1) * frame];
    let (mut found_bytes, mut bytes_left, mut wrong) = (0u64, stated, false);
    loop {
        let most_bytes =
            bytes_left.map_or(bytes.len() as u64, |left| left.min(bytes.len() as u64)) as usize;
        let held_bytes = stream.fill(&mut bytes[..most_bytes])?;
        found_bytes += held_bytes as u64;
        bytes_left = bytes_left.map(|left| left - held_bytes as u64);
        // What follows the last whole frame, before its bytes may change their order.
        let rest = bytes[held_bytes / frame * frame..held_bytes].to_vec();
        layout.push(&mut bytes[..held_bytes], pin, sink)?;
        if held_bytes < most_bytes {
            return Ok(Done {
                found: found_bytes,
                cut: bytes_left.is_some_and(|left| left > 0) || held_bytes % frame != 0,
                wrong,
            });
        }
        if bytes_left == Some(0) {
            // What follows is another chunk, or samples that the header does not count.
            let mut next = [0u8; 9];
            let behind = stream.fill(&mut next)?;
            if behind < 8 || is_chunk(&next, found_bytes) {
                return Ok(Done { found: found_bytes, cut: false, wrong });
            }
            (bytes_left, wrong) = (None, true);
            // Complete the frame that the stated size cuts in two.
            let mut first = rest;
            first.extend_from_slice(&next[..behind]);
            let have = first.len();
            first.resize(have.div_ceil(frame) * frame, 0);
            let more = stream.fill(&mut first[have..])?;
            layout.push(&mut first[..have + more], pin, sink)?;
            found_bytes += (behind + more) as u64;
        }
    }
}

/// Whether these bytes begin a chunk, which is preceded by a padding byte after an odd number of
/// bytes.
fn is_chunk(next: &[u8; 9], bytes: u64) -> bool {
    let name = |bytes: &[u8]| bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    // W64 pads to 8 bytes, more than are looked at.
    name(&next[..4]) || next[..4] == [0; 4] || bytes % 2 == 1 && next[0] == 0 && name(&next[1..5])
}
