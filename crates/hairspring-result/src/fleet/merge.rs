//! From the times of all machines to the document: one value of each machine, the machines that lie
//! too far from the others, and the means of each family.

use super::document::{Documents, MergeDocument, MergeSchema, Merged};
use super::effect::{self, Effect, Effects, FALSE_ALARMS, Middle};
use super::families::Families;
use super::mean::{Means, budget, mean};
use super::record::{Record, UNITS, of_machine, place};
use super::{Fleet, Options, tell};
use crate::document::Unit;
use hairspring_core::Estimate;
use hairspring_core::estimate::Source;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// One key in one family: a place among the records of the key.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub key: usize,
    pub family: usize,
    pub records: Range<usize>,
    /// The middle of the machines, in each unit.
    pub middles: [Option<Middle>; 2],
}

/// A fleet with one value of each machine, and what is known of the machines before the means.
#[derive(Debug)]
pub(super) struct Machined {
    pub fleet: Fleet,
    pub parts: Vec<Part>,
    pub effects: Effects,
    /// Odd machines in each unit.
    pub odd: [HashSet<u32>; 2],
    /// The machines of each family.
    pub members: Vec<Vec<u32>>,
    pub level: f64,
    /// Number of all times, and of those that are left out as not to be trusted.
    pub times: usize,
    pub untrusted: usize,
    /// Number of series that each machine has.
    pub have: Vec<u32>,
}

impl Fleet {
    /// The document of all that was added.
    pub fn merge(self, options: &Options) -> MergeDocument {
        let machined = Machined::new(self).with_odd();
        let odd = &machined.odd;
        let means = Means {
            level: machined.level,
            odd: odd[0].union(&odd[1]).copied().collect(),
            without_odd: options.without_odd,
        };
        let families = Families::of(&machined, &means);
        let across = options.across_families.then(|| across(&families, &machined));
        let findings = tell::findings(&machined, &families, options);
        let fleet = &machined.fleet;
        MergeDocument {
            schema: MergeSchema::V1,
            command: "merge".into(),
            identity: None,
            level: machined.level,
            documents: documents(fleet, options.unread),
            machines: fleet.machines.all.len(),
            without_odd: options.without_odd,
            families: families.all,
            across,
            findings,
        }
    }
}

fn documents(fleet: &Fleet, unread: usize) -> Documents {
    let (merged, repeated, refused) =
        (fleet.documents.len(), fleet.repeated.count, fleet.refused_count);
    Documents { given: merged + repeated + refused + unread, merged, repeated, refused, unread }
}

impl Machined {
    pub fn new(fleet: Fleet) -> Machined {
        let machines = fleet.machines.all.len();
        let mut machined = Machined {
            parts: Vec::new(),
            effects: vec![[Effect::default(); 2]; machines],
            odd: Default::default(),
            members: fleet.machines.of_families(),
            level: fleet.level.unwrap_or(0.95),
            times: fleet.records.iter().map(Vec::len).sum(),
            untrusted: 0,
            have: vec![0; machines],
            fleet,
        };
        (0..machined.fleet.records.len()).for_each(|key| machined.add(key));
        machined
    }

    /// Makes one value of each machine of the times of a key, and its parts.
    fn add(&mut self, key: usize) {
        let mut times = std::mem::take(&mut self.fleet.records[key]);
        let family = |record: &Record| self.fleet.machines.family_of(record.machine);
        times.sort_by_key(|record| (family(record), record.machine));
        let mut all = Vec::new();
        for of_one in times.chunk_by(|a, b| a.machine == b.machine) {
            let (record, left_out) = of_machine(of_one, self.level);
            self.untrusted += left_out;
            self.have[record.machine as usize] += 1;
            all.push(record);
        }
        let mut at = 0;
        for part in all.chunk_by(|a, b| family(a) == family(b)) {
            let middles = effect::middles(part);
            effect::add(&mut self.effects, part, &middles);
            let family = family(&part[0]) as usize;
            self.parts.push(Part { key, family, records: at..at + part.len(), middles });
            at += part.len();
        }
        self.fleet.records[key] = all;
    }

    /// Finds the odd machines, at one rate of false alarms for all families and units together.
    pub fn with_odd(mut self) -> Machined {
        let mut tests: Vec<(Unit, Vec<u32>)> = Vec::new();
        for unit in UNITS {
            let families = self.members.iter();
            let enough = families.filter_map(|all| effect::members(&self.effects, all, unit));
            tests.extend(enough.map(|members| (unit, members)));
        }
        let alpha = FALSE_ALARMS / tests.len().max(1) as f64;
        let mut found: [HashSet<u32>; 2] = Default::default();
        for (unit, members) in &tests {
            found[place(*unit)].extend(effect::odd(&self.effects, members, *unit, alpha));
        }
        self.odd = found;
        self
    }

    /// The records of a part.
    pub fn records(&self, part: &Part) -> &[Record] {
        &self.fleet.records[part.key][part.records.clone()]
    }

    /// A mean with the names of its key.
    pub fn named(&self, key: usize, merged: Merged) -> Merged {
        let (key, code) = self.fleet.keys.all[key];
        let names = &self.fleet.names;
        Merged {
            name: names.owned(key.series),
            code: code.map(|code| names.owned(code)),
            code_hash: key.hash.map(|hash| names.owned(hash)),
            component: names.owned(key.component),
            ..merged
        }
    }

    /// The series and component of a key in words.
    pub fn title(&self, key: usize) -> String {
        let names = &self.fleet.names;
        let (key, code) = self.fleet.keys.all[key];
        let title: String =
            names.text(code.unwrap_or(key.series)).chars().take(MOST_CHARACTERS).collect();
        format!("{title} ({})", names.text(key.component))
    }
}

/// Characters of a title in a finding.
const MOST_CHARACTERS: usize = 60;

/// The means over families: of those that have a mean in the more frequent unit.
fn across(families: &Families, machined: &Machined) -> Vec<Merged> {
    let mut of_keys: BTreeMap<usize, Vec<&Merged>> = BTreeMap::new();
    for (key, merged) in families.means() {
        of_keys.entry(key).or_default().push(merged);
    }
    let of = |(key, all): (usize, Vec<&Merged>)| machined.named(key, over(&all, machined.level));
    of_keys.into_iter().map(of).collect()
}

fn over(families: &[&Merged], level: f64) -> Merged {
    let count = |unit| families.iter().filter(|one| one.unit == Some(unit)).count();
    let [cycles, ns] = UNITS.map(count);
    let unit = if cycles >= ns { Unit::Cycles } else { Unit::Nanoseconds };
    let used: Vec<&Merged> = families
        .iter()
        .copied()
        .filter(|one| one.unit == Some(unit) && one.time.is_some())
        .collect();
    let times: Vec<Estimate> = used.iter().filter_map(|one| one.time).collect();
    let common: Vec<f64> = used.iter().map(|one| alike(one)).collect();
    let found = if times.len() > 1 { mean(&times, &common, level) } else { None };
    let time = found.as_ref().and_then(|found| found.0.if_finite());
    Merged {
        unit: Some(unit),
        time,
        time_reason: time.is_none().then(|| "fewer than two families have it in one unit".into()),
        below_resolution: used.iter().any(|one| one.below_resolution),
        machines: times.len(),
        without_unit: families.len() - times.len(),
        budget: found.map_or_else(Vec::new, |found| budget(&found.1, level)),
        ..Merged::default()
    }
}

/// The half-width of a family that other families may have alike: all of that of one machine.
fn alike(family: &Merged) -> f64 {
    let entry = family.budget.iter().find(|entry| entry.source == Source::Departure);
    let all = || family.time.map_or(0.0, |time| time.half_width());
    entry.map_or_else(all, |entry| entry.half_width.unwrap_or(f64::INFINITY))
}
