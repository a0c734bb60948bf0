//! Two executions minus one (Moreno and Fischmeister, 3.1): free of the overhead, but noisier than a line fit.

use super::blocks::{BlockMeans, variance, variance_of_mean};
use super::interval::{Contribution, Estimate, Source, Uncertain};
use super::location::Grouped;
use crate::observations::{Observations, SeriesId};

/// A differential measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Differential {
    /// Copies in the longer and in the shorter row.
    pub copies: (f64, f64),
    /// Difference of the readings over the difference of the copies, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit.
    pub sd: f64,
}

/// The difference of the two rows with the fewest copies of the first component and nothing else; `None` if there are
/// fewer than two such rows or complete blocks of rounds.
pub fn differential(table: &Observations, series: SeriesId, level: f64) -> Option<Differential> {
    let grouped = Grouped::new(table, series);
    let blocks = BlockMeans::new(&grouped, table.rounds());
    let copies = |at: usize| table.rows()[grouped.rows[at] as usize].counts.clone();
    let mut alone: Vec<usize> =
        (0..grouped.rows.len()).filter(|at| copies(*at)[0] > 0.0 && copies(*at)[1..].iter().all(|c| *c == 0.0)).collect();
    alone.sort_by(|a, b| copies(*a)[0].total_cmp(&copies(*b)[0]));
    let [short, long] = *alone.get(..2)? else { return None };
    if blocks.len() < 2 {
        return None;
    }
    let (few, many) = (copies(short)[0], copies(long)[0]);
    let differences: Vec<f64> = blocks.means.iter().map(|block| (block[long] - block[short]) / (many - few)).collect();
    let value = differences.iter().sum::<f64>() / differences.len() as f64;
    let (of_mean, dof) = variance_of_mean(&differences);
    let entry = Contribution::standard(Source::Stochastic, of_mean.sqrt(), dof);
    let single: Vec<f64> = grouped.readings[short]
        .iter()
        .zip(&grouped.readings[long])
        .filter(|(a, b)| a.is_used() && b.is_used() && a.round == b.round)
        .map(|(a, b)| (b.ticks - a.ticks) / (many - few))
        .collect();
    Some(Differential {
        copies: (many, few),
        ticks: Uncertain { value, budget: vec![entry] }.estimate(level),
        sd: variance(&single).sqrt(),
    })
}
