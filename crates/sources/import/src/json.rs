//! JSON documents of bounded size.

use crate::MOST_BYTES;
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::de::DeserializeOwned;
use std::io::Read;

/// Reads a document. Bare `NaN` and `Infinity`, which Google Benchmark writes although JSON has
/// none, are read as `null`.
pub fn read<T: DeserializeOwned>(stream: impl Read, what: &str) -> Result<T> {
    let mut bytes = Vec::new();
    stream
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Error::BadTable(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::BadTable(format!("is larger than {} MiB", MOST_BYTES >> 20)));
    }
    let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    serde_json::from_slice(&without_bare_words(&bytes[start..]))
        .map_err(|error| Error::BadTable(format!("is not {what}: {error}")))
}

/// Words for numbers that JSON lacks, the longer ones first.
const WORDS: [&[u8]; 4] = [b"-Infinity", b"Infinity", b"-NaN", b"NaN"];

/// The document with `null` in place of these bare words.
fn without_bare_words(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut in_string) = (0, false);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let word = WORDS.iter().find(|word| !in_string && rest.starts_with(word));
        let (written, length): (&[u8], usize) = match (word, rest[0]) {
            (Some(word), _) => (b"null", word.len()),
            (None, b'\\') => (&rest[..rest.len().min(2)], 2),
            (None, byte) => {
                in_string ^= byte == b'"';
                (&rest[..1], 1)
            }
        };
        out.extend_from_slice(written);
        at += length;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_bare_words;

    #[test]
    fn bare_words_are_replaced_outside_of_strings_only() {
        let text = r#"{"a": NaN, "b": [-Infinity,Infinity ,-NaN], "NaN \" NaN \\": -1.5}"#;
        let expected = r#"{"a": null, "b": [null,null ,null], "NaN \" NaN \\": -1.5}"#;
        assert_eq!(String::from_utf8(without_bare_words(text.as_bytes())).unwrap(), expected);
        assert_eq!(without_bare_words(b"\\"), b"\\");
    }
}
