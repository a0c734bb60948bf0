//! Basic blocks and their edges from the counts of the simulator: how often each instruction
//! followed each other one, and its cycles.
//!
//! A block is the longest chain of instructions in which each has one successor, and is the only
//! predecessor of that, in all windows together. A branch that always went the same way does not
//! end a block.

use crate::{AnyError, named};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// From one instruction to the next, by byte addresses.
type Step = (u32, u32);

/// The steps of each window.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// How often, by step.
    pub windows: Vec<BTreeMap<Step, u64>>,
    /// Cycles from edge to edge.
    pub totals: Vec<u64>,
    /// Cycles of each step: they are the same every time.
    pub cycles: BTreeMap<Step, u64>,
}

/// A basic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Address of its first and its last instruction.
    pub from: u32,
    /// The last one.
    pub to: u32,
    /// Cycles of all instructions but the last.
    pub cycles: u64,
}

/// An edge of the control-flow graph: from a block to the next one, or to the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Index of the block that was left.
    pub from: usize,
    /// Index of the next block; `None` at the end.
    pub to: Option<usize>,
    /// The step.
    pub step: Step,
    /// Cycles of the block when it is left this way.
    pub cycles: u64,
}

/// Reads `window,from,to,count,cycles`.
pub fn read(path: &Path) -> Result<Steps, AnyError> {
    let text = std::fs::read_to_string(path).map_err(|e| named(path, &e))?;
    let mut steps = Steps::default();
    for (at, line) in text.lines().enumerate() {
        let fields: Vec<Option<u64>> = line.split(',').map(|field| field.parse().ok()).collect();
        match fields[..] {
            [Some(_), None, None, None, Some(total)] => {
                steps.windows.push(BTreeMap::new());
                steps.totals.push(total);
            }
            [Some(_), Some(from), Some(to), Some(count), Some(cycles)] => {
                steps.take((u32::try_from(from)?, u32::try_from(to)?), count, cycles)?
            }
            _ => return Err(named(path, &format!("line {}: `{line}` is no step", at + 1))),
        }
    }
    Ok(steps)
}

/// Reads `0xADDRESS,LINE`: lines of the source by byte address.
pub fn read_lines(path: &Path) -> Result<BTreeMap<u32, u32>, AnyError> {
    let text = std::fs::read_to_string(path).map_err(|e| named(path, &e))?;
    let entry = |line: &str| {
        let (address, number) = line.strip_prefix("0x")?.split_once(',')?;
        Some((u32::from_str_radix(address, 16).ok()?, number.parse().ok()?))
    };
    text.lines()
        .map(|line| {
            entry(line).ok_or_else(|| named(path, &format!("`{line}` is no address and line")))
        })
        .collect()
}

impl Block {
    /// Its addresses: a block with a jump backwards ends before it begins.
    pub fn addresses(&self) -> std::ops::RangeInclusive<u32> {
        self.from.min(self.to)..=self.from.max(self.to)
    }
}

/// First and last line of each block's source.
pub fn block_lines(blocks: &[Block], lines: &BTreeMap<u32, u32>) -> Vec<(u32, u32)> {
    let of = |block: &Block| {
        let known =
            || lines.range(block.addresses()).map(|(_, line)| *line).filter(|line| *line > 0);
        (known().min().unwrap_or(0), known().max().unwrap_or(0))
    };
    blocks.iter().map(of).collect()
}

impl Steps {
    fn take(&mut self, step: Step, count: u64, cycles: u64) -> Result<(), AnyError> {
        let each = cycles / count.max(1);
        let known = *self.cycles.entry(step).or_insert(each);
        if count == 0 || cycles != count * known {
            return Err(format!(
                "the step {:#x} to {:#x} took {cycles} cycles in {count} times, not {known} each",
                step.0, step.1
            )
            .into());
        }
        let window = self.windows.last_mut().ok_or("a step before its window")?;
        window.insert(step, count);
        Ok(())
    }

    /// Blocks by address, and the edges between them.
    pub fn graph(&self) -> (Vec<Block>, Vec<Edge>) {
        let inside: BTreeSet<u32> = self.cycles.keys().map(|step| step.0).collect();
        let count = |pick: fn(&Step) -> u32| {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            self.cycles.keys().for_each(|step| *counts.entry(pick(step)).or_default() += 1);
            counts
        };
        let (successors, predecessors) = (count(|step| step.0), count(|step| step.1));
        let joins = |step: &Step| {
            successors[&step.0] == 1 && predecessors[&step.1] == 1 && inside.contains(&step.1)
        };
        let joined: BTreeMap<u32, u32> =
            self.cycles.keys().filter(|step| joins(step)).copied().collect();
        let follows: BTreeSet<u32> = joined.values().copied().collect();
        let blocks: Vec<Block> = inside
            .iter()
            .filter(|address| !follows.contains(address))
            .map(|from| self.block(*from, &joined))
            .collect();
        let begins: BTreeMap<u32, usize> =
            blocks.iter().enumerate().map(|(at, block)| (block.from, at)).collect();
        let ends: BTreeMap<u32, usize> =
            blocks.iter().enumerate().map(|(at, block)| (block.to, at)).collect();
        let between = self.cycles.iter().filter(|(step, _)| !joins(step));
        let edges = between
            .map(|(step, cycles)| {
                let from = ends[&step.0];
                Edge {
                    from,
                    to: begins.get(&step.1).copied(),
                    step: *step,
                    cycles: blocks[from].cycles + cycles,
                }
            })
            .collect();
        (blocks, edges)
    }

    fn block(&self, from: u32, joined: &BTreeMap<u32, u32>) -> Block {
        let mut block = Block { from, to: from, cycles: 0 };
        while let Some(next) = joined.get(&block.to) {
            block.cycles += self.cycles[&(block.to, *next)];
            block.to = *next;
        }
        block
    }

    /// How often each edge was taken, by window.
    pub fn edge_counts(&self, edges: &[Edge]) -> Vec<Vec<f64>> {
        let counts = |window: &BTreeMap<Step, u64>| {
            edges.iter().map(|edge| window.get(&edge.step).copied().unwrap_or(0) as f64).collect()
        };
        self.windows.iter().map(counts).collect()
    }
}

/// How often each block ran: as often as it was left.
pub fn block_counts(blocks: usize, edges: &[Edge], edge_counts: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let sum = |counts: &Vec<f64>| {
        let mut sums = vec![0.0; blocks];
        edges.iter().zip(counts).for_each(|(edge, count)| sums[edge.from] += count);
        sums
    };
    edge_counts.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 -> 2 -> (4 or 6), 4 -> 6, 6 -> 2 or out.
    fn loop_with_a_branch() -> Steps {
        let cycles = [
            ((0, 2), 1),
            ((2, 4), 1),
            ((2, 6), 2),
            ((4, 6), 3),
            ((6, 8), 1),
            ((8, 2), 2),
            ((8, 100), 1),
        ];
        let mut steps = Steps { cycles: cycles.into_iter().collect(), ..Steps::default() };
        let counts = [
            ((0, 2), 1),
            ((2, 4), 2),
            ((2, 6), 1),
            ((4, 6), 2),
            ((6, 8), 3),
            ((8, 2), 2),
            ((8, 100), 1),
        ];
        steps.windows.push(counts.into_iter().collect());
        steps.totals.push(22);
        steps
    }

    #[test]
    fn chains_become_blocks_and_their_ways_out_edges() {
        let steps = loop_with_a_branch();
        let (blocks, edges) = steps.graph();
        assert_eq!(
            blocks.iter().map(|block| (block.from, block.to)).collect::<Vec<_>>(),
            [(0, 0), (2, 2), (4, 4), (6, 8)]
        );
        assert_eq!(edges.len(), 6);
        assert_eq!(edges.iter().find(|edge| edge.to.is_none()).unwrap().cycles, 2);
        let counts = steps.edge_counts(&edges);
        assert_eq!(block_counts(blocks.len(), &edges, &counts), [[1.0, 3.0, 2.0, 3.0]]);
        let total: f64 =
            edges.iter().zip(&counts[0]).map(|(edge, count)| edge.cycles as f64 * count).sum();
        assert_eq!(total, 1.0 + 2.0 + 2.0 + 6.0 + 3.0 + 4.0 + 1.0);
    }

    #[test]
    fn a_step_with_varying_cycles_is_an_error() {
        let mut steps = loop_with_a_branch();
        assert!(steps.take((0, 2), 2, 3).is_err());
    }
}
