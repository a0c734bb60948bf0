//! The page of `verify`: the verdict, chains and pairs of known length, and the machine.

use super::block::{Block, Doubt, Fact, Number, Table, shown};
use super::machine;
use super::other::{cell, findings, interval, label};
use hairspring_core::judge::Severity;
use hairspring_view::node::Node;

/// The blocks of a certificate.
pub fn blocks(document: &Node) -> Vec<Block> {
    if document.get("chains").is_none() {
        return Vec::new();
    }
    let mut blocks = verdict(document);
    blocks.extend([numbers(document), findings(document)]);
    blocks.push(Block::Group("Chains of known length".into(), vec![chains(document)]));
    blocks.push(Block::Group("A body behind an init".into(), vec![pairs(document)]));
    blocks.push(Block::Group("How far to trust".into(), vec![trust(document)]));
    blocks.push(Block::Group("Clock".into(), vec![clock(document)]));
    let machine = document.get("machine").filter(|one| **one != Node::Null);
    let parts = machine.map(machine::blocks).unwrap_or_default();
    blocks.push(Block::Group("What this machine can give".into(), parts));
    blocks
}

/// Whether it passed, and what did not.
fn verdict(document: &Node) -> Vec<Block> {
    let said = |key: &str, severity: Severity| -> Vec<Doubt> {
        let texts = document.list_of(key).iter().filter_map(Node::text);
        texts.map(|text| Doubt::new(severity, text, "")).collect()
    };
    let mut doubts = said("failures", Severity::Untrusted);
    doubts.extend(said("open", Severity::Warning));
    let verdict = match document.text_of("verdict") {
        Some("passed") => Block::Text("Passed: the instrument measures correctly here.".into()),
        Some("failed") => Block::Alarm("Failed: the instrument does not measure correctly".into()),
        Some("open") => Block::Alarm("Open: something kept a check from being made".into()),
        other => Block::Text(shown(other.unwrap_or_default())),
    };
    vec![verdict, Block::Findings(doubts)]
}

fn numbers(document: &Node) -> Block {
    let number = |key: &&str| {
        let estimate = document.get(key)?.estimate()?;
        Some(Number {
            label: label(key),
            value: shown(&interval(key, &estimate)),
            ..Number::default()
        })
    };
    Block::Numbers(["overhead_ticks", "core_hz", "tick_hz"].iter().filter_map(number).collect())
}

fn of(node: &Node, key: &str) -> String {
    node.get(key).map(|value| cell(key, value)).unwrap_or_default()
}

fn chains(document: &Node) -> Block {
    let row = |one: &Node| {
        vec![
            of(one, "name"),
            of(one, "cycles"),
            of(one, "integer"),
            of(one, "distance_percent"),
            of(one, "coverage"),
            machine::range(one.list_of("parts_cycles")),
            of(one, "standing"),
        ]
    };
    let heads = [
        "Chain",
        "Core cycles",
        "Proved",
        "Distance",
        "Covered",
        "In parts of the run",
        "Standing",
    ];
    Block::Table(Table {
        caption: "Chains, and how many of their short runs cover the whole number".into(),
        heads: heads.map(str::to_owned).into(),
        rows: document.list_of("chains").iter().map(row).collect(),
    })
}

fn pairs(document: &Node) -> Block {
    let rows = document.list_of("pairs").iter().flat_map(|pair| {
        let row = |part: &'static str| {
            let one = pair.get(part).unwrap_or(&Node::Null);
            let name = format!("{}: {part}", of(pair, "name"));
            vec![name, of(one, "cycles"), of(one, "true_cycles"), of(one, "distance_percent")]
        };
        ["body", "init"].map(row)
    });
    Block::Table(Table {
        caption: "Pairs whose lengths are known".into(),
        heads: ["Part", "Core cycles", "True", "Distance"].map(str::to_owned).into(),
        rows: rows.collect(),
    })
}

fn trust(document: &Node) -> Block {
    let trust = document.get("trust").unwrap_or(&Node::Null);
    let facts = [
        ("chains_within_percent", "chains within"),
        ("bodies_within_percent", "bodies within"),
        ("coverage", "coverage"),
        ("intervals", "intervals"),
        ("refused_runs", "refused runs"),
        ("widening", "widened by"),
    ];
    let all = facts.into_iter().filter(|(key, _)| !of(trust, key).is_empty());
    let all = all.map(|(key, name)| Fact::new(name, &of(trust, key)));
    Block::Facts(all.collect())
}

fn clock(document: &Node) -> Block {
    let clock = document.get("clock").unwrap_or(&Node::Null);
    let name = [of(clock, "name"), of(clock, "description")];
    let facts = [
        ("clock", name.join(": ").trim_matches([':', ' ']).to_owned()),
        ("rate", of(clock, "rate_hz")),
        ("uncertainty", of(clock, "rate_uncertainty_ppm")),
        ("from", of(clock, "rate_provenance")),
        ("granularity", of(document, "granularity_ticks")),
        ("read", of(document, "read_cost_ticks")),
        ("went backwards", of(document, "backward")),
    ];
    let all = facts.into_iter().filter(|(_, text)| !text.is_empty());
    Block::Facts(all.map(|(label, text)| Fact::new(label, &text)).collect())
}
