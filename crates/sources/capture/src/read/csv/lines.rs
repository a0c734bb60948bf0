//! Lines of a text in any usual encoding, with any line end.

use super::cells::{Separator, has_columns, is_blank};
use crate::error::{Error, Result};
use std::io::{BufRead, BufReader, Read};

/// Longest line.
const MOST_LINE: usize = 1 << 20;
/// Bytes without an edge after which reading stops.
const MOST_SILENCE: u64 = 1 << 30;

/// The lines of a file with their numbers.
pub(super) struct Lines<'a> {
    stream: BufReader<Box<dyn Read + 'a>>,
    text: String,
    bytes: Vec<u8>,
    pub(super) number: u64,
    place: u64,
    /// Whether the last line had an end.
    whole: bool,
    /// Whether the last line is an incomplete row.
    pub(super) cut: bool,
    /// The last line without values, which only the end may follow.
    blank: Option<u64>,
    /// Whether rows have several columns, so that one without values can be told.
    has_columns: bool,
    /// Whether a row may begin with a semicolon, which is else a comment.
    has_semicolons: bool,
}

impl<'a> Lines<'a> {
    /// The lines of UTF-8, UTF-16 or Latin-1.
    pub(super) fn new(mut stream: impl Read + 'a) -> Result<Lines<'a>> {
        let mut start = Vec::new();
        stream.by_ref().take(4).read_to_end(&mut start).map_err(|error| Error::stream(&error))?;
        let big = wide(&start);
        let stream = std::io::Cursor::new(start).chain(stream);
        let stream: Box<dyn Read + 'a> = match big {
            Some(big) => Box::new(Utf16 { stream: BufReader::new(stream), big, ready: Vec::new() }),
            None => Box::new(stream),
        };
        Ok(Lines {
            stream: BufReader::with_capacity(1 << 18, stream),
            text: String::new(),
            bytes: Vec::new(),
            number: 0,
            place: 0,
            whole: true,
            cut: false,
            blank: None,
            has_columns: false,
            has_semicolons: false,
        })
    }

    /// Takes notice of how the first row looks.
    pub(super) fn rows_like(&mut self, first: &str) {
        self.has_columns = has_columns(first);
        self.has_semicolons = Separator::of_row(first) == Separator::Semicolon;
    }

    /// The next line that is neither empty, a comment nor without values.
    pub(super) fn next_row(&mut self) -> Result<Option<&str>> {
        loop {
            if !self.read()? {
                return Ok(None);
            }
            let is_row = self.has_semicolons && self.text.starts_with(';');
            if self.text.is_empty() || is_comment(&self.text) && !is_row {
                continue;
            }
            if self.has_columns && self.whole && is_blank(&self.text) {
                // Some oscilloscopes end their tables with the time of a sample that is not there,
                // or with a row of separators.
                self.blank.get_or_insert(self.number);
                continue;
            }
            return match self.blank {
                Some(line) => Err(Error::line(line, "`` is not a number")),
                None => Ok(Some(&self.text)),
            };
        }
    }

    /// The next line that is not empty.
    pub(super) fn next_line(&mut self) -> Result<Option<&str>> {
        while self.read()? {
            if !self.text.is_empty() {
                return Ok(Some(&self.text));
            }
        }
        Ok(None)
    }

    /// Reads a line; `false` at the end.
    fn read(&mut self) -> Result<bool> {
        self.bytes.clear();
        let whole = self.read_bytes().map_err(|error| Error::stream(&error))?;
        if self.bytes.is_empty() && !whole {
            return Ok(false);
        }
        self.whole = whole;
        self.number += 1;
        self.place += self.bytes.len() as u64 + 1;
        if self.bytes.len() >= MOST_LINE {
            return Err(Error::line(
                self.number,
                format!("is longer than {MOST_LINE} bytes: this is not a table of a recording"),
            ));
        }
        if self.bytes.contains(&0) {
            let reason = "has bytes of 0, which is no text: save the table as UTF-8";
            return Err(Error::line(self.number, reason));
        }
        self.text.clear();
        let trimmed = |text: &str| text.trim().trim_start_matches('\u{feff}').trim().to_owned();
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => self.text.push_str(text.trim().trim_start_matches('\u{feff}').trim()),
            // Latin-1, whose bytes are the numbers of the characters.
            Err(_) => {
                let text: String = self.bytes.iter().map(|byte| char::from(*byte)).collect();
                self.text = trimmed(&text);
            }
        }
        Ok(true)
    }

    /// Takes bytes up to a line end: `\n`, `\r\n`, or `\r` alone. Whether there was one.
    fn read_bytes(&mut self) -> std::io::Result<bool> {
        while self.bytes.len() < MOST_LINE {
            let held_bytes = self.stream.fill_buf()?;
            if held_bytes.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr2(b'\n', b'\r', held_bytes);
            let taken_bytes = end.unwrap_or(held_bytes.len());
            self.bytes.extend_from_slice(&held_bytes[..taken_bytes]);
            let is_return = end.is_some_and(|end| held_bytes[end] == b'\r');
            self.stream.consume(taken_bytes + usize::from(end.is_some()));
            if is_return && self.stream.fill_buf()?.first() == Some(&b'\n') {
                self.stream.consume(1);
            }
            if end.is_some() {
                return Ok(true);
            }
        }
        Ok(true)
    }

    /// Whether the line is the last one and has no end.
    pub(super) fn is_cut(&self, line: u64) -> bool {
        !self.whole && line == self.number
    }

    /// The result of a line; an invalid row is not an error at the end of a truncated file.
    pub(super) fn unless_cut(&mut self, line: u64, result: Result<()>) -> Result<()> {
        if result.is_err() && self.is_cut(line) {
            self.cut = true;
            return Ok(());
        }
        result
    }

    /// Stops reading with an error after too long a stretch without an edge.
    pub(super) fn give_up_at_silence(&self) -> Result<()> {
        if self.place > MOST_SILENCE {
            return Err(Error::line(
                self.number,
                "no edge up to here, so the rest is not read: is it the right channel?",
            ));
        }
        Ok(())
    }
}

/// Whether a line is a comment.
pub(super) fn is_comment(text: &str) -> bool {
    text.starts_with([';', '#', '%']) || text.starts_with("//")
}

/// Whether a text is UTF-16 by its first bytes, and if so, whether the high byte comes first.
fn wide(start: &[u8]) -> Option<bool> {
    match start {
        [0xff, 0xfe, ..] => Some(false),
        [0xfe, 0xff, ..] => Some(true),
        [a, 0, b, 0, ..] if *a > 0 && *b > 0 => Some(false),
        [0, a, 0, b, ..] if *a > 0 && *b > 0 => Some(true),
        _ => None,
    }
}

/// Whether a file is text in UTF-16 by its beginning: with a byte order mark, or with characters of
/// Latin-1.
pub(in crate::read) fn is_wide_text(head: &[u8]) -> bool {
    let is_character = |pair: &[u8], big: bool| match *pair {
        [low, 0] if !big => low >= b'\t',
        [0, low] if big => low >= b'\t',
        _ => false,
    };
    match head {
        [0xff, 0xfe, 0, 0, ..] => false,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        _ => wide(head).is_some_and(|big| head.chunks_exact(2).all(|pair| is_character(pair, big))),
    }
}

/// UTF-16 as UTF-8.
struct Utf16<R> {
    stream: BufReader<R>,
    big: bool,
    /// Bytes that are converted and not yet taken, the last one first.
    ready: Vec<u8>,
}

impl<R: Read> Utf16<R> {
    fn unit(&mut self) -> Option<std::io::Result<u16>> {
        let mut pair = [0; 2];
        match self.stream.read_exact(&mut pair) {
            Ok(()) if self.big => Some(Ok(u16::from_be_bytes(pair))),
            Ok(()) => Some(Ok(u16::from_le_bytes(pair))),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Converts a part.
    fn convert(&mut self) -> std::io::Result<()> {
        const UNITS: usize = 4096;
        let mut units = Vec::with_capacity(UNITS + 1);
        while let Some(unit) = self.unit() {
            let unit = unit?;
            units.push(unit);
            // A pair of surrogates stays together.
            if units.len() >= UNITS && !(0xd800..0xdc00).contains(&unit) || units.len() > UNITS {
                break;
            }
        }
        self.ready = String::from_utf16_lossy(&units).into_bytes();
        self.ready.reverse();
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.ready.is_empty() {
            self.convert()?;
        }
        let taken_bytes = buffer.len().min(self.ready.len());
        let bytes_left = self.ready.len() - taken_bytes;
        buffer
            .iter_mut()
            .zip(self.ready.drain(bytes_left..).rev())
            .for_each(|(to, from)| *to = from);
        Ok(taken_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_any_end() {
        let mut lines = Lines::new("a\r\n\rb\n\n c \rd".as_bytes()).unwrap();
        let mut found_lines = Vec::new();
        while let Some(text) = lines.next_line().unwrap() {
            let text = text.to_owned();
            found_lines.push((lines.number, text));
        }
        let of = |number, text: &str| (number, text.to_owned());
        assert_eq!(found_lines, [of(1, "a"), of(3, "b"), of(5, "c"), of(6, "d")]);
        assert!(lines.is_cut(6) && !lines.is_cut(5));
    }

    #[test]
    fn wide_text_is_told_from_numbers_of_16_bits() {
        assert!(is_wide_text(b"T\0i\0m\0e\0") && is_wide_text(b"\0T\0i\0m\0e"));
        assert!(is_wide_text(b"\xff\xfeT\0") && is_wide_text(b"\xfe\xff\0T"));
        assert!(!is_wide_text(b"\xff\xfe\0\0T\0\0\0") && !is_wide_text(b"Time"));
        assert!(!is_wide_text(b"a\0b\0c\x01d\0") && !is_wide_text(b"a\0b\0\x05\0d\0"));
        assert!(!is_wide_text(b"") && !is_wide_text(b"a"));
    }
}
