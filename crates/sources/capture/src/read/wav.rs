//! Sound files: RIFF and RF64, integers of 8 to 32 bits and floats, any rate. Wrong sizes, as in a file that was written
//! as a stream, are tolerated.

use super::{Recording, Remark, Request};
use crate::edge::{Detector, Edge};
use crate::error::{Error, Place, Result, shown};
use std::io::Read;

/// Bytes that are read at a time.
const BYTES: usize = 1 << 16;
/// Maximum size of a chunk other than samples, in bytes.
const MOST_CHUNK: u64 = 64 << 20;
/// Most channels.
const MOST_CHANNELS: u16 = 1024;

/// Maximum number of channels whose swings are compared.
const MOST_LOOKED_AT: u16 = 16;

/// How a sample is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    U8,
    I16,
    I24,
    I32,
    F32,
    F64,
}

impl Sample {
    fn bytes(self) -> usize {
        match self {
            Sample::U8 => 1,
            Sample::I16 => 2,
            Sample::I24 => 3,
            Sample::I32 | Sample::F32 => 4,
            Sample::F64 => 8,
        }
    }

    /// The smallest difference that can be an edge: a few steps of the converter.
    fn floor(self) -> f64 {
        match self {
            Sample::U8 => 4.0 / 128.0,
            Sample::I16 => 8.0 / 32768.0,
            _ => 1e-5,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Format {
    sample: Sample,
    channels: u16,
    hz: u32,
}

/// Bytes of the stream, counted.
struct Counted<R> {
    stream: R,
    place: u64,
}

impl<R: Read> Counted<R> {
    /// Fills the buffer as far as possible.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut held = 0;
        while held < buffer.len() {
            match self.stream.read(&mut buffer[held..]) {
                Ok(0) => break,
                Ok(read) => held += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
                Err(error) => return Err(Error::stream(&error)),
            }
        }
        self.place += held as u64;
        Ok(held)
    }

    fn whole<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let held = self.fill(&mut bytes)?;
        if held < N { Err(Error::byte(self.place, format!("the file ends within {what}"))) } else { Ok(bytes) }
    }

    fn skip(&mut self, bytes: u64, what: &str) -> Result<()> {
        let skipped = std::io::copy(&mut self.stream.by_ref().take(bytes), &mut std::io::sink()).map_err(|error| Error::stream(&error))?;
        self.place += skipped;
        if skipped < bytes { Err(Error::byte(self.place, format!("the file ends within {what}"))) } else { Ok(()) }
    }
}

/// Reads a sound file; edges come in samples.
///
/// # Errors
/// Not a WAV file, an unsupported format, a rate of 0, a missing channel, or a signal without edges; with the place.
pub fn read_wav(stream: impl Read, request: &Request, sink: &mut dyn FnMut(Edge)) -> Result<Recording> {
    let mut stream = Counted { stream, place: 0 };
    let (format, size) = header(&mut stream)?;
    request.stated.set(Some(f64::from(format.hz)));
    let names: Vec<String> = (1..=format.channels).map(|n| n.to_string()).collect();
    let channel = channel(request, &names)?;
    let mut detector = Detector::new(request.method, format.sample.floor());
    let mut swings = Swings::new(request, &format);
    let frames = Frames { format, channel, detector: &mut detector, values: Vec::new(), swings: &mut swings, request };
    let read = samples(&mut stream, frames, size.known(), sink);
    let Done { found, cut, wrong } = read.map_err(|error| swings.with_others(error))?;
    if found == 0 {
        return Err(Error::byte(stream.place, "the file has no samples"));
    }
    let mut remarks = Vec::new();
    if wrong || size.known().is_none() {
        remarks.push(Remark::WrongSizes { stated: size.stated, found });
    }
    if cut {
        let reason = size.known().map_or_else(
            || "the last sample is incomplete".to_owned(),
            |stated| format!("its header promises {stated} bytes of samples, but there are {found}"),
        );
        remarks.push(Remark::Truncated { place: Place::Byte(stream.place), reason });
    }
    detector.finish(sink).map_err(|error| swings.with_others(with_remarks(error, &remarks)))?;
    let signal = detector.signal();
    if request.channel.is_none() && format.channels > 1 {
        remarks.push(Remark::OtherChannels { taken: "1".into(), all: names.clone() });
    }
    Ok(Recording {
        format: Some(super::Format::Wav),
        channel: names[channel].clone(),
        hz: Some(f64::from(format.hz)),
        granularity: None,
        exact: false,
        edges: signal.edges,
        signal: Some(signal),
        remarks,
    })
}

/// Adds to an error that the file is cut or has wrong sizes, which may be the reason.
fn with_remarks(error: Error, remarks: &[Remark]) -> Error {
    let also = remarks.iter().find_map(|remark| match remark {
        Remark::Truncated { place, reason } => Some(format!("the file is cut, {place}: {reason}")),
        Remark::WrongSizes { stated, found } if *stated > 0 => {
            Some(format!("its header states {stated} bytes of samples, but there are {found}"))
        }
        _ => None,
    });
    also.map_or(error.clone(), |also| Error::Unusable(format!("{error}; {also}")))
}

fn channel(request: &Request, names: &[String]) -> Result<usize> {
    let wanted = match request.channel.as_deref() {
        None | Some("left") => "1",
        Some("right") => "2",
        Some(wanted) => wanted,
    };
    super::choose(names, Some(wanted))
}

/// Bytes of samples by the header.
#[derive(Debug, Clone, Copy)]
struct Size {
    stated: u64,
    /// Whether it is in a separate chunk, where every number is a real size.
    large: bool,
}

impl Size {
    /// The size, if it is known: programs that write a stream put 0 or the largest number there.
    fn known(self) -> Option<u64> {
        Some(self.stated).filter(|size| self.large || (1..0xffff_ff00).contains(size))
    }
}

/// Reads everything up to the samples: their format and stated size.
fn header<R: Read>(stream: &mut Counted<R>) -> Result<(Format, Size)> {
    let start: [u8; 12] = stream.whole("the first 12 bytes")?;
    let large = matches!(&start[..4], b"RF64" | b"BW64");
    if !(large || start[..4] == *b"RIFF") || start[8..] != *b"WAVE" {
        return Err(Error::byte(0, "this is not a WAV file: RIFF (or RF64) and WAVE are missing"));
    }
    let (mut format, mut data) = (None, None);
    loop {
        let head: [u8; 8] = stream.whole("the list of chunks, before any samples")?;
        let size = u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        match &head[..4] {
            b"ds64" if size >= 16 => {
                let sizes: [u8; 16] = stream.whole("the chunk ds64")?;
                data = Some(u64::from_le_bytes(std::array::from_fn(|n| sizes[8 + n])));
                stream.skip(size - 16 + size % 2, "the chunk ds64")?;
            }
            b"fmt " => format = Some(read_format(stream, size)?),
            b"data" => {
                let Some(format) = format else { return Err(Error::byte(stream.place, "the samples come before their format")) };
                return Ok((
                    format,
                    match data {
                        Some(stated) if size == 0xffff_ffff => Size { stated, large: true },
                        _ => Size { stated: size, large: false },
                    },
                ));
            }
            _ if size > MOST_CHUNK => {
                let name = shown(&String::from_utf8_lossy(&head[..4]));
                return Err(Error::byte(stream.place, format!("the chunk `{name}` claims {size} bytes: the file is damaged")));
            }
            _ => stream.skip(size + size % 2, "a chunk before the samples")?,
        }
    }
}

fn read_format<R: Read>(stream: &mut Counted<R>, size: u64) -> Result<Format> {
    let place = stream.place;
    if !(16..=4096).contains(&size) {
        return Err(Error::byte(place, format!("the chunk `fmt ` has {size} bytes, and 16 to 4096 are expected")));
    }
    let mut bytes = vec![0; (size + size % 2) as usize];
    if stream.fill(&mut bytes)? < bytes.len() {
        return Err(Error::byte(stream.place, "the file ends within the chunk `fmt `"));
    }
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let hz = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    // An extensible format has its tag at the beginning of an identifier.
    let tag = if word(0) == 0xfffe && size >= 26 { word(24) } else { word(0) };
    let (channels, align, bits) = (word(2), word(12), word(14));
    if hz == 0 {
        return Err(Error::byte(place + 4, "the rate is 0 samples per second: without a rate there are no times"));
    }
    if channels == 0 || channels > MOST_CHANNELS {
        return Err(Error::byte(place + 2, format!("the file has {channels} channels, 1 to {MOST_CHANNELS} are expected")));
    }
    let sample = match (tag, align / channels) {
        (1, 1) => Sample::U8,
        (1, 2) => Sample::I16,
        (1, 3) => Sample::I24,
        (1, 4) => Sample::I32,
        (3, 4) => Sample::F32,
        (3, 8) => Sample::F64,
        (1 | 3, bytes) => return Err(Error::byte(place + 12, format!("samples of {bytes} bytes ({bits} bits) are not supported"))),
        (tag, _) => {
            let advice = "expected 1 (integers) or 3 (floats); convert it, with `sox in out.wav` for instance";
            return Err(Error::byte(place, format!("samples of format {tag:#06x} are not supported: {advice}")));
        }
    };
    if usize::from(align) != sample.bytes() * usize::from(channels) {
        return Err(Error::byte(place + 12, format!("a frame of {align} bytes does not hold {channels} channels of equal size")));
    }
    Ok(Format { sample, channels, hz })
}

/// The result of reading the samples.
struct Done {
    /// Bytes of samples.
    found: u64,
    /// Whether samples are missing at the end.
    cut: bool,
    /// Whether there are more than the header states.
    wrong: bool,
}

/// Passes frames to the detector.
struct Frames<'a> {
    format: Format,
    channel: usize,
    detector: &'a mut Detector,
    values: Vec<f32>,
    swings: &'a mut Swings,
    request: &'a Request,
}

impl Frames<'_> {
    /// Bytes of one frame.
    fn size(&self) -> usize {
        self.format.sample.bytes() * usize::from(self.format.channels)
    }

    /// Takes the whole frames of these bytes.
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        let whole = bytes.len() / self.size() * self.size();
        self.values.clear();
        convert(&bytes[..whole], self.format, self.channel, &mut self.values);
        self.swings.look(&bytes[..whole], self.format);
        self.detector.push(&self.values, sink)
    }
}

fn samples<R: Read>(stream: &mut Counted<R>, mut frames: Frames, stated: Option<u64>, sink: &mut dyn FnMut(Edge)) -> Result<Done> {
    let frame = frames.size();
    let mut bytes = vec![0u8; (BYTES / frame).max(1) * frame];
    let (mut found, mut left, mut wrong) = (0u64, stated, false);
    loop {
        let most = left.map_or(bytes.len() as u64, |left| left.min(bytes.len() as u64)) as usize;
        let held = stream.fill(&mut bytes[..most])?;
        found += held as u64;
        left = left.map(|left| left - held as u64);
        frames.push(&bytes[..held], sink)?;
        frames.request.go_on()?;
        if held < most {
            return Ok(Done { found, cut: left.is_some_and(|left| left > 0) || held % frame != 0, wrong });
        }
        if left == Some(0) {
            // What follows is another chunk, or samples that the header does not count.
            let mut next = [0u8; 9];
            let behind = stream.fill(&mut next)?;
            if behind < 8 || is_chunk(&next, found) {
                return Ok(Done { found, cut: false, wrong });
            }
            (left, wrong) = (None, true);
            // Complete the frame that the stated size cuts in two.
            let mut first = bytes[held / frame * frame..held].to_vec();
            first.extend_from_slice(&next[..behind]);
            let have = first.len();
            first.resize(have.div_ceil(frame) * frame, 0);
            let more = stream.fill(&mut first[have..])?;
            frames.push(&first[..have + more], sink)?;
            found += (behind + more) as u64;
        }
    }
}

/// Whether these bytes begin a chunk, which is preceded by a padding byte after an odd number of bytes.
fn is_chunk(next: &[u8; 9], found: u64) -> bool {
    let name = |bytes: &[u8]| bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    name(&next[..4]) || found % 2 == 1 && next[0] == 0 && name(&next[1..5])
}

/// Range of each channel in the first samples if no channel was requested: the pin may be on another one than the first.
#[derive(Debug)]
struct Swings {
    channels: Vec<(f32, f32)>,
    left: usize,
    values: Vec<f32>,
}

impl Swings {
    fn new(request: &Request, format: &Format) -> Swings {
        let several = request.channel.is_none() && (2..=MOST_LOOKED_AT).contains(&format.channels);
        let channels = vec![(f32::INFINITY, f32::NEG_INFINITY); if several { usize::from(format.channels) } else { 0 }];
        Swings { channels, left: 1 << 21, values: Vec::new() }
    }

    fn look(&mut self, bytes: &[u8], format: Format) {
        if self.left == 0 {
            return;
        }
        for (at, range) in self.channels.iter_mut().enumerate() {
            self.values.clear();
            convert(bytes, format, at, &mut self.values);
            *range = self.values.iter().fold(*range, |range, value| (range.0.min(*value), range.1.max(*value)));
        }
        self.left = self.left.saturating_sub(bytes.len() / (format.sample.bytes() * usize::from(format.channels)));
    }

    /// Adds the channels and their swings to an error.
    fn with_others(&self, error: Error) -> Error {
        if self.channels.is_empty() {
            return error;
        }
        let swing = |(at, range): (usize, &(f32, f32))| format!("channel {} {:.4}", at + 1, (range.1 - range.0).max(0.0));
        let all: Vec<String> = self.channels.iter().enumerate().map(swing).collect();
        Error::Unusable(format!(
            "{error}; channel 1 of {} was read because no --channel was given; swing as a fraction of full scale: {}",
            all.len(),
            all.join(", ")
        ))
    }
}

/// One channel of whole frames as numbers; full scale of integers is 1.
fn convert(bytes: &[u8], format: Format, channel: usize, values: &mut Vec<f32>) {
    let size = format.sample.bytes();
    let frame = size * usize::from(format.channels);
    let own = bytes.chunks_exact(frame).map(|frame| &frame[channel * size..][..size]);
    match format.sample {
        Sample::U8 => values.extend(own.map(|b| (f32::from(b[0]) - 128.0) / 128.0)),
        Sample::I16 => values.extend(own.map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32768.0)),
        Sample::I24 => values.extend(own.map(|b| (i32::from_le_bytes([0, b[0], b[1], b[2]]) >> 8) as f32 / 8_388_608.0)),
        Sample::I32 => values.extend(own.map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32 / 2_147_483_648.0)),
        Sample::F32 => values.extend(own.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        Sample::F64 => values.extend(own.map(|b| f64::from_le_bytes(std::array::from_fn(|n| b[n])) as f32)),
    }
}
