//! Cutting the bytes of a function into basic blocks.

use super::code::{Code, Flow};
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
/// Blocks end with a branch or a return and begin where a branch leads to; calls do not end a
/// block. Code that no branch leads to (cases of a jump table that no input took) is cut from the
/// end of the known code, and marked.
pub fn cut(code: &Code, entry: u64, observed: &Observed) -> Graph {
    let mut leaders: BTreeSet<u64> =
        observed.iter().map(|(_, to)| *to).filter(|to| code.contains(*to)).chain([entry]).collect();
    let code = &Whole { code, entry };
    let linked = follow(code, &mut leaders);
    let mut stretches = stretches(code, &leaders);
    while let Some(gap) = first_gap(code.code, &stretches) {
        let mut found_leaders = BTreeSet::from([gap]);
        follow_from(code, &mut found_leaders, &linked);
        leaders.extend(found_leaders);
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

/// A function's code, with its entry.
struct Whole<'a> {
    code: &'a Code,
    entry: u64,
}

/// Adds all branch targets reachable from the leaders to these; returns the addresses of all
/// instructions.
fn follow(code: &Whole<'_>, leaders: &mut BTreeSet<u64>) -> BTreeSet<u64> {
    follow_from(code, leaders, &BTreeSet::new())
}

fn follow_from(
    code: &Whole<'_>,
    leaders: &mut BTreeSet<u64>,
    known_leaders: &BTreeSet<u64>,
) -> BTreeSet<u64> {
    let mut seen_addresses = BTreeSet::new();
    let mut open: Vec<u64> = leaders.iter().copied().collect();
    while let Some(mut at) = open.pop() {
        while !known_leaders.contains(&at) && seen_addresses.insert(at) {
            let Some(instruction) = code.code.decode(at) else { break };
            let next = instruction.next_ip();
            match code.code.flow(&instruction, code.entry) {
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
    seen_addresses
}

fn lead(code: &Whole<'_>, leaders: &mut BTreeSet<u64>, to: u64) -> Option<u64> {
    (code.code.contains(to) && leaders.insert(to)).then_some(to)
}

/// From each leader to the next one or to the end of its flow.
fn stretches(code: &Whole<'_>, leaders: &BTreeSet<u64>) -> BTreeMap<u64, Stretch> {
    leaders.iter().filter_map(|start| Some((*start, stretch(code, *start, leaders)?))).collect()
}

fn stretch(code: &Whole<'_>, start: u64, leaders: &BTreeSet<u64>) -> Option<Stretch> {
    let mut stretch =
        Stretch { end: start, last: start, instructions: 0, flow: Flow::Next, linked: true };
    loop {
        let Some(instruction) = code.code.decode(stretch.end) else {
            stretch.flow = Flow::Stop;
            break;
        };
        stretch.last = stretch.end;
        stretch.end = instruction.next_ip();
        stretch.instructions += 1;
        stretch.flow = code.code.flow(&instruction, code.entry);
        match stretch.flow {
            Flow::Next | Flow::Call => {}
            _ => break,
        }
        if leaders.contains(&stretch.end) {
            stretch.flow = Flow::Next;
            break;
        }
    }
    (stretch.instructions > 0).then_some(stretch)
}

/// The first address after known code that is neither known nor padding.
fn first_gap(code: &Code, known_stretches: &BTreeMap<u64, Stretch>) -> Option<u64> {
    for range in code.ranges() {
        let mut at = range.start;
        while at < range.end {
            if let Some((_, stretch)) =
                known_stretches.range(..=at).next_back().filter(|(_, stretch)| stretch.end > at)
            {
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
    let index: BTreeMap<u64, usize> =
        stretches.keys().enumerate().map(|(at, start)| (*start, at)).collect();
    let mut graph = Graph { entry: index.get(&entry).copied().unwrap_or(0), ..Graph::default() };
    for (from, (start, stretch)) in stretches.iter().enumerate() {
        let inside = |address: u64| index.get(&address).copied();
        let seen_targets: BTreeSet<Option<usize>> = observed
            .range((stretch.last, 0)..=(stretch.last, u64::MAX))
            .map(|(_, to)| inside(*to))
            .collect();
        let edges = edges(stretch, &seen_targets, &inside);
        graph.edges.extend(edges.into_iter().map(|(kind, to)| Edge { from, to, kind }));
        if is_computed(stretch, &seen_targets, &inside) {
            graph.indirect.push(from);
        }
        graph.blocks.push(Block {
            start: *start,
            end: stretch.end,
            instructions: stretch.instructions,
            source: None,
            calls: Vec::new(),
            hottest: Vec::new(),
            code: Vec::new(),
            unlinked: !stretch.linked,
        });
    }
    graph
}

/// Whether only observation tells where the end of a stretch leads. A jump out of the function is
/// such an end if control was seen to come back elsewhere: it led to a part that the compiler
/// moved, or to code that jumps on.
fn is_computed(
    stretch: &Stretch,
    seen_targets: &BTreeSet<Option<usize>>,
    inside: &impl Fn(u64) -> Option<usize>,
) -> bool {
    let comes_back = seen_targets.iter().any(Option::is_some);
    match stretch.flow {
        Flow::Indirect => true,
        Flow::Jump(to) => comes_back && inside(to).is_none(),
        Flow::Return => comes_back,
        _ => false,
    }
}

/// The edges of a stretch.
fn edges(
    stretch: &Stretch,
    seen_targets: &BTreeSet<Option<usize>>,
    inside: &impl Fn(u64) -> Option<usize>,
) -> Vec<(EdgeKind, Option<usize>)> {
    let observed =
        |to: &Option<usize>| (if to.is_some() { EdgeKind::Indirect } else { EdgeKind::Leave }, *to);
    if is_computed(stretch, seen_targets, inside) {
        return seen_targets.iter().map(observed).collect();
    }
    match stretch.flow {
        Flow::Next | Flow::Call => vec![(EdgeKind::Fallthrough, inside(stretch.end))],
        Flow::Jump(to) => {
            vec![(if inside(to).is_some() { EdgeKind::Jump } else { EdgeKind::Leave }, inside(to))]
        }
        Flow::Conditional(to) => {
            let (next, target) = (inside(stretch.end), inside(to));
            let more = seen_targets.iter().filter(|to| **to != next && **to != target);
            let taken_kind = if target.is_some() { EdgeKind::Taken } else { EdgeKind::Leave };
            [(EdgeKind::Fallthrough, next), (taken_kind, target)]
                .into_iter()
                .chain(more.map(observed))
                .collect()
        }
        Flow::Return => vec![(EdgeKind::Leave, None)],
        Flow::Indirect | Flow::Stop => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// test edi,edi; je +3; inc eax; (2 bytes) nop; ret: an if without an else.
    const IF_CODE: [u8; 8] = [0x85, 0xff, 0x74, 0x03, 0xff, 0xc0, 0x90, 0xc3];

    fn edges(graph: &Graph) -> Vec<(usize, Option<usize>, EdgeKind)> {
        graph.edges.iter().map(|edge| (edge.from, edge.to, edge.kind)).collect()
    }

    #[test]
    fn an_if_has_three_blocks() {
        let graph = cut(&Code::new(vec![(0x1000, IF_CODE.to_vec())]), 0x1000, &Observed::new());
        assert_eq!(
            graph.blocks.iter().map(|block| block.start).collect::<Vec<_>>(),
            [0x1000, 0x1004, 0x1007]
        );
        assert_eq!(
            graph.blocks.iter().map(|block| block.instructions).collect::<Vec<_>>(),
            [2, 2, 1]
        );
        use EdgeKind::{Fallthrough, Leave, Taken};
        let expected = [
            (0, Some(1), Fallthrough),
            (0, Some(2), Taken),
            (1, Some(2), Fallthrough),
            (2, None, Leave),
        ];
        assert_eq!(edges(&graph), expected);
        assert!(graph.blocks.iter().all(|block| !block.unlinked));
    }

    #[test]
    fn calls_do_not_end_a_block_and_jumps_out_leave() {
        // call +0x100; jmp far out.
        let graph = cut(
            &Code::new(vec![(0x1000, vec![0xe8, 0, 1, 0, 0, 0xe9, 0, 2, 0, 0])]),
            0x1000,
            &Observed::new(),
        );
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
        let graph = cut(
            &Code::new(vec![(0x1000, vec![0xff, 0xc0, 0x90, 0x90, 0x75, 0xfc, 0xc3])]),
            0x1000,
            &Observed::new(),
        );
        assert_eq!(
            graph.blocks.iter().map(|block| block.start).collect::<Vec<_>>(),
            [0x1000, 0x1002, 0x1006]
        );
        assert_eq!(edges(&graph)[0], (0, Some(1), EdgeKind::Fallthrough));
    }

    #[test]
    fn jumps_out_that_come_back_lead_where_they_were_seen_to() {
        // inc eax; je far out; jmp far out; nop; ret
        let code =
            Code::new(vec![(0x1000, vec![0xff, 0xc0, 0x74, 0x70, 0xe9, 0, 2, 0, 0, 0x90, 0xc3])]);
        let kinds = |observed: &[(u64, u64)]| {
            let graph = cut(&code, 0x1000, &observed.iter().copied().collect());
            let named = |(from, to, kind): (usize, Option<usize>, EdgeKind)| {
                (graph.blocks[from].start, to.map(|to| graph.blocks[to].start), kind)
            };
            (edges(&graph).into_iter().map(named).collect::<Vec<_>>(), graph.indirect.len())
        };
        use EdgeKind::{Fallthrough, Indirect, Leave};
        let conditional = [(0x1000, Some(0x1004), Fallthrough), (0x1000, None, Leave)];
        let (all_kinds, indirect) = kinds(&[(0x1004, 0x1209)]);
        assert_eq!(
            (&all_kinds[..3], indirect),
            (&[conditional[0], conditional[1], (0x1004, None, Leave)][..], 0)
        );
        let (all_kinds, indirect) = kinds(&[(0x1002, 0x100a), (0x1004, 0x100a), (0x1004, 0x1209)]);
        assert_eq!(
            all_kinds[..3],
            [conditional[0], conditional[1], (0x1000, Some(0x100a), Indirect)]
        );
        assert_eq!(
            (&all_kinds[3..5], indirect),
            (&[(0x1004, None, Leave), (0x1004, Some(0x100a), Indirect)][..], 1)
        );
    }

    #[test]
    fn a_call_into_the_middle_is_a_jump_and_its_return_leads_where_it_was_seen_to() {
        // call 7; nop; ret; 7: pop rax; push rax; ret
        let code = Code::new(vec![(0x1000, vec![0xe8, 2, 0, 0, 0, 0x90, 0xc3, 0x58, 0x50, 0xc3])]);
        let graph = cut(&code, 0x1000, &Observed::from([(0x1009, 0x1005)]));
        assert_eq!(
            graph.blocks.iter().map(|block| block.start).collect::<Vec<_>>(),
            [0x1000, 0x1005, 0x1007]
        );
        assert_eq!(
            edges(&graph),
            [
                (0, Some(2), EdgeKind::Jump),
                (1, None, EdgeKind::Leave),
                (2, Some(1), EdgeKind::Indirect)
            ]
        );
    }
}
