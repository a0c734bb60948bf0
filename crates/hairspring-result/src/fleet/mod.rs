//! Documents of many machines as one: the machine is a factor.
//!
//! A [`Fleet`] takes the text of one document after the other and keeps 40 bytes of each time;
//! [`Fleet::merge`] makes the document of them. Several documents of one machine are one value of
//! it, families of cores are not averaged unasked, and machines that lie too far from the others
//! are named.
//!
//! ```
//! use hairspring_result::fleet::{Fleet, Options};
//! let mut fleet = Fleet::default();
//! for (host, cycles) in [("a", 3.0), ("b", 3.1), ("c", 3.2)] {
//!     let text = format!(r#"{{"schema": "hairspring/result/2", "command": "run", "run": null,
//!         "environment": {{"identity": {{"created": "2026-11-30T12:00:00Z", "version": "1",
//!             "host": "{host}", "commit": null}}, "cpu": {{"model": "M", "family": "6-207",
//!             "cpus": 2, "architecture": "x86_64", "hypervisor": false}}}},
//!         "results": [{{"name": "sum", "code": null, "bytes_per_copy": null, "overhead": null,
//!             "components": {{"body": {{"mode": null, "below_resolution": false, "cycles":
//!             {{"value": {cycles}, "low": {cycles}, "high": {cycles}, "level": 0.95}}}}}}}}]}}"#);
//!     fleet.add(&format!("{host}.json"), &text);
//! }
//! let merged = fleet.merge(&Options::default());
//! let sum = &merged.families[0].results[0];
//! assert!((sum.time.unwrap().value - 3.1).abs() < 1e-9 && sum.machines == 3);
//! ```

mod builds;
mod document;
mod effect;
mod families;
mod finding;
mod floor;
mod groups;
mod machines;
mod mean;
mod merge;
mod names;
mod reason;
mod record;
#[cfg(test)]
mod simulated;
mod tally;
mod tell;
#[cfg(test)]
mod tests;

pub use document::{Build, Documents, Family, MergeDocument, MergeSchema, Merged, Odd, OddSeries};
pub use effect::{FALSE_ALARMS, FEWEST_MACHINES};
pub use floor::FEWEST_FOR_FLOOR;

use crate::document::{ResultDocument, Series};
use crate::identity::{code_hash, seconds};
use crate::read::read_any;
use builds::BuildKey;
use groups::Groups;
use machines::Machines;
use names::{Key, Keys, Names};
use record::Record;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use tally::Tally;

/// How a fleet is merged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Also the means over families.
    pub across_families: bool,
    /// Means without the machines that lie too far from the others.
    pub without_odd: bool,
    /// Files that were not looked at because the merge was stopped.
    pub unread: usize,
}

/// A document that was merged.
#[derive(Debug)]
struct Kept {
    file: Box<str>,
    machine: u32,
    build: BuildKey,
    created: Option<i64>,
    /// A key of each of its groups of series.
    groups: [Option<u32>; 2],
    is_named: bool,
}

/// Names of files that are listed in a finding.
const MOST_FILES: usize = 20;

/// Files that are listed, of all that were counted.
#[derive(Debug, Default)]
struct Listed {
    count: usize,
    files: Vec<String>,
}

impl Listed {
    fn add(&mut self, file: &str) {
        self.count += 1;
        if self.files.len() < MOST_FILES {
            self.files.push(file.to_owned());
        }
    }
}

/// Documents of many machines, of which only the times are kept.
#[derive(Debug, Default)]
pub struct Fleet {
    names: Names,
    keys: Keys,
    groups: Groups,
    machines: Machines,
    tally: Tally,
    documents: Vec<Kept>,
    /// The times of each key.
    records: Vec<Vec<Record>>,
    seen: HashMap<u64, u32>,
    repeated: Listed,
    refused: Vec<(String, String)>,
    refused_count: usize,
    level: Option<f64>,
}

impl Fleet {
    /// Adds the document of a file. One that is no result is told in the end.
    pub fn add(&mut self, file: &str, text: &str) {
        match read_any(text) {
            Ok((document, is_earlier)) => self.take(file, &document, is_earlier),
            Err(reason) => self.refuse(file, &reason),
        }
    }

    /// Tells in the end that a file could not be merged.
    pub fn refuse(&mut self, file: &str, reason: &str) {
        self.refused_count += 1;
        if self.refused.len() < MOST_FILES {
            self.refused.push((file.to_owned(), reason.to_owned()));
        }
    }

    /// Number of documents that are merged so far.
    pub fn merged(&self) -> usize {
        self.documents.len()
    }

    /// Number of files that could not be merged so far.
    pub fn refused(&self) -> usize {
        self.refused_count
    }

    fn take(&mut self, file: &str, document: &ResultDocument, is_earlier: bool) {
        let number = self.documents.len() as u32;
        let known = *self.seen.entry(fingerprint(document)).or_insert(number);
        if known != number {
            let before = &self.documents[known as usize].file;
            self.repeated.add(&format!("{file} (as {before})"));
            return;
        }
        let environment = &document.environment;
        self.level.get_or_insert(document.level());
        let (machine, is_named) = self.machines.number(environment, number, &mut self.names);
        self.tally.add(document, is_earlier, &mut self.names);
        let keys = self.record(document, machine);
        let identity = environment.identity.as_ref();
        let groups = self.groups_of(document, &keys);
        self.documents.push(Kept {
            file: file.into(),
            machine,
            build: BuildKey::of(environment, &mut self.names),
            created: identity.and_then(|identity| seconds(&identity.created)),
            groups,
            is_named,
        });
    }

    /// Keeps the times of a document. Gives their keys.
    fn record(&mut self, document: &ResultDocument, machine: u32) -> Vec<u32> {
        let level = self.level.unwrap_or_else(|| document.level());
        let mut all = Vec::new();
        for series in &document.results {
            for (name, component) in &series.components {
                let key = self.key(series, name);
                let known = self.records.len().max(key as usize + 1);
                self.records.resize_with(known, Vec::new);
                self.records[key as usize].push(Record::new(
                    component,
                    series.budget.get(name).map(Vec::as_slice),
                    machine,
                    level,
                ));
                all.push(key);
            }
        }
        all
    }

    /// The groups of the keys of a document. Parts of `time` have the code in common, with which
    /// each of them compares other alternatives: it stands alone.
    fn groups_of(&mut self, document: &ResultDocument, keys: &[u32]) -> [Option<u32>; 2] {
        let first = document.results.first().map_or(0, |series| series.components.iter().count());
        let is_shared = document.command == "time" && document.results.len() > 1;
        let (shared, own) = keys.split_at(if is_shared { first } else { 0 });
        [self.groups.add(own), self.groups.add(shared)]
    }

    fn key(&mut self, series: &Series, component: &str) -> u32 {
        let names = &mut self.names;
        let hash = series.code_hash.clone().or_else(|| series.code.as_deref().map(code_hash));
        let key = Key {
            series: names.number(&series.name),
            hash: names.number_of(hash.as_deref()),
            component: names.number(component),
        };
        self.keys.number(key, names.number_of(series.code.as_deref()))
    }
}

/// A number that only documents with the same times of the same machine have, however they are
/// written.
fn fingerprint(document: &ResultDocument) -> u64 {
    let mut hasher = DefaultHasher::new();
    let identity = document.environment.identity.as_ref();
    identity.map(|identity| (&identity.host, &identity.created)).hash(&mut hasher);
    document.command.hash(&mut hasher);
    for series in &document.results {
        (&series.name, &series.code).hash(&mut hasher);
        for (name, component) in &series.components {
            name.hash(&mut hasher);
            let figure = &component.figure;
            for time in [figure.time(), figure.cycles].into_iter().flatten() {
                [time.value, time.low, time.high].map(f64::to_bits).hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
