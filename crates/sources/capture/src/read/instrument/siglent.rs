//! Waveforms of Siglent's oscilloscopes (`.bin`), versions 1 to 4 and 6 of the format. Those before
//! have scales that differ by model. Digital channels are not read: no file shows their layout.

use super::bytes::Header;
use super::samples::{Code, Layout, Volts, read_volts, recording};
use super::{Source, at_place};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::read::{Recording, Request, choose};

/// Bytes of the header that are read: all of version 4's numbers.
const HEADER: usize = 0x600;
/// Where the samples begin in versions 1 to 3.
const SAMPLES: u64 = 0x800;
/// Steps of an 8-bit converter in a division of the screen where the header does not state them.
const STEPS: f64 = 25.0;
/// The magnitude that stands for 1; each step of it is a factor of 1,000.
const NO_MAGNITUDE: i32 = 8;
const MOST_MAGNITUDE: u32 = 16;
/// Most waveforms of version 6, and the sizes of its headers.
const MOST_WAVEFORMS: u32 = 1 << 12;
const FILE_HEADER: usize = 108;
const WAVEFORM_HEADER: usize = 264;

/// The version, by numbers that can have few values. Version 1 does not state itself.
fn version(head: &[u8]) -> Option<u32> {
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?))
    };
    let are_flags = |from: usize| (0..4).all(|n| word(from + 4 * n).is_some_and(|flag| flag <= 1));
    let are_magnitudes = |from: usize, size: usize| {
        (0..4).all(|n| word(from + size * n + 8).is_some_and(|power| power <= MOST_MAGNITUDE))
    };
    let is_some_on = |from: usize| (0..4).any(|n| word(from + 4 * n) == Some(1));
    match word(0)? {
        0 | 1 if are_flags(0) && is_some_on(0) && are_magnitudes(0x10, 16) => {
            let is_rate = word(0x100).is_some_and(|power| power <= MOST_MAGNITUDE);
            (is_rate && are_magnitudes(0x50, 16) && word(0xf4)? > 0 && word(0x90)? <= 1)
                .then_some(1)
        }
        version @ (2 | 3) if are_flags(4) && are_magnitudes(0x14, 40) => Some(version),
        4 if are_flags(8) && are_magnitudes(0x18, 40) => Some(4),
        6 => {
            let size = u16::from_le_bytes(head.get(4..6)?.try_into().ok()?);
            let model = head.get(8..11)?;
            (usize::from(size) >= FILE_HEADER && model.iter().all(u8::is_ascii_alphanumeric))
                .then_some(6)
        }
        _ => None,
    }
}

/// Whether a file begins with the header of a version that is read.
pub(super) fn begins(head: &[u8]) -> bool {
    version(head).is_some()
}

/// A channel.
struct Channel {
    name: String,
    place: u64,
    samples: u64,
    hz: f64,
    volts: Volts,
}

/// Reads a waveform.
pub(super) fn read(
    stream: &mut dyn Source,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let head = at_place(stream, 0)?.header(0x104, false)?;
    let channels = match version(head.bytes(0, 0x104)?) {
        Some(6) => sixth(stream)?,
        Some(version) => at_fixed_places(&at_place(stream, 0)?.header(HEADER, false)?, version)?,
        None => return Err(head.wrong(0, "this is no Siglent waveform of version 1 to 4 or 6")),
    };
    let names: Vec<String> = channels.iter().map(|channel| channel.name.clone()).collect();
    if names.is_empty() {
        return Err(Error::Unusable(
            "no analog channel was on when the waveform was saved; digital ones are not read: \
             save as CSV"
                .into(),
        ));
    }
    let at = choose(&names, request.channel.as_deref())?;
    let channel = &channels[at];
    let mut recording = recording(&channel.name, channel.hz, request);
    let layout = Layout::alone(channel.samples, channel.volts.code.size());
    let mut bytes = at_place(stream, channel.place)?;
    read_volts(&mut bytes, layout, channel.volts, request, &mut recording, sink)?;
    Ok(recording)
}

/// A number with its magnitude.
fn scaled(header: &Header, at: usize) -> Result<f64> {
    let magnitude = header.u32(at + 8)?;
    if magnitude > MOST_MAGNITUDE {
        let reason = format!("a magnitude of {magnitude}, expected 0 to {MOST_MAGNITUDE}");
        return Err(header.wrong(at + 8, reason));
    }
    Ok(header.f64(at)? * 1e3f64.powi(magnitude as i32 - NO_MAGNITUDE))
}

/// Source of four channels' numbers.
struct Group {
    first: usize,
    is_on: usize,
    scale: usize,
    offset: usize,
    /// Steps in a division, if they are stated.
    steps: Option<usize>,
    /// The factor of the probe, which only version 4 leaves out of its volts.
    probe: Option<usize>,
}

/// Channels of versions 1 to 4. Version 1 has numbers of 16 bytes, the later ones of 40; version 4
/// has a number more before all of them.
fn at_fixed_places(header: &Header, version: u32) -> Result<Vec<Channel>> {
    let more = if version == 4 { 4 } else { 0 };
    let (size, samples, rate) = if version == 1 { (16, 0xf4, 0xf8) } else { (40, 0x1e8, 0x1ec) };
    let (samples, rate) = (samples + more, rate + more);
    let steps = |place: usize| (version >= 3).then_some(place + more);
    let groups = match version {
        1 => {
            vec![Group { first: 1, is_on: 0, scale: 0x10, offset: 0x50, steps: None, probe: None }]
        }
        _ => vec![
            Group {
                first: 1,
                is_on: 4 + more,
                scale: 0x14 + more,
                offset: 0xb4 + more,
                steps: steps(0x26c),
                probe: (version == 4).then_some(0x244),
            },
            Group {
                first: 5,
                is_on: 0x404,
                scale: 0x414,
                offset: 0x4b4,
                steps: Some(0x574),
                probe: Some(0x554),
            },
        ],
    };
    let is_wide = version >= 2 && header.u8(0x260 + more)? != 0;
    let big = version >= 3 && header.u8(0x261 + more)? != 0;
    let code = if is_wide { Code::U16 } else { Code::U8 };
    let hz = header.rate(rate, scaled(header, rate)?)?;
    let samples = u64::from(header.u32(samples)?);
    let mut place = if version == 4 { u64::from(header.u32(4)?) } else { SAMPLES };
    let mut channels = Vec::new();
    for group in groups.iter().take(if version == 4 { 2 } else { 1 }) {
        for n in (0..4).filter(|n| header.u32(group.is_on + 4 * n).is_ok_and(|flag| flag == 1)) {
            let steps = match group.steps {
                Some(at) => f64::from(header.i32(at + 4 * n)?),
                None => STEPS * if is_wide { 256.0 } else { 1.0 },
            };
            let probe = group.probe.map(|at| header.f64(at + 8 * n)).transpose()?;
            let probe = probe.filter(|factor| *factor > 0.0).unwrap_or(1.0);
            let scale = probe * scaled(header, group.scale + size * n)? / steps;
            let middle = if is_wide { 32_768.0 } else { 128.0 };
            let offset = scaled(header, group.offset + size * n)? - middle * scale;
            let volts = Volts { code, big, scale, offset };
            channels.push(Channel {
                name: format!("C{}", group.first + n),
                place,
                samples,
                hz,
                volts,
            });
            place += samples * code.size() as u64;
        }
    }
    Ok(channels)
}

/// Channels of version 6: a header before the samples of each.
fn sixth(stream: &mut dyn Source) -> Result<Vec<Channel>> {
    let header = at_place(stream, 0)?.header(FILE_HEADER, false)?;
    let number = header.u32(104)?;
    if number > MOST_WAVEFORMS {
        let reason = format!("{number} waveforms, the limit is {MOST_WAVEFORMS}");
        return Err(header.wrong(104, reason));
    }
    let mut place = u64::from(header.u16(4)?);
    let mut channels = Vec::new();
    for _ in 0..number {
        let header = at_place(stream, place)?.header(WAVEFORM_HEADER, false)?;
        let (number, size) = (header.u64(248)?, header.u64(256)?);
        let behind = u64::from(header.u32(4)?) + u64::from(header.u32(240)?);
        let code = match size.checked_div(number).filter(|each| each * number == size) {
            Some(1) => Code::U8,
            Some(2) => Code::U16,
            Some(4) => Code::U32,
            _ => {
                let reason = format!("{number} samples in {size} bytes; 1, 2 and 4 are read");
                return Err(header.wrong(248, reason));
            }
        };
        let scale = header.f64(184)?;
        let volts = Volts { code, big: false, scale, offset: -scale * header.f64(176)? };
        let label = header.text(16, 16)?;
        let index = header.u16(14)?;
        let name = if label.is_empty() { format!("C{index}") } else { label };
        let hz = header.rate_of(104, header.f64(104)?)?;
        place += behind;
        channels.push(Channel { name, place, samples: number, hz, volts });
        place = place
            .checked_add(size)
            .ok_or_else(|| header.wrong(256, format!("a waveform of {size} bytes")))?;
    }
    Ok(channels)
}
