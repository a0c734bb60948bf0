//! Text of bounded size in the encodings that tools and shells write.

use crate::MOST_BYTES;
use hairspring_core::Result;
use hairspring_core::error::Error;
use std::io::Read;

/// The byte order mark of UTF-8.
const UTF8: &[u8] = b"\xef\xbb\xbf";

/// A whole stream as text without its byte order mark.
///
/// # Errors
/// [`Error::BadTable`] if the stream cannot be read, is too large or is no text.
pub fn read(stream: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    stream
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::BadTable(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::BadTable(format!("is larger than {} MiB", MOST_BYTES >> 20)));
    }
    if let Some(pairs) = utf16(&bytes) {
        let no_text = |_| Error::BadTable("is not UTF-16 text, although it begins like it".into());
        return String::from_utf16(&pairs).map_err(no_text);
    }
    let bytes = if bytes.starts_with(UTF8) { bytes.split_off(UTF8.len()) } else { bytes };
    String::from_utf8(bytes).map_err(|error| {
        let bytes = error.as_bytes();
        let (whole, _) = bytes.split_at(error.utf8_error().valid_up_to());
        let line = whole.iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::BadTable(format!("line {line}: is not UTF-8 text; save it as UTF-8"))
    })
}

/// The beginning of a stream as text, as far as it is text.
pub fn beginning(head: &[u8]) -> String {
    match utf16(head) {
        Some(pairs) => String::from_utf16_lossy(&pairs),
        None => String::from_utf8_lossy(head.strip_prefix(UTF8).unwrap_or(head)).into_owned(),
    }
}

/// The units of UTF-16 text with a byte order mark, or of which every second byte is 0, as in the
/// output that Windows PowerShell writes to files.
fn utf16(bytes: &[u8]) -> Option<Vec<u16>> {
    let little = |bytes: &[u8]| units(bytes, u16::from_le_bytes);
    let big = |bytes: &[u8]| units(bytes, u16::from_be_bytes);
    match bytes {
        [0xff, 0xfe, rest @ ..] => Some(little(rest)),
        [0xfe, 0xff, rest @ ..] => Some(big(rest)),
        [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(little(bytes)),
        [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some(big(bytes)),
        _ => None,
    }
}

fn units(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_gives_the_same_text() {
        let text = "{\"\u{b5}s\": 1}\n";
        let bytes = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(order).collect()
        };
        let (little, big) = (bytes(u16::to_le_bytes), bytes(u16::to_be_bytes));
        for file in [
            text.as_bytes().to_vec(),
            [UTF8, text.as_bytes()].concat(),
            [b"\xff\xfe", &little[..]].concat(),
            [b"\xfe\xff", &big[..]].concat(),
        ] {
            assert_eq!(read(&file[..]).unwrap(), text);
            assert_eq!(beginning(&file), text);
        }
        assert!(read(&b"{\n\"\xe9\": 1}"[..]).unwrap_err().to_string().contains("line 2"));
        assert!(read(&b"\xff\xfe\x00\xd8\x00\xd8"[..]).is_err());
    }

    #[test]
    fn text_without_a_mark_in_utf16_is_read() {
        let file: Vec<u8> = "[[1.0]]".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&file[..]).unwrap(), "[[1.0]]");
        assert_eq!(read(&b""[..]).unwrap(), "");
    }
}
