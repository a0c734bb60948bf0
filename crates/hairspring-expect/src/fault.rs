//! What is wrong with an expression, and where.

use std::fmt::{Display, Formatter};

/// Characters of the expression that a message shows.
const SHOWN_CHARACTERS: usize = 64;

/// What is wrong with an expression. Its text is the message, the expression unless it is blank,
/// and a pointer at the character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong, in one sentence.
    pub message: String,
    /// The expression that it is in.
    pub text: String,
    /// The character that it is about, as a number of bytes from the start.
    pub at: usize,
}

impl Fault {
    /// The part of the expression around the character, and the number of characters before it.
    fn excerpt(&self) -> (String, usize) {
        let before = self.text.get(..self.at).unwrap_or(&self.text).chars().count();
        let start = if before < SHOWN_CHARACTERS { 0 } else { before - SHOWN_CHARACTERS / 2 };
        // A character without a width, or one that moves the cursor, would shift the pointer.
        let plain = |c: char| {
            if c.is_ascii_graphic() || matches!(c, ' ' | '\u{b5}' | '\u{3bc}' | '\u{b1}') {
                c
            } else {
                '?'
            }
        };
        (self.text.chars().skip(start).take(SHOWN_CHARACTERS).map(plain).collect(), before - start)
    }
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (excerpt, column) = self.excerpt();
        if excerpt.trim().is_empty() {
            return write!(f, "{}", self.message);
        }
        write!(f, "{}\n  {}\n  {}^", self.message, excerpt.trim_end(), " ".repeat(column))
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointer_stands_below_the_character() {
        let fault = Fault { message: "wrong".into(), text: "3 ns + 2 m".into(), at: 9 };
        assert_eq!(fault.to_string(), "wrong\n  3 ns + 2 m\n           ^");
        let wide = Fault { message: "wrong".into(), text: "\u{b5}\u{4f60}\u{1b}x".into(), at: 6 };
        assert_eq!(wide.to_string(), "wrong\n  \u{b5}??x\n     ^");
        assert_eq!(
            Fault { message: "empty".into(), text: "  ".into(), at: 0 }.to_string(),
            "empty"
        );
    }

    #[test]
    fn long_text_is_shown_around_the_character() {
        let fault = Fault {
            message: "wrong".into(),
            text: format!("{}x{}", "1".repeat(500), "2".repeat(500)),
            at: 500,
        };
        let lines: Vec<String> = fault.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines[1].chars().nth(lines[2].len() - 1), Some('x'));
        assert!(lines[1].len() < 80);
        let past = Fault { at: 9_999, ..fault };
        assert!(past.to_string().ends_with('^'));
    }
}
