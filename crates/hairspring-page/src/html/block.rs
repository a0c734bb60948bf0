//! What a page is made of: blocks, which templates write. Texts are escaped there.

use crate::svg::Plot;
use askama::Template;
use hairspring_core::judge::Severity;
use hairspring_result::Finding;
use hairspring_view::clean::{clean, cut};
use hairspring_view::page::Piece;

/// Longest text of a cell or a fact, in columns: a name may have a megabyte.
const LONGEST: usize = 2000;

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A warning that concerns all of the page.
    Alarm(String),
    /// Labels with their texts.
    Facts(Vec<Fact>),
    /// Numbers with their intervals, each large.
    Numbers(Vec<Number>),
    /// Findings with their remedies.
    Findings(Vec<Doubt>),
    /// A table.
    Table(Table),
    /// Plots beside each other.
    Plots(Vec<Plot>),
    /// Lines of code.
    Code(Vec<String>),
    /// Lines of a source with their heat.
    Source(Vec<SourceLine>),
    /// A part with a heading.
    Group(String, Vec<Block>),
    /// A part that is closed at first.
    Details(String, Vec<Block>),
}

/// A label with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The label.
    pub label: String,
    /// The text.
    pub text: String,
}

/// A number with its interval.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Number {
    /// What it is the number of.
    pub label: String,
    /// The number with its unit and its interval.
    pub value: String,
    /// The same in another unit; may be empty.
    pub also: String,
    /// Whether it is not to be trusted.
    pub distrusted: bool,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Its severity as a word.
    pub word: &'static str,
    /// The class of its box.
    pub class: &'static str,
    /// What was found.
    pub message: String,
    /// What to do; may be empty.
    pub remedy: String,
}

/// A table whose first column names the rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// What it holds.
    pub caption: String,
    /// Heads of the columns.
    pub heads: Vec<String>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// A line of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// Its number.
    pub number: String,
    /// Its share, as text.
    pub share: String,
    /// Its heat from 0 to 9.
    pub heat: u8,
    /// Its text.
    pub text: String,
}

impl Fact {
    /// A fact with cleaned texts.
    pub fn new(label: &str, text: &str) -> Fact {
        Fact { label: name(label), text: shown(text) }
    }

    /// Facts of the items of a page of text. What has no label belongs to the fact before it.
    pub fn of(pieces: &[Piece]) -> Vec<Fact> {
        let mut facts: Vec<Fact> = Vec::new();
        for piece in pieces {
            let text = if piece.label == "->" {
                format!("\u{2192} {}", piece.text)
            } else {
                piece.text.clone()
            };
            match facts.last_mut().filter(|_| piece.label.is_empty() || piece.label == "->") {
                Some(fact) => fact.text = shown(&format!("{}; {text}", fact.text)),
                None => facts.push(Fact::new(&piece.label, &text)),
            }
        }
        facts
    }
}

impl Doubt {
    /// A finding of a document.
    pub fn of(finding: &Finding) -> Doubt {
        Doubt::new(finding.severity, &finding.message, &finding.remedy)
    }

    /// A finding in words.
    pub fn new(severity: Severity, message: &str, remedy: &str) -> Doubt {
        let (word, class) = match severity {
            Severity::Untrusted => ("Not to be trusted", "bad"),
            Severity::Warning => ("Warning", "warn"),
            Severity::Note => ("Note", "note"),
        };
        Doubt { word, class, message: shown(message), remedy: shown(remedy) }
    }

    /// Findings, most severe first; of one kind that several have in the same words one.
    pub fn all<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<Doubt> {
        let mut sorted: Vec<&Finding> = findings.into_iter().collect();
        sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let mut all: Vec<Doubt> = Vec::new();
        for doubt in sorted.into_iter().map(Doubt::of) {
            if !all.contains(&doubt) {
                all.push(doubt);
            }
        }
        all
    }
}

impl Block {
    /// Facts of the items of a page of text.
    pub fn facts(pieces: &[Piece]) -> Block {
        Block::Facts(Fact::of(pieces))
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        match self {
            Block::Text(text) | Block::Alarm(text) => text.is_empty(),
            Block::Facts(all) => all.is_empty(),
            Block::Numbers(all) => all.is_empty(),
            Block::Findings(all) => all.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Plots(all) => all.is_empty(),
            Block::Code(lines) => lines.is_empty(),
            Block::Source(lines) => lines.is_empty(),
            Block::Group(_, inner) | Block::Details(_, inner) => inner.iter().all(Block::is_empty),
        }
    }

    /// The plots in it.
    pub fn plots(&self) -> Vec<Plot> {
        match self {
            Block::Plots(all) => all.clone(),
            Block::Group(_, inner) | Block::Details(_, inner) => {
                inner.iter().flat_map(Block::plots).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A text with the sign of an interval, and cut if it is far too long.
pub fn shown(text: &str) -> String {
    cut(&clean(text), LONGEST).replace("+- ", "\u{b1}\u{a0}").replace("+-", "\u{b1}")
}

/// The same with a capital letter.
pub fn name(text: &str) -> String {
    let text = shown(text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Whether a cell is a number, which must not go on in the next line: `1e-13` may break at its
/// hyphen.
fn is_number(cell: &str) -> bool {
    cell.len() < 24
        && cell.starts_with(|first: char| first.is_ascii_digit() || "-+±".contains(first))
}

/// The class of a cell that must not go on in the next line.
const NUMBER: &str = " class=\"number\"";
/// Bytes of a cell from which on it is text, which a narrow screen gives some width.
const WORDS: usize = 24;

/// The attribute of a cell that says how it may wrap.
fn class(cell: &str) -> &'static str {
    match cell {
        cell if is_number(cell) => NUMBER,
        cell if cell.len() >= WORDS => " class=\"words\"",
        _ => "",
    }
}

/// Blocks of one level of headings.
#[derive(Template)]
#[template(path = "blocks.html")]
pub struct Blocks<'b> {
    /// The blocks.
    pub blocks: &'b [Block],
    /// The level of their headings: 2 to 6.
    pub level: u8,
}

impl<'b> Blocks<'b> {
    /// The blocks of a group or of details among these.
    fn inner(&self, blocks: &'b [Block], deeper: u8) -> Blocks<'b> {
        Blocks { blocks, level: (self.level + deeper).min(6) }
    }
}
