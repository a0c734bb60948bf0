//! Text from users made harmless for a terminal: control characters, invisible characters, length.

use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// White space of all kinds as one space, and every character that could steer a terminal or hide text as `?`.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1 << 16));
    for c in text.trim().chars() {
        if c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.push(if steers(c) { '?' } else { c });
        }
    }
    out
}

/// Control characters, and characters without a place of their own: marks that join, direction marks, separators.
fn steers(c: char) -> bool {
    c.is_control() || c.width().unwrap_or(0) == 0
}

/// The text in at most so many columns, with an ellipsis where it is cut.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(3);
    format!("{}{}", head(text, room), &"..."[..columns.min(3)])
}

/// As many characters as fit.
fn head(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > columns
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The text cut or filled with blanks to exactly so many columns.
pub fn pad(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

/// Breaks a text into lines of at most so many columns, between words where that is possible. A number keeps its unit.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = joined(text);
    let lines = textwrap::wrap(&text, options);
    lines.into_iter().map(|line| line.replace(JOINT, " ")).collect()
}

/// A blank at which no line is broken.
const JOINT: char = '\u{a0}';
/// Most bytes of joined words to which another one is joined.
const LONGEST_JOINED: usize = 32;

/// Words that stay with the word before, with or without a comma behind them.
const WITH_BEFORE: [&str; 15] = ["ns", "us", "ms", "s", "ticks", "tick", "cycles", "ppm", "%", "Hz", "kHz", "MHz", "GHz", "+-", "="];

/// The text with a blank between a number, its unit and its half-width at which no line is broken.
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
    fn what_steers_a_terminal_is_taken_out() {
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
