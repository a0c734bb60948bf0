//! Consequences of the graph alone: which counts determine others in every possible run.

use crate::graph::Graph;
use hairspring_core::estimate::exact_rank;
use std::collections::HashMap;

/// Facts about all runs from entry to end that a graph allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure {
    /// Edges whose counts do not follow from the counts of the blocks, by index.
    pub undetermined: Vec<usize>,
    /// Counts of the blocks in independent flows; every run is a sum of these. The last column
    /// counts the calls.
    pub flows: Vec<Vec<f64>>,
    /// Maximum number of unknowns that whole calls can tell apart, including the overhead.
    pub rank: usize,
    /// Blocks with the same number run equally often in every whole call; the last entry is that of
    /// the calls.
    classes: Vec<usize>,
}

impl Structure {
    /// The structure of a graph.
    pub fn from_graph(graph: &Graph) -> Structure {
        let flows = flows(graph);
        let rank = exact_rank(&flows).pivots.len();
        let classes = classes(&flows, graph.blocks.len() + 1);
        Structure { undetermined: undetermined(graph), flows, rank, classes }
    }

    /// Names of the edges whose counts do not follow from the counts of the blocks.
    pub(super) fn undetermined_names(&self, graph: &Graph) -> Vec<String> {
        self.undetermined.iter().map(|at| graph.edge_name(&graph.edges[*at])).collect()
    }

    /// Whether two blocks run equally often in every whole call.
    pub fn always_equal(&self, a: usize, b: usize) -> bool {
        self.classes[a] == self.classes[b]
    }

    /// Blocks that run equally often as one before them in every whole call.
    pub fn merged(&self) -> Vec<usize> {
        let blocks = self.classes.len().saturating_sub(1);
        (0..blocks).filter(|at| (0..*at).any(|before| self.always_equal(before, *at))).collect()
    }

    /// Whether a block runs once in every whole call.
    pub fn always_once(&self, block: usize) -> bool {
        Some(&self.classes[block]) == self.classes.last()
    }
}

/// Columns in classes of equal ones, refined from flow to flow.
fn classes(flows: &[Vec<f64>], columns: usize) -> Vec<usize> {
    let (mut classes, mut number) = (vec![0; columns], 0);
    for flow in flows {
        // Columns without flow keep their class.
        let mut parts: HashMap<(usize, u64), usize> = HashMap::new();
        for (class, value) in classes.iter_mut().zip(flow).filter(|(_, value)| **value != 0.0) {
            *class = *parts.entry((*class, value.to_bits())).or_insert_with(|| {
                number += 1;
                number
            });
        }
    }
    classes
}

/// A basis of the flows that are balanced at every block. A call is an edge from outside to the
/// entry, and all edges out of the function lead back to it.
fn flows(graph: &Graph) -> Vec<Vec<f64>> {
    let (blocks, edges) = (graph.blocks.len(), graph.edges.len());
    let mut conservation = vec![vec![0.0; edges + 1]; blocks + 1];
    for (at, edge) in graph.edges.iter().enumerate() {
        conservation[edge.from][at] -= 1.0;
        conservation[edge.to.unwrap_or(blocks)][at] += 1.0;
    }
    conservation[graph.entry][edges] += 1.0;
    conservation[blocks][edges] -= 1.0;
    let rank = exact_rank(&conservation);
    let free = (0..=edges).filter(|column| rank.pivots.binary_search(column).is_err());
    free.map(|column| {
        let mut flow = vec![0.0; edges + 1];
        flow[column] = 1.0;
        if let Some((_, sum)) = rank.dependent.iter().find(|(dependent, _)| *dependent == column) {
            // The dependent column is a sum of pivots; these multiples of their flows balance it.
            sum.terms.iter().for_each(|(pivot, coefficient)| flow[*pivot] = -coefficient);
        }
        let mut counts = vec![0.0; blocks + 1];
        for (at, edge) in graph.edges.iter().enumerate() {
            counts[edge.from] += flow[at];
        }
        counts[blocks] = flow[edges];
        counts
    })
    .collect()
}

/// Tests by rank whether the count of an edge is a sum of counts of blocks. The known counts are,
/// for each block, the sum over the edges into it and the sum over the edges out of it.
fn undetermined(graph: &Graph) -> Vec<usize> {
    let (blocks, edges) = (graph.blocks.len(), graph.edges.len());
    let mut known_sums = vec![vec![0.0; edges + 1]; 2 * blocks + 1];
    for (at, edge) in graph.edges.iter().enumerate() {
        known_sums[edge.from][at] = 1.0;
        if let Some(to) = edge.to {
            known_sums[blocks + to][at] = 1.0;
        }
    }
    known_sums[blocks + graph.entry][edges] = 1.0;
    // Every row is one call: the overhead's column.
    known_sums[2 * blocks][edges] = 1.0;
    let rank = exact_rank(&known_sums);
    let alone = |edge: usize| {
        let at = rank.pivots.binary_search(&edge).ok();
        at.is_some_and(|at| rank.identifiable[at].terms == [(edge, 1.0)])
    };
    (0..edges).filter(|edge| !alone(*edge)).collect()
}

/// Columns that are equal in every row, in groups of two or more.
pub fn identical(rows: &[Vec<f64>]) -> Vec<Vec<usize>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut groups: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for column in 0..columns {
        let values: Vec<u64> = rows.iter().map(|row| row[column].to_bits()).collect();
        if rows.iter().any(|row| row[column] != 0.0) {
            groups.entry(values).or_default().push(column);
        }
    }
    let mut found_groups: Vec<Vec<usize>> =
        groups.into_values().filter(|group| group.len() > 1).collect();
    found_groups.sort();
    found_groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::graph;

    #[test]
    fn blocks_suffice_for_an_if_and_a_loop() {
        // 0 -> 1 | 2 -> 3 -> 0 | out
        let structure = Structure::from_graph(&graph(
            4,
            &[(0, Some(1)), (0, Some(2)), (1, Some(3)), (2, Some(3)), (3, Some(0)), (3, None)],
        ));
        assert!(structure.undetermined.is_empty());
        assert!(
            structure.always_equal(0, 3)
                && !structure.always_equal(1, 2)
                && !structure.always_once(0)
        );
        // Calls, trips, and how many of them take the one arm.
        assert_eq!(structure.rank, 3);
    }

    #[test]
    fn two_branches_with_the_same_two_successors_need_edges() {
        // 0 -> 1 | 2; 1 -> 3 | 4; 2 -> 3 | 4; both to 5.
        let edges = [
            (0, Some(1)),
            (0, Some(2)),
            (1, Some(3)),
            (1, Some(4)),
            (2, Some(3)),
            (2, Some(4)),
            (3, Some(5)),
            (4, Some(5)),
            (5, None),
        ];
        assert_eq!(Structure::from_graph(&graph(6, &edges)).undetermined, [2, 3, 4, 5]);
    }

    #[test]
    fn equal_columns_have_one_class() {
        let flows = [vec![1.0, 0.0, 1.0, 1.0], vec![0.0, 2.0, 0.0, 2.0], vec![3.0, 3.0, 3.0, 3.0]];
        let classes = classes(&flows, 4);
        assert!(
            classes[0] == classes[2]
                && classes[0] != classes[1]
                && classes[0] != classes[3]
                && classes[1] != classes[3],
            "{classes:?}"
        );
    }

    #[test]
    fn a_straight_line_runs_once() {
        let structure = Structure::from_graph(&graph(3, &[(0, Some(1)), (1, Some(2)), (2, None)]));
        assert!((0..3).all(|block| structure.always_once(block)));
        assert_eq!(structure.rank, 1);
    }

    #[test]
    fn equal_columns_are_grouped_and_empty_ones_are_not() {
        let rows = vec![vec![1.0, 2.0, 1.0, 0.0, 0.0], vec![3.0, 2.0, 3.0, 0.0, 0.0]];
        assert_eq!(identical(&rows), [vec![0, 2]]);
    }
}
