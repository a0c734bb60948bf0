//! JSON documents of bounded size.

use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::de::DeserializeOwned;

/// Reads a document. Bare `NaN` and `Infinity`, which Google Benchmark writes although JSON has
/// none, are read as `null`.
pub fn read<T: DeserializeOwned>(text: &str, format_name: &str) -> Result<T> {
    parsed(text).map_err(|error| Error::BadTable(format!("is not {format_name}: {error}")))
}

/// Reads one line of a file that has a document on each.
pub fn read_line<T: DeserializeOwned>(line: &str, number: u64) -> Result<T> {
    parsed(line).map_err(|error| Error::BadObservation {
        line: number,
        reason: format!("is not a JSON message: {error}"),
    })
}

fn parsed<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    if WORDS.iter().any(|word| text.contains(word)) {
        serde_json::from_str(&without_bare_words(text))
    } else {
        serde_json::from_str(text)
    }
}

/// Words for numbers that JSON lacks, the longer ones first.
const WORDS: [&str; 4] = ["-Infinity", "Infinity", "-NaN", "NaN"];

/// The document with `null` in place of these bare words.
fn without_bare_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut in_string) = (text, false);
    while let Some(first) = rest.chars().next() {
        let word = WORDS.iter().find(|word| !in_string && rest.starts_with(**word));
        let escaped = rest.chars().nth(1).filter(|_| first == '\\');
        let length = match (word, escaped) {
            (Some(word), _) => word.len(),
            (None, Some(second)) => first.len_utf8() + second.len_utf8(),
            (None, None) => {
                in_string ^= first == '"';
                first.len_utf8()
            }
        };
        let (taken_text, text_left) = rest.split_at(length);
        out.push_str(if word.is_some() { "null" } else { taken_text });
        rest = text_left;
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
        assert_eq!(without_bare_words(text), expected);
        assert_eq!(without_bare_words("\\"), "\\");
        assert_eq!(without_bare_words("\"\\\u{b5}NaN\" NaN"), "\"\\\u{b5}NaN\" null");
    }
}
