//! What a machine can and cannot give: the page of `doctor`, and a part of that of `verify`.

use super::block::{Block, Fact, Number, Table, shown};
use super::other::{cell, interval};
use hairspring_view::format::significant;
use hairspring_view::node::Node;

/// The smallest times, by their keys.
const SMALLEST: [(&str, &str); 4] = [
    ("once_in_100_ms_ns", "Once, to 1 %, in 0.1 s"),
    ("once_in_1_s_ns", "Once, to 1 %, in 1 s"),
    ("copy_in_100_ms_ns", "One of many copies, to 1 %, in 0.1 s"),
    ("copy_in_1_s_ns", "One of many copies, to 1 %, in 1 s"),
];
/// Below this factor on the measuring time the step of the clock costs nothing.
const FREE_STEP: f64 = 1.05;

/// The blocks of a document of `doctor`.
pub fn doctor(document: &Node) -> Vec<Block> {
    match document.get("machine") {
        Some(machine @ Node::Map(_)) => blocks(machine),
        _ => {
            let reason = document.text_of("machine_reason").unwrap_or_default();
            let alarm = format!("Nothing can be measured here: {}", shown(reason));
            vec![Block::Alarm(if reason.is_empty() { String::new() } else { alarm })]
        }
    }
}

/// The blocks of a machine: what can be measured, what to change, and the units of its core.
pub fn blocks(machine: &Node) -> Vec<Block> {
    vec![
        smallest(machine),
        Block::Facts(facts(machine)),
        Block::Group("What to change".into(), changes(machine.list_of("changes"))),
        Block::Group("Units of the core".into(), vec![roles(machine.list_of("roles"))]),
    ]
}

fn smallest(machine: &Node) -> Block {
    let Some(smallest) = machine.get("smallest") else { return Block::Numbers(Vec::new()) };
    let number = |(key, name): (&str, &str)| Number {
        label: name.into(),
        value: smallest
            .get(key)
            .and_then(Node::estimate)
            .map_or_else(|| "not possible".into(), |one| shown(&interval(key, &one))),
        ..Number::default()
    };
    Block::Numbers(SMALLEST.into_iter().map(number).collect())
}

fn facts(machine: &Node) -> Vec<Fact> {
    let value = |of: &Node, key: &str| of.get(key).map(|one| cell(key, one)).unwrap_or_default();
    let smallest = machine.get("smallest").unwrap_or(&Node::Null);
    let percent = |key: &str| value(machine, key);
    [
        ("copies in a row", value(smallest, "copies")),
        ("core clock", value(machine, "core_hz")),
        ("step of clock", step(machine, &value(machine, "clock_step_ns"))),
        ("read of clock", value(machine, "clock_read_ns")),
        ("quiet readings", percent("quiet_share")),
        ("the CPU pauses", percent("pauses_share")),
        ("given to others", value(machine, "stolen_ms")),
    ]
    .into_iter()
    .filter(|(_, text)| !text.is_empty())
    .map(|(label, text)| Fact::new(label, &text))
    .collect()
}

/// The step of the clock with what it costs.
fn step(machine: &Node, step: &str) -> String {
    let costs = match machine.number_of("clock_step_factor") {
        Some(factor) if factor < FREE_STEP => "; it costs no measuring time".to_owned(),
        Some(factor) => {
            format!("; measuring takes {} times as long as without it", significant(factor, 2))
        }
        None => String::new(),
    };
    if step.is_empty() { String::new() } else { format!("{step}{costs}") }
}

fn changes(all: &[Node]) -> Vec<Block> {
    if all.is_empty() {
        return vec![Block::Text("Nothing.".into())];
    }
    let row = |one: &Node| {
        ["about", "text"].map(|key| shown(one.text_of(key).unwrap_or_default())).into()
    };
    vec![Block::Table(Table {
        caption: "What to change, the most useful first".into(),
        heads: ["Of", "What it is, and what to do"].map(str::to_owned).into(),
        rows: all.iter().map(row).collect(),
    })]
}

fn roles(all: &[Node]) -> Block {
    let row = |one: &Node| {
        let cell = |key: &str| one.get(key).map(|value| cell(key, value)).unwrap_or_default();
        vec![
            shown(one.text_of("role").unwrap_or_default()),
            cell("chain"),
            cell("cycles"),
            cell("integer"),
            range(one.list_of("parts_cycles")),
            standing(one).to_owned(),
        ]
    };
    let heads = ["Unit", "Chain", "Core cycles", "Proved", "In parts of the run", "Standing"];
    Block::Table(Table {
        caption: "A chain of known length in each unit".into(),
        heads: heads.map(str::to_owned).into(),
        rows: all.iter().map(row).collect(),
    })
}

/// `2.98 to 3.01`.
pub fn range(ends: &[Node]) -> String {
    match ends {
        [Node::Number(low), Node::Number(high)] => shown(&format!("{low:.2} to {high:.2}")),
        _ => String::new(),
    }
}

/// What a chain is worth here, in words.
fn standing(of: &Node) -> &'static str {
    match (of.text_of("standing"), of.get("shared")) {
        (_, Some(Node::Flag(true))) => "shared with others",
        (Some("whole"), _) => "quiet",
        (Some("slowed"), _) => "slowed",
        (Some("open"), _) => "open: its interval is too wide",
        (Some("none"), _) => "no ruler: no whole number",
        _ => "",
    }
}
