//! The solution of a system: components, overhead, rows, lack of fit.

use super::interval::{Estimate, Uncertain};
use super::rank::Rank;
use crate::observations::RowId;
use serde::{Deserialize, Serialize};

/// The time of one component, or of a combination that the design cannot split.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The name of the component or combination, such as `B4 + B6`.
    pub name: String,
    /// The components in it with their coefficients; one entry with coefficient 1 for a single component.
    pub parts: Vec<(String, f64)>,
    /// Time of one execution, in the table's unit.
    pub ticks: Estimate,
    /// The same time with its error budget.
    pub uncertain: Uncertain,
    /// Largest change of the value when any one row is left out.
    pub row_influence: f64,
}

impl Component {
    /// Gives it another time, with its budget.
    pub fn replace(&mut self, time: Uncertain, level: f64) {
        self.ticks = time.estimate(level);
        self.uncertain = time;
    }

    /// Whether it is a difference of times, which may be negative.
    pub fn is_difference(&self) -> bool {
        self.parts.iter().any(|(_, coefficient)| *coefficient < 0.0)
    }
}

/// Why a row was left out of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LeftOut {
    /// The line is not straight at this few copies.
    Bend,
    /// Its deviation is far above the median deviation (Moreno and Fischmeister, 4.1).
    OffLine,
    /// Too few of its readings were free of interference.
    Interference,
    /// All its readings were excluded by the author of the table (flag `x`).
    Excluded,
}

/// One row of the design with its readings and its fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RowFit {
    /// The row in the table.
    pub row: RowId,
    /// Its counts.
    pub counts: Vec<f64>,
    /// Number of its readings.
    pub readings: usize,
    /// Number of its readings that were used.
    pub used: usize,
    /// Robust location of its readings, in the table's unit.
    pub location: f64,
    /// Standard deviation of a single reading; `None` if there are too few.
    pub sd: Option<f64>,
    /// Location minus fitted value.
    pub residual: f64,
    /// Why it was left out; `None` if it was used.
    pub left_out: Option<LeftOut>,
}

/// Lack of fit of the rows against the pure error of the repeats (the F test of regression analysis).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LackOfFit {
    /// Mean square of the rows' deviations over the mean square expected from noise.
    pub f: f64,
    /// Rows minus unknowns.
    pub dof: usize,
    /// Probability of an F at least this large if the model holds.
    pub p: f64,
    /// Standard deviation of the rows' systematic departure from the line, in the table's unit.
    pub sd: f64,
}

/// The solved system.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// Components that can be told apart.
    pub components: Vec<Component>,
    /// Time that all rows have in common; `None` if the design merges it with a component.
    pub overhead: Option<Estimate>,
    /// Exact rank of the design; the last column is the overhead.
    pub rank: Rank,
    /// Names of the columns; the last one is `overhead`.
    pub columns: Vec<String>,
    /// All rows of the series. Empty for large tables without repeats.
    pub rows: Vec<RowFit>,
    /// Lack of fit, if there are enough rows and repeats, or enough readings of nearly equal size.
    pub lack_of_fit: Option<LackOfFit>,
    /// Largest location of a row (largest fitted reading if rows are not repeated), in the table's unit.
    pub largest: f64,
    /// Root mean square of the residuals of the rows used.
    pub residual_sd: f64,
    /// Number of readings.
    pub readings: usize,
    /// Number of readings used.
    pub readings_used: usize,
    /// Unknowns of each block of rounds, with the block's first round; empty if rows are not repeated.
    pub blocks: Vec<(u32, Vec<f64>)>,
    /// Quantum of the clock in the table's unit; 0 if unknown.
    pub quantum: f64,
    /// Largest standard deviation of a row in quanta of the clock; `None` if the quantum is unknown. Far below 0.3 the
    /// readings are not dithered: the quantum does not average out.
    pub phase_spread: Option<f64>,
}

impl Solution {
    /// The component of that name.
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }

    /// Number of rows used, and number of rows left out.
    pub fn rows_used(&self) -> (usize, usize) {
        let left_out = self.rows.iter().filter(|row| row.left_out.is_some()).count();
        (self.rows.len() - left_out, left_out)
    }

    /// Share of the readings that were flagged or outliers.
    pub fn share_unused(&self) -> f64 {
        1.0 - self.readings_used as f64 / self.readings.max(1) as f64
    }
}

/// Formats a combination, such as `a + 2 b - c`.
pub fn spell(terms: &[(String, f64)]) -> String {
    let mut text = String::new();
    for (at, (name, coefficient)) in terms.iter().enumerate() {
        let sign = match (at, *coefficient < 0.0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        let size = coefficient.abs();
        let factor = if size == 1.0 { String::new() } else { format!("{size} ") };
        text += &format!("{sign}{factor}{name}");
    }
    text
}

/// The components of a solution in the order of the pivots, and the overhead separately.
pub(super) fn assemble(
    columns: &[String],
    rank: &Rank,
    unknowns: Vec<Uncertain>,
    influence: &[f64],
    level: f64,
) -> (Vec<Component>, Option<Estimate>) {
    let overhead_column = columns.len() - 1;
    let mut components = Vec::new();
    let mut overhead = None;
    for (at, (combination, uncertain)) in rank.identifiable.iter().zip(unknowns).enumerate() {
        let ticks = uncertain.estimate(level);
        if combination.terms == [(overhead_column, 1.0)] {
            overhead = Some(ticks);
            continue;
        }
        let parts: Vec<(String, f64)> = combination.terms.iter().map(|(j, c)| (columns[*j].clone(), *c)).collect();
        components.push(Component { name: spell(&parts), parts, ticks, uncertain, row_influence: influence[at] });
    }
    (components, overhead)
}

#[cfg(test)]
mod tests {
    #[test]
    fn combinations_are_formatted_as_sums() {
        let terms = [("a".to_owned(), 1.0), ("b".to_owned(), 2.0), ("c".to_owned(), -1.0), ("d".to_owned(), -0.5)];
        assert_eq!(super::spell(&terms), "a + 2 b - c - 0.5 d");
    }
}
