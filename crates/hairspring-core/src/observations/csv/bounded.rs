//! A stream whose lines, and whose stretches without a row, have a limit: a file without end is refused in bounded memory.

use super::MAX_LINE;
use std::io::{Error, Read, Result};

/// Most bytes from the end of one row to the end of the next: comments, empty lines, or a quote that is never closed.
const MAX_WITHOUT_ROW: u64 = 16 << 20;

/// A stream that counts what came since the last line break and since the last row.
#[derive(Debug)]
pub struct Bounded<R> {
    stream: R,
    in_line: u64,
    without_row: u64,
}

impl<R: Read> Bounded<R> {
    /// A stream that stands at the beginning of a line.
    pub fn new(stream: R) -> Bounded<R> {
        Bounded { stream, in_line: 0, without_row: 0 }
    }

    /// A row was read.
    pub fn row(&mut self) {
        self.without_row = 0;
    }

    /// Counts the bytes of a chunk.
    fn count(&mut self, chunk: &[u8]) -> Result<()> {
        self.without_row += chunk.len() as u64;
        let first = chunk.iter().position(|byte| *byte == b'\n');
        let longest = self.in_line + first.unwrap_or(chunk.len()) as u64;
        let last = chunk.iter().rposition(|byte| *byte == b'\n');
        self.in_line = last.map_or(longest, |at| (chunk.len() - at - 1) as u64);
        if longest >= MAX_LINE {
            return Err(Error::other(format!("is longer than {MAX_LINE} bytes: this is not an observation file")));
        }
        if self.without_row > MAX_WITHOUT_ROW {
            return Err(Error::other(format!("no row ends within {MAX_WITHOUT_ROW} bytes from here: a quote may be open")));
        }
        Ok(())
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        // No chunk is longer than a line may be, so that no long line hides between two breaks of one chunk.
        let most = buffer.len().min(MAX_LINE as usize / 2);
        let read = self.stream.read(&mut buffer[..most])?;
        self.count(&buffer[..read])?;
        Ok(read)
    }
}
