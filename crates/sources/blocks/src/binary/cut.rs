//! Cutting the bytes of a function into basic blocks.

use super::code::{Code, Flow, flow};
use crate::graph::{Block, Edge, EdgeKind, Graph};
use std::collections::{BTreeMap, BTreeSet};

/// Observed targets of jumps that the disassembly cannot follow: address of the jump, target.
pub type Observed = BTreeSet<(u64, u64)>;

/// A stretch of instructions: where it begins, where it ends, and how.
struct Stretch {
    end: u64,
    last: u64,
    instructions: u32,
    flow: Flow,
    linked: bool,
}

/// The graph of a function from its code, at the addresses that the code has.
///
/// Blocks end with a branch or a return and begin where a branch leads to; calls do not end a block. Code that no
/// branch leads to (cases of a jump table that no input took) is cut from the end of the known code, and marked.
pub fn cut(code: &Code, entry: u64, observed: &Observed) -> Graph {
    let mut leaders: BTreeSet<u64> = observed.iter().map(|(_, to)| *to).filter(|to| code.contains(*to)).chain([entry]).collect();
    let linked = follow(code, &mut leaders);
    let mut stretches = stretches(code, &leaders);
    while let Some(gap) = first_gap(code, &stretches) {
        let mut found = BTreeSet::from([gap]);
        follow_from(code, &mut found, &linked);
        leaders.extend(found);
        let again = self::stretches(code, &leaders);
        if again.len() == stretches.len() {
            break;
        }
        stretches = again;
    }
    for (start, stretch) in &mut stretches {
        stretch.linked = linked.contains(start);
    }
    assemble(&stretches, entry, observed)
}

/// Adds all branch targets reachable from the leaders to these; returns the addresses of all instructions.
fn follow(code: &Code, leaders: &mut BTreeSet<u64>) -> BTreeSet<u64> {
    follow_from(code, leaders, &BTreeSet::new())
}

fn follow_from(code: &Code, leaders: &mut BTreeSet<u64>, known: &BTreeSet<u64>) -> BTreeSet<u64> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<u64> = leaders.iter().copied().collect();
    while let Some(mut at) = open.pop() {
        while !known.contains(&at) && seen.insert(at) {
            let Some(instruction) = code.decode(at) else { break };
            let next = instruction.next_ip();
            match flow(&instruction) {
                Flow::Next | Flow::Call => {
                    at = next;
                    continue;
                }
                Flow::Jump(to) => open.extend(lead(code, leaders, to)),
                Flow::Conditional(to) => {
                    open.extend(lead(code, leaders, to));
                    open.extend(lead(code, leaders, next));
                }
                Flow::Indirect | Flow::Return | Flow::Stop => {}
            }
            break;
        }
    }
    seen
}

fn lead(code: &Code, leaders: &mut BTreeSet<u64>, to: u64) -> Option<u64> {
    (code.contains(to) && leaders.insert(to)).then_some(to)
}

/// From each leader to the next one or to the end of its flow.
fn stretches(code: &Code, leaders: &BTreeSet<u64>) -> BTreeMap<u64, Stretch> {
    leaders.iter().filter_map(|start| Some((*start, stretch(code, *start, leaders)?))).collect()
}

fn stretch(code: &Code, start: u64, leaders: &BTreeSet<u64>) -> Option<Stretch> {
    let mut found = Stretch { end: start, last: start, instructions: 0, flow: Flow::Next, linked: true };
    loop {
        let Some(instruction) = code.decode(found.end) else {
            found.flow = Flow::Stop;
            break;
        };
        found.last = found.end;
        found.end = instruction.next_ip();
        found.instructions += 1;
        found.flow = flow(&instruction);
        match found.flow {
            Flow::Next | Flow::Call => {}
            _ => break,
        }
        if leaders.contains(&found.end) {
            found.flow = Flow::Next;
            break;
        }
    }
    (found.instructions > 0).then_some(found)
}

/// The first address after known code that is neither known nor padding.
fn first_gap(code: &Code, known: &BTreeMap<u64, Stretch>) -> Option<u64> {
    for range in code.ranges() {
        let mut at = range.start;
        while at < range.end {
            if let Some((_, stretch)) = known.range(..=at).next_back().filter(|(_, stretch)| stretch.end > at) {
                at = stretch.end;
                continue;
            }
            match code.decode(at) {
                Some(instruction) if !is_padding(&instruction) => return Some(at),
                Some(instruction) => at = instruction.next_ip(),
                None => at += 1,
            }
        }
    }
    None
}

/// Whether an instruction is padding between functions or blocks.
pub fn is_padding(instruction: &iced_x86::Instruction) -> bool {
    use iced_x86::Mnemonic::{Int3, Nop};
    matches!(instruction.mnemonic(), Nop | Int3)
}

fn assemble(stretches: &BTreeMap<u64, Stretch>, entry: u64, observed: &Observed) -> Graph {
    let index: BTreeMap<u64, usize> = stretches.keys().enumerate().map(|(at, start)| (*start, at)).collect();
    let mut graph = Graph { entry: index.get(&entry).copied().unwrap_or(0), ..Graph::default() };
    for (from, (start, stretch)) in stretches.iter().enumerate() {
        let mut edge = |kind: EdgeKind, to: Option<usize>| graph.edges.push(Edge { from, to, kind });
        let inside = |address: u64| index.get(&address).copied();
        match stretch.flow {
            Flow::Next | Flow::Call => edge(EdgeKind::Fallthrough, inside(stretch.end)),
            Flow::Jump(to) => edge(if inside(to).is_some() { EdgeKind::Jump } else { EdgeKind::Leave }, inside(to)),
            Flow::Conditional(to) => {
                edge(EdgeKind::Fallthrough, inside(stretch.end));
                edge(if inside(to).is_some() { EdgeKind::Taken } else { EdgeKind::Leave }, inside(to));
            }
            Flow::Indirect => {
                let targets: BTreeSet<Option<usize>> =
                    observed.iter().filter(|(at, _)| *at == stretch.last).map(|(_, to)| inside(*to)).collect();
                targets.into_iter().for_each(|to| edge(if to.is_some() { EdgeKind::Indirect } else { EdgeKind::Leave }, to));
            }
            Flow::Return => edge(EdgeKind::Leave, None),
            Flow::Stop => {}
        }
        if stretch.flow == Flow::Indirect {
            graph.indirect.push(from);
        }
        graph.blocks.push(Block {
            start: *start,
            end: stretch.end,
            instructions: stretch.instructions,
            source: None,
            calls: Vec::new(),
            hottest: Vec::new(),
            unlinked: !stretch.linked,
        });
    }
    graph
}

#[cfg(test)]
mod tests {
    use super::*;

    /// test edi,edi; je +3; inc eax; (2 bytes) nop; ret: an if without an else.
    const IF: [u8; 8] = [0x85, 0xff, 0x74, 0x03, 0xff, 0xc0, 0x90, 0xc3];

    fn edges(graph: &Graph) -> Vec<(usize, Option<usize>, EdgeKind)> {
        graph.edges.iter().map(|edge| (edge.from, edge.to, edge.kind)).collect()
    }

    #[test]
    fn an_if_has_three_blocks() {
        let graph = cut(&Code::new(vec![(0x1000, IF.to_vec())]), 0x1000, &Observed::new());
        assert_eq!(graph.blocks.iter().map(|block| block.start).collect::<Vec<_>>(), [0x1000, 0x1004, 0x1007]);
        assert_eq!(graph.blocks.iter().map(|block| block.instructions).collect::<Vec<_>>(), [2, 2, 1]);
        use EdgeKind::{Fallthrough, Leave, Taken};
        let expected = [(0, Some(1), Fallthrough), (0, Some(2), Taken), (1, Some(2), Fallthrough), (2, None, Leave)];
        assert_eq!(edges(&graph), expected);
        assert!(graph.blocks.iter().all(|block| !block.unlinked));
    }

    #[test]
    fn calls_do_not_end_a_block_and_jumps_out_leave() {
        // call +0x100; jmp far out.
        let graph = cut(&Code::new(vec![(0x1000, vec![0xe8, 0, 1, 0, 0, 0xe9, 0, 2, 0, 0])]), 0x1000, &Observed::new());
        assert_eq!(edges(&graph), [(0, None, EdgeKind::Leave)]);
        assert_eq!((graph.blocks[0].end, graph.blocks[0].instructions), (0x100a, 2));
    }

    #[test]
    fn cases_that_no_input_took_are_found_and_marked() {
        // jmp rax; ret; nop; inc eax; ret
        let code = Code::new(vec![(0x1000, vec![0xff, 0xe0, 0xc3, 0x90, 0xff, 0xc0, 0xc3])]);
        let graph = cut(&code, 0x1000, &Observed::from([(0x1000, 0x1002)]));
        assert_eq!(
            graph.blocks.iter().map(|block| (block.start, block.unlinked)).collect::<Vec<_>>(),
            [(0x1000, false), (0x1002, false), (0x1004, true)]
        );
        assert_eq!(edges(&graph)[0], (0, Some(1), EdgeKind::Indirect));
        assert_eq!(graph.indirect, [0]);
    }

    #[test]
    fn a_branch_into_the_middle_of_a_block_cuts_it() {
        // inc eax; nop; nop; jne back to the first nop; ret
        let graph = cut(&Code::new(vec![(0x1000, vec![0xff, 0xc0, 0x90, 0x90, 0x75, 0xfc, 0xc3])]), 0x1000, &Observed::new());
        assert_eq!(graph.blocks.iter().map(|block| block.start).collect::<Vec<_>>(), [0x1000, 0x1002, 0x1006]);
        assert_eq!(edges(&graph)[0], (0, Some(1), EdgeKind::Fallthrough));
    }
}
