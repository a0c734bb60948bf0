//! The branches by which a call begins and ends, as far as its counts show them.
//!
//! A core has more to do at once where code that waits for nothing begins, and less where the last
//! of it ends: calls of known length began by up to 2.9 cycles later by one branch than by another,
//! and ended by 1.1 cycles sooner (Intel, family 6, model 167).

use crate::graph::Graph;

/// Branches at the beginning of a call that are looked at: what comes behind them waits for them.
const FIRST_BRANCHES: usize = 3;

/// The edges of a graph by the block that they leave, and by the one that they enter.
pub struct Arms<'a> {
    graph: &'a Graph,
    leaving: Vec<Vec<usize>>,
    entering: Vec<Vec<usize>>,
}

impl<'a> Arms<'a> {
    pub fn new(graph: &'a Graph) -> Arms<'a> {
        let (mut leaving, mut entering) =
            (vec![Vec::new(); graph.blocks.len()], vec![Vec::new(); graph.blocks.len()]);
        for (at, edge) in graph.edges.iter().enumerate() {
            leaving[edge.from].push(at);
            edge.to.into_iter().for_each(|to| entering[to].push(at));
        }
        Arms { graph, leaving, entering }
    }

    /// The first branches of a call whose edges were taken that often: up to where it took both
    /// ways.
    pub fn first(&self, taken_times: &[u64]) -> Vec<usize> {
        let (mut at, mut arms, mut seen_blocks) =
            (self.graph.entry, Vec::new(), vec![false; self.graph.blocks.len()]);
        while arms.len() < FIRST_BRANCHES && !std::mem::replace(&mut seen_blocks[at], true) {
            let Some(edge) = only(&self.leaving[at], taken_times) else { break };
            arms.extend(Some(edge).filter(|_| self.leaving[at].len() > 1));
            let Some(to) = self.graph.edges[edge].to else { break };
            at = to;
        }
        arms
    }

    /// The last branch of a call: that by which it came to the block where it leaves the function,
    /// or to those that always come before it.
    pub fn last(&self, taken_times: &[u64]) -> Option<usize> {
        let leaves = |edge: &usize| self.graph.edges[*edge].to.is_none() && taken_times[*edge] > 0;
        let exit = (0..self.graph.edges.len()).find(leaves)?;
        let (mut at, mut seen_blocks) =
            (self.graph.edges[exit].from, vec![false; self.graph.blocks.len()]);
        while !std::mem::replace(&mut seen_blocks[at], true) {
            let edge = only(&self.entering[at], taken_times)?;
            if self.entering[at].len() > 1 {
                return Some(edge);
            }
            at = self.graph.edges[edge].from;
        }
        None
    }
}

/// The only one of some edges that was taken.
fn only(edges: &[usize], taken_times: &[u64]) -> Option<usize> {
    let mut taken_edges = edges.iter().copied().filter(|edge| taken_times[*edge] > 0);
    taken_edges.next().filter(|_| taken_edges.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::graph;

    #[test]
    fn branches_are_known_up_to_where_both_ways_were_taken() {
        // 0 -> 1 or 2; both -> 3; 3 -> 4 or 5; 4 -> 3; 5 -> 6 or 7; both -> 8 -> out
        let ways = [
            (0, Some(1)),
            (0, Some(2)),
            (1, Some(3)),
            (2, Some(3)),
            (3, Some(4)),
            (3, Some(5)),
            (4, Some(3)),
            (5, Some(6)),
            (5, Some(7)),
            (6, Some(8)),
            (7, Some(8)),
            (8, None),
        ];
        let graph = graph(9, &ways);
        let arms = Arms::new(&graph);
        let edge = |from: usize, to: usize| {
            graph.edges.iter().position(|edge| edge.from == from && edge.to == Some(to)).unwrap()
        };
        let taken_times = |pairs: &[(usize, usize)]| {
            let mut times_of_edges = vec![0; graph.edges.len()];
            pairs.iter().for_each(|(from, to)| times_of_edges[edge(*from, *to)] += 1);
            times_of_edges[graph.edges.iter().position(|edge| edge.to.is_none()).unwrap()] = 1;
            times_of_edges
        };
        let through = taken_times(&[(0, 1), (1, 3), (3, 4), (4, 3), (3, 5), (5, 7), (7, 8)]);
        assert_eq!(
            (arms.first(&through), arms.last(&through)),
            (vec![edge(0, 1)], Some(edge(7, 8)))
        );
        let straight = taken_times(&[(0, 2), (2, 3), (3, 5), (5, 6), (6, 8)]);
        assert_eq!(
            (arms.first(&straight), arms.last(&straight)),
            (vec![edge(0, 2), edge(3, 5), edge(5, 6)], Some(edge(6, 8)))
        );
    }

    #[test]
    fn a_call_that_never_leaves_or_begins_elsewhere_has_none() {
        let graph = graph(2, &[(0, Some(1)), (1, Some(0))]);
        let arms = Arms::new(&graph);
        assert_eq!((arms.first(&[0, 0]), arms.last(&[0, 0])), (Vec::new(), None));
        assert_eq!((arms.first(&[4, 4]), arms.last(&[4, 4])), (Vec::new(), None));
    }
}
