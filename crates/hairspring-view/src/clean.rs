//! Makes text from users safe for a terminal: removes control and invisible characters, and cuts
//! and wraps lines.
//!
//! Lines are broken here and not by `textwrap`, which would be one more package for every program
//! with benchmarks.

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

/// Characters of Unicode's category Cf: they are not seen, and may change how the text around them
/// is.
const FORMATTING: [(u32, u32); 21] = [
    (0xad, 0xad),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x180e, 0x180e),
    (0x200b, 0x200f),
    (0x202a, 0x202e),
    (0x2060, 0x2064),
    (0x2066, 0x206f),
    (0xfeff, 0xfeff),
    (0xfff9, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0xe0001, 0xe0001),
    (0xe0020, 0xe007f),
];

/// Control characters, separators of lines and paragraphs, and characters that only format, such as
/// a change of direction. Combining marks are none of them: they are parts of letters.
pub fn is_hidden(c: char) -> bool {
    let code = u32::from(c);
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}')
        || FORMATTING.iter().any(|(first, last)| (*first..=*last).contains(&code))
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

/// Breaks a text into lines of at most `columns`, between words if possible. A number is not
/// separated from its unit.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in chunks(text) {
        let line = lines.last_mut().map(std::mem::take).unwrap_or_default();
        lines.pop();
        let fits = line.is_empty() || width(&line) + 1 + width(&word) <= columns;
        let (done, next) = if fits { (None, join(line, &word)) } else { (Some(line), word) };
        lines.extend(done);
        break_word(next, columns, &mut lines);
    }
    lines
}

/// Words that stay with the word before, with or without a comma behind them.
const WITH_BEFORE: [&str; 15] = [
    "ns", "us", "ms", "s", "ticks", "tick", "cycles", "ppm", "%", "Hz", "kHz", "MHz", "GHz", "+-",
    "=",
];

/// The words of a text; a number, its unit and its half-width are one.
fn chunks(text: &str) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    let mut last = "";
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let stays =
            WITH_BEFORE.contains(&word.trim_end_matches([',', ';'])) || matches!(last, "+-" | "=");
        match chunks.last_mut().filter(|chunk| stays && chunk.len() < 32) {
            Some(chunk) => *chunk = join(std::mem::take(chunk), word),
            None => chunks.push(word.to_owned()),
        }
        last = word;
    }
    chunks
}

fn join(line: String, word: &str) -> String {
    if line.is_empty() { word.to_owned() } else { line + " " + word }
}

/// Pushes a line, cut into pieces where a single word is wider than the columns.
fn break_word(mut line: String, columns: usize, lines: &mut Vec<String>) {
    while width(&line) > columns {
        let at = head(&line, columns).len();
        if at == 0 {
            break;
        }
        let rest = line.split_off(at);
        lines.push(line);
        line = rest;
    }
    lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced() {
        assert_eq!(clean("a\u{1b}[31m\tb\n\nc\u{202e}d\u{9b}"), "a?[31m b c?d?");
    }

    #[test]
    fn letters_and_marks_are_not_hidden() {
        for c in [
            'a',
            ' ',
            '\u{a0}',
            '\u{e4}',
            '\u{301}',
            '\u{4f60}',
            '\u{1f642}',
            '\u{fe0f}',
            '\u{602f}',
        ] {
            assert!(!is_hidden(c), "{:04x}", u32::from(c));
        }
        for c in [
            '\0',
            '\n',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{200b}',
            '\u{200f}',
            '\u{202e}',
            '\u{2028}',
            '\u{2066}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            assert!(is_hidden(c), "{:04x}", u32::from(c));
        }
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
        assert_eq!(
            wrap("it took 0.81 ns +- 0.02, then", 20),
            ["it took", "0.81 ns +- 0.02,", "then"]
        );
    }
}
