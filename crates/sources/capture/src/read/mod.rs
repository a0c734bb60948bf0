//! Readers: one module per format, each a stream in bounded memory.

mod archive;
mod compressed;
mod csv;
mod dsview;
mod dump;
mod fst;
mod instrument;
mod named;
mod open;
mod ppk2;
mod samples;
mod sigrok;
mod sound;
mod vcd;

pub use archive::read_archive;
pub(crate) use compressed::{Compression, read_compressed};
pub use csv::read_csv;
pub use fst::read_fst;
pub use instrument::read_instrument;
pub(crate) use instrument::{needs_places, read_forwards};
pub use open::{Input, read_edges};
pub use sigrok::read_sigrok;
pub use sound::read_sound;
pub use vcd::read_vcd;

use crate::edge::{Method, Signal};
use crate::error::{Error, Place, Result};
use std::cell::Cell;
use std::io::{Read, Seek};
use std::rc::Rc;

/// A stream that can be read from any place.
pub trait Source: Read + Seek {
    /// The stream, read forwards only.
    fn as_read(&mut self) -> &mut dyn Read;
}

impl<T: Read + Seek> Source for T {
    fn as_read(&mut self) -> &mut dyn Read {
        self
    }
}

/// Bytes at the beginning by which the format is detected.
pub(crate) const HEAD: u64 = 512;

/// Formats of recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Value change dump.
    Vcd,
    /// Compressed dump of GTKWave's library.
    Fst,
    /// Sound.
    Sound,
    /// sigrok session, or an archive of DSView or of Nordic's Power Profiler.
    Sigrok,
    /// Binary file of a logic analyser or an oscilloscope.
    Instrument,
    /// Table of samples, changes or edges.
    Csv,
}

impl Format {
    /// All formats with their names.
    pub const NAMES: [(&str, Format); 6] = [
        ("vcd", Format::Vcd),
        ("fst", Format::Fst),
        ("sound", Format::Sound),
        ("sigrok", Format::Sigrok),
        ("instrument", Format::Instrument),
        ("csv", Format::Csv),
    ];

    /// Detects the format of a file by its beginning; `None` if it is unknown.
    ///
    /// ```
    /// use hairspring_capture::read::Format;
    /// assert_eq!(Format::detect(b"RIFF\x24\0\0\0WAVEfmt "), Some(Format::Sound));
    /// assert_eq!(Format::detect(b"$date today $end"), Some(Format::Vcd));
    /// assert_eq!(Format::detect(b"RIF"), Some(Format::Sound));
    /// assert_eq!(Format::detect(&[0; 64]), None);
    /// ```
    pub fn detect(head: &[u8]) -> Option<Format> {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        match text {
            _ if sound::begins(head) => Some(Format::Sound),
            _ if fst::begins(head) => Some(Format::Fst),
            _ if instrument::begins(head) => Some(Format::Instrument),
            [b'P', b'K', 3, 4, ..] => Some(Format::Sigrok),
            [b'$', ..] => Some(Format::Vcd),
            _ if csv::is_wide_text(head) => Some(Format::Csv),
            [] => None,
            // Too short for a table, so this is a truncated file.
            _ if text.len() < 4 && sound::BEGINNINGS.iter().any(|name| name.starts_with(text)) => {
                Some(Format::Sound)
            }
            _ if text.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..)) => {
                Some(Format::Csv)
            }
            _ => None,
        }
    }
}

/// Options of a reader.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The channel by name or by number from 1; `None` takes the only one, or the first of a sound
    /// file.
    pub channel: Option<String>,
    /// Samples per second, as something outside of the file states them.
    pub sample_hz: Option<f64>,
    /// How edges are found between samples.
    pub method: Method,
    /// Receives the rate as soon as it is known: before the first edge, except for a table of
    /// volts, whose rate follows from the time of the last row.
    pub stated: Rc<Cell<Option<f64>>>,
    /// Whether the edges so far are enough to know that the recording is of no use.
    pub stopped: Rc<Cell<bool>>,
}

impl Request {
    /// An error if whoever takes the edges wants no more of them.
    fn go_on(&self) -> Result<()> {
        if self.stopped.get() {
            Err(Error::Unusable("the rest is not read".into()))
        } else {
            Ok(())
        }
    }
}

/// Takes the line `META samplerate: N` from the beginning of a file, which sigrok-cli writes before
/// what it converts from raw samples, whatever the format is (libsigrok 0.5.2); the rate.
pub(crate) fn take_rate_line(head: &mut Vec<u8>) -> Option<f64> {
    let end = head.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&head[..end]).ok()?;
    let rate = line.strip_prefix("META samplerate: ")?.trim().parse().ok()?;
    head.drain(..=end);
    Some(rate).filter(|hz: &f64| *hz > 0.0 && hz.is_finite())
}

/// What a file is that none of the readers reads, by its beginning, and how to convert it.
pub(crate) fn foreign(head: &[u8]) -> Option<String> {
    let is_dump = csv::is_wide_text(head) && head.iter().find(|byte| **byte > 0) == Some(&b'$');
    let is_marked_dump = matches!(head, [0xff, 0xfe, b'$', 0, ..] | [0xfe, 0xff, 0, b'$', ..]);
    if is_dump || is_marked_dump {
        return Some("this is a value change dump in UTF-16: save it as UTF-8".into());
    }
    const LOSSY_FORMATS: [(&[u8], &str); 2] = [(b"OggS", "an Ogg"), (b"\xff\xfb", MP3)];
    let is_lossy = |(start, _): &&(&[u8], &str)| head.starts_with(start);
    LOSSY_FORMATS
        .iter()
        .find(is_lossy)
        .map(|(_, name)| lossy(name))
        .or_else(|| named::message(head))
}

/// The name of a file that begins with a frame of MPEG audio, or with an ID3 tag before one.
const MP3: &str = "an MP3";

fn lossy(name: &str) -> String {
    format!("this is {name} file, whose compression moves edges: record again as WAV or FLAC")
}

/// A defect of a file that could still be read.
#[derive(Debug, Clone, PartialEq)]
pub enum Remark {
    /// It ends before it should.
    Truncated {
        /// Where it ends.
        place: Place,
        /// What was expected there.
        reason: String,
    },
    /// Its header states sizes that are not the file's.
    WrongSizes {
        /// Bytes of samples by the header.
        stated: u64,
        /// Bytes of samples found.
        actual: u64,
    },
    /// The level was undefined in between.
    Undefined {
        /// How often.
        times: u64,
        /// The first time, in ticks.
        first: f64,
    },
    /// There are other channels, and none was requested.
    OtherChannels {
        /// The channel taken.
        taken: String,
        /// All channels.
        all: Vec<String>,
    },
}

/// Properties of a recording that was read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    /// The format that was read.
    pub format: Option<Format>,
    /// The channel that was read.
    pub channel: String,
    /// Ticks per second, as the file states it.
    pub hz: Option<f64>,
    /// Standard uncertainty of the rate in parts per million, where it follows from times whose
    /// digits leave it open.
    pub rate_ppm: Option<f64>,
    /// Resolution of the edges in ticks; `None` if it is negligible.
    pub granularity: Option<f64>,
    /// Whether the times are those of a simulator, which has no crystal.
    pub exact: bool,
    /// Whether the file is one that simulators write, too, and does not tell what wrote it.
    pub unnamed: bool,
    /// Number of edges.
    pub edges: u64,
    /// Properties of a sampled signal.
    pub signal: Option<Signal>,
    /// Doubts.
    pub remarks: Vec<Remark>,
}

/// Index into `names` of the requested channel, or of the only one.
///
/// # Errors
/// A missing channel, or several channels and none requested; with their names.
fn choose(names: &[String], wanted_channel: Option<&str>) -> Result<usize> {
    choose_of(names, wanted_channel, &|_, _| false)
}

/// Whether a name is a channel's, with all of its scopes or the last of them.
fn ends_in(name: &str, wanted_name: &str) -> bool {
    name.strip_suffix(wanted_name).is_some_and(|scopes| scopes.is_empty() || scopes.ends_with('.'))
}

/// The same where several names may stand for the same channel.
fn choose_of(
    names: &[String],
    wanted_channel: Option<&str>,
    is_same: &dyn Fn(usize, usize) -> bool,
) -> Result<usize> {
    let Some(wanted_channel) = wanted_channel else {
        return match names.len() {
            0 => Err(Error::Unusable("the file has no channel of one bit".into())),
            1 => Ok(0),
            _ => Err(Error::Unusable(format!(
                "the file has {} channels: {}; choose one with --channel",
                names.len(),
                listed(names)
            ))),
        };
    };
    let places_of = |is_meant: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..names.len()).filter(|at| is_meant(&names[*at])).collect()
    };
    let mut named = places_of(&|name| name == wanted_channel);
    if named.is_empty() {
        named = places_of(&|name| ends_in(name, wanted_channel));
    }
    if let Some(other_channel) =
        named.iter().find(|at| !(**at == named[0] || is_same(named[0], **at)))
    {
        return Err(Error::Unusable(format!(
            "`{}` is the name of several channels, such as {} and {}: choose one by all of its \
             name, or by its number",
            crate::error::shown(wanted_channel),
            crate::error::shown(&names[named[0]]),
            crate::error::shown(&names[*other_channel])
        )));
    }
    let by_number = || {
        wanted_channel
            .parse::<usize>()
            .ok()
            .and_then(|n| n.checked_sub(1))
            .filter(|n| *n < names.len())
    };
    named.first().copied().or_else(by_number).ok_or_else(|| {
        let number = if names.len() == 1 {
            "1 channel".to_owned()
        } else {
            format!("{} channels", names.len())
        };
        Error::Unusable(format!(
            "there is no channel `{}`; the file has {number}: {}",
            crate::error::shown(wanted_channel),
            listed(names)
        ))
    })
}

/// The first names of a list.
fn listed(names: &[String]) -> String {
    const SHOWN_NAMES: usize = 12;
    let short: Vec<String> =
        names.iter().take(SHOWN_NAMES).map(|name| crate::error::shown(name)).collect();
    let more = names.len().saturating_sub(SHOWN_NAMES);
    if more > 0 { format!("{} and {more} more", short.join(", ")) } else { short.join(", ") }
}
