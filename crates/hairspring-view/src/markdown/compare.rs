//! Two saved results, pair by pair; read from the JSON, as the document is one that is only
//! written.

use super::Parts;
use super::escape::{code, prose};
use super::parts::Findings;
use super::quantity::Quantity;
use super::table::{Side, Table};
use crate::format::significant;
use crate::node::Node;
use hairspring_result::Finding;

/// Bytes of the names of series that only one result has; any more are counted.
const MOST_UNPAIRED: usize = 2_000;

/// The parts of a comparison; `heading` says what is compared.
pub fn parts(document: &Node, heading: &str) -> Parts {
    let all: Vec<Finding> = findings(document);
    let findings = Findings::new(all.iter().map(|finding| ("", finding)));
    Parts {
        title: heading.to_owned(),
        lead: findings.alarm() + &sides(document) + &threshold(document),
        tables: vec![pairs(document)],
        tail: unpaired(document, "missing", "old result")
            + &unpaired(document, "added", "new result")
            + &findings.folded(),
    }
}

/// The findings that stand at this place of a document; damaged ones are left out.
pub fn findings(node: &Node) -> Vec<Finding> {
    let read = |node: &Node| serde_json::from_value(node.value()).ok();
    node.list_of("findings").iter().filter_map(read).collect()
}

/// Where the two come from.
fn sides(document: &Node) -> String {
    let side = |key: &str| {
        let side = document.get(key)?;
        let identity = side.get("identity");
        let made = identity.and_then(|identity| identity.text_of("created"));
        let commit = identity.and_then(|identity| identity.text_of("commit"));
        let parts: Vec<String> = [
            Some(side.text_of("source").map_or_else(|| "this measurement".to_owned(), code)),
            made.map(prose),
            commit.map(|hash| format!("commit {}", code(hash.get(..12).unwrap_or(hash)))),
        ]
        .into_iter()
        .flatten()
        .collect();
        Some(format!("- {key}: {}\n", parts.join(", ")))
    };
    ["old", "new"].into_iter().filter_map(side).collect::<String>() + "\n"
}

fn threshold(document: &Node) -> String {
    let Some(percent) = document.number_of("threshold_percent") else { return String::new() };
    let past = document.number_of("past_threshold").unwrap_or(0.0);
    let says = if past > 0.0 { "**past it**" } else { "past it" };
    format!("Threshold {} %: {past} {says}\n\n", significant(percent, 4))
}

fn pairs(document: &Node) -> Table {
    let columns = [
        ("code", Side::Left),
        ("old", Side::Right),
        ("interval", Side::Right),
        ("new", Side::Right),
        ("interval", Side::Right),
        ("unit", Side::Left),
        ("new / old", Side::Right),
        ("interval", Side::Right),
        ("verdict", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    for pair in document.list_of("comparisons") {
        let unit = pair.text_of("unit").unwrap_or_default();
        let [old, new] = ["old", "new"].map(|key| time(pair, key, unit));
        let ratio = ratio(pair);
        table.row(vec![
            code(pair.text_of("code").or_else(|| pair.text_of("name")).unwrap_or_default()),
            old.value,
            old.interval,
            new.value,
            new.interval,
            prose(unit),
            ratio.value,
            ratio.interval,
            verdict(pair),
        ]);
    }
    table
}

/// A time in the unit of the pair, which is not changed, because both share its column.
fn time(pair: &Node, key: &str, unit: &str) -> Quantity {
    let kept = if unit == "ns" { "" } else { unit };
    pair.get(key)
        .and_then(Node::interval)
        .map_or_else(Quantity::default, |time| Quantity::time(&time, kept))
}

fn ratio(pair: &Node) -> Quantity {
    if let Some(ratio) = pair.get("ratio").and_then(Node::interval) {
        return Quantity::new(&ratio, "");
    }
    let least = pair.number_of("ratio_at_least").map(|least| significant(least, 3));
    let value = least.map_or_else(String::new, |least| format!("at least {least}"));
    Quantity { value, ..Quantity::default() }
}

fn verdict(pair: &Node) -> String {
    let verdict = match pair.text_of("verdict") {
        Some("faster") => "**faster**".to_owned(),
        Some("slower") => "**slower**".to_owned(),
        Some("no_difference") => "no difference".to_owned(),
        other => prose(other.unwrap_or("undecided")),
    };
    let reason = pair.text_of("verdict_reason").or_else(|| pair.text_of("ratio_reason"));
    let limit = limit(pair);
    let reason = reason.map_or_else(String::new, |reason| format!(": {}", prose(reason)));
    format!("{verdict}{limit}{reason}")
}

/// What a pair says of its threshold, behind its verdict.
pub fn limit(pair: &Node) -> &'static str {
    match pair.text_of("limit") {
        Some("past") => ", **past the threshold**",
        Some("undecided") => ", undecided about the threshold",
        _ => "",
    }
}

/// The names that only one of the two has.
pub fn unpaired(document: &Node, key: &str, which: &str) -> String {
    let all = document.list_of(key);
    if all.is_empty() {
        return String::new();
    }
    let name = |one: &Node| {
        let name = one.text().or_else(|| one.text_of("code")).or_else(|| one.text_of("name"));
        code(name.unwrap_or_default())
    };
    let mut names: Vec<String> = Vec::new();
    for next in all.iter().map(name) {
        if names.iter().map(String::len).sum::<usize>() + next.len() > MOST_UNPAIRED {
            break;
        }
        names.push(next);
    }
    let more = all.len() - names.len();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("\nOnly in the {which}: {}{rest}\n", names.join(", "))
}
