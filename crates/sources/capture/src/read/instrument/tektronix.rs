//! Waveforms of Tektronix's oscilloscopes in binary (`.wfm`): versions WFM#001 to WFM#003, one
//! channel a file, or bits of digital channels.

use super::at_place;
use super::bytes::Header;
use super::samples::{Code, Layout, Volts, read_bit, read_volts, recording};
use crate::edge::Edge;
use crate::error::Result;
use crate::read::{Recording, Request, choose};

/// Bytes before the waveform's header.
const STATIC: usize = 78;
/// The data's types: a signal over time, and bits of digital channels.
const SIGNAL: i32 = 2;
const DIGITAL: i32 = 6;
/// What the settings behind the samples begin with, and most bytes of them that are looked at.
const SETTINGS: &[u8] = b"tekmeta!";
const MOST_SETTINGS: u64 = 1 << 16;

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

/// Source of the numbers in a version.
struct Source {
    volts: usize,
    time: usize,
    curve: usize,
}

impl Source {
    /// Version 2 has two bytes more before the axes, and version 3 four bytes more in each of them.
    fn of(version: u8) -> Source {
        match version {
            1 => Source { volts: 166, time: 478, curve: 790 },
            2 => Source { volts: 168, time: 480, curve: 792 },
            _ => Source { volts: 168, time: 488, curve: 808 },
        }
    }
}

/// Reads a waveform.
pub(super) fn read(
    stream: &mut dyn super::Source,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut bytes = at_place(stream, 0)?;
    let header = bytes.header(STATIC, false)?;
    let Some((version, big)) = version(header.bytes(0, STATIC)?) else {
        return Err(header.wrong(2, "the version is not WFM#001 to WFM#003"));
    };
    let places = Source::of(version);
    let header = header.and(bytes.header(places.curve + 30 - STATIC, big)?).with_order(big);
    check(&header, places.volts)?;
    let curve = u64::from(header.u32(16)?);
    let behind = curve + u64::from(header.u32(places.curve + 26)?);
    let settings = at_place(stream, behind)?.up_to(MOST_SETTINGS)?;
    if has_setting(&settings, "IQ_", None) {
        return Err(header.wrong(122, "the file has pairs of I and Q, no signal over time"));
    }
    let has_line = |n: u8| has_setting(&settings, &format!("d{n}"), Some(big));
    let is_digital = header.i32(122)? == DIGITAL || (0..8).any(has_line);
    let label = header.text(40, 32)?;
    let names = if is_digital {
        (0..8).map(|bit| format!("d{bit}")).collect()
    } else {
        vec![if label.is_empty() { "waveform".to_owned() } else { label }]
    };
    let at = choose(&names, request.channel.as_deref())?;
    let hz = header.rate_of(places.time, header.f64(places.time)?)?;
    let (start, end) = (header.u32(places.curve + 14)?, header.u32(places.curve + 18)?);
    let Some(size) = end.checked_sub(start) else {
        let reason = format!("the samples begin at {start} of the curve and end at {end}");
        return Err(header.wrong(places.curve + 14, reason));
    };
    let mut bytes = at_place(stream, curve + u64::from(start))?;
    let mut recording = recording(&names[at], hz, request);
    if is_digital {
        let layout = Layout::alone(size.into(), 1);
        read_bit(&mut bytes, layout, at as u32, request, &mut recording, sink)?;
        return Ok(recording);
    }
    let code = code(&header, places.volts + 72, version)?;
    let (scale, offset) = (header.f64(places.volts)?, header.f64(places.volts + 8)?);
    let layout = Layout::alone(u64::from(size) / code.size() as u64, code.size());
    let volts = Volts { code, big, scale, offset };
    read_volts(&mut bytes, layout, volts, request, &mut recording, sink)?;
    Ok(recording)
}

/// Whether the settings behind the samples have one whose name begins so, or is that.
fn has_setting(settings: &[u8], name: &str, big: Option<bool>) -> bool {
    let size = name.len() as u32;
    let length = match big {
        None => vec![],
        Some(true) => size.to_be_bytes().to_vec(),
        Some(false) => size.to_le_bytes().to_vec(),
    };
    let wanted_words = [&length, name.as_bytes()].concat();
    let Some(start) = settings.windows(SETTINGS.len()).position(|part| part == SETTINGS) else {
        return false;
    };
    settings[start..].windows(wanted_words.len()).any(|part| part == wanted_words)
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
    if kind != SIGNAL && kind != DIGITAL {
        let reason =
            format!("the data are of type {kind}, expected 2, a signal over time, or 6, bits");
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
        other_code => {
            let reason = format!("the samples have the format {other_code}: save as CSV");
            return Err(header.wrong(at, reason));
        }
    };
    if usize::from(size) != code.size() {
        let reason = format!("a sample has {size} bytes, but the format has {}", code.size());
        return Err(header.wrong(15, reason));
    }
    Ok(code)
}
