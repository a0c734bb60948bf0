//! sigrok sessions (`.sr`): an archive with the samples in pieces, levels as bits or volts as
//! floats.

use super::archive::{open, piece};
use super::csv::frequency;
use super::samples::{Levels, take_volts};
use super::{Recording, Remark, Request, choose};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Place, Result, shown};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use zip::ZipArchive;

/// Maximum size of `metadata` in bytes.
const MOST_METADATA: u64 = 1 << 20;
/// Maximum number of pieces of a recording.
const MOST_PIECES: u32 = 1 << 20;
/// Maximum size of a sample of levels in bytes: 512 channels.
const MOST_UNIT: usize = 64;

/// Contents of `metadata`.
#[derive(Debug, Default)]
struct Metadata {
    hz: Option<f64>,
    file: Option<String>,
    unit: usize,
    /// Names of the channels by number, and whether they are volts.
    channels: BTreeMap<u32, (String, bool)>,
}

/// Reads a session; edges come in samples.
///
/// # Errors
/// A damaged archive or one without a recording, a missing channel, or a rate of 0.
pub fn read_sigrok(
    stream: impl Read + Seek,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    read_session(&mut open(stream)?, request, sink)
}

/// The same of an archive that is open.
pub(super) fn read_session<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let metadata = metadata(archive)?;
    let Some(hz) = metadata.hz.filter(|hz| *hz > 0.0) else {
        return Err(Error::Unusable(
            "metadata: the rate (`samplerate`) is missing or 0: without a rate there are no times"
                .into(),
        ));
    };
    request.stated.set(Some(hz));
    let names: Vec<String> = metadata.channels.values().map(|channel| channel.0.clone()).collect();
    let at = choose(&names, request.channel.as_deref())?;
    let Some((number, (channel, analog))) = metadata.channels.iter().nth(at) else {
        return Err(Error::Unusable("metadata: no channels (`probe1`)".into()));
    };
    let mut recording = Recording {
        format: Some(super::Format::Sigrok),
        channel: channel.clone(),
        hz: Some(hz),
        ..Recording::default()
    };
    let (samples, cut) = if *analog {
        volts(archive, *number, request, &mut recording, sink)?
    } else {
        levels(archive, &metadata, *number, request, &mut recording, sink)?
    };
    if let Some(reason) = cut {
        recording
            .remarks
            .push(Remark::Truncated { place: Place::Seconds(samples as f64 / hz), reason });
    }
    Ok(recording)
}

fn metadata<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Result<Metadata> {
    let entry = archive
        .by_name("metadata")
        .map_err(|error| Error::Unusable(format!("not a sigrok session: metadata: {error}")))?;
    let mut text = String::new();
    let read = entry.take(MOST_METADATA).read_to_string(&mut text);
    read.map_err(|error| Error::Unusable(format!("metadata: {error}")))?;
    let mut metadata = Metadata { unit: 1, ..Metadata::default() };
    for (at, line) in text.lines().enumerate() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let numbered =
            |start: &str| key.strip_prefix(start).and_then(|number| number.parse::<u32>().ok());
        let wrong = |what: &str| {
            Error::line(at as u64 + 1, format!("metadata: {what} is `{}`", shown(value)))
        };
        match key {
            "samplerate" => metadata.hz = Some(frequency(value).ok_or_else(|| wrong("the rate"))?),
            "capturefile" => metadata.file = Some(value.to_owned()),
            "unitsize" => {
                let limit = || {
                    Error::line(
                        at as u64 + 1,
                        format!(
                            "metadata: the unit size is `{}`, but a sample of levels has 1 to \
                             {MOST_UNIT} bytes: save the session again",
                            shown(value)
                        ),
                    )
                };
                metadata.unit = value
                    .parse()
                    .ok()
                    .filter(|unit| (1..=MOST_UNIT).contains(unit))
                    .ok_or_else(limit)?
            }
            _ => {
                let channel = numbered("probe")
                    .map(|n| (n, false))
                    .or_else(|| numbered("analog").map(|n| (n, true)));
                if let Some((number, analog)) = channel.filter(|(number, _)| *number >= 1) {
                    metadata.channels.insert(number, (value.to_owned(), analog));
                }
            }
        }
    }
    Ok(metadata)
}

/// Names of the pieces in their order: one file, or files with numbers.
fn pieces<R: Read + Seek>(archive: &ZipArchive<R>, name: &str) -> Vec<String> {
    let is_there = |name: &String| archive.index_for_name(name).is_some();
    let whole = name.to_owned();
    let numbered = (1..MOST_PIECES).map(|n| format!("{name}-{n}")).take_while(is_there);
    if is_there(&whole) { vec![whole] } else { numbered.collect() }
}

/// A message if a piece is missing between others; `None` if there is no hole.
fn hole<R: Read + Seek>(archive: &ZipArchive<R>, name: &str, there: usize) -> Option<String> {
    let number = |file: &str| file.strip_prefix(name)?.strip_prefix('-')?.parse::<usize>().ok();
    let behind: Vec<usize> =
        archive.file_names().filter_map(number).filter(|number| *number > there).collect();
    let (next, pieces) = (behind.iter().min()?, behind.len());
    let rest = if pieces == 1 {
        "which is not used".to_owned()
    } else {
        format!("which with {} more is not used", pieces - 1)
    };
    let name = shown(name);
    Some(format!("the piece `{name}-{}` is missing before `{name}-{next}`, {rest}", there + 1))
}

/// Passes on the bytes of all pieces in whole units; returns a message if the archive is damaged or
/// a piece is missing.
fn bytes<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    name: &str,
    unit: usize,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Option<String>> {
    let pieces = pieces(archive, name);
    let hole = if pieces == [name] { None } else { hole(archive, name, pieces.len()) };
    if pieces.is_empty() {
        if let Some(hole) = hole {
            return Err(Error::Unusable(hole));
        }
        return Err(Error::Unusable(format!(
            "the session has no `{}`, which should hold its samples",
            shown(name)
        )));
    }
    for name in pieces {
        let cut = piece(archive, &name, unit, take)?;
        if cut.is_some() {
            return Ok(cut);
        }
    }
    Ok(hole)
}

fn levels<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    metadata: &Metadata,
    number: u32,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<(u64, Option<String>)> {
    let (byte, bit) = ((number - 1) as usize / 8, (number - 1) % 8);
    if byte >= metadata.unit {
        return Err(Error::Unusable(format!(
            "metadata: channel {number} is beyond the unit size of {} bytes",
            metadata.unit
        )));
    }
    let (unit, name) = (metadata.unit, metadata.file.clone().unwrap_or_else(|| "logic-1".into()));
    let mut levels = Levels::default();
    let cut = bytes(archive, &name, unit, &mut |block| {
        request.go_on()?;
        block.chunks_exact(unit).for_each(|sample| levels.push(sample[byte] >> bit & 1 == 1, sink));
        levels.give_up_at_silence()
    })?;
    Ok((levels.end(recording), cut))
}

fn volts<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    number: u32,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<(u64, Option<String>)> {
    let mut detector = Detector::for_volts(request.method, 1e-4);
    let mut values = Vec::new();
    let cut = bytes(archive, &format!("analog-1-{number}"), 4, &mut |block| {
        values.clear();
        values.extend(block.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        request.go_on()?;
        detector.push(&values, sink)
    })?;
    Ok((take_volts(detector, recording, sink)?, cut))
}
