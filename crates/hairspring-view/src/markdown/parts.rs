//! What stands below the tables, folded: findings with their remedies, and the circumstances.

use super::escape::{code, prose};
use crate::text::environment::lines;
use crate::text::findings::{Shared, shared};
use hairspring_core::judge::Severity;
use hairspring_result::{Environment, Finding};
use std::collections::HashMap;

/// Findings that are listed; any more are counted.
const MOST_FINDINGS: usize = 40;
/// Bytes of their list.
const MOST_BYTES: usize = 10_000;
/// Findings that are told in the open because they make the result untrusted.
const MOST_OPEN: usize = 3;

/// Findings of several results, each told once and numbered from 1, the most severe first.
pub struct Findings<'f> {
    told: Vec<Shared<'f>>,
}

impl<'f> Findings<'f> {
    /// The findings of results with these names; a name is empty where there is only one result.
    pub fn new(all: impl IntoIterator<Item = (&'f str, &'f Finding)>) -> Findings<'f> {
        Findings { told: shared(all) }
    }

    /// The numbers of the findings, other than notes, about each component of a result, by the
    /// name of the result.
    pub fn marks(&self) -> HashMap<&'f str, Vec<(usize, Option<&'f str>)>> {
        let mut marks: HashMap<&str, Vec<(usize, Option<&str>)>> = HashMap::new();
        let doubts =
            self.told.iter().take(MOST_FINDINGS).filter(|one| is_doubt(one.finding.severity));
        for (at, one) in doubts.enumerate() {
            for name in &one.names {
                marks.entry(name).or_default().push((at + 1, one.finding.component()));
            }
        }
        marks
    }

    /// The ones that make the result untrusted, in the open; nothing without them.
    pub fn alarm(&self) -> String {
        let of: Vec<&Shared> =
            self.told.iter().filter(|one| one.finding.severity == Severity::Untrusted).collect();
        if of.is_empty() {
            return String::new();
        }
        let more = of.len().saturating_sub(MOST_OPEN);
        let told: Vec<String> = of.iter().take(MOST_OPEN).map(|one| words(one)).collect();
        let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("**Not to be trusted**: {}{rest}\n\n", told.join("; "))
    }

    /// All of them, folded; nothing without any.
    pub fn folded(&self) -> String {
        if self.told.is_empty() {
            return String::new();
        }
        let mut list = String::new();
        for (at, one) in self.told.iter().take(MOST_FINDINGS).enumerate() {
            let item = item(at + 1, one);
            if list.len() + item.len() > MOST_BYTES {
                return folded(&self.summary(), &(list + &more(self.told.len() - at)));
            }
            list += &item;
        }
        let left = self.told.len().saturating_sub(MOST_FINDINGS);
        folded(&self.summary(), &(list + &if left > 0 { more(left) } else { String::new() }))
    }

    fn summary(&self) -> String {
        let count = |severity| {
            let number = self.told.iter().filter(|one| one.finding.severity == severity).count();
            (number > 0).then(|| format!("{number} {}", plural(severity, number)))
        };
        let counts: Vec<String> = [Severity::Untrusted, Severity::Warning, Severity::Note]
            .into_iter()
            .filter_map(count)
            .collect();
        format!("Findings: {}", counts.join(", "))
    }
}

/// The names of the results, and the finding in words.
fn words(one: &Shared) -> String {
    let named = one.names.iter().any(|name| !name.is_empty());
    prose(&if named { one.words() } else { one.finding.message.clone() })
}

/// A line of the list.
fn item(number: usize, one: &Shared) -> String {
    let finding = one.finding;
    let remedy = if finding.remedy.is_empty() {
        String::new()
    } else {
        format!("<br>Remedy: {}", prose(&finding.remedy))
    };
    let word = word(finding.severity);
    format!("{number}. **{word}** ({}): {}{remedy}\n", code(&finding.code), words(one))
}

fn is_doubt(severity: Severity) -> bool {
    severity != Severity::Note
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Untrusted => "untrusted",
    }
}

fn plural(severity: Severity, number: usize) -> String {
    let plural = if number > 1 && severity != Severity::Untrusted { "s" } else { "" };
    format!("{}{plural}", word(severity))
}

fn more(left: usize) -> String {
    format!("\n_and {left} more, in the JSON document (`--json`)_\n")
}

/// The machine, the clock and the compiler, with further lines, folded.
pub fn circumstances(environment: &Environment, further: &[(&str, String)]) -> String {
    let known = lines(environment);
    let identity = environment.identity.as_ref().map(|identity| {
        let commit = identity.commit.as_ref().map(|hash| format!(", commit {hash}"));
        let made = format!("{} by version {}", identity.created, identity.version);
        ("made", made + &commit.unwrap_or_default())
    });
    let all = further.iter().cloned().chain(known).chain(identity);
    let list: String = all.map(|(label, text)| format!("- {label}: {}\n", prose(&text))).collect();
    folded("Machine and compiler", &list)
}

/// A part that is closed at first.
pub fn folded(summary: &str, inside: &str) -> String {
    format!("\n<details>\n<summary>{summary}</summary>\n\n{inside}\n</details>\n")
}
