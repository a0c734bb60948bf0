//! Pure functions from observations to estimates, without clocks, files or output.
//!
//! [`solve`] is the estimator for linear systems (line fit, init and body, blocks). The [`METHODS`]
//! serve for comparison with it (Moreno and Fischmeister, Table 1). [`lattice`] finds the unit for which several slopes are
//! integers (Staelin and McVoy). [`ratio`] compares two solved systems.

mod algebra;
mod between;
mod blocks;
mod commensurate;
mod departure;
mod departures;
mod ends;
mod evened;
mod groups;
mod interval;
mod layouts;
mod linear;
mod location;
mod method;
mod nonnegative;
mod parallel;
mod paused;
mod quiet;
mod rank;
mod regression;
mod replicated;
mod scatter;
mod settling;
mod skewness;
mod slow;
mod steps;
mod visits;

pub mod experiments;
pub mod lattice;
pub mod levels;
pub mod ratio;
pub mod solution;

pub use between::between_runs;
pub use blocks::{variance, variance_of_mean, variance_of_runs};
pub use departures::Departures;
pub use ends::Ending;
pub use interval::{Contribution, Estimate, Source, Spread, Uncertain, coverage_factor};
pub(crate) use layouts::{Layouts, MUCH as LAYOUTS_DIFFER, Spreading};
pub use location::TOO_FEW_UNDISTURBED;
pub(crate) use location::{median, robust_sd, stated_quantum};
pub use method::{Departure, Measured, Method, Shown};
pub use paused::{LITTLE as LITTLE_PAUSED, Paused, paused_readings};
pub use quiet::Quiet;
#[cfg(test)]
pub(crate) use quiet::simulated;
pub use rank::{Combination, Rank, exact_rank};
pub use settling::{Settling, settling};
pub use skewness::skewness_bound;
pub use slow::{Slow, slow_evaluations};
pub use solution::{Component, LackOfFit, LeftOut, RowFit, Solution};
pub use visits::Visits;

use crate::error::Result;
use crate::observations::{Observations, SeriesId};

/// Declares the modules of the methods beside the line fit, and the table of them, from one list of names.
macro_rules! methods {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        /// The methods that are shown beside the line fit, in the order in which they are shown.
        pub const METHODS: &[Method] = &[$($name::METHOD,)*];
    };
}

methods! {
    differential,
    direct,
    through_origin,
}

/// Settings of [`solve`].
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Confidence level of all intervals, between 0.5 and 0.9999.
    pub level: f64,
    /// Whether rows off the line may be left out; the solution lists them with the reason.
    pub leave_rows_out: bool,
    /// Series whose readings count even where they are far longer than the others, because the code itself is slow at times: see
    /// [`slow_evaluations`]. Applies only to repeated rows.
    pub slow_evaluations: Vec<SeriesId>,
    /// Number of the shortest rows that are left out in any case, as a bend: those of an alternative are compared with the same rows of the
    /// others. Applies only to repeated rows, and only if rows may be left out.
    pub shortest_left_out: usize,
    /// Whether the rows' departure from the plane may follow their counts, as with parts that overlap: the intervals then
    /// treat rows with similar counts as one. Applies only to repeated rows.
    pub departure_follows_counts: bool,
    /// Which readings of a row count. Applies only to repeated rows.
    pub visits: Visits,
    /// Rows that may be longer than their parts, because of how they begin and end. Applies only to repeated rows.
    pub ends: Vec<Ending>,
    /// Whether parts overlap whose times are not negative: where the rows depart from the plane and times without negative ones describe
    /// them nearly as well, the intervals reach to those. Applies only to repeated rows.
    pub overlapping: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: 0.95,
            leave_rows_out: true,
            slow_evaluations: Vec::new(),
            shortest_left_out: 0,
            departure_follows_counts: false,
            visits: Visits::All,
            ends: Vec::new(),
            overlapping: false,
        }
    }
}

/// Fewest repeats of the rows for an interval from the variation between rounds.
const MIN_ROUNDS: usize = 4;

/// Most rows of a table that counts as a repeated design. A table with more rows is a sample of many different counts.
const MOST_REPEATED_ROWS: usize = 2_000;

/// Solves one series of a table: the time of every component (or of the combinations that can be told apart),
/// the overhead, the lack of fit, and intervals that include systematic errors.
///
/// If the rows were repeated in several rounds, they are averaged within blocks of rounds, and the interval combines the
/// variation between blocks with the rows' departure from the plane. If they were not repeated (a table of inputs and
/// totals), this is a robust regression with a heteroscedasticity-consistent covariance.
///
/// # Errors
/// [`crate::Error::TooFewRows`] if the usable rows are too few for the unknowns.
///
/// # Cost
/// About 50 ns for each reading and `rows * unknowns^2` for the factorisation.
pub fn solve(table: &Observations, series: SeriesId, options: &Options) -> Result<Solution> {
    let grouped = if options.slow_evaluations.contains(&series) {
        location::Grouped::with_slow(table, series)
    } else {
        location::Grouped::of(table, series, options.visits)
    };
    if grouped.typical_repeats() >= MIN_ROUNDS && grouped.rows.len() <= MOST_REPEATED_ROWS {
        replicated::solve(grouped, table, options)
    } else {
        regression::solve(&grouped, table, options)
    }
}
