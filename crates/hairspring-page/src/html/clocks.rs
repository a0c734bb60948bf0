//! All clocks of `clocks` beside each other; what is known of each follows, folded.

use super::block::{Block, Table, shown};
use super::other::cell;
use hairspring_view::format::{frequency_unit, significant};
use hairspring_view::node::Node;

/// Clocks that are listed.
const MOST: usize = 500;

/// The rate in a few digits: what follows has its interval.
fn rate(measured: &Node) -> String {
    let value = measured.get("rate_hz").and_then(Node::estimate);
    value.map_or_else(String::new, |one| {
        // 999.9999 MHz is 1 GHz here.
        let (factor, unit) = frequency_unit(one.value * (1.0 + 1e-6));
        shown(&format!("{} {unit}", significant(one.value * factor, 7)))
    })
}

/// Whether an entry of a list is folded: there are many clocks, and a table has their numbers.
pub fn is_folded(list: &str, entry: &Node) -> bool {
    list == "clocks" && entry.get("available").is_some()
}

/// A line for each clock; empty for a document without clocks.
pub fn overview(document: &Node) -> Block {
    let row = |clock: &Node| {
        let measured = clock.get("measured").unwrap_or(&Node::Null);
        let of = |key: &str| measured.get(key).map(|value| cell(key, value)).unwrap_or_default();
        let about = ["available_reason", "description"];
        let about = about.iter().find_map(|key| clock.text_of(key)).unwrap_or_default();
        vec![
            shown(clock.text_of("name").unwrap_or_default()),
            of("granularity_ns"),
            of("read_cost_ns"),
            rate(measured),
            shown(about),
        ]
    };
    Block::Table(Table {
        caption: "All clocks".into(),
        heads: ["Clock", "Step", "A read", "Rate", "What it is, or why it is missing"]
            .map(str::to_owned)
            .into(),
        rows: document.list_of("clocks").iter().take(MOST).map(row).collect(),
    })
}
