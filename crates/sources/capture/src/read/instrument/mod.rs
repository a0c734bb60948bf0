//! Binary files of logic analysers and oscilloscopes, each of which has a beginning of its own.

mod bytes;
mod isf;
mod keysight;
mod lecroy;
mod ols;
mod rigol;
mod saleae;
mod samples;
mod siglent;
mod tektronix;

use super::{Recording, Request, Source};
use crate::edge::Edge;
use crate::error::{Error, Result};
use bytes::Bytes;
use std::io::{Read, Seek, SeekFrom};

/// The stream from a place on.
fn at_place(stream: &mut dyn Source, place: u64) -> Result<Bytes<'_>> {
    stream.seek(SeekFrom::Start(place)).map_err(|error| Error::stream(&error))?;
    Ok(Bytes::new(stream.as_read(), place))
}

type ReadForwards = fn(Bytes, &Request, &mut dyn FnMut(Edge)) -> Result<Recording>;
type ReadPlaces = fn(&mut dyn Source, &Request, &mut dyn FnMut(Edge)) -> Result<Recording>;

/// How a kind of file is read.
enum How {
    /// From the beginning to the end.
    Forwards(ReadForwards),
    /// From place to place.
    Source(ReadPlaces),
}

/// A kind of file.
struct Kind {
    begins: fn(&[u8]) -> bool,
    how: How,
}

/// All kinds that are read.
const KINDS: [Kind; 8] = [
    Kind { begins: |head| head.starts_with(b"<SALEAE>"), how: How::Forwards(saleae::read) },
    Kind { begins: ols::begins, how: How::Forwards(ols::read) },
    Kind { begins: |head| lecroy::find(head).is_some(), how: How::Forwards(lecroy::read) },
    Kind { begins: isf::begins, how: How::Forwards(isf::read) },
    Kind { begins: tektronix::begins, how: How::Source(tektronix::read) },
    Kind { begins: keysight::begins, how: How::Source(keysight::read) },
    Kind { begins: rigol::begins, how: How::Source(rigol::read) },
    Kind { begins: siglent::begins, how: How::Source(siglent::read) },
];

fn kind(head: &[u8]) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| (kind.begins)(head))
}

/// Whether a file is of a kind that is read.
pub(super) fn begins(head: &[u8]) -> bool {
    kind(head).is_some()
}

/// Whether a file of a kind that is read must be read from place to place.
pub(crate) fn needs_places(head: &[u8]) -> bool {
    kind(head).is_some_and(|kind| matches!(kind.how, How::Source(_)))
}

/// Reads a file of a logic analyser or an oscilloscope; edges come in samples.
///
/// # Errors
/// A file of no kind that is known, a damaged header, a missing channel.
pub fn read_instrument(
    stream: impl Read + Seek,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    let mut stream = stream;
    let mut head = Vec::new();
    let read = stream.by_ref().take(super::HEAD).read_to_end(&mut head);
    read.and_then(|_| stream.rewind()).map_err(|error| Error::stream(&error))?;
    match kind(&head).map(|kind| &kind.how) {
        Some(How::Source(read)) => read(&mut stream, request, sink),
        _ => read_forwards(&head, stream, request, sink),
    }
}

/// The same of a stream that begins with `head` and can only be read once.
pub(crate) fn read_forwards(
    head: &[u8],
    mut stream: impl Read,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
) -> Result<Recording> {
    match kind(head).map(|kind| &kind.how) {
        Some(How::Forwards(read)) => read(Bytes::new(&mut stream, 0), request, sink),
        _ => Err(Error::Unusable(
            "this is no file of a logic analyser or an oscilloscope that is known: leave out \
             --format, or export it as CSV"
                .into(),
        )),
    }
}
