//! A file that is read forwards, and numbers at places of its header.

use crate::error::{Error, Result};
use std::io::Read;

/// Largest header in bytes.
const MOST_HEADER: usize = 1 << 20;

/// A stream that knows its place.
pub(super) struct Bytes<'a> {
    stream: &'a mut dyn Read,
    at: u64,
}

impl<'a> Bytes<'a> {
    /// A stream from a place of the file on.
    pub fn new(stream: &'a mut dyn Read, at: u64) -> Bytes<'a> {
        Bytes { stream, at }
    }

    /// The place in the file.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Reads until a block is full or the file ends; the number of bytes.
    pub fn fill(&mut self, block: &mut [u8]) -> Result<usize> {
        let mut held_bytes = 0;
        while held_bytes < block.len() {
            match self.stream.read(&mut block[held_bytes..]) {
                Ok(0) => break,
                Ok(read) => held_bytes += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => (),
                Err(error) => return Err(Error::stream(&error)),
            }
        }
        self.at += held_bytes as u64;
        Ok(held_bytes)
    }

    /// Reads up to as many bytes as are asked for, in memory that grows with what there is.
    pub fn up_to(&mut self, size: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut *self.stream).take(size).read_to_end(&mut bytes);
        self.at += bytes.len() as u64;
        read.map(|_| bytes).map_err(|error| Error::stream(&error))
    }

    /// Reads a part of the header, all of it.
    pub fn header(&mut self, size: usize, big: bool) -> Result<Header> {
        let start = self.at;
        if size > MOST_HEADER {
            let reason =
                format!("the header has {size} bytes by its own number, at most {MOST_HEADER}");
            return Err(Error::byte(start, reason));
        }
        let bytes = self.up_to(size as u64)?;
        if bytes.len() < size {
            let reason = format!("the file ends there, within {size} bytes of its header");
            return Err(Error::byte(self.at, reason));
        }
        Ok(Header { bytes, start, big })
    }

    /// Reads a part of the header whose first bytes were read already.
    pub fn header_behind(&mut self, first: &[u8], size: usize) -> Result<Header> {
        let start = self.at.saturating_sub(first.len() as u64);
        let rest = self.header(size.saturating_sub(first.len()), false)?;
        Ok(Header { bytes: [first, &rest.bytes].concat(), start, big: false })
    }

    /// Leaves out bytes up to a place of the file.
    pub fn skip_to(&mut self, place: u64) -> Result<()> {
        let Some(size) = place.checked_sub(self.at) else {
            let reason =
                format!("the samples begin there by the header, which ends at {}", self.at);
            return Err(Error::byte(place, reason));
        };
        let mut skipped = (&mut *self.stream).take(size);
        let skipped = std::io::copy(&mut skipped, &mut std::io::sink())
            .map_err(|error| Error::stream(&error))?;
        self.at += skipped;
        if skipped < size {
            let reason = format!("the file ends before the samples, which begin at byte {place}");
            return Err(Error::byte(self.at, reason));
        }
        Ok(())
    }
}

/// A part of a header.
#[derive(Debug)]
pub(super) struct Header {
    bytes: Vec<u8>,
    start: u64,
    big: bool,
}

impl Header {
    /// Where it begins in the file.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// The header with the part that follows it.
    pub fn and(mut self, next: Header) -> Header {
        self.bytes.extend(next.bytes);
        self
    }

    /// Whether numbers have their high byte first.
    pub fn with_order(self, big: bool) -> Header {
        Header { big, ..self }
    }

    /// The bytes at a place.
    pub fn bytes(&self, at: usize, size: usize) -> Result<&[u8]> {
        at.checked_add(size)
            .and_then(|end| self.bytes.get(at..end))
            .ok_or_else(|| self.wrong(self.bytes.len(), "the header ends there, too early"))
    }

    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(at, N)?);
        if self.big {
            array.reverse();
        }
        Ok(array)
    }

    /// An error at a place.
    pub fn wrong(&self, at: usize, reason: impl Into<String>) -> Error {
        Error::byte(self.start + at as u64, reason)
    }

    /// A byte.
    pub fn u8(&self, at: usize) -> Result<u8> {
        Ok(self.array::<1>(at)?[0])
    }

    /// A number of 16 bits.
    pub fn u16(&self, at: usize) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(at)?))
    }

    /// A number of 16 bits with a sign.
    pub fn i16(&self, at: usize) -> Result<i16> {
        Ok(i16::from_le_bytes(self.array(at)?))
    }

    /// A number of 32 bits.
    pub fn u32(&self, at: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(at)?))
    }

    /// A number of 32 bits with a sign.
    pub fn i32(&self, at: usize) -> Result<i32> {
        Ok(i32::from_le_bytes(self.array(at)?))
    }

    /// A number of 64 bits.
    pub fn u64(&self, at: usize) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(at)?))
    }

    /// A float of 32 bits as the decimal number that it stands for: 5e-10 and not 5.0000003e-10.
    pub fn f32(&self, at: usize) -> Result<f64> {
        Ok(decimal(f32::from_le_bytes(self.array(at)?)))
    }

    /// A float of 64 bits. Some instruments put a float of 32 bits there.
    pub fn f64(&self, at: usize) -> Result<f64> {
        let value = f64::from_le_bytes(self.array(at)?);
        let short = value as f32;
        Ok(if f64::from(short) == value { decimal(short) } else { value })
    }

    /// A text that ends at a zero.
    pub fn text(&self, at: usize, size: usize) -> Result<String> {
        let bytes = self.bytes(at, size)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(size);
        Ok(String::from_utf8_lossy(&bytes[..end]).trim().to_owned())
    }

    /// The rate by the distance of two samples in seconds, a number found at a place.
    pub fn rate_of(&self, at: usize, interval: f64) -> Result<f64> {
        rate_of(interval).map_err(|reason| self.wrong(at, reason))
    }

    /// A rate, a number found at a place.
    pub fn rate(&self, at: usize, rate: f64) -> Result<f64> {
        if rate > 0.0 && rate.is_finite() {
            return Ok(rate);
        }
        Err(self.wrong(at, format!("the sample rate is {rate:e} Hz: the recording has no times")))
    }
}

/// The rate by the distance of two samples in seconds.
///
/// # Errors
/// A distance that is not above 0.
pub(super) fn rate_of(interval: f64) -> std::result::Result<f64, String> {
    let rate = 1.0 / interval;
    if !(interval > 0.0 && interval.is_finite() && rate.is_finite()) {
        return Err(format!(
            "the distance of the samples is {interval:e} s, so the recording has no times"
        ));
    }
    // 1e-9 s are meant to be 1 GHz, and not 999,999,999.9999999 Hz.
    let whole = rate.round();
    Ok(if (rate / whole - 1.0).abs() < 1e-12 { whole } else { rate })
}

/// The shortest decimal number of a float.
fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn numbers_are_read_in_both_orders_and_never_beyond_the_header() {
        let file = [1u8, 2, 3, 4, 5, 6, 7, 8];
        let (mut little, mut big) = (&file[..], &file[..]);
        let little = Bytes::new(&mut little, 0).header(8, false).unwrap();
        let big = Bytes::new(&mut big, 0).header(8, true).unwrap();
        assert_eq!((little.u16(1).unwrap(), big.u16(1).unwrap()), (0x0302, 0x0203));
        assert_eq!((little.u32(4).unwrap(), big.u32(4).unwrap()), (0x0807_0605, 0x0506_0708));
        assert!(little.u16(7).is_err() && little.u64(1).is_err() && big.u8(usize::MAX).is_err());
        let mut short = &file[..4];
        let message = Bytes::new(&mut short, 10).header(5, false).unwrap_err().to_string();
        assert!(message.starts_with("byte 14: the file ends there"), "{message}");
    }

    #[test]
    fn floats_of_32_bits_are_the_decimal_number_that_was_meant() {
        let bytes = [5e-10f32.to_le_bytes().to_vec(), f64::from(5e-6f32).to_le_bytes().to_vec()];
        let bytes = bytes.concat();
        let header = Bytes::new(&mut &bytes[..], 0).header(12, false).unwrap();
        assert_eq!((header.f32(0).unwrap(), header.f64(4).unwrap()), (5e-10, 5e-6));
    }

    #[test]
    fn what_is_skipped_must_be_there() {
        let file = [0u8; 8];
        let mut bytes = &file[..];
        let mut bytes = Bytes::new(&mut bytes, 0);
        bytes.skip_to(6).unwrap();
        assert!(bytes.skip_to(5).is_err() && bytes.at() == 6 && bytes.skip_to(9).is_err());
    }
}
