//! The graph of blocks as a file for Graphviz (the DOT language).

use crate::MeasuredFunction;
use crate::analysis::{Analysis, Place, Unknowns, runs_in_whole_calls};
use crate::graph::{Block, block_name};
use crate::text::{beside, shown};
use hairspring_view::clean::clean;
use hairspring_view::format::{fixed, significant};

/// Longest text of a line in a node.
const MOST_TEXT: usize = 60;

/// The graph: blocks with their time, or with their share of the instructions where no time can be
/// told, and edges with how often they run in a call. Blocks that never ran are dashed.
pub fn dot(measured: &MeasuredFunction) -> String {
    let name = quoted(&clean(&measured.function.name));
    let mut out = format!(
        "digraph {name} {{\n  label={name};\n  node [shape=box, style=filled, fillcolor=white, \
         fontname=monospace];\n"
    );
    let calls = measured.analysis.calls.max(1) as f64;
    for (at, block) in measured.graph.blocks.iter().enumerate() {
        out += &node(measured, at, block, calls);
    }
    for (at, edge) in measured.graph.edges.iter().enumerate() {
        let runs = runs_in_whole_calls(&measured.rows, |counts| counts.edges[at]) / calls;
        let to = edge.to.map_or_else(|| "out".to_owned(), block_name);
        let style = if runs == 0.0 {
            ", style=dashed".to_owned()
        } else {
            format!(", penwidth={}", fixed(1.0 + (1.0 + runs).log10(), 1))
        };
        out += &format!(
            "  {} -> {to} [label={}{style}];\n",
            block_name(edge.from),
            quoted(&per_call(runs))
        );
    }
    out + "  out [shape=plaintext, style=\"\", label=\"return\"];\n}\n"
}

fn node(measured: &MeasuredFunction, at: usize, block: &Block, calls: f64) -> String {
    let runs = runs_in_whole_calls(&measured.rows, |counts| counts.blocks[at]) / calls;
    let name = block_name(at);
    let (time, share) = time(measured, at);
    let (share, word) = share
        .map_or((measured.block_instruction_share(at), "instructions"), |share| (share, "time"));
    let mut lines = vec![format!("{name}, {} runs/call", per_call(runs))];
    if runs > 0.0 {
        lines.extend(time);
        lines.push(format!("{} % of the {word}", fixed(100.0 * share, 1)));
    }
    if let Some(source) = &block.source {
        let text: String = clean(&source.text).chars().take(MOST_TEXT).collect();
        lines.push(format!("{}: {text}", source.line));
    }
    lines.extend(
        (!block.calls.is_empty()).then(|| format!("calls {}", clean(&block.calls.join(", ")))),
    );
    // The hotter, the redder: hue 0, saturation by the share.
    let colour = fixed(share.clamp(0.0, 1.0), 3);
    let style = if runs == 0.0 {
        ", style=dashed".to_owned()
    } else {
        format!(", fillcolor=\"0.0 {colour} 1.0\"")
    };
    format!("  {name} [label={}{style}];\n", quoted(&lines.join("\n")))
}

/// The time of a block and its share, if it has one of its own.
fn time(measured: &MeasuredFunction, block: usize) -> (Option<String>, Option<f64>) {
    let analysis: &Analysis = &measured.analysis;
    if analysis.unknowns == Unknowns::Edges || !analysis.quality.is_carried() {
        return (None, None);
    }
    let time = |at: usize| &analysis.series().components[at].time;
    let timed = |at: usize| shown(time(at));
    match analysis.places[block] {
        Place::Alone(at) => {
            (Some(timed(at)), analysis.own_share(at).map(|share| beside(time(at), share)))
        }
        Place::With(at) | Place::Together(at) => {
            let parts: Vec<&str> = analysis.series().solution.components[at]
                .parts
                .iter()
                .map(|(name, _)| name.as_str())
                .collect();
            (Some(format!("{} together: {}", parts.join(" "), timed(at))), None)
        }
        Place::NeverRan | Place::Combined(_) | Place::Common => (None, None),
    }
}

fn per_call(runs: f64) -> String {
    if runs.fract() == 0.0 { format!("{runs}") } else { significant(runs, 4) }
}

/// A string of the DOT language; lines are set to the left.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l");
    let end = if text.contains('\n') { "\\l" } else { "" };
    format!("\"{escaped}{end}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_program_cannot_end_a_string() {
        assert_eq!(quoted(r#"a "b\" ]; x"#), r#""a \"b\\\" ]; x""#);
        assert_eq!(quoted("B1\nB2"), "\"B1\\lB2\\l\"");
    }
}
