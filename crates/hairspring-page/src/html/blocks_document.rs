//! What only a document of `blocks` has: the source with its heat, and the graph of the function.

use super::block::{Block, SourceLine, Table, shown};
use super::other::figure;
use crate::svg::{Arrow, Node as GraphNode, graph};
use hairspring_view::clean::{cut, is_hidden};
use hairspring_view::format::significant;
use hairspring_view::node::Node;

/// Lines of a source that are shown, and the longest of them.
const MOST_LINES: usize = 400;
const LONGEST_LINE: usize = 200;

/// The source with the share of each line, and the graph.
pub fn blocks(document: &Node) -> Vec<Block> {
    let function = document.get("function").and_then(|function| function.text_of("name"));
    let lines = document.list_of("lines");
    let more = lines.len().saturating_sub(MOST_LINES);
    let rest = if more > 0 { format!("{more} further lines are left out.") } else { String::new() };
    let source = Block::Source(source(lines));
    vec![
        Block::Group(
            "Source".into(),
            vec![Block::Text(basis(document)), source, Block::Text(rest)],
        ),
        Block::Group(
            "Graph".into(),
            vec![Block::Plots(
                graph(
                    "graph",
                    function.unwrap_or("the function"),
                    &nodes(document),
                    &arrows(document),
                )
                .into_iter()
                .collect(),
            )],
        ),
    ]
}

/// The time of each part, and what it belongs to.
pub fn times(document: &Node) -> Table {
    let row = |component: &Node| {
        let time = component.get("time").map(figure).unwrap_or_default();
        let [time, cycles] = time.map(|text| shown(&text));
        let share = component
            .number_of("share")
            .map(|share| format!("{} %", significant(100.0 * share, 3)));
        let name = shown(component.text_of("name").unwrap_or_default());
        vec![cut(&name, 120), time, cycles, share.unwrap_or_default()]
    };
    Table {
        caption: "Time of one run of each part, and its share of the calls".into(),
        heads: ["Part", "Time", "Core cycles", "Share"].map(str::to_owned).into(),
        rows: document.list_of("components").iter().take(MOST_LINES).map(row).collect(),
    }
}

/// What the shares are shares of.
fn basis(document: &Node) -> String {
    let all = document.list_of("lines").iter();
    if all.clone().any(|line| line.number_of("share").is_some()) {
        "Share: that of the time, or in brackets that of the instructions where a line has no time \
         of its own."
            .into()
    } else {
        "Share: that of the instructions that ran, in brackets; no line has a time of its own."
            .into()
    }
}

fn source(lines: &[Node]) -> Vec<SourceLine> {
    lines.iter().take(MOST_LINES).map(line).collect()
}

fn line(line: &Node) -> SourceLine {
    let (share, heat) = share(line, "share", "instruction_share");
    let text = line.text_of("text").unwrap_or_default();
    SourceLine {
        number: line.number_of("line").map(|at| significant(at, 9)).unwrap_or_default(),
        share,
        heat: (10.0 * heat.sqrt()).clamp(0.0, 9.0) as u8,
        text: cut(&spaced(text), LONGEST_LINE),
    }
}

/// A line with its indent, in which control characters are shown as `?`.
fn spaced(text: &str) -> String {
    let text = text.trim_end().replace('\t', "    ");
    text.chars().map(|c| if is_hidden(c) { '?' } else { c }).collect()
}

/// The share of the time as text and as a number, or in brackets that of the instructions.
fn share(of: &Node, time: &str, instructions: &str) -> (String, f64) {
    let percent = |share: f64| format!("{} %", significant(100.0 * share, 3));
    let bounded = |share: f64| if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    match (of.number_of(time), of.number_of(instructions)) {
        (Some(share), _) => (percent(share), bounded(share)),
        (None, Some(share)) => (format!("({})", percent(share)), bounded(share)),
        (None, None) => (String::new(), 0.0),
    }
}

fn nodes(document: &Node) -> Vec<GraphNode> {
    let calls = document.get("inputs").and_then(|inputs| inputs.number_of("calls"));
    let node = |block: &Node| {
        let (share, heat) = share(block, "time_share", "instruction_share");
        let runs = block.number_of("runs").unwrap_or(0.0);
        let each = significant(runs / calls.filter(|calls| *calls > 0.0).unwrap_or(1.0), 4);
        let line = block.number_of("line").map(|at| format!("line {}, ", significant(at, 9)));
        GraphNode {
            name: shown(block.text_of("name").unwrap_or_default()),
            text: format!("{}{each} runs {share}", line.unwrap_or_default()),
            heat,
            ran: runs > 0.0,
        }
    };
    document.list_of("blocks").iter().map(node).collect()
}

fn arrows(document: &Node) -> Vec<Arrow> {
    let names: std::collections::HashMap<&str, usize> = document
        .list_of("blocks")
        .iter()
        .enumerate()
        .filter_map(|(at, block)| Some((block.text_of("name")?, at)))
        .collect();
    let place = |edge: &Node, key: &str| names.get(edge.text_of(key)?).copied();
    let edges = document.list_of("edges").iter();
    edges
        .filter_map(|edge| Some(Arrow { from: place(edge, "from")?, to: place(edge, "to")? }))
        .collect()
}

/// The title of the page of a function.
pub fn title(document: &Node) -> Option<String> {
    document.get("function")?.text_of("name").map(|function| cut(&shown(function), 100))
}
