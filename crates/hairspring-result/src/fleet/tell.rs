//! What is told of the documents: nothing is lost silently.

use super::families::Families;
use super::finding::{
    CodeDiffers, CreatedApart, FamilyByName, FleetMixed, Interrupted, MachineUnknown, MergedTwice,
    MoreNotMerged, NotMerged, OddMachine, SeriesMissing, UntrustedLeftOut, WithoutUnit,
};
use super::groups::lacking;
use super::merge::Machined;
use super::{Fleet, Listed, MOST_FILES, Options};
use hairspring_core::judge::{Finding, Severity};
use std::collections::{HashMap, HashSet};

/// Documents that were made more hours from the middle of all are told.
pub const MOST_HOURS: f64 = 6.0;

/// All findings, most severe first.
pub(super) fn findings(
    machined: &Machined,
    families: &Families,
    options: &Options,
) -> Vec<Finding> {
    let fleet = &machined.fleet;
    let mut all = of_files(fleet, options);
    all.extend(odd(families));
    all.extend(series_missing(machined));
    all.extend(without_unit(machined, families));
    all.extend(untrusted(machined, families));
    all.extend(code_differs(machined));
    all.extend(mixed(fleet));
    all.extend(created_apart(fleet));
    all.extend(by_name(families));
    all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    all
}

fn of_files(fleet: &Fleet, options: &Options) -> Vec<Finding> {
    let mut all = Vec::new();
    if options.unread > 0 {
        let read = fleet.documents.len() + fleet.repeated.count + fleet.refused_count;
        let kind = Interrupted { read, given: read + options.unread };
        all.push(Finding::new(Severity::Warning, kind));
    }
    let refused = fleet.refused.iter().map(|(file, reason)| {
        let kind = NotMerged { file: file.clone(), reason: reason.clone() };
        Finding::new(Severity::Warning, kind)
    });
    all.extend(refused);
    if fleet.refused_count > fleet.refused.len() {
        let kind = MoreNotMerged { files: fleet.refused_count - fleet.refused.len() };
        all.push(Finding::new(Severity::Warning, kind));
    }
    if fleet.repeated.count > 0 {
        let Listed { count, files } = &fleet.repeated;
        let kind = MergedTwice { documents: *count, files: files.clone() };
        all.push(Finding::new(Severity::Warning, kind));
    }
    let mut unknown = Listed::default();
    fleet.documents.iter().filter(|one| !one.is_named).for_each(|one| unknown.add(&one.file));
    if unknown.count > 0 {
        let kind = MachineUnknown { documents: unknown.count, files: unknown.files };
        all.push(Finding::new(Severity::Warning, kind));
    }
    all
}

fn odd(families: &Families) -> Vec<Finding> {
    let of = |family: &super::Family, odd: &super::Odd| {
        let series = odd.series.iter().map(|one| format!("{} ({})", one.name, one.component));
        let kind = OddMachine {
            family: family.name.clone(),
            file: odd.file.clone(),
            reason: odd.reason.clone(),
            series: series.collect(),
        };
        Finding::new(Severity::Warning, kind)
    };
    let all =
        families.all.iter().flat_map(|family| family.odd.iter().map(move |odd| (family, odd)));
    all.take(MOST_FILES).map(|(family, odd)| of(family, odd)).collect()
}

/// Machines that lack series. Those of the first one are named.
fn series_missing(machined: &Machined) -> Option<Finding> {
    let fleet = &machined.fleet;
    let mut groups = fleet.groups.clone();
    let runs: Vec<(u32, u32)> = fleet
        .documents
        .iter()
        .flat_map(|one| one.groups.iter().flatten().map(|group| (one.machine, *group)))
        .collect();
    let found = lacking(&mut groups, &runs, &machined.have);
    let first = *found.first()?;
    let own = runs.iter().filter(|run| run.0 == first);
    let roots: HashSet<u32> = own.map(|run| groups.root(run.1)).collect();
    let has = |key: usize| fleet.records[key].iter().any(|record| record.machine == first);
    let series: Vec<String> = (0..fleet.records.len())
        .filter(|key| roots.contains(&groups.root(*key as u32)) && !has(*key))
        .take(MOST_FILES)
        .map(|key| machined.title(key))
        .collect();
    let document = fleet.machines.all[first as usize].document as usize;
    let file = fleet.documents[document].file.to_string();
    let kind = SeriesMissing { machines: found.len(), file, series };
    Some(Finding::new(Severity::Warning, kind))
}

fn without_unit(machined: &Machined, families: &Families) -> Option<Finding> {
    let lacks = || families.means().filter(|(_, merged)| merged.without_unit > 0);
    let times = lacks().map(|(_, merged)| merged.without_unit).sum();
    let series = lacks().take(MOST_FILES).map(|(key, _)| machined.title(key)).collect();
    (times > 0).then(|| Finding::new(Severity::Warning, WithoutUnit { times, series }))
}

fn untrusted(machined: &Machined, families: &Families) -> Option<Finding> {
    let of_machines: usize = families.means().map(|(_, merged)| merged.untrusted).sum();
    let kind =
        UntrustedLeftOut { left_out: machined.untrusted + of_machines, times: machined.times };
    (kind.left_out > 0).then(|| Finding::new(Severity::Warning, kind))
}

/// Names of series that have other code in other documents.
fn code_differs(machined: &Machined) -> Option<Finding> {
    let fleet = &machined.fleet;
    let mut hashes = HashMap::new();
    let mut found: Vec<u32> = Vec::new();
    for (key, _) in &fleet.keys.all {
        let first = *hashes.entry((key.series, key.component)).or_insert(key.hash);
        if first != key.hash && !found.contains(&key.series) && found.len() < MOST_FILES {
            found.push(key.series);
        }
    }
    let series: Vec<String> = found.into_iter().map(|name| fleet.names.owned(name)).collect();
    let is_some = !series.is_empty();
    is_some.then(|| Finding::new(Severity::Warning, CodeDiffers { series }))
}

fn mixed(fleet: &Fleet) -> Vec<Finding> {
    let mixed = fleet.tally.mixed(&fleet.names).into_iter();
    mixed
        .map(|(what, values)| {
            let kind = FleetMixed { what: what.to_owned(), values };
            let is_build = what.starts_with("compiler");
            Finding::new(if is_build { Severity::Warning } else { Severity::Note }, kind)
        })
        .collect()
}

fn created_apart(fleet: &Fleet) -> Option<Finding> {
    let mut times: Vec<i64> = fleet.documents.iter().filter_map(|one| one.created).collect();
    times.sort_unstable();
    let middle = *times.get(times.len() / 2)?;
    let hours = |created: i64| (created - middle).abs() as f64 / 3_600.0;
    let apart = || {
        let all = fleet.documents.iter().filter_map(|one| Some((hours(one.created?), &one.file)));
        all.filter(|(hours, _)| *hours > MOST_HOURS)
    };
    let (hours, file) = apart().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let kind = CreatedApart { documents: apart().count(), hours, file: file.to_string() };
    Some(Finding::new(Severity::Note, kind))
}

fn by_name(families: &Families) -> Option<Finding> {
    let by_model = families.all.iter().filter(|family| family.by_model && family.name != "unknown");
    let machines = by_model.map(|family| family.machines).sum();
    (machines > 0).then(|| Finding::new(Severity::Note, FamilyByName { machines }))
}
