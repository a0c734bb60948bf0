//! Waveforms of LeCroy's oscilloscopes (`.trc`): a block `WAVEDESC`, templates `LECROY_1_0` and
//! `LECROY_2_3` (also 2_2), and the samples of one channel.

use super::bytes::{Bytes, Header};
use super::samples::{Code, Layout, Volts, read_volts, recording};
use crate::edge::Edge;
use crate::error::{Error, Result, shown};
use crate::read::{Recording, Request, choose};

const NAME: &[u8] = b"WAVEDESC";
/// Most bytes before the block: a transfer by SCPI puts its own header there.
const MOST_PREFIX: usize = 256;
/// Least size of the block, for each template.
const LEAST_OLD: usize = 320;
const LEAST_NEW: usize = 346;
/// Most segments of a sequence.
const MOST_SEGMENTS: u64 = 1 << 16;

/// Where the block begins.
pub(super) fn find(head: &[u8]) -> Option<usize> {
    let end = head.len().min(MOST_PREFIX + NAME.len());
    head[..end].windows(NAME.len()).position(|part| part == NAME)
}

/// Source of the numbers in a template.
struct Source {
    /// Sizes of the parts between the block and the samples.
    parts: &'static [usize],
    size: usize,
    label: usize,
    count: usize,
    sparsing: Option<usize>,
    segments: usize,
    gain: usize,
    offset: usize,
    interval: usize,
    kind: usize,
    /// The number of the channel, and that of the first one.
    source: (usize, u16),
}

const OLD: Source = Source {
    parts: &[40, 44],
    size: 48,
    label: 76,
    count: 92,
    sparsing: None,
    segments: 108,
    gain: 120,
    offset: 290,
    interval: 134,
    kind: 270,
    source: (296, 1),
};
const NEW: Source = Source {
    parts: &[40, 44, 48, 52, 56],
    size: 60,
    label: 96,
    count: 116,
    sparsing: Some(136),
    segments: 144,
    gain: 156,
    offset: 160,
    interval: 176,
    kind: 316,
    source: (344, 0),
};

/// Reads a waveform.
pub(super) fn read(
    mut bytes: Bytes,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let (header, places) = block(&mut bytes)?;
    let code = match header.u16(32)? {
        0 => Code::I8,
        1 => Code::I16,
        other => return Err(header.wrong(32, format!("the type of samples is {other}"))),
    };
    check(&header, places)?;
    let samples =
        (size(&header, places.size)? / code.size() as u64).min(size(&header, places.count)?);
    let (names, each) = segments(&header, places, samples)?;
    let at = choose(&names, request.channel.as_deref())?;
    let hz = header.rate_of(places.interval, header.f32(places.interval)?)?;
    let mut place = header.start() + size(&header, 36)? + at as u64 * each * code.size() as u64;
    for part in places.parts {
        place += size(&header, *part)?;
    }
    bytes.skip_to(place)?;
    let volts = Volts {
        code,
        big: is_big(&header)?,
        scale: header.f32(places.gain)?,
        offset: -header.f32(places.offset)?,
    };
    let mut recording = recording(&names[at], hz, request);
    let layout = Layout::alone(each, code.size());
    read_volts(&mut bytes, layout, volts, request, &mut recording, sink)?;
    Ok(recording)
}

/// A size or a number of samples.
fn size(header: &Header, at: usize) -> Result<u64> {
    let value = header.i32(at)?;
    u64::try_from(value).map_err(|_| header.wrong(at, format!("a size of {value}")))
}

/// Whether the high byte of a number comes first: their order is a number itself, 0 or 1.
fn is_big(header: &Header) -> Result<bool> {
    match header.bytes(34, 2)? {
        [0, 0] => Ok(true),
        [1, 0] | [0, 1] => Ok(false),
        other => Err(header.wrong(34, format!("the order of bytes is {other:?}, expected 0 or 1"))),
    }
}

/// The block, in its order of bytes.
fn block(bytes: &mut Bytes) -> Result<(Header, &'static Source)> {
    let mut prefix = bytes.header(NAME.len(), false)?.bytes(0, NAME.len())?.to_vec();
    while !prefix.ends_with(NAME) {
        if prefix.len() > MOST_PREFIX + NAME.len() {
            return Err(Error::byte(bytes.at(), "no block WAVEDESC so far"));
        }
        prefix.extend(bytes.header(1, false)?.bytes(0, 1)?);
    }
    let mut header = bytes.header_behind(NAME, LEAST_OLD)?;
    let template = header.text(16, 16)?;
    let places = match &template[..] {
        name if name.starts_with("LECROY_1_0") => &OLD,
        name if name.starts_with("LECROY_2_") => &NEW,
        name => {
            let reason = format!(
                "the template is `{}`; LECROY_1_0 and LECROY_2_3 are read: save as ASCII or CSV",
                shown(name)
            );
            return Err(header.wrong(16, reason));
        }
    };
    if places.size == NEW.size {
        header = header.and(bytes.header(LEAST_NEW - LEAST_OLD, false)?);
    }
    let is_big = is_big(&header)?;
    Ok((header.with_order(is_big), places))
}

/// Refuses records that are no signal over time, or have not all samples.
fn check(header: &Header, places: &Source) -> Result<()> {
    let reason = match header.u16(places.kind)? {
        0 | 1 | 7 | 8 => None,
        2 => Some("a histogram".to_owned()),
        5 => Some("a complex spectrum".to_owned()),
        6 | 9 => Some("pairs of a least and a greatest value, by peak detection".to_owned()),
        kind => Some(format!("a record of kind {kind}")),
    };
    if let Some(defect) = reason {
        let advice = "save the channel itself, sampled in real time";
        return Err(header.wrong(places.kind, format!("the file has {defect}: {advice}")));
    }
    match places.sparsing.map(|at| size(header, at).map(|every| (at, every))).transpose()? {
        Some((at, every)) if every > 1 => Err(header.wrong(
            at,
            format!("only one of {every} samples is in the file (sparsing): save all of them"),
        )),
        _ => Ok(()),
    }
}

/// Names of the segments, or of the channel, and samples of each.
fn segments(header: &Header, places: &Source, samples: u64) -> Result<(Vec<String>, u64)> {
    let (at, first) = places.source;
    let label = header.text(places.label, 16)?;
    let number = header.u16(at)?.checked_sub(first).filter(|number| *number < 4);
    let name = number.map_or(label, |number| format!("C{}", number + 1));
    let name = if name.is_empty() { "C?".to_owned() } else { name };
    let number = size(header, places.segments)?.max(1);
    if number > MOST_SEGMENTS {
        let reason = format!("{number} segments, the limit is {MOST_SEGMENTS}");
        return Err(header.wrong(places.segments, reason));
    }
    if number == 1 {
        return Ok((vec![name], samples));
    }
    let names = (1..=number).map(|n| format!("{name} segment {n}")).collect();
    Ok((names, samples / number))
}
