//! Computes counts of blocks and edges from branches: between two branches the path is fixed.

use crate::graph::{Counts, EdgeKind, Graph};
use std::collections::BTreeMap;

/// Where a partial run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Block that the last branch led to.
    pub from: usize,
    /// Block that did not run.
    pub until: usize,
}

/// Where counting begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// Block that runs first.
    pub block: usize,
    /// Times that the function was entered, this one included.
    pub entries: u64,
}

/// A graph with the edges of every block, and the last instruction of each.
#[derive(Debug)]
pub struct Counter<'a> {
    graph: &'a Graph,
    out: Vec<Vec<usize>>,
    by_branch: BTreeMap<u64, usize>,
    by_start: BTreeMap<u64, usize>,
}

impl<'a> Counter<'a> {
    /// A counter for a graph; `branch` returns the address of a block's last instruction.
    pub fn new(graph: &'a Graph, branch: impl Fn(usize) -> u64) -> Counter<'a> {
        let mut out = vec![Vec::new(); graph.blocks.len()];
        graph.edges.iter().enumerate().for_each(|(at, edge)| out[edge.from].push(at));
        let by_branch = (0..graph.blocks.len()).map(|at| (branch(at), at)).collect();
        let by_start =
            graph.blocks.iter().enumerate().map(|(at, block)| (block.start, at)).collect();
        Counter { graph, out, by_branch, by_start }
    }

    /// Counts of a call from its branches (address of the branch, target) and where it began;
    /// `None` if a branch is not in the graph.
    pub fn count(
        &self,
        branches: &BTreeMap<(u64, u64), u64>,
        begun: Begun,
        cut: Option<Cut>,
    ) -> Option<Counts> {
        let mut counts = Counts {
            blocks: vec![0; self.graph.blocks.len()],
            edges: vec![0; self.graph.edges.len()],
        };
        let mut led_to = vec![0u64; self.graph.blocks.len()];
        led_to[begun.block] += 1;
        led_to[self.graph.entry] += begun.entries - 1;
        for ((branch, to), times) in branches {
            let from = *self.by_branch.get(branch)?;
            let to = self.by_start.get(to).copied();
            if self.is_walked(from) {
                // The only way on: it is counted with the block.
                continue;
            }
            let edge = self.edge(from, to)?;
            counts.edges[edge] += times;
            if let Some(to) = to {
                led_to[to] += times;
            }
        }
        for (block, times) in led_to.iter().enumerate().filter(|(_, times)| **times > 0) {
            let ended_runs = u64::from(cut.is_some_and(|cut| cut.from == block)).min(*times);
            self.walk(block, times - ended_runs, None, &mut counts);
            self.walk(block, ended_runs, cut.map(|cut| cut.until), &mut counts);
        }
        Some(counts)
    }

    /// Whether a block has one way on, which needs no branch to be known.
    fn is_walked(&self, block: usize) -> bool {
        let only =
            matches!(self.out[block][..], [edge] if self.graph.edges[edge].kind != EdgeKind::Taken);
        only && !self.graph.indirect.contains(&block)
    }

    /// The edge of a branch: the fallthrough if both edges lead to the same block.
    fn edge(&self, from: usize, to: Option<usize>) -> Option<usize> {
        self.out[from].iter().copied().find(|at| self.graph.edges[*at].to == to)
    }

    /// Adds the path from a block to the next branch with two targets.
    fn walk(&self, from: usize, times: u64, until: Option<usize>, counts: &mut Counts) {
        let (mut block, mut steps) = (from, 0);
        while times > 0 && until != Some(block) && steps <= self.graph.blocks.len() {
            counts.blocks[block] += times;
            if !self.is_walked(block) {
                return;
            }
            let [edge] = self.out[block][..] else { return };
            counts.edges[edge] += times;
            let Some(next) = self.graph.edges[edge].to else { return };
            block = next;
            steps += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, tests::graph};

    const ENTERED_ONCE: Begun = Begun { block: 0, entries: 1 };

    /// 0 -> loop 1 (if: 2 or 3) -> 4 -> back to 1 or out by 5.
    fn sample() -> Graph {
        let mut sample_graph = graph(
            6,
            &[
                (0, Some(1)),
                (1, Some(2)),
                (1, Some(3)),
                (2, Some(4)),
                (3, Some(4)),
                (4, Some(1)),
                (4, Some(5)),
                (5, None),
            ],
        );
        for (at, kind) in [
            (1, EdgeKind::Fallthrough),
            (2, EdgeKind::Taken),
            (5, EdgeKind::Taken),
            (6, EdgeKind::Fallthrough),
        ] {
            sample_graph.edges[at] = Edge { kind, ..sample_graph.edges[at] };
        }
        sample_graph
    }

    #[test]
    fn block_counts_follow_from_branches() {
        let graph = sample();
        let counter = Counter::new(&graph, |at| 16 * at as u64 + 2);
        let branches = BTreeMap::from([((18, 32), 2), ((18, 48), 1), ((66, 16), 2), ((66, 80), 1)]);
        let counts = counter.count(&branches, ENTERED_ONCE, None).unwrap();
        assert_eq!(counts.blocks, [1, 3, 2, 1, 3, 1]);
        assert_eq!(counts.edges, [1, 2, 1, 2, 1, 2, 1, 1]);
    }

    #[test]
    fn a_call_that_ends_early_lacks_its_last_block() {
        let graph = sample();
        let counter = Counter::new(&graph, |at| 16 * at as u64 + 2);
        // Up to block 4, reached by 0, 1, 2.
        let cut = Some(Cut { from: 2, until: 4 });
        assert_eq!(
            counter.count(&BTreeMap::from([((18, 32), 1)]), ENTERED_ONCE, cut).unwrap().blocks,
            [1, 1, 1, 0, 0, 0]
        );
        // Up to block 1, on the way from the entry.
        assert_eq!(
            counter
                .count(&BTreeMap::new(), ENTERED_ONCE, Some(Cut { from: 0, until: 1 }))
                .unwrap()
                .blocks,
            [1, 0, 0, 0, 0, 0]
        );
        assert!(counter.count(&BTreeMap::from([((7, 32), 1)]), ENTERED_ONCE, None).is_none());
    }

    #[test]
    fn a_part_of_a_call_begins_at_its_block() {
        let graph = sample();
        let counter = Counter::new(&graph, |at| 16 * at as u64 + 2);
        let begun = Begun { block: 4, entries: 1 };
        let counts = counter
            .count(&BTreeMap::from([((66, 16), 1), ((18, 48), 1), ((66, 80), 1)]), begun, None)
            .unwrap();
        assert_eq!(counts.blocks, [0, 1, 0, 1, 2, 1]);
    }

    #[test]
    fn branches_that_follow_from_the_graph_are_not_counted_twice() {
        let graph = sample();
        let counter = Counter::new(&graph, |at| 16 * at as u64 + 2);
        // The return of block 5, to the caller, and the only way from block 2 to block 4.
        let branches = BTreeMap::from([
            ((18, 32), 2),
            ((18, 48), 1),
            ((66, 16), 2),
            ((66, 80), 1),
            ((82, 0), 1),
            ((34, 64), 2),
        ]);
        let counts = counter.count(&branches, ENTERED_ONCE, None).unwrap();
        assert_eq!(
            (counts.blocks, counts.edges),
            (vec![1, 3, 2, 1, 3, 1], vec![1, 2, 1, 2, 1, 2, 1, 1])
        );
    }
}
