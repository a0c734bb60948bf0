//! Times of whole calls by their path: calls with the same counts. They are known also where the
//! parts do not add up.

use super::CountRow;
use hairspring_core::estimate::Solution;
use std::collections::BTreeMap;

/// Calls with the same counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// How often each block ran.
    pub blocks: Vec<u64>,
    /// Number of calls.
    pub calls: usize,
    /// Mean, shortest and longest time of these calls in the table's unit, without the overhead
    /// where that is known.
    pub mean: f64,
    /// Shortest.
    pub low: f64,
    /// Longest.
    pub high: f64,
}

/// The paths of whole calls, those with the most time first.
pub fn paths(solution: &Solution, rows: &[CountRow]) -> Vec<Path> {
    let overhead = solution.overhead.map_or(0.0, |overhead| overhead.value);
    let mut calls_of_paths: BTreeMap<&[u64], Vec<f64>> = BTreeMap::new();
    for fit in solution.rows.iter().filter(|fit| fit.location.is_finite()) {
        if let Some(row) = rows.get(fit.row as usize).filter(|row| row.is_whole()) {
            calls_of_paths.entry(&row.counts.blocks).or_default().push(fit.location - overhead);
        }
    }
    let path = |(blocks, times): (&[u64], Vec<f64>)| Path {
        blocks: blocks.to_vec(),
        calls: times.len(),
        mean: times.iter().sum::<f64>() / times.len() as f64,
        low: times.iter().copied().fold(f64::INFINITY, f64::min),
        high: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    };
    let mut all_paths: Vec<Path> = calls_of_paths.into_iter().map(path).collect();
    all_paths.sort_by(|a, b| (b.mean * b.calls as f64).total_cmp(&(a.mean * a.calls as f64)));
    all_paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Counts;
    use hairspring_core::estimate::Options;
    use hairspring_core::observations::Observations;
    use hairspring_core::pipeline::solve;

    #[test]
    fn calls_with_the_same_counts_are_a_path_and_ends_are_none() {
        let mut table = Observations::new(vec!["B1".into()]);
        let series = table.series("function");
        let mut rows = Vec::new();
        for (count, ticks, until) in [
            (1u64, 110.0, None),
            (2, 210.0, None),
            (2, 214.0, None),
            (3, 310.0, None),
            (2, 500.0, Some(0)),
        ] {
            let row = table.row_apart(series, &[count as f64]);
            (0..8).for_each(|round| table.push(row, round, ticks + f64::from(round % 2)));
            rows.push(CountRow {
                counts: Counts { blocks: vec![count], edges: Vec::new() },
                until,
                counted: None,
            });
        }
        let all_paths = paths(&solve(&table, series, &Options::default()).unwrap(), &rows);
        let found_paths: Vec<(u64, usize)> =
            all_paths.iter().map(|path| (path.blocks[0], path.calls)).collect();
        assert!(
            found_paths == [(2, 2), (3, 1), (1, 1)]
                && all_paths[0].low < all_paths[0].mean
                && all_paths[0].mean < all_paths[0].high,
            "{all_paths:?}"
        );
    }
}
