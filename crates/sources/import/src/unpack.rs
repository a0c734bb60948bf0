//! Files that were compressed as a whole: gzip is unpacked, others are named.

use crate::MOST_BYTES;
use flate2::read::MultiGzDecoder;
use std::io::{self, Cursor, Error, ErrorKind, Read};

/// Beginnings of compressed files that are not unpacked: the format, and the command for it.
const OTHER_FORMATS: [(&[u8], &str, &str); 5] = [
    (b"\xfd7zXZ\0", "xz", "xz -d"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "zstd -d"),
    (b"BZh", "bzip2", "bunzip2"),
    (b"PK\x03\x04", "zip", "unzip"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x"),
];
/// The beginning of a file of gzip whose method is deflate, the only one there is.
const GZIP: &[u8] = b"\x1f\x8b\x08";
/// Bytes at the beginning that are looked at.
const HEAD: u64 = 6;

/// The stream, unpacked if it is gzip. Unpacked data end with an error after [`MOST_BYTES`].
///
/// # Errors
/// An error of the stream; another compression, with the command that unpacks it.
pub fn unpack<'a>(mut stream: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut head = Vec::new();
    stream.by_ref().take(HEAD).read_to_end(&mut head)?;
    if let Some((_, format, command)) =
        OTHER_FORMATS.iter().find(|(beginning, _, _)| head.starts_with(beginning))
    {
        let reason = format!("is compressed by {format}: unpack it with `{command}` first");
        return Err(Error::new(ErrorKind::InvalidData, reason));
    }
    let is_gzip = head.starts_with(GZIP);
    let stream = Cursor::new(head).chain(stream);
    Ok(if is_gzip {
        Box::new(Unpacked::new(MultiGzDecoder::new(stream)))
    } else {
        Box::new(stream)
    })
}

/// Unpacked data of bounded size.
struct Unpacked<R> {
    stream: R,
    bytes_left: u64,
}

impl<R> Unpacked<R> {
    fn new(stream: R) -> Self {
        Unpacked { stream, bytes_left: MOST_BYTES }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(block).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => error,
            kind => Error::new(kind, format!("the gzip data are cut or damaged: {error}")),
        })?;
        self.bytes_left = self.bytes_left.checked_sub(read as u64).ok_or_else(|| {
            let most_mib = MOST_BYTES >> 20;
            let reason =
                format!("unpacks to more than {most_mib} MiB: unpack it with `gunzip` first");
            Error::new(ErrorKind::InvalidData, reason)
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut unpacked_bytes = Vec::new();
        let mut stream = unpack(bytes).map_err(|error| error.to_string())?;
        stream.read_to_end(&mut unpacked_bytes).map_err(|error| error.to_string())?;
        Ok(unpacked_bytes)
    }

    #[test]
    fn gzip_is_unpacked_and_the_rest_is_left() {
        let two = [packed(b"one "), packed(b"two")].concat();
        assert_eq!(unpacked(&two).unwrap(), b"one two");
        for plain in [&b""[..], b"{", b"\x1f\x8b", b"body,ticks\n1,2\n"] {
            assert_eq!(unpacked(plain).unwrap(), plain);
        }
    }

    #[test]
    fn damage_and_other_compressions_are_named() {
        let whole = packed(b"some text, and some more of it");
        for length in 3..whole.len() {
            let error = unpacked(&whole[..length]).unwrap_err();
            assert!(error.contains("gzip data are cut"), "{length}: {error}");
        }
        for (beginning, format, _) in OTHER_FORMATS {
            let error = unpacked(&[beginning, &[0; 9]].concat()).unwrap_err();
            assert!(error.contains(format), "{error}");
        }
    }

    #[test]
    fn unpacked_data_have_a_limit() {
        let mut stream = Unpacked { stream: io::repeat(b' ').take(11), bytes_left: 10 };
        let error = io::copy(&mut stream, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("gunzip"), "{error}");
        let mut stream = Unpacked { stream: io::repeat(b' ').take(10), bytes_left: 10 };
        assert_eq!(io::copy(&mut stream, &mut io::sink()).unwrap(), 10);
    }
}
