//! Pure functions from observations to estimates: no clock, no files, no printing.
//!
//! [`solve`] is the one estimator for linear systems (line fit, init and body, blocks); [`direct`] and
//! [`differential`] are kept beside it for comparison (Moreno and Fischmeister, Table 1), [`lattice`] finds the
//! unit for which several slopes are integers (Staelin and McVoy), [`ratio`] compares two solved systems.

mod algebra;
mod between;
mod blocks;
mod departure;
mod groups;
mod interval;
mod linear;
mod location;
mod parallel;
mod rank;
mod regression;
mod replicated;

pub mod differential;
pub mod direct;
pub mod experiments;
pub mod lattice;
pub mod levels;
pub mod ratio;
pub mod solution;
pub mod through_origin;

pub use between::between_runs;
pub use blocks::variance_of_mean;
pub use interval::{Contribution, Estimate, Source, Spread, Uncertain};
pub use rank::{Combination, Rank, exact_rank};
pub use solution::{Component, LackOfFit, LeftOut, RowFit, Solution};

use crate::error::Result;
use crate::observations::{Observations, SeriesId};

/// What an estimate is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Confidence level of all intervals, between 0.5 and 0.9999.
    pub level: f64,
    /// Whether rows off the line may be left out (listed with their reason), or all must be used.
    pub leave_rows_out: bool,
    /// Whether the rows' departure from the plane may follow their counts, as the times of parts that overlap do: intervals
    /// then take rows of like counts as one. Where rows are repeated.
    pub departure_follows_counts: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { level: 0.95, leave_rows_out: true, departure_follows_counts: false }
    }
}

/// Rounds from which on the pure error of repeats carries the interval.
const MIN_ROUNDS: usize = 4;

/// Rows up to which a table counts as a design that was repeated, rather than as a sample of many different counts.
const MOST_REPEATED_ROWS: usize = 2_000;

/// Solves one series of a table: the time of every component (or of the combinations that can be told apart),
/// the overhead, the lack of fit, and intervals that carry the systematic part.
///
/// Where each row was repeated in several rounds, rows are averaged within blocks of rounds and the interval is
/// made of the variation between blocks and of the rows' departure from the plane. Where rows are not repeated
/// (a table of inputs and totals), it is a robust regression with a heteroscedasticity-consistent covariance.
///
/// # Errors
/// [`crate::Error::TooFewRows`] where the usable rows are fewer than the unknowns plus one.
///
/// # Cost
/// About 50 ns for each reading and `rows * unknowns^2` for the factorisation.
pub fn solve(table: &Observations, series: SeriesId, options: &Options) -> Result<Solution> {
    let grouped = location::Grouped::of(table, series);
    if grouped.typical_repeats() >= MIN_ROUNDS && grouped.rows.len() <= MOST_REPEATED_ROWS {
        replicated::solve(grouped, table, options)
    } else {
        regression::solve(&grouped, table, options)
    }
}
