//! "Execute n times and divide", for comparison with the line fit (Moreno and Fischmeister, Table 1). It wrongly takes the
//! overhead as 0, so the result is too high by `overhead / n`; its interval does not include this error.

use super::blocks::{BlockMeans, variance, variance_of_mean};
use super::interval::{Contribution, Estimate, Source, Uncertain};
use super::location::Grouped;
use crate::observations::{Observations, SeriesId};

/// One direct measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direct {
    /// Copies executed.
    pub copies: f64,
    /// Reading divided by copies, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit.
    pub sd: f64,
}

/// The direct measurement of every row of a series in which only the first component ran, fewest copies first. Empty if
/// there are fewer than two complete blocks of rounds.
pub fn direct(table: &Observations, series: SeriesId, level: f64) -> Vec<Direct> {
    let grouped = Grouped::new(table, series);
    let blocks = BlockMeans::new(&grouped, table.rounds());
    if blocks.len() < 2 {
        return Vec::new();
    }
    let mut found: Vec<Direct> = grouped
        .rows
        .iter()
        .enumerate()
        .filter_map(|(at, id)| {
            let counts = &table.rows()[*id as usize].counts;
            let copies = *counts.first()?;
            if copies <= 0.0 || counts[1..].iter().any(|count| *count != 0.0) {
                return None;
            }
            let means: Vec<f64> = blocks.means.iter().map(|block| block[at] / copies).collect();
            let value = means.iter().sum::<f64>() / means.len() as f64;
            let (of_mean, dof) = variance_of_mean(&means);
            let entry = Contribution::standard(Source::Stochastic, of_mean.sqrt(), dof);
            let single: Vec<f64> =
                grouped.readings[at].iter().filter(|sample| sample.is_used()).map(|sample| sample.ticks / copies).collect();
            Some(Direct { copies, ticks: Uncertain { value, budget: vec![entry] }.estimate(level), sd: variance(&single).sqrt() })
        })
        .collect();
    found.sort_by(|a, b| a.copies.total_cmp(&b.copies));
    found
}
