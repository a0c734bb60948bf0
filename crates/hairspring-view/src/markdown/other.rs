//! Any other document: every value that has an interval, by the rules of `spec/result.md`: keys end
//! in their unit, and an entry of a list has its name in one of a few keys.

use super::Parts;
use super::compare::findings;
use super::escape::{code, prose};
use super::parts::{Findings, circumstances};
use super::quantity::Quantity;
use super::table::{Side, Table};
use crate::format::significant;
use crate::keys;
use crate::node::Node;
use hairspring_result::{Environment, Finding};

/// Keys in which an entry of a list has its name.
const NAMES: [&str; 10] = [
    "name",
    "form",
    "text",
    "role",
    "mechanism",
    "cache",
    "technique",
    "cpu",
    "clock",
    "working_set_bytes",
];
/// Parts of a document that are about how a value came about, and not a value.
const NOT_VALUES: [&str; 11] = [
    "environment",
    "findings",
    "stages",
    "fit",
    "methods",
    "runs",
    "rows_detail",
    "histogram",
    "budget",
    "definition",
    "frames",
];
/// Lists and objects whose name says nothing beside that of their entries.
const PLAIN: [&str; 3] = ["results", "measured", "measurement"];
/// Lists of sentences, or of entries with one in `text`, and what they are.
const SENTENCES: [(&str, &str); 3] =
    [("failures", "Failures"), ("open", "Left open"), ("changes", "What to change")];
/// Sentences of a list that are shown.
const MOST_SENTENCES: usize = 5;
/// Bytes of the lists of sentences, from which on no further one is begun.
const MOST_BYTES: usize = 4_000;
/// Bytes of a place, from which on it gets no longer.
const MOST_PLACE: usize = 500;
/// Rows that are kept; the table shows the first that fit.
const MOST_ROWS: usize = 100_000;

/// The parts of a document.
pub fn parts(document: &Node, environment: Option<&Environment>) -> Parts {
    let mut all = Values::default();
    all.walk(document, "");
    let findings =
        Findings::new(all.findings.iter().map(|(name, finding)| (name.as_str(), finding)));
    Parts {
        title: format!("hairspring {}", prose(document.text_of("command").unwrap_or("report"))),
        lead: findings.alarm() + &verdict(document),
        tables: vec![table(document, all.rows)],
        tail: listed("Not known", &all.reasons)
            + &all.sentences
            + &findings.folded()
            + &environment.map_or_else(String::new, |found| circumstances(found, &[])),
    }
}

/// Whether the document says that something passed.
fn verdict(document: &Node) -> String {
    let passed = match document.get("passed") {
        Some(Node::Flag(true)) => "**Passed**",
        Some(Node::Flag(false)) => "**Not passed**",
        _ => return String::new(),
    };
    let says = document
        .text_of("verdict")
        .filter(|text| *text != "passed")
        .map(|text| format!(": {}", prose(text)));
    format!("{passed}{}\n\n", says.unwrap_or_default())
}

fn table(document: &Node, rows: Vec<Vec<String>>) -> Table {
    let level =
        level(document).map(|level| format!("{} % interval", significant(100.0 * level, 4)));
    let columns = [
        ("quantity", Side::Left),
        ("value", Side::Right),
        (level.as_deref().unwrap_or("interval"), Side::Right),
        ("unit", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    rows.into_iter().for_each(|row| table.row(row));
    table
}

/// The confidence level of the first interval.
fn level(node: &Node) -> Option<f64> {
    if let Some(found) = node.interval() {
        return Some(found.level);
    }
    match node {
        Node::Map(entries) => entries.iter().find_map(|(_, value)| level(value)),
        Node::List(all) => all.iter().find_map(level),
        _ => None,
    }
}

#[derive(Default)]
struct Values {
    rows: Vec<Vec<String>>,
    /// Why there are no values at some places.
    reasons: Vec<String>,
    /// Lists of sentences, in Markdown.
    sentences: String,
    findings: Vec<(String, Finding)>,
}

impl Values {
    /// Collects what is below a node; `place` says where that is, in Markdown.
    fn walk(&mut self, node: &Node, place: &str) {
        let Node::Map(entries) = node else { return };
        let found = findings(node).into_iter();
        self.findings.extend(found.map(|finding| (plain(place), finding)));
        if self.sentences.len() < MOST_BYTES {
            self.sentences += &sentences(node);
        }
        for (key, value) in entries.iter().filter(|(key, _)| is_value(key)) {
            let missed = reason(key, value);
            self.reasons.extend(missed.map(|(of, why)| {
                let place = [place, &of].into_iter().filter(|part| !part.is_empty());
                format!("{}: {}", place.collect::<Vec<_>>().join(", "), prose(why))
            }));
            if self.rows.len() >= MOST_ROWS {
                return;
            }
            match value {
                Node::List(all) => self.list(key, all, place),
                Node::Map(_) => match value.interval() {
                    Some(_) => self.row(node, key, value, place),
                    None => self.walk(value, &below(place, key, None)),
                },
                _ => {}
            }
        }
    }

    fn list(&mut self, key: &str, all: &[Node], place: &str) {
        for (at, entry) in all.iter().enumerate() {
            let name = name(entry).or_else(|| (all.len() > 1).then(|| (at + 1).to_string()));
            self.walk(entry, &below(place, key, name.as_deref()));
        }
    }

    fn row(&mut self, parent: &Node, key: &str, value: &Node, place: &str) {
        let Some(estimate) = value.interval() else { return };
        let (words, unit) = with_unit(key);
        let is_below = parent.is_set("below_resolution");
        let bound =
            parent.number_of(&format!("bound_{unit}")).filter(|_| is_below || key == "time_ns");
        let quantity = match bound {
            Some(most) => Quantity::below(most, unit),
            None => Quantity::new(&estimate, unit),
        };
        let name = if place.is_empty() { words } else { format!("{place}, {words}") };
        self.rows.push([name].into_iter().chain(quantity.cells()).collect());
    }
}

/// Of which value a key gives the reason that it is not known, in Markdown, and the reason. Only
/// values with a unit are in the table, and are missed there.
fn reason<'n>(key: &str, value: &'n Node) -> Option<(String, &'n str)> {
    let Node::Text(text) = value else { return None };
    let of = key.strip_suffix("reason")?.trim_end_matches('_');
    let (words, unit) = with_unit(of);
    let is_missed = of.is_empty() || of == "machine" || !unit.is_empty();
    is_missed.then_some((words, text.as_str()))
}

/// The lists of sentences at this place.
fn sentences(node: &Node) -> String {
    let text = |entry: &Node| match entry {
        Node::Text(text) => Some(prose(text)),
        entry => entry.text_of("text").map(prose),
    };
    let of = |(key, title): (&str, &str)| {
        listed(title, &node.list_of(key).iter().filter_map(text).collect::<Vec<_>>())
    };
    SENTENCES.into_iter().map(of).collect()
}

/// Sentences in Markdown as a list; those beyond the most are counted.
fn listed(title: &str, all: &[String]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let items = all.iter().take(MOST_SENTENCES).map(|text| format!("- {text}\n"));
    let left = all.len().saturating_sub(MOST_SENTENCES);
    let more = if left > 0 { format!("- and {left} more\n") } else { String::new() };
    format!("\n{title}:\n\n{}{more}", items.collect::<String>())
}

fn is_value(key: &str) -> bool {
    !NOT_VALUES.contains(&key) && !key.ends_with("_budget")
}

/// The name of an entry of a list, if one of its keys holds it.
fn name(entry: &Node) -> Option<String> {
    NAMES.iter().find_map(|key| match entry.get(key)? {
        Node::Text(text) if !text.is_empty() => Some(text.clone()),
        Node::Number(number) => Some(format!("{} {}", words(key), significant(*number, 12))),
        _ => None,
    })
}

/// The place of an entry below another place; where that is long already, the same.
fn below(place: &str, key: &str, name: Option<&str>) -> String {
    if place.len() > MOST_PLACE {
        return place.to_owned();
    }
    let key = if PLAIN.contains(&key) { String::new() } else { words(key) };
    let name = name.map(code).unwrap_or_default();
    let own = format!("{key} {name}");
    let parts: Vec<&str> =
        [place, own.trim()].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// A place without the marks of code, for findings, which are escaped later.
fn plain(place: &str) -> String {
    place.replace('`', "")
}

fn words(key: &str) -> String {
    prose(&key.replace('_', " ").replace("cpu", "CPU"))
}

/// The words of a key, and its unit.
fn with_unit(key: &str) -> (String, &'static str) {
    (prose(&keys::words(key)), keys::unit(key))
}
