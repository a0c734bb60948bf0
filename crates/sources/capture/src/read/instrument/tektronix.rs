//! Waveforms of Tektronix's oscilloscopes in binary (`.wfm`): versions WFM#001 to WFM#003, one
//! channel a file.

use super::bytes::{Bytes, Header};
use super::samples::{Code, Layout, Volts, read_volts, recording};
use crate::edge::Edge;
use crate::error::Result;
use crate::read::{Recording, Request, choose};

/// Bytes before the waveform's header.
const STATIC: usize = 78;

/// The version and the order of bytes. Oscilloscopes write `:WFM#003`, other programs `WFM#003`.
fn version(head: &[u8]) -> Option<(u8, bool)> {
    let big = match head.get(..2)? {
        [0x0f, 0x0f] => false,
        [0xf0, 0xf0] => true,
        _ => return None,
    };
    let name = head.get(2..10)?;
    let number = name.strip_prefix(b":").unwrap_or(name).strip_prefix(b"WFM#00")?.first()?;
    matches!(number, b'1'..=b'3').then(|| (number - b'0', big))
}

/// Whether a file is such a waveform.
pub(super) fn begins(head: &[u8]) -> bool {
    version(head).is_some()
}

/// Places of the numbers in a version.
struct Places {
    volts: usize,
    time: usize,
    curve: usize,
}

impl Places {
    /// Version 2 has two bytes more before the axes, and version 3 four bytes more in each of them.
    fn of(version: u8) -> Places {
        match version {
            1 => Places { volts: 166, time: 478, curve: 790 },
            2 => Places { volts: 168, time: 480, curve: 792 },
            _ => Places { volts: 168, time: 488, curve: 808 },
        }
    }
}

/// Reads a waveform.
pub(super) fn read(
    mut bytes: Bytes,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let header = bytes.header(STATIC, false)?;
    let Some((version, big)) = version(header.bytes(0, STATIC)?) else {
        return Err(header.wrong(2, "the version is not WFM#001 to WFM#003"));
    };
    let places = Places::of(version);
    let header = header.and(bytes.header(places.curve + 30 - STATIC, big)?).with_order(big);
    check(&header, places.volts)?;
    let label = header.text(40, 32)?;
    let channel = if label.is_empty() { "waveform".to_owned() } else { label };
    choose(std::slice::from_ref(&channel), request.channel.as_deref())?;
    let hz = header.rate_of(places.time, header.f64(places.time)?)?;
    let code = code(&header, places.volts + 72, version)?;
    let volts = Volts {
        code,
        big,
        scale: header.f64(places.volts)?,
        offset: header.f64(places.volts + 8)?,
    };
    let (start, end) = (header.u32(places.curve + 14)?, header.u32(places.curve + 18)?);
    let Some(size) = end.checked_sub(start) else {
        let reason = format!("the samples begin at {start} of the curve and end at {end}");
        return Err(header.wrong(places.curve + 14, reason));
    };
    bytes.skip_to(u64::from(header.u32(16)?) + u64::from(start))?;
    let mut recording = recording(&channel, hz, request);
    let layout = Layout::alone(u64::from(size) / code.size() as u64, code.size());
    read_volts(&mut bytes, layout, volts, request, &mut recording, sink)?;
    Ok(recording)
}

/// Refuses files of several frames, and those without a signal over time.
fn check(header: &Header, volts: usize) -> Result<()> {
    let frames = u64::from(header.u32(72)?) + 1;
    if header.i32(78)? != 0 || frames > 1 {
        let reason = format!(
            "the file has {frames} frames (FastFrame), with times of their own: save one frame, or \
             record in one piece"
        );
        return Err(header.wrong(72, reason));
    }
    let kind = header.i32(122)?;
    if kind != 2 {
        let reason = format!("the data are of type {kind}, expected 2, a signal over time");
        return Err(header.wrong(122, reason));
    }
    match header.i32(volts + 76)? {
        0 => Ok(()),
        1 => Err(header.wrong(
            volts + 76,
            "the file has pairs of a least and a greatest value: record again in sample mode",
        )),
        kind => Err(header.wrong(volts + 76, format!("the data are stored in the way {kind}"))),
    }
}

/// The format of the samples.
fn code(header: &Header, at: usize, version: u8) -> Result<Code> {
    let size = header.u8(15)?;
    let code = match header.i32(at)? {
        0 => Code::I16,
        1 => Code::I32,
        2 => Code::U32,
        4 => Code::F32,
        5 => Code::F64,
        6 if version == 3 => Code::U8,
        7 if version == 3 => Code::I8,
        other => {
            let reason = format!("the samples have the format {other}: save as CSV");
            return Err(header.wrong(at, reason));
        }
    };
    if usize::from(size) != code.size() {
        let reason = format!("a sample has {size} bytes, but the format has {}", code.size());
        return Err(header.wrong(15, reason));
    }
    Ok(code)
}
