//! Bytes and numbers of a part of a file, compressed or not.

use crate::error::{Error, Result};
use std::io::{Cursor, ErrorKind, Read};

/// Most bytes that are read together.
const BLOCK: usize = 1 << 16;

/// A part of a file that is read from its beginning to its end.
pub(super) struct Reader<'a> {
    source: Box<dyn Read + 'a>,
    block: Vec<u8>,
    /// Bytes that are read together.
    together: usize,
    at: usize,
    end: usize,
    /// Bytes of the blocks before.
    before: u64,
    /// Where the part begins in the file, and what it is.
    place: u64,
    name_of_part: &'static str,
}

impl<'a> Reader<'a> {
    /// A part of a file at a place, of at most so many bytes.
    pub fn new(
        source: Box<dyn Read + 'a>,
        most_bytes: u64,
        place: u64,
        name_of_part: &'static str,
    ) -> Reader<'a> {
        let together = most_bytes.clamp(1, BLOCK as u64) as usize;
        Reader {
            source,
            block: Vec::new(),
            together,
            at: 0,
            end: 0,
            before: 0,
            place,
            name_of_part,
        }
    }

    /// The same in memory.
    pub fn memory(bytes: Vec<u8>, place: u64, name_of_part: &'static str) -> Reader<'a> {
        let most = bytes.len() as u64;
        Reader::new(Box::new(Cursor::new(bytes)), most, place, name_of_part)
    }

    /// An error about the part.
    pub fn wrong(&self, reason: impl std::fmt::Display) -> Error {
        Error::byte(self.place, format!("{}: {reason}", self.name_of_part))
    }

    /// Bytes that were taken so far.
    pub fn taken(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Reads the next block; whether there is one.
    fn refill(&mut self) -> Result<bool> {
        self.before += self.end as u64;
        (self.at, self.end) = (0, 0);
        if self.block.is_empty() {
            self.block = vec![0; self.together];
        }
        loop {
            match self.source.read(&mut self.block) {
                Ok(read) => {
                    self.end = read;
                    return Ok(read > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(self.wrong(format!("cannot be read: {error}"))),
            }
        }
    }

    /// Whether all bytes were taken.
    #[inline]
    pub fn is_at_end(&mut self) -> Result<bool> {
        Ok(self.at == self.end && !self.refill()?)
    }

    /// The next byte, if the part does not end.
    #[inline]
    pub fn next(&mut self) -> Result<Option<u8>> {
        if self.is_at_end()? {
            return Ok(None);
        }
        let byte = self.block.get(self.at).copied();
        self.at += 1;
        Ok(byte)
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        match self.next()? {
            Some(byte) => Ok(byte),
            None => Err(self.wrong("ends too early, so the file is damaged")),
        }
    }

    /// A number of 8 bytes, the highest first.
    pub fn u64(&mut self) -> Result<u64> {
        let mut number = 0;
        for _ in 0..8 {
            number = number << 8 | u64::from(self.byte()?);
        }
        Ok(number)
    }

    /// A number of 7 bits in each byte, the lowest first.
    #[inline]
    pub fn varint(&mut self) -> Result<u64> {
        self.both().map(|(number, _)| number)
    }

    /// The same, without and with a sign.
    #[inline]
    pub fn both(&mut self) -> Result<(u64, i64)> {
        let (mut number, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift > 63 || shift == 63 && !matches!(bits, 0 | 1 | 0x7f) {
                return Err(self.wrong("a number of more than 64 bits, so the file is damaged"));
            }
            number |= bits << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                let is_negative = byte & 0x40 != 0 && shift < 64;
                let high = if is_negative { u64::MAX << shift } else { 0 };
                return Ok((number, i64::from_ne_bytes((number | high).to_ne_bytes())));
            }
        }
    }

    /// A text up to a byte of 0.
    pub fn text(&mut self, most_bytes: usize) -> Result<String> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                _ if text.len() == most_bytes => {
                    return Err(self.wrong(format!("a name of more than {most_bytes} bytes")));
                }
                byte => text.push(byte),
            }
        }
    }

    /// Skips bytes.
    pub fn skip(&mut self, bytes: u64) -> Result<()> {
        let mut bytes_left = bytes;
        while bytes_left > 0 {
            if self.is_at_end()? {
                return Err(self.wrong("ends too early, so the file is damaged"));
            }
            let step = bytes_left.min((self.end - self.at) as u64);
            self.at += step as usize;
            bytes_left -= step;
        }
        Ok(())
    }

    /// One of so many bytes, all of which are taken.
    pub fn pick(&mut self, bytes: u64, at: u64) -> Result<u8> {
        self.skip(at)?;
        let byte = self.byte()?;
        self.skip(bytes.saturating_sub(at + 1))?;
        Ok(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(bytes: &[u8]) -> Reader<'static> {
        Reader::memory(bytes.to_vec(), 7, "a part")
    }

    #[test]
    fn numbers_have_seven_bits_a_byte_and_a_sign() {
        assert_eq!(reader(&[0xe5, 0x8e, 0x26]).both().unwrap().0, 624_485);
        assert_eq!(reader(&[0xc0, 0xbb, 0x78]).both().unwrap().1, -123_456);
        assert_eq!(reader(&[0x7f]).both().unwrap(), (127, -1));
        let most_number = [[0xff; 9].as_slice(), &[1]].concat();
        assert_eq!(reader(&most_number).varint().unwrap(), u64::MAX);
        for damaged in [&[0xff; 11][..], &[0x80], &[]] {
            let message = reader(damaged).varint().unwrap_err().to_string();
            assert!(message.starts_with("byte 7: a part: "), "{message}");
        }
    }

    #[test]
    fn parts_end_where_they_end() {
        let mut part = reader(b"\0\0\0\0\0\0\x01\x49name\0rest");
        assert_eq!((part.u64().unwrap(), part.text(4).unwrap().as_str()), (329, "name"));
        assert_eq!((part.pick(3, 1).unwrap(), part.taken()), (b'e', 16));
        assert_eq!((part.next().unwrap(), part.next().unwrap()), (Some(b't'), None));
        assert!(reader(b"name\0").text(3).is_err() && reader(b"name").text(9).is_err());
        assert!(reader(b"name").skip(5).is_err() && reader(b"name").pick(9, 3).is_err());
    }
}
