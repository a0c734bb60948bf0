//! Latency or throughput, and the reason, from what a copy carries into the next.

use super::Row;
use super::value::{Doubt, Place};
use super::walk::Carried;
use crate::mode::{Judged, Mode};
use crate::registers::name;
use crate::request::Language;
use iced_x86::Register;
use std::collections::BTreeSet;

const INDEPENDENT_COPIES: &str = "no variable carries a value from one copy to the next";

/// Every doubt, in the order in which they are reported.
const DOUBTS: [Doubt; 4] = [Doubt::Processor, Doubt::Condition, Doubt::Memory, Doubt::Call];

/// Judges what is carried; `body` returns what the copy without its init carries.
pub fn judge(
    row: &Row,
    whole: &Carried,
    body: impl FnOnce() -> Result<Option<Carried>, String>,
) -> Judged {
    if let Some(place) = chained(row, whole, &[]) {
        let reason = match chains(row, whole).as_slice() {
            [] | [_] => format!("chained through {place}"),
            [first, second] => format!("chained through {first} and {second}, side by side"),
            [first, others @ ..] => {
                format!("chained through {first} and {} others, side by side", others.len())
            }
        };
        return Judged::known(Mode::Latency, reason);
    }
    if let Some(fence) = &whole.fence {
        return Judged::known(
            Mode::Latency,
            format!("fenced: {fence} waits until all earlier instructions are done"),
        );
    }
    if let Some(why) = &whole.doubt {
        return Judged::unknown(why);
    }
    for doubt in DOUBTS {
        if let Some(place) = chained(row, whole, &[doubt]) {
            return Judged::unknown(&doubt_reason(doubt, &place));
        }
    }
    if let Some(place) = chained(row, whole, &DOUBTS) {
        return Judged::unknown(&doubt_reason(Doubt::Memory, &place));
    }
    let body = body().ok().flatten();
    let alone = body.and_then(|body| chained(row, &body, &DOUBTS));
    match alone {
        Some(place) => Judged::known(
            Mode::Throughput,
            format!("--init sets {place} again for each copy: copies are independent"),
        ),
        None => Judged::known(Mode::Throughput, INDEPENDENT_COPIES.to_owned()),
    }
}

fn doubt_reason(doubt: Doubt, place: &str) -> String {
    match doubt {
        Doubt::Processor => {
            format!("some processors wait for the old value of {place} before they write it")
        }
        Doubt::Condition => {
            format!("a condition decides whether {place} carries a value from one copy to the next")
        }
        Doubt::Memory => format!(
            "two addresses may be the same, and {place} would then carry a value from one copy to \
             the next"
        ),
        Doubt::Call => format!(
            "a function that was not followed may carry a value from one copy to the next through \
             {place}"
        ),
    }
}

/// Whether a place keeps its name from copy to copy. In compiled code a value can move between
/// registers; only variables and memory are stable.
fn stays(row: &Row, place: &Place) -> bool {
    row.request.language == Language::Asm || matches!(place, Place::Variable(_) | Place::Memory(_))
}

/// One place of each chain of copies that is sure, the first that has a name; a chain may lead
/// through several places.
fn chains(row: &Row, carried: &Carried) -> Vec<String> {
    let stays = |place: &Place| stays(row, place);
    let leads = |from: Place, to: Place| reaches(carried, from, to, &[], &stays);
    let mut places: Vec<Place> = Vec::new();
    let is_own = |place: &&Place| stays(place) && !matches!(place, Place::Flag(_));
    for place in carried.edges.keys().filter(is_own).filter(|place| leads(**place, **place)) {
        if !places.iter().any(|other| leads(*place, *other) && leads(*other, *place)) {
            places.push(*place);
        }
    }
    places.into_iter().map(|place| name_of(row, carried, place)).collect()
}

/// The first place through which a copy waits for the one before, if these doubts count as
/// dependences.
fn chained(row: &Row, carried: &Carried, doubts: &[Doubt]) -> Option<String> {
    let assembly = row.request.language == Language::Asm;
    let stays = |place: &Place| stays(row, place);
    let first = carried
        .edges
        .keys()
        .find(|place| stays(place) && reaches(carried, **place, **place, doubts, &stays));
    let merged = || {
        let is_own = |place: &&Place| match place {
            Place::Register(register) => !carried.taken.contains(register) && !assembly,
            _ => false,
        };
        carried
            .edges
            .iter()
            .filter(|(place, _)| is_own(place))
            .find(|(place, from)| from.get(&(**place, true)) == Some(&None))
            .map(|(place, _)| place)
    };
    first.or_else(merged).map(|place| name_of(row, carried, *place))
}

fn counts(doubt: &Option<Doubt>, doubts: &[Doubt]) -> bool {
    doubt.is_none_or(|doubt| doubts.contains(&doubt))
}

/// Whether the value of `end` comes from that of `start` by a computation, here or some copies
/// before.
fn reaches(
    carried: &Carried,
    end: Place,
    start: Place,
    doubts: &[Doubt],
    stays: &impl Fn(&Place) -> bool,
) -> bool {
    let mut seen_steps: BTreeSet<(Place, bool)> = BTreeSet::new();
    let mut open = vec![(end, false)];
    while let Some((next, worked)) = open.pop() {
        let from = carried.edges.get(&next).into_iter().flatten();
        for ((origin, by_work), _) in
            from.filter(|((origin, _), doubt)| stays(origin) && counts(doubt, doubts))
        {
            let worked = worked || *by_work;
            if *origin == start && worked {
                return true;
            }
            if seen_steps.insert((*origin, worked)) {
                open.push((*origin, worked));
            }
        }
    }
    false
}

fn name_of(row: &Row, carried: &Carried, place: Place) -> String {
    match place {
        Place::Variable(at) => row
            .request
            .lets
            .get(at)
            .map_or_else(String::new, |declaration| declaration.name.clone()),
        Place::Register(register) if row.request.language == Language::Asm => row.name_of(register),
        Place::Register(Register::None) => String::new(),
        Place::Register(register) => name(register),
        Place::Flag(iced_x86::RflagsBits::CF) => "the carry flag".to_owned(),
        Place::Flag(_) => "the flags".to_owned(),
        Place::Memory(cell) => {
            carried.cell_names.get(&cell).cloned().unwrap_or_else(|| "memory".to_owned())
        }
    }
}
