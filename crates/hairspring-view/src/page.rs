//! A page of text: lines with a label at the left and wrapped text beside it.

use crate::clean::{clean, cut, pad, width, wrap};

/// How the report may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether colours may be used: only on a terminal.
    pub color: bool,
    /// Columns of the terminal. The report uses 60 to 80 of them, the source lines of `blocks` up
    /// to 160.
    pub width: usize,
    /// Whether plots are drawn in plain ASCII instead of braille.
    pub ascii: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { color: false, width: 80, ascii: true }
    }
}

/// The role of a piece of text, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Ordinary text.
    Plain,
    /// Headings and results.
    Strong,
    /// Circumstances.
    Quiet,
    /// A warning.
    Warning,
    /// A finding that makes the result untrusted.
    Alarm,
}

/// Columns in front of the text of an item.
pub const INDENT: usize = 12;

/// An item of a page without its layout, for views that have a layout of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its label; the mark of a text below an item; empty for a line.
    pub label: String,
    /// Its text.
    pub text: String,
    /// Its role.
    pub tone: Tone,
}

/// The page being written.
#[derive(Debug)]
pub struct Page {
    style: Style,
    out: String,
    pieces: Option<Vec<Piece>>,
}

impl Page {
    /// An empty page.
    pub fn new(style: Style) -> Page {
        Page { style, out: String::new(), pieces: None }
    }

    /// The items that `write` writes, without their layout.
    pub fn pieces(write: impl FnOnce(&mut Page)) -> Vec<Piece> {
        let pieces = Some(Vec::new());
        let mut page = Page { style: Style::default(), out: String::new(), pieces };
        write(&mut page);
        page.pieces.unwrap_or_default()
    }

    fn record(&mut self, label: &str, text: &str, tone: Tone) {
        if let Some(pieces) = &mut self.pieces {
            pieces.push(Piece { label: clean(label), text: clean(text), tone });
        }
    }

    /// Columns that may be used.
    pub fn width(&self) -> usize {
        self.style.width.clamp(60, 80)
    }

    /// Whether plots are drawn in plain ASCII.
    pub fn ascii(&self) -> bool {
        self.style.ascii
    }

    /// An empty line, unless the line before is one.
    pub fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// Columns that a table may use where the terminal is wide.
    pub fn table_width(&self) -> usize {
        self.style.width.clamp(60, 160)
    }

    /// One line of a table, cut to the width of the terminal.
    pub fn table_line(&mut self, text: &str, tone: Tone) {
        let line = self.paint(cut(text, self.table_width()).trim_end(), tone);
        self.out += &line;
        self.out.push('\n');
    }

    /// One unwrapped line, cut to the width of the page.
    pub fn line(&mut self, text: &str, tone: Tone) {
        self.record("", text, tone);
        let line = self.paint(cut(text, self.width()).trim_end(), tone);
        self.out += &line;
        self.out.push('\n');
    }

    /// A label, and a text that wraps beside it. Both are cleaned, as they may come from users.
    pub fn item(&mut self, label: &str, text: &str, tone: Tone) {
        self.item_at(INDENT, label, text, tone);
    }

    /// The same with the text from this column on, of at least 4, for longer labels.
    pub fn item_at(&mut self, column: usize, label: &str, text: &str, tone: Tone) {
        self.record(label, text, tone);
        let label = pad(&clean(label), column - 4);
        for (at, line) in wrap(&clean(text), self.width() - column).iter().enumerate() {
            let label = if at == 0 { self.paint(&label, tone) } else { " ".repeat(column - 4) };
            self.out += format!("  {label}  {line}").trim_end();
            self.out.push('\n');
        }
    }

    /// A text that wraps beside an empty label, with a mark in front of its first line.
    pub fn marked(&mut self, mark: &str, text: &str) {
        self.record(mark, text, Tone::Plain);
        let room = self.width() - INDENT - width(mark);
        for (at, line) in wrap(&clean(text), room).iter().enumerate() {
            let mark = if at == 0 { mark.to_owned() } else { " ".repeat(width(mark)) };
            self.out += &format!("{}{mark}{line}\n", " ".repeat(INDENT));
        }
    }

    /// The finished text.
    pub fn finish(self) -> String {
        self.out
    }

    fn paint(&self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            _ if !self.style.color => return text.to_owned(),
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Warning => "33",
            Tone::Alarm => "1;31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_and_clean() {
        let long = "word ".repeat(40);
        let pieces = Page::pieces(|page| {
            page.item("a\u{1b}", &long, Tone::Quiet);
            page.marked("-> ", "do");
        });
        let shown: Vec<(&str, &str)> =
            pieces.iter().map(|piece| (piece.label.as_str(), piece.text.as_str())).collect();
        assert_eq!(shown, [("a?", long.trim()), ("->", "do")]);
    }
}
