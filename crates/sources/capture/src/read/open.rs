//! Opens a recording: detects its format, decompresses it, and calls the reader.

use super::{
    Compression, Format, HEAD, Recording, Request, Source, foreign, needs_places, read_archive,
    read_compressed, read_csv, read_forwards, read_fst, read_instrument, read_sound, read_vcd,
    take_rate_line,
};
use crate::edge::Edge;
use crate::error::{Error, Result};
use std::io::{Cursor, Read, Seek};

/// Compressions of a file within each other.
const MOST_COMPRESSIONS: u32 = 2;
/// Largest file that is read from place to place from a pipe, which cannot be read backwards.
const MOST_ARCHIVE: u64 = 64 << 20;

/// A stream, from a file or a pipe.
pub enum Input {
    /// A stream that can seek.
    File(Box<dyn Source>),
    /// A stream that can be read only once.
    Pipe(Box<dyn Read>),
}

/// Reads the edges only.
///
/// # Errors
/// What is wrong with the recording, with the place.
pub fn read_edges(
    input: Input,
    format: Option<Format>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    read_nested(input, format, request, sink, MOST_COMPRESSIONS)
}

/// The same of a file that may be compressed as many times.
fn read_nested(
    input: Input,
    format: Option<Format>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
    compressions: u32,
) -> Result<Recording> {
    let (mut file, mut pipe) = match input {
        Input::File(file) => (Some(file), None),
        Input::Pipe(pipe) => (None, Some(pipe)),
    };
    let mut head = Vec::new();
    let mut read_head = |stream: &mut dyn Read| stream.take(HEAD).read_to_end(&mut head);
    let read = match (&mut file, &mut pipe) {
        (Some(file), _) => read_head(file),
        (None, Some(pipe)) => read_head(pipe),
        (None, None) => Ok(0),
    };
    read.map_err(|error| Error::stream(&error))?;
    let compression = Compression::of(&head);
    let request =
        &Request { sample_hz: take_rate_line(&mut head).or(request.sample_hz), ..request.clone() };
    if let (Some(file), None) = (&mut file, compression) {
        let format = format_of(&head, format)?;
        if is_read_by_place(format, &head) {
            file.rewind().map_err(|error| Error::stream(&error))?;
            return read_places(format, file, request, sink);
        }
    }
    let rest: Box<dyn Read> = match (file, pipe) {
        (Some(file), _) => Box::new(file),
        (None, Some(pipe)) => pipe,
        (None, None) => Box::new(std::io::empty()),
    };
    let stream = Cursor::new(head.clone()).chain(rest);
    if let Some(compression) = compression {
        let Some(compressions_left) = compressions.checked_sub(1) else {
            return Err(Error::Unusable(format!(
                "the file is compressed more than {MOST_COMPRESSIONS} times: decompress it"
            )));
        };
        let mut read = |stream: Box<dyn Read>, request: &Request, sink: &mut dyn FnMut(Edge)| {
            read_nested(Input::Pipe(stream), format, request, sink, compressions_left)
        };
        return read_compressed(compression, Box::new(stream), request, sink, &mut read);
    }
    let format = format_of(&head, format)?;
    if is_read_by_place(format, &head) {
        return read_places(format, Cursor::new(whole(stream)?), request, sink);
    }
    match format {
        Format::Vcd => read_vcd(stream, request, sink),
        Format::Sound => read_sound(stream, request, sink),
        Format::Instrument => read_forwards(&head, stream, request, sink),
        Format::Csv | Format::Sigrok | Format::Fst => read_csv(stream, request, sink),
    }
}

/// The format of a file, as requested or by its beginning.
fn format_of(head: &[u8], format: Option<Format>) -> Result<Format> {
    if let (None, Some(reason)) = (format, foreign(head)) {
        return Err(Error::Unusable(reason));
    }
    format.or_else(|| Format::detect(head)).ok_or_else(|| {
        let problem = if head.is_empty() {
            "the file is empty"
        } else {
            "the format of this recording is unknown"
        };
        Error::Unusable(format!(
            "{problem}: expected VCD, FST, sound, a sigrok session, a file of a logic analyser or \
             an oscilloscope, or a CSV table (--format)"
        ))
    })
}

/// Whether a file is read from place to place, not from its beginning to its end.
fn is_read_by_place(format: Format, head: &[u8]) -> bool {
    match format {
        Format::Sigrok | Format::Fst => true,
        Format::Instrument => needs_places(head),
        Format::Vcd | Format::Sound | Format::Csv => false,
    }
}

fn read_places(
    format: Format,
    file: impl Read + Seek,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    match format {
        Format::Sigrok => read_archive(file, request, sink),
        Format::Fst => read_fst(file, request, sink),
        _ => read_instrument(file, request, sink),
    }
}

/// All bytes of a pipe.
fn whole(stream: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = stream.take(MOST_ARCHIVE + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::stream(&error))?;
    if bytes.len() as u64 > MOST_ARCHIVE {
        return Err(Error::Unusable(format!(
            "a file of this format of more than {MOST_ARCHIVE} bytes from a pipe, or compressed: \
             give it as a file"
        )));
    }
    Ok(bytes)
}
