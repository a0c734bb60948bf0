//! Two builds, benchmark by benchmark; read from the JSON, as the document is one that is only
//! written.

use super::Parts;
use super::compare::{findings, limit, unpaired};
use super::escape::{code, prose};
use super::parts::{Findings, circumstances};
use super::quantity::Quantity;
use super::table::{Side, Table};
use crate::format::significant;
use crate::node::Node;
use hairspring_result::{Environment, Finding};

/// The parts of two builds.
pub fn parts(document: &Node, environment: Option<&Environment>) -> Parts {
    let all: Vec<Finding> = findings(document);
    let findings = Findings::new(all.iter().map(|finding| ("", finding)));
    Parts {
        title: "hairspring ab: head over base".to_owned(),
        lead: findings.alarm() + &sides(document) + &measured(document),
        tables: vec![changes(document)],
        tail: unpaired(document, "missing", "base")
            + &unpaired(document, "added", "head")
            + &findings.folded()
            + &environment.map_or_else(String::new, |found| circumstances(found, &[])),
    }
}

fn sides(document: &Node) -> String {
    let side = |key: &str| {
        let side = document.get(key)?;
        let commit = side.text_of("commit").map(|hash| hash.get(..12).unwrap_or(hash));
        let commit = commit.map_or_else(String::new, |hash| format!(", commit {}", code(hash)));
        Some(format!("- {key}: {}{commit}\n", code(side.text_of("named").unwrap_or_default())))
    };
    ["base", "head"].into_iter().filter_map(side).collect()
}

fn measured(document: &Node) -> String {
    let pairs = document.number_of("pairs").unwrap_or(0.0);
    let level = document.number_of("level").unwrap_or(0.0);
    let stopped = match document.text_of("stopped") {
        Some("interrupted") => ", **stopped by a signal**",
        Some("failed") => ", **a program failed**",
        _ => "",
    };
    let past = document.number_of("past_threshold").unwrap_or(0.0);
    let past = if past > 0.0 { format!("; **{past} past the threshold**") } else { String::new() };
    format!(
        "- {pairs} pairs{stopped}; all verdicts together hold in {} % of runs, at every \
         look{past}\n\n",
        significant(100.0 * level, 4)
    )
}

fn changes(document: &Node) -> Table {
    let columns = [
        ("benchmark", Side::Left),
        ("base", Side::Right),
        ("head", Side::Right),
        ("unit", Side::Left),
        ("head / base", Side::Right),
        ("interval", Side::Right),
        ("null: base / base", Side::Right),
        ("verdict", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    for change in document.list_of("results") {
        let quantity = |key: &str| {
            let interval = change.get(key).and_then(Node::interval);
            interval.map_or_else(Quantity::default, |interval| Quantity::new(&interval, ""))
        };
        let (ratio, null) = (quantity("ratio"), quantity("null"));
        table.row(vec![
            code(change.text_of("name").unwrap_or_default()),
            quantity("base").value,
            quantity("head").value,
            prose(change.text_of("unit").unwrap_or_default()),
            ratio.value,
            ratio.interval,
            null.interval,
            verdict(change),
        ]);
    }
    table
}

fn verdict(change: &Node) -> String {
    let percent = |key: &str| change.number_of(key).map(|percent| significant(percent, 2));
    let verdict = match (change.text_of("verdict"), percent("excludes_percent")) {
        (Some("faster"), _) => "**faster**".to_owned(),
        (Some("slower"), _) => "**slower**".to_owned(),
        (Some("no_difference"), Some(most)) => format!("no difference within {most} %"),
        _ => undecided(change, percent("smallest_percent")),
    };
    format!("{verdict}{}", limit(change))
}

fn undecided(change: &Node, least: Option<String>) -> String {
    match (change.text_of("verdict_reason"), least) {
        (Some(reason), _) => format!("undecided: {}", prose(reason)),
        (None, Some(least)) => format!("undecided: less than {least} % could not be seen"),
        (None, None) => "undecided".to_owned(),
    }
}
