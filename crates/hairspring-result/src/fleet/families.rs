//! The families of a fleet with their means, their floor and their odd machines.

use super::builds::Builds;
use super::document::{Family, Merged, Odd, OddSeries};
use super::effect::FEWEST_MACHINES;
use super::floor::{FEWEST_FOR_FLOOR, Spread, floor_percent};
use super::mean::Means;
use super::merge::{Machined, Part};
use super::reason::{percent, reason};
use super::record::{Record, UNITS, place};
use crate::document::{Unit, finite};
use std::collections::HashSet;

/// The families, with the key of each of their means.
#[derive(Debug)]
pub struct Families {
    /// Those that have machines.
    pub all: Vec<Family>,
    keys: Vec<Vec<usize>>,
}

impl Families {
    /// The families of a fleet.
    pub(super) fn of(machined: &Machined, means: &Means) -> Families {
        let mut families = Families { all: Vec::new(), keys: Vec::new() };
        let builds = builds(machined);
        let mut parts = vec![Vec::new(); machined.members.len()];
        machined.parts.iter().for_each(|part| parts[part.family].push(part));
        for (at, parts) in parts.iter().enumerate() {
            if !machined.members[at].is_empty() {
                families.keys.push(parts.iter().map(|part| part.key).collect());
                families.all.push(family(machined, means, at, parts, &builds[at]));
            }
        }
        families
    }

    /// All means with their keys.
    pub fn means(&self) -> impl Iterator<Item = (usize, &Merged)> {
        let of = |(family, keys): (&'_ Family, &'_ Vec<usize>)| (family.results.len(), keys.len());
        debug_assert!(self.all.iter().zip(&self.keys).map(of).all(|(a, b)| a == b));
        self.all
            .iter()
            .zip(&self.keys)
            .flat_map(|(family, keys)| keys.iter().copied().zip(&family.results))
    }
}

fn builds(machined: &Machined) -> Vec<Builds> {
    let mut all: Vec<Builds> = machined.members.iter().map(|_| Builds::default()).collect();
    for document in &machined.fleet.documents {
        all[machined.fleet.machines.family_of(document.machine) as usize].add(document.build);
    }
    all
}

fn family(
    machined: &Machined,
    means: &Means,
    at: usize,
    parts: &[&Part],
    builds: &Builds,
) -> Family {
    let fleet = &machined.fleet;
    let (key, members) = (fleet.machines.keys[at], &machined.members[at]);
    let is_code_known = parts.iter().all(|part| fleet.keys.all[part.key].0.hash.is_some());
    let same_build = builds.same(is_code_known && !parts.is_empty());
    let of = |part: &&Part| {
        let (merged, spread) = means.merged(machined.records(part));
        let floor = spread.filter(|_| same_build == Some(true));
        let floor_percent = floor.and_then(|spread| floor_percent(&[spread], means.level));
        (machined.named(part.key, Merged { floor_percent, ..merged }), spread)
    };
    let (results, spreads): (Vec<Merged>, Vec<Option<Spread>>) = parts.iter().map(of).unzip();
    let spreads: Vec<Spread> = spreads.into_iter().flatten().collect();
    let floor = floor_percent(&spreads, means.level).filter(|_| same_build == Some(true));
    Family {
        name: fleet.names.owned(key.name),
        by_model: key.by_model,
        architecture: fleet.names.owned(key.architecture),
        models: models(machined, members),
        machines: members.len(),
        same_build,
        builds: builds.listed(&fleet.names),
        floor_percent: floor,
        floor_reason: floor.is_none().then(|| no_floor(same_build)),
        results,
        odd: odd(machined, at, parts),
        odd_reason: no_odd(members.len()),
    }
}

/// Models that are listed.
const MOST_MODELS: usize = 20;

fn models(machined: &Machined, members: &[u32]) -> Vec<String> {
    let fleet = &machined.fleet;
    let mut seen = HashSet::new();
    let mut names: Vec<u32> =
        members.iter().filter_map(|at| fleet.machines.all[*at as usize].model).collect();
    names.retain(|name| seen.insert(*name));
    names.into_iter().take(MOST_MODELS).map(|name| fleet.names.owned(name)).collect()
}

fn no_floor(same_build: Option<bool>) -> String {
    match same_build {
        Some(true) => format!("no series has times of {FEWEST_FOR_FLOOR} machines"),
        Some(false) => "the builds differ".into(),
        None => "the documents do not name their build".into(),
    }
}

fn no_odd(machines: usize) -> Option<String> {
    (machines < FEWEST_MACHINES).then(|| {
        format!("a machine can lie too far from the others only among {FEWEST_MACHINES} or more")
    })
}

/// The odd machines of a family, the oddest first.
fn odd(machined: &Machined, family: usize, parts: &[&Part]) -> Vec<Odd> {
    let is_odd = |at: &u32| machined.odd.iter().any(|odd| odd.contains(at));
    let mut all: Vec<u32> = machined.members[family].iter().copied().filter(is_odd).collect();
    let size = |at: u32| {
        let means = machined.effects[at as usize].iter().filter_map(|effect| effect.mean());
        means.map(f64::abs).fold(0.0, f64::max)
    };
    all.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    all.into_iter().map(|at| odd_machine(machined, at, parts)).collect()
}

fn odd_machine(machined: &Machined, at: u32, parts: &[&Part]) -> Odd {
    let fleet = &machined.fleet;
    let machine = fleet.machines.all[at as usize];
    let [cycles, ns] = machined.effects[at as usize].map(|effect| effect.mean());
    let [in_cycles, in_ns] = [0, 1].map(|unit| machined.odd[unit].contains(&at));
    let series = |part: &&Part| odd_series(machined, at, part);
    Odd {
        host: machine.host.map(|host| fleet.names.owned(host)),
        file: fleet.documents[machine.document as usize].file.to_string(),
        cycles_percent: cycles.map(percent).and_then(finite),
        ns_percent: ns.map(percent).and_then(finite),
        odd_in_cycles: in_cycles,
        odd_in_ns: in_ns,
        reason: reason(cycles, ns, in_cycles, in_ns),
        series: parts.iter().filter_map(series).collect(),
    }
}

/// The series, if the machine lies too far from the others in it.
fn odd_series(machined: &Machined, at: u32, part: &Part) -> Option<OddSeries> {
    let records = machined.records(part);
    let record = &records[records.binary_search_by_key(&at, |record| record.machine).ok()?];
    let distance = |unit: Unit, record: &Record| {
        part.middles[place(unit)].and_then(|middle| Some((middle, middle.distance(record, unit)?)))
    };
    let count = |unit| machined.effects[at as usize][place(unit)].series as usize;
    let is_far = |unit: Unit| {
        distance(unit, record).is_some_and(|(middle, far)| middle.is_far(far, count(unit)))
    };
    let [cycles, ns] = UNITS.map(|unit| distance(unit, record).map(|(_, far)| percent(far)));
    UNITS.into_iter().any(is_far).then(|| {
        let key = machined.fleet.keys.all[part.key].0;
        OddSeries {
            name: machined.fleet.names.owned(key.series),
            component: machined.fleet.names.owned(key.component),
            cycles_percent: cycles.and_then(finite),
            ns_percent: ns.and_then(finite),
        }
    })
}
