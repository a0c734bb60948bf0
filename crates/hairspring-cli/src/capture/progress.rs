//! The progress of reading a recording, on a terminal only.

use crate::output;
use std::io::{Read, Result, Seek, SeekFrom};
use std::time::{Duration, Instant};

/// Time before the first line, and between two lines.
const TIME_BETWEEN_LINES: Duration = Duration::from_millis(500);

/// A file that shows how much of it has been read.
pub struct Watched<S> {
    stream: S,
    size: Option<u64>,
    read: u64,
    last: Instant,
    between: Duration,
    /// Shows a line on a terminal, or nothing.
    show: fn(&str),
    shown: bool,
}

impl<S> Watched<S> {
    /// A stream, and its size if that is known.
    pub fn new(stream: S, size: Option<u64>) -> Watched<S> {
        Watched {
            stream,
            size,
            read: 0,
            last: Instant::now(),
            between: TIME_BETWEEN_LINES,
            show: output::status_line,
            shown: false,
        }
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
        if self.last.elapsed() >= self.between {
            (self.last, self.shown) = (Instant::now(), true);
            (self.show)(&describe(self.read, self.size));
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
            (self.show)("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! { static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) } }

    /// The lines shown while a stream of 3 MB is read in pieces of 1 MB.
    fn lines(between: Duration) -> Vec<String> {
        let show = |line: &str| LINES.with_borrow_mut(|lines| lines.push(line.to_owned()));
        let mut stream = Watched::new(std::io::repeat(0).take(3_000_000), None);
        (stream.between, stream.show) = (between, show);
        let mut buffer = vec![0; 1_000_000];
        while stream.read(&mut buffer).unwrap() > 0 {}
        drop(stream);
        LINES.take()
    }

    #[test]
    fn a_stream_without_a_size_shows_its_progress_and_takes_it_away() {
        assert_eq!(lines(Duration::ZERO), ["read 1 MB", "read 2 MB", "read 3 MB", "read 3 MB", ""]);
        assert!(lines(Duration::from_secs(3600)).is_empty());
    }

    #[test]
    fn progress_is_described_with_and_without_a_size() {
        assert_eq!(describe(2_500_000, Some(4_000_000_001)), "read 2 of 4001 MB");
        assert_eq!(describe(7_000_000, None), "read 7 MB");
    }
}
