//! Records of waveforms one after the other (`.bin`): AG01, AG03 and AG10 of Keysight's and
//! Agilent's oscilloscopes, RG01 and RG03 of Rigol's since MSO5000. Each header states its own
//! size.

use super::bytes::rate_of;
use super::samples::{Code, Layout, Volts, read_bit, read_volts, recording};
use super::{Source, at_place};
use crate::edge::Edge;
use crate::error::{Error, Result};
use crate::read::{Recording, Remark, Request, choose};
use std::io::SeekFrom;

/// Most records, and most buffers of one.
const MOST_RECORDS: u32 = 1 << 14;
const MOST_BUFFERS: u32 = 16;
/// Size of a record's header up to its label; later versions have more.
const LEAST_HEADER: usize = 128;
/// A firmware of the MSO5074 states this distance of samples whatever it is, and 144 bytes.
const NO_INTERVAL: f64 = 1e-12;
const WRONG_HEADER: usize = 144;

/// Whether a file begins with one of the versions.
pub(super) fn begins(head: &[u8]) -> bool {
    [&b"AG01"[..], b"AG03", b"AG10", b"RG01", b"RG03"].iter().any(|name| head.starts_with(name))
}

/// A buffer of samples.
#[derive(Debug, Clone)]
struct Buffer {
    place: u64,
    size: u64,
    kind: u16,
    /// Bytes of a sample.
    each: u16,
}

/// A waveform.
#[derive(Debug, Clone)]
struct Waveform {
    place: u64,
    label: String,
    is_logic: bool,
    interval: f64,
    segment: u32,
    buffers: Vec<Buffer>,
}

/// A channel that can be chosen: a waveform, or a bit of one.
struct Channel {
    name: String,
    waveform: usize,
    bit: Option<u32>,
}

/// Reads a file.
pub(super) fn read(
    stream: &mut dyn Source,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let (waveforms, behind) = waveforms(stream)?;
    let channels = channels(&waveforms);
    let names: Vec<String> = channels.iter().map(|channel| channel.name.clone()).collect();
    let at = choose(&names, request.channel.as_deref())?;
    let Some((channel, waveform)) =
        channels.get(at).and_then(|channel| Some((channel, waveforms.get(channel.waveform)?)))
    else {
        return Err(Error::Unusable("the file has no waveform".into()));
    };
    let buffer = the_buffer(waveform)?;
    let hz = rate_of(waveform.interval).map_err(|reason| Error::byte(waveform.place, reason))?;
    let mut recording = recording(&channel.name, hz, request);
    let mut bytes = at_place(stream, buffer.place)?;
    let layout = Layout::alone(buffer.size / u64::from(buffer.each.max(1)), buffer.each.into());
    match channel.bit {
        Some(bit) => read_bit(&mut bytes, layout, bit, request, &mut recording, sink)?,
        None => {
            let floats = Volts::floats(Code::F32);
            read_volts(&mut bytes, layout, floats, request, &mut recording, sink)?
        }
    }
    if behind > 0 {
        let all_buffers = waveforms.iter().flat_map(|waveform| &waveform.buffers);
        let stated = all_buffers.fold(0u64, |sum, buffer| sum.saturating_add(buffer.size));
        recording
            .remarks
            .push(Remark::WrongSizes { stated, actual: stated.saturating_add(behind) });
    }
    Ok(recording)
}

/// All waveforms, and the bytes behind them.
fn waveforms(stream: &mut dyn Source) -> Result<(Vec<Waveform>, u64)> {
    let end = stream.seek(SeekFrom::End(0)).map_err(|error| Error::stream(&error))?;
    let head = at_place(stream, 0)?.header(12, false)?;
    let is_long = head.u8(3)? == b'3';
    let (number, mut place) = if is_long {
        (at_place(stream, 12)?.header(4, false)?.u32(0)?, 16)
    } else {
        (head.u32(8)?, 12)
    };
    if number > MOST_RECORDS {
        return Err(head.wrong(8, format!("{number} waveforms, the limit is {MOST_RECORDS}")));
    }
    let mut all_waveforms = Vec::new();
    for _ in 0..number {
        // A file that was cut has the first waveforms.
        if place >= end && !all_waveforms.is_empty() {
            break;
        }
        let waveform = waveform(stream, place, is_long)?;
        let last = waveform.buffers.last();
        place = last.map_or(place, |last| last.place.saturating_add(last.size));
        all_waveforms.push(waveform);
    }
    Ok((all_waveforms, end.saturating_sub(place)))
}

fn waveform(stream: &mut dyn Source, start: u64, is_long: bool) -> Result<Waveform> {
    let size = at_place(stream, start)?.header(4, false)?.u32(0)? as usize;
    let header = at_place(stream, start)?.header(size, false)?;
    if size < LEAST_HEADER {
        let reason =
            format!("a waveform's header of {size} bytes, expected {LEAST_HEADER} or more");
        return Err(header.wrong(0, reason));
    }
    let interval = header.f64(32)?;
    if (size, interval) == (WRONG_HEADER, NO_INTERVAL) {
        return Err(header.wrong(
            32,
            "the firmware of the oscilloscope (MSO5074) wrote no true rate and no scale: export \
             as CSV",
        ));
    }
    let number = header.u32(8)?;
    if number > MOST_BUFFERS {
        return Err(header.wrong(8, format!("{number} buffers, the limit is {MOST_BUFFERS}")));
    }
    let mut place = start + size as u64;
    let mut buffers = Vec::new();
    for _ in 0..number {
        let buffer = buffer(stream, place, is_long)?;
        place = buffer
            .place
            .checked_add(buffer.size)
            .ok_or_else(|| Error::byte(place, format!("a buffer of {} bytes", buffer.size)))?;
        buffers.push(buffer);
    }
    let kind = header.u32(4)?;
    let is_bits = |buffer: &Buffer| buffer.each == 1 && buffer.kind >= 5;
    Ok(Waveform {
        place: start,
        label: header.text(112, 16)?,
        is_logic: kind == 6 || buffers.iter().any(is_bits),
        interval,
        segment: if size >= 140 { header.u32(136)? } else { 0 },
        buffers,
    })
}

fn buffer(stream: &mut dyn Source, start: u64, is_long: bool) -> Result<Buffer> {
    let header = at_place(stream, start)?.header(if is_long { 16 } else { 12 }, false)?;
    let size = if is_long { header.u64(8)? } else { header.u32(8)?.into() };
    let header_bytes = u64::from(header.u32(0)?);
    if !(12..=1 << 12).contains(&header_bytes) {
        return Err(header
            .wrong(0, format!("a buffer's header of {header_bytes} bytes, expected 12 or 16")));
    }
    Ok(Buffer { place: start + header_bytes, size, kind: header.u16(4)?, each: header.u16(6)? })
}

/// Names of the waveforms; those of bits count on over all waveforms of bits.
fn channels(waveforms: &[Waveform]) -> Vec<Channel> {
    let (mut all_channels, mut bits) = (Vec::new(), 0);
    for (n, waveform) in waveforms.iter().enumerate() {
        let segment = |name: String| match waveform.segment {
            0 => name,
            segment => format!("{name} segment {segment}"),
        };
        if waveform.is_logic {
            all_channels.extend((0..8).map(|bit| Channel {
                name: segment(format!("D{}", bits + bit)),
                waveform: n,
                bit: Some(bit),
            }));
            bits += 8;
        } else {
            let number = || format!("CH{}", n + 1);
            let name = Some(waveform.label.clone()).filter(|name| !name.is_empty());
            let name = segment(name.unwrap_or_else(number));
            all_channels.push(Channel { name, waveform: n, bit: None });
        }
    }
    all_channels
}

/// The buffer of a waveform that holds its samples.
fn the_buffer(waveform: &Waveform) -> Result<&Buffer> {
    let wrong = |reason: String| Err(Error::byte(waveform.place, reason));
    let [buffer] = &waveform.buffers[..] else {
        return wrong(format!(
            "the waveform has {} buffers, as of a least and a greatest value by peak detection: \
             record again in normal mode",
            waveform.buffers.len()
        ));
    };
    let is_read =
        if waveform.is_logic { buffer.each == 1 } else { buffer.each == 4 && buffer.kind == 1 };
    if is_read {
        return Ok(buffer);
    }
    wrong(format!(
        "samples of kind {} with {} bytes; floats (kind 1, 4 bytes) and bits (1 byte) are read: \
         export as CSV",
        buffer.kind, buffer.each
    ))
}
