//! Makes text from users safe for a terminal: removes control and invisible characters, and cuts and wraps lines.

use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Replaces white space of all kinds by one space, and control and invisible characters by `?`.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1 << 16));
    for c in text.trim().chars() {
        if c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.push(if is_invisible(c) { '?' } else { c });
        }
    }
    out
}

/// Control characters, and characters of no width: combining marks, direction marks, separators.
fn is_invisible(c: char) -> bool {
    c.is_control() || c.width().unwrap_or(0) == 0
}

/// Cuts the text to a number of columns; a cut text ends in an ellipsis.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(3);
    format!("{}{}", head(text, room), &"..."[..columns.min(3)])
}

/// The longest start of the text that fits.
fn head(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > columns
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Cuts the text, or fills it with blanks, to exactly a number of columns.
pub fn pad(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

/// Breaks a text into lines of at most `columns`, between words if possible. A number is not separated from its unit.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = joined(text);
    let lines = textwrap::wrap(&text, options);
    lines.into_iter().map(|line| line.replace(JOINT, " ")).collect()
}

/// A non-breaking blank.
const JOINT: char = '\u{a0}';
/// Joined words that are longer than this, in bytes, are not joined further.
const LONGEST_JOINED: usize = 32;

/// Words that stay with the word before, with or without a comma.
const WITH_BEFORE: [&str; 15] = ["ns", "us", "ms", "s", "ticks", "tick", "cycles", "ppm", "%", "Hz", "kHz", "MHz", "GHz", "+-", "="];

/// Joins a number, its unit and its half-width by non-breaking blanks.
fn joined(text: &str) -> String {
    let (mut out, mut last, mut length) = (String::with_capacity(text.len()), "", 0);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let stays = WITH_BEFORE.contains(&word.trim_end_matches([',', ';'])) || matches!(last, "+-" | "=");
        let joint = if stays && (1..LONGEST_JOINED).contains(&length) { JOINT } else { ' ' };
        length = if joint == JOINT { length + 1 + word.len() } else { word.len() };
        if !out.is_empty() {
            out.push(joint);
        }
        out.push_str(word);
        last = word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\u{1b}[31m\tb\n\nc\u{202e}d\u{9b}"), "a?[31m b c?d?");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(cut("\u{4f60}\u{597d}\u{4f60}\u{597d}", 7), "\u{4f60}\u{597d}...");
        assert_eq!(width(&pad("\u{4f60}", 5)), 5);
    }

    #[test]
    fn words_wrap_and_long_ones_break() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("it took 0.81 ns +- 0.02, then", 20), ["it took", "0.81 ns +- 0.02,", "then"]);
    }
}
