//! The latencies of single edges from chains of several: one linear system. What the chains cannot
//! split stays a sum.

use crate::design::Edge;
use hairspring_core::Estimate;
use hairspring_core::estimate::exact_rank;
use std::collections::BTreeMap;

/// A measured chain: its edges, and the cycles of a copy.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The edges of a copy.
    pub edges: Vec<Edge>,
    /// Cycles of a copy.
    pub cycles: Estimate,
}

/// The latencies of the edges that the chains determine.
///
/// The system is solved by least squares with the intervals as weights; an interval follows from
/// those of the chains by the law of propagation for independent errors.
pub fn solve(chains: &[Chain]) -> BTreeMap<Edge, Estimate> {
    linked(chains).iter().flat_map(|linked| solve_linked(linked)).collect()
}

/// The chains in groups that share no edge.
fn linked(chains: &[Chain]) -> Vec<Vec<&Chain>> {
    let mut group_of: BTreeMap<&Edge, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&Chain>> = Vec::new();
    for chain in chains {
        let mut joined: Vec<usize> =
            chain.edges.iter().filter_map(|edge| group_of.get(edge).copied()).collect();
        joined.sort_unstable();
        joined.dedup();
        let target = joined.first().copied().unwrap_or(groups.len());
        if target == groups.len() {
            groups.push(Vec::new());
        }
        for other_group in joined.into_iter().skip(1) {
            let moved = std::mem::take(&mut groups[other_group]);
            moved.iter().flat_map(|chain| &chain.edges).for_each(|edge| {
                group_of.insert(edge, target);
            });
            groups[target].extend(moved);
        }
        chain.edges.iter().for_each(|edge| {
            group_of.insert(edge, target);
        });
        groups[target].push(chain);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// The latencies that chains with edges in common determine.
fn solve_linked(chains: &[&Chain]) -> BTreeMap<Edge, Estimate> {
    let edges: Vec<&Edge> = {
        let mut all_edges: Vec<&Edge> = chains.iter().flat_map(|chain| &chain.edges).collect();
        all_edges.sort();
        all_edges.dedup();
        all_edges
    };
    let count = |chain: &Chain, edge: &Edge| {
        chain.edges.iter().filter(|other| *other == edge).count() as f64
    };
    let design: Vec<Vec<f64>> =
        chains.iter().map(|chain| edges.iter().map(|edge| count(chain, edge)).collect()).collect();
    let rank = exact_rank(&design);
    // The values of the pivot columns are those of the combinations that can be told apart.
    let reduced: Vec<Vec<f64>> =
        design.iter().map(|row| rank.pivots.iter().map(|column| row[*column]).collect()).collect();
    let weights: Vec<f64> =
        chains.iter().map(|chain| chain.cycles.half_width().max(SMALLEST_WIDTH).powi(-2)).collect();
    let Some(inverse) = inverse(&normal(&reduced, &weights)) else { return BTreeMap::new() };
    let level = chains.first().map_or(0.95, |chain| chain.cycles.level);
    let alone = rank
        .identifiable
        .iter()
        .enumerate()
        .filter(|(_, combination)| combination.terms.len() == 1);
    alone
        .map(|(at, combination)| {
            // The solution is a weighted sum of the chains.
            let shares: Vec<f64> = reduced
                .iter()
                .zip(&weights)
                .map(|(row, weight)| {
                    weight * inverse[at].iter().zip(row).map(|(a, b)| a * b).sum::<f64>()
                })
                .collect();
            let value: f64 =
                shares.iter().zip(chains).map(|(share, chain)| share * chain.cycles.value).sum();
            let half = shares
                .iter()
                .zip(chains)
                .map(|(share, chain)| (share * chain.cycles.half_width()).powi(2))
                .sum::<f64>()
                .sqrt();
            (
                edges[combination.terms[0].0].clone(),
                Estimate { value, low: value - half, high: value + half, level },
            )
        })
        .collect()
}

/// Half-width in cycles below which chains have the same weight.
const SMALLEST_WIDTH: f64 = 1e-6;

/// The normal matrix of weighted least squares.
fn normal(rows: &[Vec<f64>], weights: &[f64]) -> Vec<Vec<f64>> {
    let columns = rows.first().map_or(0, Vec::len);
    let mut matrix = vec![vec![0.0; columns]; columns];
    for (row, weight) in rows.iter().zip(weights) {
        // Chains have few edges.
        let used: Vec<usize> = (0..columns).filter(|column| row[*column] != 0.0).collect();
        for i in &used {
            for j in &used {
                matrix[*i][*j] += weight * row[*i] * row[*j];
            }
        }
    }
    matrix
}

/// The inverse of a positive definite matrix, scaled to ones on its diagonal first; `None` if it is
/// singular.
fn inverse(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let scale: Vec<f64> = (0..size).map(|at| matrix[at][at].sqrt()).collect();
    if scale.iter().any(|scale| *scale <= 0.0 || !scale.is_finite()) {
        return None;
    }
    let entry = |i: usize, j: usize| matrix[i][j] / (scale[i] * scale[j]);
    let mut rows: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            (0..2 * size)
                .map(|j| if j < size { entry(i, j) } else { f64::from(u8::from(j - size == i)) })
                .collect()
        })
        .collect();
    for pivot in 0..size {
        let best =
            (pivot..size).max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()))?;
        rows.swap(pivot, best);
        let divisor = rows[pivot][pivot];
        if divisor.abs() < 1e-12 {
            return None;
        }
        rows[pivot].iter_mut().for_each(|value| *value /= divisor);
        let lead = rows[pivot].clone();
        for (_, row) in
            rows.iter_mut().enumerate().filter(|(at, row)| *at != pivot && row[pivot] != 0.0)
        {
            let factor = row[pivot];
            row.iter_mut().zip(&lead).for_each(|(value, lead)| *value -= factor * lead);
        }
    }
    Some(
        rows.into_iter()
            .enumerate()
            .map(|(i, row)| (0..size).map(|j| row[size + j] / (scale[i] * scale[j])).collect())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(name: usize) -> Edge {
        Edge { form: format!("form {name}"), from: "2".into(), to: "1".into() }
    }

    fn chain(edges: &[usize], cycles: f64) -> Chain {
        let cycles =
            Estimate { value: cycles, low: cycles - 0.01, high: cycles + 0.01, level: 0.95 };
        Chain { edges: edges.iter().map(|at| edge(*at)).collect(), cycles }
    }

    #[test]
    fn what_is_only_known_as_a_sum_is_not_split() {
        let solution = solve(&[
            chain(&[0], 1.0),
            chain(&[1, 2], 6.0),
            chain(&[3, 2], 9.0),
            chain(&[4, 0], 4.0),
        ]);
        assert_eq!(solution.len(), 2, "{solution:?}");
        assert!(
            (solution[&edge(0)].value - 1.0).abs() < 1e-9
                && (solution[&edge(4)].value - 3.0).abs() < 1e-9
        );
        assert!(
            solution[&edge(4)].half_width() > 0.014 && solution[&edge(4)].half_width() < 0.0142
        );
    }

    #[test]
    fn three_sums_of_two_give_each() {
        let solution = solve(&[chain(&[0, 1], 3.0), chain(&[1, 2], 5.0), chain(&[0, 2], 4.0)]);
        let values: Vec<f64> = (0..3).map(|at| solution[&edge(at)].value).collect();
        assert!(
            values
                .iter()
                .zip([1.0, 2.0, 3.0])
                .all(|(solution, truth)| (solution - truth).abs() < 1e-9),
            "{values:?}"
        );
        assert!(solve(&[]).is_empty());
    }

    proptest! {
        /// Whatever chains are measured: a latency that is reported is the true one, and one that a
        /// chain shows alone is reported.
        #[test]
        fn reported_latencies_are_true(
            truth in prop::collection::vec(0.2f64..20.0, 2..9),
            picks in prop::collection::vec(prop::collection::vec(0usize..9, 1..4), 1..20),
        ) {
            let picks: Vec<Vec<usize>> = picks.iter()
                .map(|pick| pick.iter().map(|at| at % truth.len()).collect()).collect();
            let chains: Vec<Chain> = picks.iter().map(|pick| chain(pick,
                pick.iter().map(|at| truth[*at]).sum())).collect();
            let found = solve(&chains);
            for (at, truth) in truth.iter().enumerate() {
                if let Some(found) = found.get(&edge(at)) {
                    prop_assert!((found.value - truth).abs() < 1e-6, "{at}: {found:?} for {truth}");
                }
                prop_assert!(!picks.iter().any(|pick| pick == &[at])
                    || found.contains_key(&edge(at)));
            }
        }
    }
}
