//! Sound files: WAV, RF64, W64, AIFF, AU, CAF and FLAC. Integers of 8 to 32 bits and floats, any
//! rate. Wrong sizes, as in a file that was written as a stream, are tolerated.

mod aiff;
mod au;
mod caf;
mod flac;
mod pin;
mod rails;
mod samples;
mod w64;
mod wav;

use super::{MP3, Recording, Remark, Request, lossy};
use crate::edge::Edge;
use crate::error::{Error, Place, Result, shown};
use pin::Pin;
use samples::{Done, Layout};
use std::io::Read;

/// Maximum size of a chunk other than samples, in bytes.
const MOST_CHUNK: u64 = 64 << 20;
/// Most channels.
const MOST_CHANNELS: u32 = 1024;
/// Highest rate in samples per second.
const MOST_RATE: f64 = 1e9;

/// Beginnings of sound files.
pub(super) const BEGINNINGS: [&[u8]; 8] =
    [b"RIFF", b"RF64", b"BW64", b"riff", b"FORM", b".snd", b"caff", b"fLaC"];

/// Whether a file begins with an ID3 tag: its name and version, which is no text.
fn is_tagged(head: &[u8]) -> bool {
    matches!(head, [b'I', b'D', b'3', 2..=4, ..])
}

/// Whether a file begins as a sound file; `FORM` is also a word of tables.
pub(super) fn begins(head: &[u8]) -> bool {
    if is_tagged(head) {
        return true;
    }
    let is_form = head.starts_with(b"FORM");
    let is_aiff = || head.get(8..11).is_none_or(|kind| kind == b"AIF");
    BEGINNINGS.iter().any(|name| head.starts_with(name)) && (!is_form || is_aiff())
}

/// Everything before the samples.
#[derive(Debug, Clone, Copy)]
struct Head {
    layout: Layout,
    size: Size,
}

/// Bytes of samples by the header.
#[derive(Debug, Clone, Copy)]
struct Size {
    stated: u64,
    /// Whether it has 64 bits, where every number is a real size.
    large: bool,
}

impl Size {
    /// The size, if it is known: programs that write a stream put 0 or the largest number there.
    fn known(self) -> Option<u64> {
        Some(self.stated).filter(|size| self.large || (1..0xffff_ff00).contains(size))
    }
}

/// Reads a sound file; edges come in samples.
///
/// # Errors
/// Not a sound file, an unsupported format, a rate of 0, a missing channel, or a signal without
/// edges; with the place.
pub fn read_sound(
    stream: impl Read,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut stream = Counted { stream, place: 0 };
    let mut start: [u8; 4] = stream.whole("the first 4 bytes")?;
    let is_tagged = is_tagged(&start);
    if is_tagged {
        start = behind_tag(&mut stream)?;
    }
    let head = match &start {
        b"RIFF" | b"RF64" | b"BW64" => wav::header(&mut stream),
        b"riff" => w64::header(&mut stream),
        b"FORM" => aiff::header(&mut stream),
        b".snd" => au::header(&mut stream),
        b"caff" => caf::header(&mut stream),
        b"fLaC" => return flac::read(&mut stream, request, sink),
        _ if is_tagged => Err(Error::Unusable(lossy(MP3))),
        _ => Err(Error::byte(
            0,
            "this is not a sound file: it begins with none of RIFF, RF64, riff, FORM, .snd, caff, \
             fLaC",
        )),
    }?;
    let Head { layout, size } = head;
    let mut pin = Pin::new(request, u32::from(layout.channels), layout.hz, layout.sample.floor())?
        .of_floats(layout.sample.is_float());
    let Done { found, cut, wrong } =
        samples::read(&mut stream, layout, size.known(), &mut pin, sink)?;
    if found == 0 {
        return Err(Error::byte(stream.place, "the file has no samples"));
    }
    let mut remarks = Vec::new();
    if wrong || size.known().is_none() {
        remarks.push(Remark::WrongSizes { stated: size.stated, actual: found });
    }
    if cut {
        let reason = size.known().map_or_else(
            || "the last sample is incomplete".to_owned(),
            |stated| {
                format!("its header promises {stated} bytes of samples, but there are {found}")
            },
        );
        remarks.push(Remark::Truncated { place: Place::Byte(stream.place), reason });
    }
    pin.finish(remarks, sink)
}

/// The four bytes behind an ID3 tag, whose own first four bytes have been read. Its size is in four
/// bytes of seven bits.
fn behind_tag<R: Read>(stream: &mut Counted<R>) -> Result<[u8; 4]> {
    const FOOTER: u8 = 0x10;
    let [_, flags, size @ ..] = stream.whole::<6>("the head of the ID3 tag")?;
    let size = size.iter().fold(0, |size, byte| size << 7 | u64::from(byte & 0x7f));
    stream.skip(size + if flags & FOOTER == 0 { 0 } else { 10 }, "the ID3 tag")?;
    stream.whole("the 4 bytes behind the ID3 tag")
}

/// An error for a number of channels that no recording has.
fn check_channels(place: u64, channels: u32) -> Result<u16> {
    let known_channels =
        u16::try_from(channels).ok().filter(|_| (1..=MOST_CHANNELS).contains(&channels));
    known_channels.ok_or_else(|| {
        Error::byte(
            place,
            format!("the file has {channels} channels, 1 to {MOST_CHANNELS} are expected"),
        )
    })
}

/// An error for a rate without times.
fn check_rate(place: u64, hz: f64) -> Result<f64> {
    if hz > 0.0 && hz <= MOST_RATE {
        return Ok(hz);
    }
    Err(Error::byte(
        place,
        format!(
            "the rate is {hz} samples per second: without a rate above 0, up to {MOST_RATE:e}, \
             there are no times"
        ),
    ))
}

/// An error for a chunk other than samples that is too large to be one.
fn check_chunk(place: u64, name: &[u8], size: u64) -> Result<()> {
    if size <= MOST_CHUNK {
        return Ok(());
    }
    let name = shown(&String::from_utf8_lossy(name));
    Err(Error::byte(place, format!("the chunk `{name}` claims {size} bytes: the file is damaged")))
}

/// An error for samples that this reader has no numbers for.
fn unknown_samples(place: u64, format_name: &str) -> Error {
    Error::byte(
        place,
        format!(
            "samples of {format_name} are not supported: convert the file, with `sox FILE pin.wav` \
             for instance"
        ),
    )
}

/// Bytes of the stream, counted.
struct Counted<R> {
    stream: R,
    place: u64,
}

impl<R: Read> Counted<R> {
    /// Fills the buffer as far as possible.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut held_bytes = 0;
        while held_bytes < buffer.len() {
            match self.stream.read(&mut buffer[held_bytes..]) {
                Ok(0) => break,
                Ok(read) => held_bytes += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
                Err(error) => return Err(Error::stream(&error)),
            }
        }
        self.place += held_bytes as u64;
        Ok(held_bytes)
    }

    fn whole<const N: usize>(&mut self, name_of_part: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        let held_bytes = self.fill(&mut bytes)?;
        if held_bytes < N {
            Err(Error::byte(self.place, format!("the file ends within {name_of_part}")))
        } else {
            Ok(bytes)
        }
    }

    fn skip(&mut self, bytes: u64, name_of_part: &str) -> Result<()> {
        let skipped = std::io::copy(&mut self.stream.by_ref().take(bytes), &mut std::io::sink())
            .map_err(|error| Error::stream(&error))?;
        self.place += skipped;
        if skipped < bytes {
            Err(Error::byte(self.place, format!("the file ends within {name_of_part}")))
        } else {
            Ok(())
        }
    }

    /// Four bytes, the highest first.
    fn number(&mut self, name_of_part: &str) -> Result<u32> {
        self.whole(name_of_part).map(u32::from_be_bytes)
    }
}
