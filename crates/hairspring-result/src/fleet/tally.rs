//! What the documents say of their circumstances, counted.

use super::names::{Name, Names};
use crate::document::ResultDocument;
use std::collections::HashMap;

/// The circumstances that are counted, with their names.
pub const WHAT: [&str; 6] =
    ["the version of Hairspring", "the format", "compiler", "compiler flags", "system", "level"];

/// How many documents have each value of each circumstance.
#[derive(Debug, Default)]
pub struct Tally([HashMap<Name, usize>; 6]);

impl Tally {
    /// Counts the circumstances of a document.
    pub fn add(&mut self, document: &ResultDocument, is_earlier: bool, names: &mut Names) {
        let environment = &document.environment;
        let version = environment.identity.as_ref().map(|identity| identity.version.as_str());
        let format = if is_earlier { "hairspring/result/1" } else { "hairspring/result/2" };
        let level = format!("{} %", 100.0 * document.level());
        let values = [
            version,
            Some(format),
            environment.compiler.as_deref(),
            environment.compiler_flags.as_deref(),
            environment.system.as_deref(),
            Some(level.as_str()),
        ];
        for (counts, value) in self.0.iter_mut().zip(values) {
            if let Some(value) = value {
                *counts.entry(names.number(value)).or_default() += 1;
            }
        }
    }

    /// The circumstances that differ, each with its values, the most frequent first.
    pub fn mixed(&self, names: &Names) -> Vec<(&'static str, Vec<String>)> {
        let differs = |(what, counts): (&'static str, &HashMap<Name, usize>)| {
            (counts.len() > 1).then(|| (what, listed(counts, names)))
        };
        WHAT.into_iter().zip(&self.0).filter_map(differs).collect()
    }
}

/// Values that are listed.
const MOST_VALUES: usize = 100;

fn listed(counts: &HashMap<Name, usize>, names: &Names) -> Vec<String> {
    let mut all: Vec<(usize, &str)> =
        counts.iter().map(|(name, count)| (*count, names.text(*name))).collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    all.iter().take(MOST_VALUES).map(|(count, text)| format!("{text} ({count})")).collect()
}
