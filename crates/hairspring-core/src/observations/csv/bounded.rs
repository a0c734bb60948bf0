//! A stream that limits the length of lines and of stretches without a row, so that an endless file
//! is refused in bounded memory.

use super::MAX_LINE;
use std::io::{Error, Read, Result};

/// Most bytes from the end of one row to the end of the next; more are usually caused by a quote
/// that is never closed.
const MAX_WITHOUT_ROW: u64 = 16 << 20;

/// A stream that counts the bytes since the last line break and since the last row.
#[derive(Debug)]
pub struct Bounded<R> {
    stream: R,
    in_line: u64,
    without_row: u64,
}

impl<R: Read> Bounded<R> {
    /// A stream that is at the beginning of a line.
    pub fn new(stream: R) -> Bounded<R> {
        Bounded { stream, in_line: 0, without_row: 0 }
    }

    /// Notes that a row has been read.
    pub fn end_row(&mut self) {
        self.without_row = 0;
    }

    /// Counts the bytes of a chunk, and checks the limits.
    fn count(&mut self, chunk: &[u8]) -> Result<()> {
        self.without_row += chunk.len() as u64;
        let first = chunk.iter().position(|byte| *byte == b'\n');
        let longest = self.in_line + first.unwrap_or(chunk.len()) as u64;
        let last = chunk.iter().rposition(|byte| *byte == b'\n');
        self.in_line = last.map_or(longest, |at| (chunk.len() - at - 1) as u64);
        if longest >= MAX_LINE {
            return Err(Error::other(format!(
                "is longer than {MAX_LINE} bytes: this is not an observation file"
            )));
        }
        if self.without_row > MAX_WITHOUT_ROW {
            return Err(Error::other(format!(
                "no row ends within {MAX_WITHOUT_ROW} bytes from here: a quote may be open"
            )));
        }
        Ok(())
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        // A chunk is shorter than the longest line, so that no line between two breaks of one chunk
        // can be too long.
        let most_bytes = buffer.len().min(MAX_LINE as usize / 2);
        let read = self.stream.read(&mut buffer[..most_bytes])?;
        self.count(&buffer[..read])?;
        Ok(read)
    }
}
