//! The control-flow graph of a function: plain data.

use std::collections::BTreeMap;

/// Where a piece of code comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file, as the debug information names it.
    pub file: String,
    /// Lowest line of the block.
    pub line: u32,
    /// Highest line of the block.
    pub last_line: u32,
    /// The text of the lowest line; empty if the file cannot be read.
    pub text: String,
}

/// An instruction of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its address, as in the file.
    pub address: u64,
    /// The disassembly.
    pub text: String,
    /// The source file and line, where the file has debug information.
    pub place: Option<(String, u32)>,
}

/// A basic block: instructions that run one after the other, always all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Address of the first instruction, as in the file.
    pub start: u64,
    /// End address, after the last instruction.
    pub end: u64,
    /// Number of instructions.
    pub instructions: u32,
    /// Its source lines, where the file has debug information.
    pub source: Option<Source>,
    /// Functions that it calls: their time is part of the block's.
    pub calls: Vec<String>,
    /// Its instructions by what they are likely to cost, most first: name and number.
    pub hottest: Vec<(String, u32)>,
    /// Its instructions in their order.
    pub code: Vec<Step>,
    /// Whether no known edge leads here: code after an indirect jump that no input took.
    pub unlinked: bool,
}

/// How control gets from one block to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The next block in memory.
    Fallthrough,
    /// A branch that is always taken.
    Jump,
    /// A conditional branch, taken.
    Taken,
    /// An indirect jump; its targets are those that inputs took.
    Indirect,
    /// A return, or a jump to another function in place of a call and a return.
    Leave,
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// Index of the block that it leaves.
    pub from: usize,
    /// Index of the block that it enters; `None` out of the function.
    pub to: Option<usize>,
    /// Its kind.
    pub kind: EdgeKind,
}

/// A function as a graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// Blocks by address.
    pub blocks: Vec<Block>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Index of the block where calls begin.
    pub entry: usize,
    /// Blocks that end with an indirect jump.
    pub indirect: Vec<usize>,
    /// The text of the source lines of its instructions, by file and line; empty if the file cannot
    /// be read.
    pub statements: BTreeMap<(String, u32), String>,
}

/// Name of a block: B1 is the one with the lowest address.
pub fn block_name(index: usize) -> String {
    format!("B{}", index + 1)
}

impl Graph {
    /// Name of an edge, such as `B2->B5`.
    pub fn edge_name(&self, edge: &Edge) -> String {
        let to = edge.to.map_or_else(|| "out".to_owned(), block_name);
        let twice = self
            .edges
            .iter()
            .filter(|other| other.from == edge.from && other.to == edge.to)
            .count()
            > 1;
        let mark = if twice && edge.kind == EdgeKind::Taken { "'" } else { "" };
        format!("{}->{to}{mark}", block_name(edge.from))
    }

    /// The block that holds an address of the file.
    pub fn block_at(&self, address: u64) -> Option<usize> {
        let after = self.blocks.partition_point(|block| block.start <= address);
        let at = after.checked_sub(1)?;
        (address < self.blocks[at].end).then_some(at)
    }

    /// Blocks by the loop that they are in, outermost first: each loop is its header and all blocks
    /// of its body.
    ///
    /// A loop is the body of an edge that goes back to a block which dominates its start (Aho, Lam,
    /// Sethi and Ullman, Compilers, 9.6.6); edges back to the same header are one loop.
    pub fn loops(&self) -> Vec<Loop> {
        let dominators = self.dominators();
        let mut loops: Vec<Loop> = Vec::new();
        for (from, to) in self.edges.iter().filter_map(|edge| Some((edge.from, edge.to?))) {
            if dominators[from].get(to).copied().unwrap_or(false) {
                let body = self.body(to, from);
                match loops.iter_mut().find(|known| known.header == to) {
                    Some(known) => known.blocks.extend(body),
                    None => loops.push(Loop { header: to, blocks: body }),
                }
            }
        }
        for found_loop in &mut loops {
            found_loop.blocks.sort_unstable();
            found_loop.blocks.dedup();
        }
        loops.sort_by_key(|found| std::cmp::Reverse(found.blocks.len()));
        loops
    }

    fn body(&self, header: usize, end: usize) -> Vec<usize> {
        let (mut body, mut open) = (vec![header], vec![end]);
        while let Some(block) = open.pop() {
            if !body.contains(&block) {
                body.push(block);
                open.extend(
                    self.edges.iter().filter(|edge| edge.to == Some(block)).map(|edge| edge.from),
                );
            }
        }
        body
    }

    /// For each block the blocks that every path from the entry to it passes; empty for unreachable
    /// blocks.
    fn dominators(&self) -> Vec<Vec<bool>> {
        let count = self.blocks.len();
        let mut all_dominators = vec![vec![true; count]; count];
        all_dominators[self.entry] = (0..count).map(|at| at == self.entry).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..count).filter(|at| *at != self.entry) {
                let before =
                    self.edges.iter().filter(|edge| edge.to == Some(block)).map(|edge| edge.from);
                let mut next = vec![true; count];
                before.for_each(|from| {
                    next.iter_mut()
                        .zip(&all_dominators[from])
                        .for_each(|(mark, other)| *mark &= other)
                });
                next[block] = true;
                changed |= next != all_dominators[block];
                all_dominators[block] = next;
            }
        }
        all_dominators
    }
}

/// A loop of the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The block where every trip begins.
    pub header: usize,
    /// Its blocks, including those of inner loops.
    pub blocks: Vec<usize>,
}

/// How often each edge and each block ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// By block.
    pub blocks: Vec<u64>,
    /// By edge.
    pub edges: Vec<u64>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A graph from its edges; blocks of one instruction.
    pub fn graph(blocks: usize, edges: &[(usize, Option<usize>)]) -> Graph {
        let block = |at: usize| Block {
            start: 16 * at as u64,
            end: 16 * at as u64 + 4,
            instructions: 1,
            source: None,
            calls: Vec::new(),
            hottest: Vec::new(),
            code: Vec::new(),
            unlinked: false,
        };
        let edge = |(from, to): &(usize, Option<usize>)| Edge {
            from: *from,
            to: *to,
            kind: EdgeKind::Jump,
        };
        Graph {
            blocks: (0..blocks).map(block).collect(),
            edges: edges.iter().map(edge).collect(),
            entry: 0,
            ..Graph::default()
        }
    }

    #[test]
    fn loops_have_their_blocks_and_inner_loops_too() {
        // 0 -> 1; outer loop 1..4, inner loop 2..3; out by 5.
        let graph = graph(
            6,
            &[
                (0, Some(1)),
                (1, Some(2)),
                (2, Some(3)),
                (3, Some(2)),
                (3, Some(4)),
                (4, Some(1)),
                (4, Some(5)),
                (5, None),
            ],
        );
        let loops = graph.loops();
        assert_eq!(
            loops,
            [Loop { header: 1, blocks: vec![1, 2, 3, 4] }, Loop { header: 2, blocks: vec![2, 3] }]
        );
        assert_eq!(graph.block_at(33), Some(2));
        assert_eq!(graph.block_at(37), None);
        assert_eq!(graph.edge_name(&graph.edges[7]), "B6->out");
    }
}
