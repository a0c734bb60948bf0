//! Which inputs are missing: blocks that no input reached, and blocks that no input separates.

use super::CountRow;
use super::structure::Structure;
use crate::graph::{Edge, Graph, block_name};
use hairspring_core::estimate::exact_rank;
use std::collections::BTreeMap;

/// What more inputs or partial runs could determine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// Blocks that no input reached, with the blocks that lead to them.
    NotReached {
        /// The blocks.
        blocks: Vec<usize>,
        /// Blocks that ran and have an edge to each of them.
        from: Vec<usize>,
    },
    /// Blocks that no whole call can tell apart: they run equally often for any input.
    Inseparable {
        /// The blocks.
        blocks: Vec<usize>,
        /// Whether they run once in every call, as the overhead does.
        once: bool,
    },
    /// Blocks that ran equally often in these inputs, though another input could tell them apart.
    NotSeparated {
        /// The blocks, one for each inseparable group.
        blocks: Vec<usize>,
    },
    /// Sums of counts that these inputs did not vary, but other inputs could.
    NotVaried {
        /// Number of counts that the inputs vary independently ...
        rank: usize,
        /// ... and number that whole calls could vary.
        possible: usize,
        /// Edges that no input took although a block before them ran.
        edges: Vec<String>,
    },
    /// Blocks that ran in the call, and in none of its parts that were timed.
    InNoPart {
        /// The blocks.
        blocks: Vec<usize>,
    },
    /// Blocks that ran equally often in each of these parts.
    EqualInParts {
        /// The groups of them.
        groups: Vec<Vec<usize>>,
    },
}

impl Missing {
    /// What is missing, in words.
    pub fn message(&self) -> String {
        let list = |blocks: &[usize]| {
            blocks.iter().map(|at| block_name(*at)).collect::<Vec<_>>().join(", ")
        };
        match self {
            Missing::NotReached { blocks, .. } => format!("no input reached {}", list(blocks)),
            Missing::Inseparable { blocks, once: true } if blocks.len() == 1 => {
                format!("{} runs once in every whole call", list(blocks))
            }
            Missing::Inseparable { blocks, once: true } => {
                format!("{} run once in every whole call: their sum is known", list(blocks))
            }
            Missing::Inseparable { blocks, once: false } => {
                format!("{} run equally often in every whole call", list(blocks))
            }
            Missing::NotSeparated { blocks } => format!(
                "{} ran as often as {} in all inputs",
                list(&blocks[1..]),
                block_name(blocks[0])
            ),
            Missing::NotVaried { rank, possible, .. } => {
                format!(
                    "the inputs vary {rank} of the {possible} counts that whole calls can vary \
                     independently"
                )
            }
            Missing::InNoPart { blocks } => format!("in no part of the calls: {}", list(blocks)),
            Missing::EqualInParts { groups } => {
                let names = |blocks: &Vec<usize>| {
                    blocks.iter().map(|at| block_name(*at)).collect::<Vec<_>>().join(" ")
                };
                format!(
                    "run equally often in every part: {}",
                    groups.iter().map(names).collect::<Vec<_>>().join("; ")
                )
            }
        }
    }

    /// The inputs that would determine it, in words.
    pub fn remedy(&self) -> String {
        let list = |blocks: &[usize], and: &str| {
            blocks.iter().map(|at| block_name(*at)).collect::<Vec<_>>().join(and)
        };
        match self {
            Missing::NotReached { from, .. } if from.is_empty() => {
                "inputs that take other targets of an indirect jump, or that reach the code before \
                 it"
                .to_owned()
            }
            Missing::NotReached { from, .. } => {
                format!(
                    "an input for which the branch at the end of {} goes the other way",
                    list(from, " or ")
                )
            }
            Missing::Inseparable { blocks, .. } if blocks.len() == 1 => String::new(),
            Missing::Inseparable { blocks, .. } => match blocks.iter().max() {
                Some(last) => format!(
                    "--until {} (a run that stops before it), or --until merged",
                    block_name(*last)
                ),
                None => String::new(),
            },
            Missing::NotSeparated { blocks } => {
                format!(
                    "an input that runs {} and not {}, or more often",
                    block_name(blocks[0]),
                    block_name(blocks[1])
                )
            }
            Missing::NotVaried { edges, .. } if !edges.is_empty() => {
                format!("inputs that take {}", edges.join(", "))
            }
            Missing::NotVaried { .. } => {
                "inputs that take the arms of the branches in other proportions".to_owned()
            }
            Missing::InNoPart { .. } => "whole calls, which run them: leave --parts out".to_owned(),
            Missing::EqualInParts { .. } => {
                "parts that begin at another block (--from), or inputs that take other paths"
                    .to_owned()
            }
        }
    }
}

/// What rows leave undetermined, which are parts of calls or whole calls and partial runs.
pub fn missing(
    graph: &Graph,
    rows: &[CountRow],
    structure: &Structure,
    are_parts: bool,
) -> Vec<Missing> {
    if are_parts { missing_in_parts(graph, rows) } else { missing_in_calls(graph, rows, structure) }
}

/// What whole calls and partial runs leave undetermined.
fn missing_in_calls(graph: &Graph, rows: &[CountRow], structure: &Structure) -> Vec<Missing> {
    let ran: Vec<bool> = (0..graph.blocks.len())
        .map(|at| rows.iter().any(|row| row.counts.blocks[at] > 0))
        .collect();
    let mut all_missing = not_reached(graph, &ran);
    let mut groups: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for block in (0..ran.len()).filter(|at| ran[*at]) {
        groups
            .entry(rows.iter().map(|row| row.counts.blocks[block]).collect())
            .or_default()
            .push(block);
    }
    let constant = |counts: &[u64]| counts.iter().all(|count| *count == 1);
    for (counts, group) in &groups {
        all_missing.extend(missing_within(group, constant(counts), structure));
    }
    all_missing.extend(not_varied(graph, rows, structure));
    all_missing
}

/// What parts of calls leave undetermined: they are ended wherever they come to, so only other
/// parts tell more.
fn missing_in_parts(graph: &Graph, rows: &[CountRow]) -> Vec<Missing> {
    let ran = |at: usize| rows.iter().any(|row| row.counts.blocks[at] > 0);
    let parts: Vec<&CountRow> = rows.iter().filter(|row| !row.is_whole()).collect();
    let mut all_missing = not_reached(graph, &(0..graph.blocks.len()).map(ran).collect::<Vec<_>>());
    let mut by_counts: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for block in (0..graph.blocks.len()).filter(|at| ran(*at)) {
        by_counts
            .entry(parts.iter().map(|row| row.counts.blocks[block]).collect())
            .or_default()
            .push(block);
    }
    all_missing
        .extend(by_counts.remove(&vec![0; parts.len()]).map(|blocks| Missing::InNoPart { blocks }));
    let mut groups: Vec<Vec<usize>> =
        by_counts.into_values().filter(|blocks| blocks.len() > 1).collect();
    groups.sort();
    all_missing.extend((!groups.is_empty()).then_some(Missing::EqualInParts { groups }));
    all_missing
}

/// Blocks that did not run; those to which the same blocks lead are grouped.
fn not_reached(graph: &Graph, ran: &[bool]) -> Vec<Missing> {
    let mut by_source: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    let behind = behind(graph);
    // What comes before the place where calls are begun is no part of them.
    let counts = |at: &usize| !ran[*at] && (behind[*at] || graph.blocks[*at].unlinked);
    for block in (0..ran.len()).filter(counts) {
        let into = graph
            .edges
            .iter()
            .filter(|edge| edge.to == Some(block) && ran[edge.from])
            .map(|edge| edge.from);
        by_source.entry(into.collect()).or_default().push(block);
    }
    by_source.into_iter().map(|(from, blocks)| Missing::NotReached { blocks, from }).collect()
}

/// Blocks to which known edges lead from where calls begin.
fn behind(graph: &Graph) -> Vec<bool> {
    let (mut known_blocks, mut open) = (vec![false; graph.blocks.len()], vec![graph.entry]);
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut known_blocks[block], true) {
            open.extend(
                graph.edges.iter().filter(|edge| edge.from == block).filter_map(|edge| edge.to),
            );
        }
    }
    known_blocks
}

/// Splits a group of blocks into parts that no input can separate and parts that an input could.
fn missing_within(group: &[usize], once: bool, structure: &Structure) -> Vec<Missing> {
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for block in group {
        match parts.iter_mut().find(|part| structure.always_equal(part[0], *block)) {
            Some(part) => part.push(*block),
            None => parts.push(vec![*block]),
        }
    }
    let mut all_missing = Vec::new();
    for part in &parts {
        let with_overhead = once && structure.always_once(part[0]);
        if part.len() > 1 {
            all_missing.push(Missing::Inseparable { blocks: part.clone(), once: with_overhead });
        }
    }
    if parts.len() > 1 {
        all_missing
            .push(Missing::NotSeparated { blocks: parts.iter().map(|part| part[0]).collect() });
    }
    all_missing
}

fn not_varied(graph: &Graph, rows: &[CountRow], structure: &Structure) -> Option<Missing> {
    let whole: Vec<Vec<f64>> = rows
        .iter()
        .filter(|row| row.is_whole())
        .map(|row| row.counts.blocks.iter().map(|count| *count as f64).chain([1.0]).collect())
        .collect();
    let rank = exact_rank(&whole).pivots.len();
    let came_by = |from: usize| rows.iter().any(|row| row.counts.blocks[from] > 0);
    let is_taken = |at: usize| rows.iter().any(|row| row.counts.edges[at] > 0);
    let not_taken: Vec<&Edge> = graph
        .edges
        .iter()
        .enumerate()
        .filter(|(at, edge)| came_by(edge.from) && !is_taken(*at))
        .map(|(_, edge)| edge)
        .collect();
    // An edge to an unreached block is reported with the block.
    let is_known = |edge: &&&Edge| edge.to.is_none_or(came_by);
    let edges: Vec<String> =
        not_taken.iter().filter(is_known).take(6).map(|edge| graph.edge_name(edge)).collect();
    let is_said = edges.is_empty() && !not_taken.is_empty();
    (rank < structure.rank && !is_said).then_some(Missing::NotVaried {
        rank,
        possible: structure.rank,
        edges,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Counts, tests::graph};

    fn row(graph: &Graph, blocks: &[u64]) -> CountRow {
        CountRow {
            counts: Counts { blocks: blocks.to_vec(), edges: vec![0; graph.edges.len()] },
            until: None,
            counted: None,
        }
    }

    #[test]
    fn unreached_blocks_are_named_with_the_branch_before_them() {
        // 0 -> 1 | 2; both -> 3 -> out
        let graph = graph(4, &[(0, Some(1)), (0, Some(2)), (1, Some(3)), (2, Some(3)), (3, None)]);
        let structure = Structure::from_graph(&graph);
        let all_missing = missing_in_calls(&graph, &[row(&graph, &[1, 1, 0, 1])], &structure);
        assert!(
            all_missing.contains(&Missing::NotReached { blocks: vec![2], from: vec![0] }),
            "{all_missing:?}"
        );
        assert!(
            all_missing.contains(&Missing::Inseparable { blocks: vec![0, 3], once: true }),
            "{all_missing:?}"
        );
        assert!(
            all_missing.contains(&Missing::NotSeparated { blocks: vec![0, 1] }),
            "{all_missing:?}"
        );
        assert!(
            all_missing
                .iter()
                .any(|missing| matches!(missing, Missing::NotVaried { rank: 1, possible: 2, .. })),
            "{all_missing:?}"
        );
        // Both arms are taken: only the common blocks stay together.
        let all_missing = missing_in_calls(
            &graph,
            &[row(&graph, &[1, 1, 0, 1]), row(&graph, &[1, 0, 1, 1])],
            &structure,
        );
        assert_eq!(all_missing, [Missing::Inseparable { blocks: vec![0, 3], once: true }]);
        assert!(
            all_missing[0].remedy().contains("--until B4")
                && all_missing[0].remedy().contains("--until merged")
        );
    }

    #[test]
    fn blocks_before_the_place_where_calls_begin_are_not_missing() {
        let mut graph = graph(3, &[(0, Some(1)), (1, Some(2)), (1, Some(1)), (2, None)]);
        graph.entry = 1;
        let all_missing =
            missing_in_calls(&graph, &[row(&graph, &[0, 2, 0])], &Structure::from_graph(&graph));
        assert!(
            all_missing.contains(&Missing::NotReached { blocks: vec![2], from: vec![1] }),
            "{all_missing:?}"
        );
        assert!(
            !all_missing.iter().any(|missing| missing.message().contains("B1")),
            "{all_missing:?}"
        );
    }

    #[test]
    fn consequences_of_an_unreached_block_are_reported_once() {
        let graph = graph(4, &[(0, Some(1)), (0, Some(2)), (1, Some(3)), (2, Some(3)), (3, None)]);
        let mut only = row(&graph, &[1, 1, 0, 1]);
        only.counts.edges = vec![1, 0, 1, 0, 1];
        let all_missing = missing_in_calls(&graph, &[only], &Structure::from_graph(&graph));
        assert!(
            !all_missing.iter().any(|missing| matches!(missing, Missing::NotVaried { .. })),
            "{all_missing:?}"
        );
        let not_separated = all_missing
            .iter()
            .find(|missing| matches!(missing, Missing::NotSeparated { .. }))
            .unwrap();
        assert_eq!(not_separated.message(), "B2 ran as often as B1 in all inputs");
    }

    #[test]
    fn what_parts_leave_open_is_said_of_parts() {
        let graph = graph(
            5,
            &[(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, Some(1)), (3, Some(4)), (4, None)],
        );
        let part = |blocks: &[u64], until| CountRow { until: Some(until), ..row(&graph, blocks) };
        let rows = [
            row(&graph, &[1, 9, 9, 9, 1]),
            part(&[0, 1, 1, 0, 0], 3),
            part(&[0, 1, 1, 1, 0], 1),
            part(&[0, 2, 2, 1, 0], 3),
        ];
        let all_missing = missing_in_parts(&graph, &rows);
        assert_eq!(
            all_missing,
            [
                Missing::InNoPart { blocks: vec![0, 4] },
                Missing::EqualInParts { groups: vec![vec![1, 2]] }
            ]
        );
        assert_eq!(
            all_missing.iter().map(Missing::message).collect::<Vec<_>>(),
            ["in no part of the calls: B1, B5", "run equally often in every part: B2 B3"]
        );
        assert!(all_missing.iter().all(|missing| !missing.remedy().contains("--until")));
    }
}
