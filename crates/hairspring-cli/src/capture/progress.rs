//! The progress of reading a recording, on a terminal only.

use crate::output;
use std::io::{IsTerminal, Read, Result, Seek, SeekFrom};
use std::time::{Duration, Instant};

/// Time before the first line, and between two lines.
const BETWEEN: Duration = Duration::from_millis(500);

/// A file that shows how much of it has been read.
pub struct Watched<S> {
    stream: S,
    size: Option<u64>,
    read: u64,
    last: Instant,
    shown: bool,
}

impl<S> Watched<S> {
    /// A stream, and its size if that is known.
    pub fn new(stream: S, size: Option<u64>) -> Watched<S> {
        Watched { stream, size, read: 0, last: Instant::now(), shown: false }
    }
}

/// `read 120 of 4000 MB`.
fn describe(read: u64, size: Option<u64>) -> String {
    let of = size.map_or_else(String::new, |size| format!(" of {}", size.div_ceil(1_000_000)));
    format!("read {}{of} MB", read / 1_000_000)
}

impl<S: Read> Read for Watched<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.stream.read(buffer)?;
        self.read += read as u64;
        if self.last.elapsed() >= BETWEEN && std::io::stderr().is_terminal() {
            (self.last, self.shown) = (Instant::now(), true);
            output::status_line(&describe(self.read, self.size));
        }
        Ok(read)
    }
}

impl<S: Seek> Seek for Watched<S> {
    fn seek(&mut self, place: SeekFrom) -> Result<u64> {
        self.stream.seek(place)
    }
}

impl<S> Drop for Watched<S> {
    fn drop(&mut self) {
        if self.shown {
            output::status_line("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_described_with_and_without_a_size() {
        assert_eq!(describe(2_500_000, Some(4_000_000_001)), "read 2 of 4001 MB");
        assert_eq!(describe(7_000_000, None), "read 7 MB");
    }
}
