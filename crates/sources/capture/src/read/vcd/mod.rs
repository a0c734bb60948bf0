//! Value change dumps (IEEE 1364) and extended ones, which simulators and logic analysers write.
//!
//! Written by hand because the crate `vcd` limits neither names nor comments, refuses unknown
//! commands, and does not report a truncated last word; `wellen` keeps all changes in memory and
//! needs a seekable file.

mod body;
mod header;
mod skim;
mod words;

use super::dump::recording;
use super::{Format, Recording, Remark, Request};
use crate::edge::Edge;
use crate::error::{Error, Place, Result, shown};
use body::Body;
use header::Header;
use std::io::Read;

/// Longest word of a file.
const MOST_WORD: usize = 1 << 20;
/// Bytes that are read at a time.
const BLOCK: usize = 1 << 18;
/// Longest header.
const MOST_HEADER: u64 = 64 << 20;
/// Bytes without a change of the channel after which reading stops.
const MOST_SILENCE: u64 = 1 << 30;

struct Parser<'a> {
    request: &'a Request,
    header: Header,
    /// The changes, once the header ended.
    body: Option<Body>,
    place: u64,
}

/// Reads a value change dump; edges come in the order of their times.
///
/// # Errors
/// Not a value change dump, a missing or constant channel, or a time that goes backwards; with the
/// place.
///
/// ```
/// use hairspring_capture::read::{Request, read_vcd};
/// let text = "$timescale 10 ns $end $var wire 1 ! PB7 $end $enddefinitions $end\n#0\nx!\n#5\n0!\n\
///             #100\n1!\n#200\n0!\n";
/// let mut edges = Vec::new();
/// let recording = read_vcd(text.as_bytes(), &Request::default(),
///     &mut |edge| edges.push(edge.at)).unwrap();
/// assert_eq!((edges, recording.hz), (vec![100.0, 200.0], Some(1e8)));
/// ```
pub fn read_vcd(
    mut stream: impl Read,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut parser =
        Parser { request, header: Header::new(request.sample_hz), body: None, place: 0 };
    let mut block = vec![0u8; MOST_WORD + BLOCK];
    let mut held_bytes = 0;
    loop {
        let read = match stream.read(&mut block[held_bytes..held_bytes + BLOCK]) {
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::stream(&error)),
        };
        if read == 0 {
            break;
        }
        let end = held_bytes + read;
        // Complete words are processed, the rest is kept.
        let whole = block[held_bytes..end]
            .iter()
            .rposition(|byte| *byte <= b' ')
            .map_or(0, |at| held_bytes + at + 1);
        parser.words(&block[..whole], sink)?;
        block.copy_within(whole..end, 0);
        held_bytes = end - whole;
        if held_bytes > MOST_WORD - 1 {
            return Err(parser.wrong(format!(
                "a word of more than {MOST_WORD} bytes: this is not a value change dump"
            )));
        }
    }
    // A last word without a line end may be truncated, such as #12 of #1234.
    let whole = parser.body.as_ref().is_some_and(|body| body.is_whole(&block[..held_bytes]))
        || &block[..held_bytes] == b"$end";
    parser.words(if whole { &block[..held_bytes] } else { &[] }, sink)?;
    parser.finish(held_bytes > 0 && !whole)
}

impl Parser<'_> {
    fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::byte(self.place, reason)
    }

    /// Processes complete words.
    fn words(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
        let start = self.place;
        let has_mark = start == 0 && bytes.starts_with(BYTE_ORDER_MARK);
        let mut at = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
        loop {
            if let Some(body) = &mut self.body {
                at = body.skim(bytes, at, sink);
            }
            let Some(first) = bytes.get(at) else { break };
            self.place = start + at as u64;
            if *first <= b' ' {
                if *first < b'\t' {
                    return Err(self.wrong("is not text: this is not a value change dump"));
                }
                at += 1;
                continue;
            }
            let rest = &bytes[at..];
            let length = rest.iter().position(|byte| *byte <= b' ').unwrap_or(rest.len());
            self.word(&rest[..length], sink)?;
            at += length;
        }
        self.place = start + bytes.len() as u64;
        self.request.go_on()?;
        self.is_silent()
    }

    fn is_silent(&self) -> Result<()> {
        match &self.body {
            Some(body) if body.levels.changes.edges == 0 && self.place > MOST_SILENCE => Err(self
                .wrong(format!(
                    "no change of `{}` up to here, so the rest is not read",
                    shown(body.name())
                ))),
            _ => Ok(()),
        }
    }

    fn word(&mut self, word: &[u8], sink: &mut dyn FnMut(Edge)) -> Result<()> {
        if let Some(body) = &mut self.body {
            return body.word(word, sink).map_err(|reason| self.wrong(reason));
        }
        if word != b"$end" && self.place > MOST_HEADER {
            return Err(self.wrong("the header does not end: this is not a value change dump"));
        }
        if self.header.word(word).map_err(|reason| self.wrong(reason))? {
            self.request.stated.set(self.header.seconds.map(|seconds| 1.0 / seconds));
            self.body = Some(Body::new(self.header.channel(self.request.channel.as_deref())?));
        }
        Ok(())
    }

    fn finish(self, cut: bool) -> Result<Recording> {
        let Some(body) = &self.body else {
            let problem = if self.place == 0 {
                "the file is empty"
            } else {
                "the file ends within its header, before $enddefinitions"
            };
            return Err(self.wrong(problem));
        };
        let hz = self.header.seconds.map(|seconds| 1.0 / seconds);
        let mut recording =
            recording(Format::Vcd, body.name(), hz, &self.header.origin, &body.levels);
        if cut {
            let reason = "the last line has no end, and is not used".into();
            let place = Place::Byte(self.place);
            recording.remarks.insert(0, Remark::Truncated { place, reason });
        }
        Ok(recording)
    }
}
