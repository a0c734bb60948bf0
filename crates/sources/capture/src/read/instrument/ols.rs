//! Captures of the Logic Sniffer client (`.ols`): text, a line for each change of the channels.

use super::bytes::Bytes;
use super::samples::recording;
use crate::edge::Edge;
use crate::error::{Error, Place, Result, shown};
use crate::read::samples::Levels;
use crate::read::{Recording, Remark, Request, choose};

/// Most channels.
const MOST_CHANNELS: u32 = 32;
/// Longest line in bytes, and most lines of the header.
const MOST_LINE: usize = 1 << 12;
const MOST_HEADER_LINES: u64 = 1000;

/// Whether a file begins with settings of such a capture.
pub(super) fn begins(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = String::from_utf8_lossy(&text[..text.len().min(200)]);
    let has = |name: &str| text.contains(&format!(";{name}: "));
    text.starts_with(';') && has("Rate") && (has("Size") || has("Channels"))
}

/// The settings before the samples.
#[derive(Debug, Default)]
struct Settings {
    rate: Option<f64>,
    size: Option<u64>,
    channels: u32,
    enabled: u32,
}

impl Settings {
    fn take(&mut self, line: u64, text: &str) -> Result<()> {
        let Some((name, value)) = text.split_once(':') else { return Ok(()) };
        let value = value.trim();
        let wrong = |expectation: &str| {
            let name = shown(name);
            Error::line(line, format!("{name} is `{}`, expected {expectation}", shown(value)))
        };
        match name.trim() {
            "Rate" => {
                let rate = value.parse::<f64>().ok().filter(|hz| *hz > 0.0 && hz.is_finite());
                self.rate = Some(rate.ok_or_else(|| {
                    wrong("a sample rate: a capture of states, by an outer clock, has no times")
                })?);
            }
            "Size" => self.size = value.parse().ok(),
            "Channels" => {
                let number = value.parse().ok().filter(|n| (1..=MOST_CHANNELS).contains(n));
                self.channels = number.ok_or_else(|| wrong("1 to 32 channels"))?;
            }
            "EnabledChannels" => {
                let mask = value.parse::<i64>().map_err(|_| wrong("a number"))?;
                self.enabled = mask as u32;
            }
            "Compressed" if value == "false" => {
                return Err(wrong("true: save it again by a client of version 0.9 or later"));
            }
            _ => (),
        }
        Ok(())
    }

    /// Numbers of the channels in the file.
    fn channels(&self) -> Vec<u32> {
        let is_there = |n: &u32| self.enabled >> n & 1 == 1;
        let all = if self.channels == 0 { MOST_CHANNELS } else { self.channels };
        (0..all).filter(is_there).collect()
    }
}

/// Lines of a file.
struct Lines<'a> {
    bytes: Bytes<'a>,
    block: Vec<u8>,
    next: usize,
    end: usize,
    line: String,
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(bytes: Bytes<'a>) -> Lines<'a> {
        Lines { bytes, block: vec![0; 1 << 16], next: 0, end: 0, line: String::new(), number: 0 }
    }

    /// Reads the next line; whether there is one.
    fn advance(&mut self) -> Result<bool> {
        self.line.clear();
        self.number += 1;
        loop {
            if self.next == self.end {
                (self.next, self.end) = (0, self.bytes.fill(&mut self.block)?);
            }
            let rest = &self.block[self.next..self.end];
            if rest.is_empty() {
                return Ok(!self.line.is_empty());
            }
            let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = &rest[..length.unwrap_or(rest.len())];
            if self.line.len() + part.len() > MOST_LINE {
                let reason = format!("the line has more than {MOST_LINE} bytes");
                return Err(Error::line(self.number, reason));
            }
            self.line.push_str(&String::from_utf8_lossy(part));
            self.next += part.len();
            if length.is_some() {
                self.next += 1;
                return Ok(true);
            }
        }
    }
}

/// Reads a capture; edges come in samples.
pub(super) fn read(
    bytes: Bytes,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut lines = Lines::new(bytes);
    let mut settings = Settings { enabled: u32::MAX, ..Settings::default() };
    let mut there = lines.advance()?;
    while there && (!lines.line.contains('@') || lines.line.starts_with(';')) {
        let line = lines.line.trim_start_matches('\u{feff}');
        if let Some(setting) = line.strip_prefix(';') {
            settings.take(lines.number, setting)?;
        }
        if lines.number > MOST_HEADER_LINES {
            return Err(Error::line(lines.number, "no sample such as `0000001f@4` so far"));
        }
        there = lines.advance()?;
    }
    let rate = settings.rate.or(request.sample_hz);
    let hz = rate.ok_or_else(|| Error::Unusable("the file states no `;Rate: `".into()))?;
    let channels = settings.channels();
    let names: Vec<String> = channels.iter().map(|n| format!("CH{n}")).collect();
    let wanted_channel = request.channel.as_deref();
    let at = choose(&names, wanted_channel)?;
    let mut recording = recording(&names[at], hz, request);
    let mut samples =
        Samples { channel: channels[at], count: 0, last: 0, levels: Levels::default() };
    while there {
        samples.take(lines.number, lines.line.trim(), sink)?;
        if samples.count % 1024 == 0 {
            request.go_on()?;
        }
        there = lines.advance()?;
    }
    samples.levels.end(&mut recording);
    if let Some(size) = settings.size.filter(|size| *size > samples.count) {
        recording.remarks.push(Remark::Truncated {
            place: Place::Line(lines.number),
            reason: format!("the file states {size} changes and has {}", samples.count),
        });
    }
    Ok(recording)
}

/// What was read of the samples.
struct Samples {
    channel: u32,
    count: u64,
    last: u64,
    levels: Levels,
}

impl Samples {
    fn take(&mut self, line: u64, text: &str, sink: &mut dyn FnMut(Edge)) -> Result<()> {
        // Other lines are to be ignored, by the format's description.
        let Some((value, number)) = text.split_once('@').filter(|_| !text.starts_with(';')) else {
            return Ok(());
        };
        let wrong =
            || Error::line(line, format!("`{}` is not a sample such as `0000001f@4`", shown(text)));
        let value = u64::from_str_radix(value, 16).map_err(|_| wrong())?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        if number < self.last || number > 1 << 52 {
            let reason = format!("sample {number} follows sample {}", self.last);
            return Err(Error::line(line, reason));
        }
        (self.count, self.last) = (self.count + 1, number);
        self.levels.change(value >> self.channel & 1 == 1, number as f64, sink);
        Ok(())
    }
}
