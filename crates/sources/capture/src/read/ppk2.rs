//! Recordings of Nordic's Power Profiler (`.ppk2`, format 2): an archive with `metadata.json` and
//! `session.raw`, six bytes for a sample: the current, and two bits for each digital channel that
//! say which levels it had.

use super::archive::{piece, text};
use super::samples::{Levels, take_volts};
use super::{Recording, Remark, Request, choose};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Place, Result};
use std::io::{Read, Seek};
use zip::ZipArchive;

/// Maximum size of `metadata.json` in bytes.
const MOST_METADATA: u64 = 1 << 20;
/// Bytes of a sample.
const SAMPLE: usize = 6;
/// Digital channels.
const DIGITAL: u32 = 8;
/// Smallest change of the current that can be an edge, in microamperes.
const LEAST_CURRENT: f64 = 1e-3;

/// Reads a recording; edges come in samples.
pub(super) fn read<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let hz = rate(&text(archive, "metadata.json", MOST_METADATA)?)?;
    request.stated.set(Some(hz));
    let mut names: Vec<String> = (0..DIGITAL).map(|n| format!("D{n}")).collect();
    names.push("current".into());
    let at = choose(&names, request.channel.as_deref())?;
    let mut recording = Recording {
        format: Some(super::Format::Sigrok),
        channel: names[at].clone(),
        hz: Some(hz),
        ..Recording::default()
    };
    let (samples, cut) = if at < DIGITAL as usize {
        levels(archive, at as u32, request, &mut recording, sink)?
    } else {
        current(archive, request, &mut recording, sink)?
    };
    if let Some(reason) = cut {
        let place = Place::Seconds(samples as f64 / hz);
        recording.remarks.push(Remark::Truncated { place, reason });
    }
    Ok(recording)
}

/// The rate in the metadata.
fn rate(text: &str) -> Result<f64> {
    let wrong = |problem: String| Error::Unusable(format!("metadata.json: {problem}"));
    let json: serde_json::Value =
        serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    match json.get("formatVersion").and_then(serde_json::Value::as_u64) {
        Some(2) => (),
        other_version => {
            let expectation = "expected 2: save it again by Power Profiler 4, or export as CSV";
            let version = other_version.map_or("missing".to_owned(), |version| version.to_string());
            return Err(wrong(format!("`formatVersion` is {version}, {expectation}")));
        }
    }
    let rate = json.pointer("/metadata/samplesPerSecond").and_then(serde_json::Value::as_f64);
    rate.filter(|hz| *hz > 0.0 && hz.is_finite())
        .ok_or_else(|| wrong("`samplesPerSecond` is no rate".into()))
}

/// A digital channel. Below 100,000 samples a second, a sample may have had both levels: the new
/// level begins in it, as seen by the next sample.
fn levels<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    number: u32,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<(u64, Option<String>)> {
    let (mut levels, mut was_both) = (Levels::default(), false);
    let mut last = None;
    let cut = piece(archive, "session.raw", SAMPLE, &mut |block| {
        request.go_on()?;
        for sample in block.chunks_exact(SAMPLE) {
            // The file has the low byte of the current first, but the high byte of the bits.
            let bits = u16::from_be_bytes([sample[4], sample[5]]) >> (2 * number) & 3;
            let at = levels.samples as f64;
            match bits {
                1 | 2 => {
                    // A pulse that began and ended within a sample is no level of any sample.
                    if was_both && last == Some(bits) {
                        levels.lost(at - 1.0);
                    }
                    levels.change(bits == 2, at, sink);
                    (last, was_both) = (Some(bits), false);
                }
                3 => was_both = true,
                _ => levels.lost(at),
            }
            levels.samples += 1;
        }
        levels.give_up_at_silence()
    })?;
    Ok((levels.end(recording), cut))
}

fn current<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<(u64, Option<String>)> {
    let mut detector = Detector::for_volts(request.method, LEAST_CURRENT);
    let mut values = Vec::new();
    let cut = piece(archive, "session.raw", SAMPLE, &mut |block| {
        request.go_on()?;
        values.clear();
        let samples = block.chunks_exact(SAMPLE);
        values.extend(samples.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        detector.push(&values, sink)
    })?;
    Ok((take_volts(detector, recording, sink)?, cut))
}
