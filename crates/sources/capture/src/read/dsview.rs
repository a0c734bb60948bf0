//! Captures of DSView (`.dsl`): an archive with a file `header` and the samples in pieces. Logic
//! has a bit of a channel for each sample; oscilloscopes and data loggers have bytes.

use super::archive::{piece, text};
use super::csv::frequency;
use super::samples::{Levels, take_volts};
use super::{Recording, Remark, Request, choose};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Place, Result, shown};
use std::collections::BTreeMap;
use std::io::{Read, Seek};
use zip::ZipArchive;

/// Maximum size of `header` in bytes.
const MOST_HEADER: u64 = 1 << 20;
/// Most pieces of a channel.
const MOST_PIECES: u32 = 1 << 20;
/// Divisions of the screen.
const DIVISIONS: f64 = 10.0;

/// What the instrument was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Logic,
    Oscilloscope,
    Logger,
}

/// Contents of `header`.
struct Header {
    mode: Mode,
    hz: f64,
    samples: u64,
    /// Names of the channels by number.
    channels: BTreeMap<u32, String>,
    values: BTreeMap<String, String>,
}

impl Header {
    fn parse(text: &str) -> Result<Header> {
        let values: BTreeMap<String, String> = text
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
            .collect();
        let value = |key: &str| values.get(key).map(String::as_str).unwrap_or_default();
        let wrong = |key: &str, expected: &str| {
            let value = shown(value(key));
            Error::Unusable(format!("header: `{key}` is `{value}`, expected {expected}"))
        };
        let version = value("version").parse::<u32>().map_err(|_| wrong("version", "2 or 3"))?;
        if !(2..=3).contains(&version) {
            return Err(wrong("version", "2 or 3: open the file in DSView 1.x and save it again"));
        }
        let mode = match value("device mode") {
            "0" => Mode::Logic,
            "1" => Mode::Oscilloscope,
            "2" => Mode::Logger,
            _ => return Err(wrong("device mode", "0 to 2")),
        };
        let hz = frequency(value("samplerate")).filter(|hz| *hz > 0.0);
        let hz = hz.ok_or_else(|| wrong("samplerate", "a rate such as `100 MHz`"))?;
        let samples =
            value("total samples").parse().map_err(|_| wrong("total samples", "a number"))?;
        let number = |key: &str| key.strip_prefix("probe").and_then(|n| n.parse::<u32>().ok());
        let channels =
            values.iter().filter_map(|(key, name)| Some((number(key)?, name.clone()))).collect();
        Ok(Header { mode, hz, samples, channels, values })
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.values.get(key)?.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Volts of a step, whose sign says that greater numbers are lower volts.
    fn scale(&self, channel: u32) -> Result<f64> {
        let steps = self.number("ref max").unwrap_or(255.0) - self.number("ref min").unwrap_or(0.0);
        let range = match self.mode {
            Mode::Logger => {
                let end = |name: &str| self.number(&format!("map{name}{channel}"));
                end("Max").zip(end("Min")).map(|(most, least)| most - least)
            }
            _ => {
                let factor = self.number(&format!("vFactor{channel}")).unwrap_or(1.0);
                let division = self.number(&format!("vDiv{channel}"));
                division.map(|millivolts| 1e-3 * millivolts * factor * DIVISIONS)
            }
        };
        let scale = -range.unwrap_or(DIVISIONS) / steps;
        if scale != 0.0 && scale.is_finite() {
            return Ok(scale);
        }
        Err(Error::Unusable(format!(
            "header: the range of channel {channel} is {:e} V in {steps} steps: export as CSV",
            range.unwrap_or_default()
        )))
    }
}

/// Reads a capture; edges come in samples.
pub(super) fn read<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let header = Header::parse(&text(archive, "header", MOST_HEADER)?)?;
    request.stated.set(Some(header.hz));
    let names: Vec<String> = header.channels.values().cloned().collect();
    let at = choose(&names, request.channel.as_deref())?;
    let Some((number, channel)) = header.channels.iter().nth(at) else {
        return Err(Error::Unusable("header: no channels (`probe0`)".into()));
    };
    let mut recording = Recording {
        format: Some(super::Format::Sigrok),
        channel: channel.clone(),
        hz: Some(header.hz),
        ..Recording::default()
    };
    let (samples, cut) = match header.mode {
        Mode::Logic => levels(archive, &header, *number, request, &mut recording, sink)?,
        _ => volts(archive, &header, (at, *number), request, &mut recording, sink)?,
    };
    let cut = cut.or_else(|| {
        (samples < header.samples).then(|| {
            format!("the header states {} samples, the file has {samples}", header.samples)
        })
    });
    if let Some(reason) = cut {
        let place = Place::Seconds(samples as f64 / header.hz);
        recording.remarks.push(Remark::Truncated { place, reason });
    }
    Ok(recording)
}

/// Passes on all pieces of a channel.
fn pieces<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    channel: &str,
    unit: usize,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Option<String>> {
    for n in 0..MOST_PIECES {
        let name = format!("{channel}/{n}");
        if archive.index_for_name(&name).is_none() {
            if n == 0 {
                let reason = format!("the capture has no `{name}`, which should hold its samples");
                return Err(Error::Unusable(reason));
            }
            break;
        }
        let cut = piece(archive, &name, unit, take)?;
        if cut.is_some() {
            return Ok(cut);
        }
    }
    Ok(None)
}

fn levels<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    header: &Header,
    number: u32,
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<(u64, Option<String>)> {
    let mut levels = Levels::default();
    let cut = pieces(archive, &format!("L-{number}"), 1, &mut |block| {
        request.go_on()?;
        for byte in block {
            // The last byte may have more bits than there are samples.
            let bits = (header.samples - levels.samples).min(8);
            (0..bits).for_each(|bit| levels.push(byte >> bit & 1 == 1, sink));
        }
        levels.give_up_at_silence()
    })?;
    Ok((levels.end(recording), cut))
}

/// Samples of an oscilloscope or a data logger: a piece for each channel, or all channels in turn.
fn volts<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    header: &Header,
    (at, number): (usize, u32),
    request: &Request,
    recording: &mut Recording,
    sink: &mut dyn FnMut(Edge),
) -> Result<(u64, Option<String>)> {
    if header.number("bits").is_some_and(|bits| bits != 8.0) {
        return Err(Error::Unusable(
            "header: samples of other than 8 bits (`bits`) are not read: export as CSV".into(),
        ));
    }
    let kind = if header.mode == Mode::Logger { "A" } else { "O" };
    let number_of_channels = header.channels.len();
    let own_name = format!("{kind}-{number}");
    let is_alone = number_of_channels == 1
        || header
            .channels
            .keys()
            .all(|n| archive.index_for_name(&format!("{kind}-{n}/0")).is_some());
    let (name, unit, lane) =
        if is_alone { (own_name, 1, 0) } else { (format!("{kind}-0"), number_of_channels, at) };
    let name = if archive.index_for_name(&format!("{name}/0")).is_some() {
        name
    } else {
        format!("{kind}-0")
    };
    let scale = header.scale(number)?;
    let mut detector = Detector::for_volts(request.method, 1e-4f64.min(2.0 * scale.abs()));
    let mut values = Vec::new();
    let cut = pieces(archive, &name, unit, &mut |block| {
        request.go_on()?;
        values.clear();
        let samples = block.chunks_exact(unit).map(|sample| sample[lane]);
        values.extend(samples.map(|code| (f64::from(code) * scale) as f32));
        detector.push(&values, sink)
    })?;
    Ok((take_volts(detector, recording, sink)?, cut))
}
