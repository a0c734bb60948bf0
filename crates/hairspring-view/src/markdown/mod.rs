//! A document as Markdown for a comment on a pull request: tables with values, intervals and units,
//! what makes a result untrusted in the open, and findings, machine and compiler folded.
//!
//! Text of users becomes neither markup nor a link nor a message to somebody ([`prose`]). A comment
//! on GitHub has at most [`MOST`] characters; a table that is longer ends with a sentence about
//! what is left out. No byte count of UTF-8 is below that of characters, so that bytes are counted.
//!
//! ```
//! use hairspring_view::markdown::of_json;
//!
//! let text = of_json(r#"{"schema": "hairspring/mhz/2", "command": "mhz", "results": [
//!     {"cpu": 1, "core_hz": {"value": 2.99e9, "low": 2.98e9, "high": 3e9, "level": 0.95}}]}"#);
//! assert!(text.unwrap().contains("| `CPU 1`, core clock | 2.990 | 2.980 to 3.000 | GHz |"));
//! ```

mod ab;
mod compare;
mod escape;
mod experiment;
mod instructions;
mod other;
mod parts;
mod quantity;
mod result;
mod table;

pub use escape::{code, prose};

use crate::node::Node;
use hairspring_result::Environment;
use hairspring_result::json::line;
use hairspring_result::read::read;
use serde::{Deserialize, Serialize};
use table::Table;

/// Characters of a comment on GitHub.
pub const MOST: usize = 65_536;

/// What a document is made of.
struct Parts {
    title: String,
    /// Before the tables.
    lead: String,
    tables: Vec<Table>,
    /// Behind them.
    tail: String,
}

impl Parts {
    /// Adds those of a further document; its tables come behind these.
    fn add(&mut self, mut other: Parts) {
        if let Some(first) = other.tables.first_mut() {
            first.title = format!("#### {}\n\n{}", other.title, other.lead).trim_end().to_owned();
        }
        self.tables.append(&mut other.tables);
        self.tail = format!("{}{}", other.tail, self.tail);
    }

    /// All of it in at most [`MOST`] bytes; the tables give way. All else is bounded where it is
    /// made.
    fn text(&self) -> String {
        let mut out = format!("### {}\n\n{}", self.title, self.lead);
        let tables: Vec<&Table> = self.tables.iter().filter(|table| !table.is_empty()).collect();
        let mut room = MOST.saturating_sub(out.len() + self.tail.len());
        for (at, table) in tables.iter().enumerate() {
            let last = at + 1 == tables.len();
            let text = table.text(if last { room } else { room / 3 * 2 });
            room = room.saturating_sub(text.len() + 1);
            out += if at > 0 { "\n" } else { "" };
            out += &text;
        }
        out + &self.tail
    }
}

/// The Markdown of a document.
pub fn of<T: Serialize>(document: &T) -> String {
    let text = line(document);
    of_json(&text).unwrap_or_else(|reason| format!("The document {}\n", prose(&reason)))
}

/// The Markdown of a document of any kind that a verb prints.
///
/// # Errors
/// The text is not JSON, or no document of Hairspring, or a damaged one.
pub fn of_json(text: &str) -> Result<String, String> {
    let document: Node = serde_json::from_str(text)
        .map_err(|error| format!("is not a JSON document of hairspring: {error}"))?;
    let schema = document.text_of("schema").ok_or("has no key `schema`")?;
    if !schema.starts_with("hairspring/") {
        return Err(format!("is a document of `{}`", schema.escape_debug()));
    }
    if !schema.starts_with("hairspring/result/") {
        return Ok(of_kind(&document, schema, text).text());
    }
    let mut parts = result::parts(&read(text)?);
    if let Some(baseline) = document.get("baseline").filter(|node| **node != Node::Null) {
        parts.add(compare::parts(baseline, &against(baseline)));
    }
    Ok(parts.text())
}

fn against(baseline: &Node) -> String {
    let name = baseline.get("old").and_then(|old| old.text_of("source")).unwrap_or("the baseline");
    format!("Against the baseline {}", code(name))
}

fn of_kind(document: &Node, schema: &str, text: &str) -> Parts {
    if schema.starts_with("hairspring/compare/") {
        return compare::parts(document, "hairspring compare: new over old");
    }
    #[derive(Deserialize)]
    struct Circumstances {
        environment: Environment,
    }
    let found: Option<Circumstances> = serde_json::from_str(text).ok();
    let environment = found.map(|found| found.environment);
    if schema.starts_with("hairspring/ab/") {
        return ab::parts(document, environment.as_ref());
    }
    let own = match document.text_of("command") {
        Some("experiment") => experiment::parts(document, environment.as_ref()),
        Some("instructions") => instructions::parts(document, environment.as_ref()),
        _ => None,
    };
    own.unwrap_or_else(|| other::parts(document, environment.as_ref()))
}
