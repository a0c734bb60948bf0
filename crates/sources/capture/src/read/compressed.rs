//! Compressed recordings (gzip, xz, Zstandard), as a stream in bounded memory.

use super::{Recording, Remark, Request};
use crate::edge::Edge;
use crate::error::{Error, Place, Result};
use std::cell::{Cell, RefCell};
use std::io::{self, BufReader, Read};
use std::rc::Rc;

/// Memory that a decoder may need: the largest level of `xz` needs 65 MiB.
const MOST_MEMORY_KIB: u32 = 128 << 10;
/// Bytes without an edge after which reading stops: a small file may stand for any number of bytes.
const MOST_WITHOUT_EDGE: u64 = 32 << 30;

/// A way of compression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// gzip, also of several members.
    Gzip,
    /// xz, also of several streams.
    Xz,
    /// Zstandard, also of several frames.
    Zstd,
}

impl Compression {
    /// The compression of a file by its beginning.
    pub(crate) fn of(head: &[u8]) -> Option<Compression> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            // The second is a frame to be skipped, which tools put before the data.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                Some(Compression::Zstd)
            }
            _ => None,
        }
    }

    fn decoder(self, stream: Box<dyn Read>) -> Box<dyn Read> {
        match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(stream)),
            Compression::Xz => {
                let stream = BufReader::new(stream);
                Box::new(lzma_rust2::XzReader::new_mem_limit(stream, true, MOST_MEMORY_KIB))
            }
            Compression::Zstd => Box::new(Frames::new(stream)),
        }
    }
}

/// A reader of what is in a compressed file.
pub(crate) type ReadInner<'a> =
    dyn FnMut(Box<dyn Read>, &Request, &mut dyn FnMut(Edge)) -> Result<Recording> + 'a;

/// Reads a compressed recording by a reader of what is in it.
///
/// # Errors
/// Those of the reader; data that expand without end.
pub(crate) fn read_compressed(
    compression: Compression,
    stream: Box<dyn Read>,
    request: &Request,
    sink: &mut dyn FnMut(Edge),
    read: &mut ReadInner,
) -> Result<Recording> {
    let seen_state = Rc::new(Seen::default());
    let watched =
        Watched { stream: compression.decoder(stream), seen_state: Rc::clone(&seen_state) };
    let recording = read(Box::new(watched), request, &mut |edge| {
        seen_state.since_edge.set(0);
        sink(edge);
    });
    if seen_state.is_endless.get() {
        return Err(Error::Unusable(format!(
            "no edge in {MOST_WITHOUT_EDGE} bytes of the compressed data, so the rest is not \
             read: is it the right channel?"
        )));
    }
    let Some(reason) = seen_state.failure.take() else { return recording };
    let reason = format!("the compressed data are cut or damaged there: {reason}");
    match recording {
        Ok(mut recording) => {
            let place = Place::Byte(seen_state.bytes.get());
            recording.remarks.push(Remark::Truncated { place, reason });
            Ok(recording)
        }
        Err(error) => Err(Error::Unusable(format!("{error}; {reason}"))),
    }
}

/// What was seen of a stream.
#[derive(Debug, Default)]
struct Seen {
    bytes: Cell<u64>,
    since_edge: Cell<u64>,
    is_endless: Cell<bool>,
    failure: RefCell<Option<String>>,
}

/// A stream that ends where it fails, so that what was read before counts.
struct Watched {
    stream: Box<dyn Read>,
    seen_state: Rc<Seen>,
}

impl Read for Watched {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        if self.seen_state.failure.borrow().is_some() || self.seen_state.is_endless.get() {
            return Ok(0);
        }
        match self.stream.read(block) {
            Ok(read) => {
                self.seen_state.bytes.set(self.seen_state.bytes.get() + read as u64);
                self.seen_state.since_edge.set(self.seen_state.since_edge.get() + read as u64);
                self.seen_state
                    .is_endless
                    .set(self.seen_state.since_edge.get() > MOST_WITHOUT_EDGE);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                *self.seen_state.failure.borrow_mut() = Some(error.to_string());
                Ok(0)
            }
        }
    }
}

type ZstdFrame = ruzstd::decoding::StreamingDecoder<Ahead, ruzstd::decoding::FrameDecoder>;

/// A stream with the bytes that were looked at.
struct Ahead {
    looked_at: Vec<u8>,
    stream: BufReader<Box<dyn Read>>,
}

impl Read for Ahead {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        if self.looked_at.is_empty() {
            return self.stream.read(block);
        }
        let n = block.len().min(self.looked_at.len());
        block[..n].copy_from_slice(&self.looked_at[..n]);
        self.looked_at.drain(..n);
        Ok(n)
    }
}

/// The frames of a Zstandard file, one after the other.
struct Frames {
    state: Option<State>,
}

enum State {
    Between(Ahead),
    Within(Box<ZstdFrame>),
}

impl Frames {
    fn new(stream: Box<dyn Read>) -> Frames {
        let stream = BufReader::new(stream);
        Frames { state: Some(State::Between(Ahead { looked_at: Vec::new(), stream })) }
    }
}

impl Read for Frames {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.state.take() {
                None => return Ok(0),
                Some(State::Between(stream)) => self.state = next_frame(stream)?,
                Some(State::Within(mut frame)) => {
                    let read = frame.read(block)?;
                    if read > 0 || block.is_empty() {
                        self.state = Some(State::Within(frame));
                        return Ok(read);
                    }
                    check(&frame)?;
                    self.state = Some(State::Between(frame.into_inner()));
                }
            }
        }
    }
}

/// What follows between frames; `None` at the end of the file.
fn next_frame(mut stream: Ahead) -> io::Result<Option<State>> {
    let mut head = Vec::new();
    stream.by_ref().take(4).read_to_end(&mut head)?;
    match head[..] {
        [] => return Ok(None),
        [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let mut length = [0; 4];
            stream.read_exact(&mut length)?;
            let length = u64::from(u32::from_le_bytes(length));
            if io::copy(&mut stream.by_ref().take(length), &mut io::sink())? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            return Ok(Some(State::Between(stream)));
        }
        _ => (),
    }
    stream.looked_at = head;
    let frame = ZstdFrame::new(stream).map_err(io::Error::other)?;
    Ok(Some(State::Within(Box::new(frame))))
}

/// Compares the checksum of a frame, if it has one.
fn check(frame: &ZstdFrame) -> io::Result<()> {
    match (frame.decoder.get_checksum_from_data(), frame.decoder.get_calculated_checksum()) {
        (Some(stated), Some(found)) if stated != found => {
            Err(io::Error::other("the checksum of a frame does not match"))
        }
        _ => Ok(()),
    }
}
