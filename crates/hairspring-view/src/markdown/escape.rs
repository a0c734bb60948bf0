//! Text of users in Markdown: nothing in it becomes markup, a link, or a message to somebody.

use crate::clean::{clean, cut};

/// A zero-width space, as an entity that a reader of the source sees.
const NOTHING: &str = "&#8203;";
/// Columns of a code in a table.
const MOST_CODE: usize = 160;
/// Bytes of a message, markup included, from which on it is cut.
const MOST_PROSE: usize = 1000;

/// Text in one line. A backslash before `@` or `#` would not help: GitHub looks for names and
/// numbers of issues in the text that is left when Markdown is done.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        if out.len() > MOST_PROSE {
            return out + "...";
        }
        let links = match c {
            '.' => out.ends_with("www") || out.ends_with("WWW"),
            '/' => out.ends_with(':'),
            _ => false,
        };
        if links {
            out += &format!("&#{};", u32::from(c));
        } else {
            push(&mut out, c);
        }
    }
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '<' => *out += "&lt;",
        '>' => *out += "&gt;",
        '&' => *out += "&amp;",
        '|' => *out += "&#124;",
        '$' => *out += "<span>$</span>",
        '@' | '#' => {
            out.push(c);
            *out += NOTHING;
        }
        '\\' | '`' | '*' | '_' | '[' | ']' | '~' => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
}

/// Code in one line, which links to nobody: in backticks, or where it has characters that end them
/// or a cell of a table, in a tag.
pub fn code(text: &str) -> String {
    let text = cut(&clean(text), MOST_CODE);
    if text.is_empty() {
        return "(no name)".into();
    }
    if !text.contains(['`', '|', '\\']) {
        return format!("`{text}`");
    }
    let mut out = String::from("<code>");
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            out += &format!("&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out + "</code>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(prose("a|b <i>*x*</i> `c`\n"), "a&#124;b &lt;i&gt;\\*x\\*&lt;/i&gt; \\`c\\`");
        assert_eq!(prose("ask @all about #7"), "ask @&#8203;all about #&#8203;7");
        assert_eq!(prose("http://x.y www.z"), "http:&#47;/x.y www&#46;z");
        assert_eq!(prose("0.81 ns +- 0.02"), "0.81 ns +- 0.02");
        assert!(prose(&"|".repeat(5000)).len() < 1010);
        assert_eq!(prose("&#46;"), "&amp;#&#8203;46;");
    }

    #[test]
    fn code_stays_in_its_cell() {
        assert_eq!(code("x = x * @c"), "`x = x * @c`");
        assert_eq!(code("a | b"), "<code>a &#124; b</code>");
        assert_eq!(code("a`b"), "<code>a&#96;b</code>");
        assert_eq!((code("\n"), code("\u{1b}[2J")), ("(no name)".into(), "`?[2J`".to_owned()));
    }
}
