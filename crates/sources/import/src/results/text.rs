//! The text of a file: UTF-8 or UTF-16, with or without a byte order mark.

use std::borrow::Cow;

/// The text, without a byte order mark.
///
/// # Errors
/// The bytes are neither UTF-8 nor UTF-16.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // A document begins with a character of ASCII.
        [_, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, _, ..] => utf16(bytes, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| {
        "is not UTF-8 text, and so not a saved result: write it as UTF-8 (`iconv -t UTF-8`)".into()
    })
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, String> {
    let pair = |pair: &[u8]| match pair {
        [one, other] => unit([*one, *other]),
        _ => 0,
    };
    let units = bytes.chunks_exact(2).map(pair);
    let text: Option<String> = char::decode_utf16(units).map(Result::ok).collect();
    text.filter(|_| bytes.len() % 2 == 0).map(Cow::Owned).ok_or_else(|| {
        "begins like UTF-16 text, but is damaged: write it as UTF-8 (`iconv -t UTF-8`)".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_or_named() {
        let text = "{\"\u{b5}s\": 1}";
        let wide = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect();
        let (little, big): (Vec<u8>, Vec<u8>) = (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
        let marked = |mark: &[u8], bytes: &[u8]| [mark, bytes].concat();
        for bytes in [
            text.as_bytes().to_vec(),
            marked(b"\xef\xbb\xbf", text.as_bytes()),
            marked(b"\xff\xfe", &little),
            marked(b"\xfe\xff", &big),
            little.clone(),
            big,
        ] {
            assert_eq!(decode(&bytes).as_deref(), Ok(text));
        }
        assert!(decode(&little[..5]).is_err_and(|reason| reason.contains("UTF-16")));
        assert!(decode(b"{\"\xb5s\": 1}").is_err_and(|reason| reason.contains("UTF-8")));
        assert_eq!(decode(b"").as_deref(), Ok(""));
    }
}
