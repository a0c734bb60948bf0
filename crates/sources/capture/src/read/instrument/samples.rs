//! Blocks of samples in a file: volts from numbers of a converter, and levels from bits.

use super::bytes::Bytes;
use crate::edge::{Detector, Edge};
use crate::error::{Error, Place, Result};
use crate::read::samples::{Levels, take_volts};
use crate::read::{Format, Recording, Remark, Request};

/// Bytes that are read together.
const BLOCK: usize = 1 << 16;
/// Most bytes from one sample of a channel to its next.
const MOST_STRIDE: usize = 1 << 12;
/// Smallest difference of two samples that can be an edge, in volts and in steps of the converter.
const LEAST_VOLTS: f64 = 1e-4;
const LEAST_STEPS: f64 = 2.0;

/// A number in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// 8 bits.
    U8,
    /// 8 bits with a sign.
    I8,
    /// 16 bits.
    U16,
    /// 16 bits with a sign.
    I16,
    /// 32 bits.
    U32,
    /// 32 bits with a sign.
    I32,
    /// A float of 32 bits.
    F32,
    /// A float of 64 bits.
    F64,
}

impl Code {
    /// Bytes of a number.
    pub fn size(self) -> usize {
        match self {
            Code::U8 | Code::I8 => 1,
            Code::U16 | Code::I16 => 2,
            Code::U32 | Code::I32 | Code::F32 => 4,
            Code::F64 => 8,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Code::F32 | Code::F64)
    }

    /// The number in bytes, of which there are enough.
    fn value(self, bytes: &[u8], big: bool) -> f64 {
        let mut all_bytes = [0u8; 8];
        let used = &mut all_bytes[..self.size()];
        used.copy_from_slice(&bytes[..self.size()]);
        if big {
            used.reverse();
        }
        let [a, b, c, d, ..] = all_bytes;
        match self {
            Code::U8 => f64::from(a),
            Code::I8 => f64::from(a as i8),
            Code::U16 => f64::from(u16::from_le_bytes([a, b])),
            Code::I16 => f64::from(i16::from_le_bytes([a, b])),
            Code::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Code::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Code::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Code::F64 => f64::from_le_bytes(all_bytes),
        }
    }
}

/// Takes a block of samples, each as the bytes from its first one on.
type Take<'a> = dyn FnMut(&mut dyn Iterator<Item = &[u8]>) -> Result<()> + 'a;

/// Where the samples of a channel are, from the place of a stream on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The first byte of a sample, among the bytes of one sample of all channels.
    pub lane: usize,
    /// Bytes from a sample to the next.
    pub stride: usize,
    /// Number of samples, as the header states it.
    pub samples: u64,
}

impl Layout {
    /// Samples of one channel alone.
    pub fn alone(samples: u64, size: usize) -> Layout {
        Layout { lane: 0, stride: size, samples }
    }

    /// Passes on blocks of whole samples; a remark if the file has fewer than its header states.
    fn blocks(self, bytes: &mut Bytes, size: usize, take: &mut Take) -> Result<Option<Remark>> {
        let Layout { lane, stride, samples } = self;
        if stride == 0 || stride > MOST_STRIDE || lane + size > stride {
            let reason = format!("a sample of {size} bytes at {lane} of {stride} bytes");
            return Err(Error::Unusable(reason));
        }
        let mut block = vec![0; BLOCK / stride * stride];
        let mut samples_left = samples;
        while samples_left > 0 {
            let wanted_samples = samples_left.min((block.len() / stride) as u64);
            let part = &mut block[..wanted_samples as usize * stride];
            let read = bytes.fill(part)?;
            let whole = read / stride;
            take(&mut part[..whole * stride].chunks_exact(stride).map(|all| &all[lane..]))?;
            samples_left -= whole as u64;
            if (whole as u64) < wanted_samples {
                let found_samples = samples - samples_left;
                let place = Place::Byte(bytes.at());
                let reason =
                    format!("the header states {samples} samples, the file has {found_samples}");
                return Ok(Some(Remark::Truncated { place, reason }));
            }
        }
        Ok(None)
    }
}

/// How numbers become volts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Volts {
    /// The number.
    pub code: Code,
    /// Whether it has its high byte first.
    pub big: bool,
    /// Volts of a step.
    pub scale: f64,
    /// Volts of the number 0.
    pub offset: f64,
}

impl Volts {
    /// Volts as floats.
    pub fn floats(code: Code) -> Volts {
        Volts { code, big: false, scale: 1.0, offset: 0.0 }
    }

    /// An error if a scale of 0, or none, would make all samples equal.
    fn check(self) -> Result<()> {
        if self.scale != 0.0 && self.scale.is_finite() && self.offset.is_finite() {
            return Ok(());
        }
        Err(Error::Unusable(format!(
            "the header states {:e} V for a step of the converter and {:e} V for its 0: export the \
             recording again, as CSV",
            self.scale, self.offset
        )))
    }

    /// The least difference of an edge.
    fn floor(self) -> f64 {
        if self.code.is_float() {
            LEAST_VOLTS
        } else {
            LEAST_VOLTS.min(LEAST_STEPS * self.scale.abs())
        }
    }
}

/// A recording of a channel at a rate, without edges yet. Whoever takes the edges knows the rate
/// from now on.
pub(super) fn recording(channel: &str, hz: f64, request: &Request) -> Recording {
    request.stated.set(Some(hz));
    Recording {
        format: Some(Format::Instrument),
        channel: channel.to_owned(),
        hz: Some(hz),
        ..Recording::default()
    }
}

/// Reads samples in volts; edges lie between samples.
pub(super) fn read_volts(
    bytes: &mut Bytes,
    layout: Layout,
    volts: Volts,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<()> {
    volts.check()?;
    let mut detector = Detector::for_volts(request.method, volts.floor());
    let mut values = Vec::new();
    let cut = layout.blocks(bytes, volts.code.size(), &mut |samples| {
        request.go_on()?;
        values.clear();
        values.extend(samples.map(|sample| {
            (volts.code.value(sample, volts.big) * volts.scale + volts.offset) as f32
        }));
        detector.push(&values, sink)
    })?;
    take_volts(detector, recording, sink)?;
    recording.remarks.extend(cut);
    Ok(())
}

/// Reads a bit of samples; an edge lies at the first sample of its level.
pub(super) fn read_bit(
    bytes: &mut Bytes,
    layout: Layout,
    bit: u32,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<()> {
    let mut levels = Levels::default();
    let cut = layout.blocks(bytes, 1, &mut |samples| {
        request.go_on()?;
        samples.for_each(|sample| levels.push(sample[0] >> bit & 1 == 1, sink));
        levels.give_up_at_silence()
    })?;
    levels.end(recording);
    recording.remarks.extend(cut);
    Ok(())
}
