//! The page of `merge`: the times of each family of machines, the spread between them, and the
//! machines that lie far from the others.

use super::block::{Block, Fact, Table, shown};
use super::other::{cell, findings, interval, table};
use hairspring_core::judge::words::counted;
use hairspring_view::clean::cut;
use hairspring_view::format::{count, significant};
use hairspring_view::node::Node;

/// Families with a part of their own.
const MOST_FAMILIES: usize = 50;
/// Series of a family that are listed.
const MOST_SERIES: usize = 1000;

/// The blocks of a merged document; none for one without families.
pub fn blocks(document: &Node) -> Vec<Block> {
    let Some(Node::List(families)) = document.get("families") else { return Vec::new() };
    let mut blocks = vec![Block::Text(read(document, families.len())), findings(document)];
    blocks.extend(families.iter().take(MOST_FAMILIES).map(family));
    let more = families.len().saturating_sub(MOST_FAMILIES);
    if more > 0 {
        blocks.push(Block::Text(format!("The JSON document has {} more.", count(more))));
    }
    let all = series(document.list_of("across"), "families");
    blocks.push(Block::Group("Over families, each counted once".into(), vec![all]));
    blocks
}

fn of(node: &Node, key: &str) -> String {
    node.get(key).map(|value| cell(key, value)).unwrap_or_default()
}

/// What was read, in a sentence.
fn read(document: &Node, families: usize) -> String {
    let documents = document.get("documents").unwrap_or(&Node::Null);
    let number = |key: &str| documents.number_of(key).unwrap_or(0.0);
    let others = [
        ("repeated", "given twice"),
        ("refused", "not merged"),
        ("unread", "not read, because the merge was stopped"),
    ];
    let others = others.iter().filter(|(key, _)| number(key) > 0.0);
    let others: String =
        others.map(|(key, what)| format!(", {} {what}", of(documents, key))).collect();
    let level = document.number_of("level").unwrap_or(0.95);
    let without = match document.get("without_odd") {
        Some(Node::Flag(true)) => " Machines far from the others are left out.",
        _ => "",
    };
    shown(&format!(
        "{} of {} documents{others}, of {} machines in {}. Intervals of {} % confidence, with the \
         spread between machines.{without}",
        of(documents, "merged"),
        of(documents, "given"),
        of(document, "machines"),
        counted(families as u64, "family", "families"),
        significant(100.0 * level, 4),
    ))
}

fn family(family: &Node) -> Block {
    let name = cut(&shown(family.text_of("name").unwrap_or("unknown")), 80);
    let floor = match family.number_of("floor_percent") {
        Some(percent) => format!(
            "{} %: by so much two machines with the same build differ",
            significant(percent, 2)
        ),
        None => format!("unknown: {}", family.text_of("floor_reason").unwrap_or("no spread")),
    };
    let facts = [
        ("machines", of(family, "machines")),
        ("models", of(family, "models")),
        ("architecture", of(family, "architecture")),
        ("same build", of(family, "same_build")),
        ("floor", floor),
    ];
    let facts = facts.into_iter().filter(|(_, text)| !text.is_empty());
    let list = family.list_of("results");
    let odd = match family.list_of("odd") {
        [] => Block::Text(match family.text_of("odd_reason") {
            Some(reason) => {
                shown(&format!("Machines far from the others were not looked for: {reason}."))
            }
            None => "No machine lies far from the others.".into(),
        }),
        all => Block::Table(odd_ones(all)),
    };
    let blocks = vec![
        series(list, "machines"),
        Block::Facts(facts.map(|(label, text)| Fact::new(label, &text)).collect()),
        odd,
        Block::Details("Builds".into(), builds(family.list_of("builds"))),
    ];
    Block::Group(format!("Family {name}"), blocks)
}

/// The table of builds without a heading.
fn builds(all: &[Node]) -> Vec<Block> {
    match table("builds", all) {
        Block::Group(_, inner) => inner,
        other => vec![other],
    }
}

/// Machines far from the others.
fn odd_ones(all: &[Node]) -> Table {
    let row = |one: &Node| {
        ["file", "host", "cycles_percent", "ns_percent", "reason"].map(|key| of(one, key)).into()
    };
    Table {
        caption: "Machines far from the others".into(),
        heads: ["Document", "Machine", "Slower in cycles", "Slower in time", "What it means"]
            .map(str::to_owned)
            .into(),
        rows: all.iter().take(MOST_SERIES).map(row).collect(),
    }
}

/// The name of a series with its component.
fn title(one: &Node) -> String {
    let text = |key: &str| one.text_of(key).filter(|text| !text.is_empty());
    let code = text("code").or_else(|| text("name")).unwrap_or_default();
    let part = text("component").filter(|part| *part != "body");
    let part = part.map(|part| format!(": {part}")).unwrap_or_default();
    cut(&shown(&format!("{code}{part}")), 120)
}

/// The unit of a series, as a key ends in it.
fn key(one: &Node) -> &'static str {
    match one.text_of("unit") {
        Some("cycles") => "cycles",
        Some("ns" | "time_ns") => "time_ns",
        Some("ticks") => "ticks",
        _ => "time",
    }
}

fn series(all: &[Node], of_what: &str) -> Block {
    let row = |one: &Node| {
        let is_below = one.is_set("below_resolution");
        let below = if is_below { "below resolution: " } else { "" };
        let time = match one.get("time").and_then(Node::estimate) {
            Some(time) => format!("{below}{}", shown(&interval(key(one), &time))),
            None => of(one, "time_reason"),
        };
        vec![
            title(one),
            time,
            of(one, "spread_percent"),
            of(one, "floor_percent"),
            of(one, "machines"),
            of(one, "untrusted"),
        ]
    };
    let more = all.len().saturating_sub(MOST_SERIES);
    let more = if more > 0 {
        format!("; {} more are in the JSON document", count(more))
    } else {
        String::new()
    };
    let heads = ["Code", "Mean", "Spread", "Floor", of_what, "Not trusted"];
    Block::Table(Table {
        caption: format!("Means over {of_what}{more}"),
        heads: heads.iter().map(|head| super::block::name(head)).collect(),
        rows: all.iter().take(MOST_SERIES).map(row).collect(),
    })
}
