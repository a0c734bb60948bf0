//! Binary exports of Saleae Logic 2 (`File > Export Raw Data > Binary`), version 0 of the first
//! products and version 1 of those since 2025: times of a channel's changes, or its volts.

use super::bytes::Bytes;
use super::samples::{Code, Layout, Volts, read_volts, recording};
use crate::edge::Edge;
use crate::error::{Error, Place, Result};
use crate::read::samples::Levels;
use crate::read::{Recording, Remark, Request, choose};

/// Ticks per second of times without a rate.
const NANO: f64 = 1e9;
/// Times are rounded to this share of a tick, which their last digits do not reach.
const FINE_STEPS: f64 = (1u64 << 20) as f64;
/// Bytes that are read together.
const BLOCK: usize = 1 << 16;
/// Latest time in seconds.
const MOST_SECONDS: f64 = 1e7;
/// Most waveforms of a file.
const MOST_WAVEFORMS: u64 = 1 << 16;
/// A time is that of a sample if it is this near to it, in samples.
const NEAR_SAMPLE: f64 = 0.01;

/// Reads an export.
pub(super) fn read(
    mut bytes: Bytes,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let header = bytes.header(16, false)?;
    match (header.i32(8)?, header.i32(12)?) {
        (version @ (0 | 1), 0) => changes(bytes, version, request, sink),
        (version @ (0 | 1), 1) => volts(bytes, version, request, sink),
        (version, kind) => Err(header.wrong(
            8,
            format!(
                "a Saleae export of version {version} and type {kind}; versions 0 and 1 and types \
                 0 (digital) and 1 (analog) are read: export as CSV"
            ),
        )),
    }
}

/// A part of a recording of levels without a gap.
struct Chunk {
    high: bool,
    hz: Option<f64>,
    begin: f64,
    end: f64,
    changes: u64,
}

impl Chunk {
    fn read(bytes: &mut Bytes, version: i32) -> Result<Chunk> {
        let header = bytes.header(if version == 0 { 28 } else { 36 }, false)?;
        let rate = if version == 0 { 0 } else { 8 };
        let hz = (version > 0).then(|| header.rate(4, header.f64(4)?)).transpose()?;
        let (begin, end) = (header.f64(4 + rate)?, header.f64(12 + rate)?);
        if !(begin.abs() <= MOST_SECONDS && end.abs() <= MOST_SECONDS && begin <= end) {
            let reason = format!("the recording begins at {begin:e} s and ends at {end:e} s");
            return Err(header.wrong(4 + rate, reason));
        }
        let high = header.u32(0)? != 0;
        Ok(Chunk { high, hz, begin, end, changes: header.u64(20 + rate)? })
    }
}

/// Conversion of times to ticks, which are samples where the rate is stated.
struct Ticks {
    hz: f64,
    /// Whether times are those of samples.
    is_stated: bool,
    origin: f64,
    last: f64,
}

impl Ticks {
    fn of(&mut self, seconds: f64, place: u64) -> Result<f64> {
        if !(seconds.abs() <= MOST_SECONDS && seconds >= self.last) {
            let reason = format!("the time {seconds:e} s follows {:e} s", self.last);
            return Err(Error::byte(place, reason));
        }
        self.last = seconds;
        let ticks = (seconds - self.origin) * self.hz;
        let sample = ticks.round();
        let is_sample = self.is_stated && (ticks - sample).abs() < NEAR_SAMPLE;
        Ok(if is_sample { sample } else { (ticks * FINE_STEPS).round() / FINE_STEPS })
    }
}

fn changes(
    mut bytes: Bytes,
    version: i32,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let chunks = if version == 0 { 1 } else { bytes.header(8, false)?.u64(0)? };
    let mut levels = Levels::default();
    let mut ticks: Option<Ticks> = None;
    let (mut cut, mut block) = (None, vec![0; BLOCK]);
    for _ in 0..chunks {
        let start = bytes.at();
        let chunk = Chunk::read(&mut bytes, version)?;
        let (hz, is_stated) = (chunk.hz.unwrap_or(NANO), chunk.hz.is_some());
        let origin = if is_stated { chunk.begin } else { 0.0 };
        let ticks = ticks.get_or_insert(Ticks { hz, is_stated, origin, last: chunk.begin });
        if ticks.hz != hz {
            let rates = format!("the sample rate changes from {} to {hz} Hz", ticks.hz);
            return Err(Error::byte(start, format!("{rates}: export each part alone")));
        }
        request.stated.set(Some(hz));
        levels.lost(ticks.of(chunk.begin, start)?);
        levels.change(chunk.high, ticks.of(chunk.begin, start)?, sink);
        cut = toggle((&mut bytes, &mut block), &chunk, ticks, &mut levels, request, sink)?;
        if cut.is_some() {
            break;
        }
        ticks.last = ticks.last.max(chunk.end);
    }
    let Some(Ticks { hz, .. }) = ticks else {
        return Err(Error::byte(16, "the export has no data: its number of parts is 0"));
    };
    let mut recording = recording("digital", hz, request);
    levels.end(&mut recording);
    recording.remarks.extend(cut);
    Ok(recording)
}

/// Takes the changes of a part.
fn toggle(
    (bytes, block): (&mut Bytes, &mut [u8]),
    chunk: &Chunk,
    ticks: &mut Ticks,
    levels: &mut Levels,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Option<Remark>> {
    let mut high = chunk.high;
    let mut changes_left = chunk.changes;
    while changes_left > 0 {
        request.go_on()?;
        let wanted_changes = changes_left.min((block.len() / 8) as u64);
        let start = bytes.at();
        let read = bytes.fill(&mut block[..wanted_changes as usize * 8])? / 8;
        for (n, time) in block[..read * 8].chunks_exact(8).enumerate() {
            let time = f64::from_le_bytes(time.try_into().unwrap_or_default());
            high = !high;
            levels.change(high, ticks.of(time, start + 8 * n as u64)?, sink);
        }
        changes_left -= read as u64;
        if (read as u64) < wanted_changes {
            let (stated, found_changes) = (chunk.changes, chunk.changes - changes_left);
            let reason =
                format!("the header states {stated} changes, the file has {found_changes}");
            return Ok(Some(Remark::Truncated { place: Place::Byte(bytes.at()), reason }));
        }
    }
    Ok(None)
}

/// A waveform: its rate and number of samples.
fn waveform(bytes: &mut Bytes, version: i32) -> Result<(f64, u64)> {
    let header = bytes.header(if version == 0 { 32 } else { 40 }, false)?;
    let (rate, every, samples) = if version == 0 {
        (header.u64(8)? as f64, header.u64(16)?, header.u64(24)?)
    } else {
        (header.f64(16)?, header.u64(24)?, header.u64(32)?)
    };
    if every == 0 || every > 1 << 32 {
        return Err(header.wrong(16, format!("every {every}th sample is in the file")));
    }
    Ok((header.rate(8, rate / every as f64)?, samples))
}

fn volts(
    mut bytes: Bytes,
    version: i32,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let number = if version == 0 { 1 } else { bytes.header(8, false)?.u64(0)? };
    if !(1..=MOST_WAVEFORMS).contains(&number) {
        let reason = format!("the export has {number} waveforms, expected 1 to {MOST_WAVEFORMS}");
        return Err(Error::byte(16, reason));
    }
    let names: Vec<String> = if number == 1 {
        vec!["analog".into()]
    } else {
        (1..=number).map(|n| format!("waveform {n}")).collect()
    };
    let at = choose(&names, request.channel.as_deref())?;
    for _ in 0..at {
        let (_, samples) = waveform(&mut bytes, version)?;
        let end = samples.checked_mul(4).and_then(|size| bytes.at().checked_add(size));
        bytes.skip_to(end.unwrap_or(u64::MAX))?;
    }
    let (hz, samples) = waveform(&mut bytes, version)?;
    let mut recording = recording(&names[at], hz, request);
    let layout = Layout::alone(samples, 4);
    let floats = Volts::floats(Code::F32);
    read_volts(&mut bytes, layout, floats, request, &mut recording, sink)?;
    Ok(recording)
}
