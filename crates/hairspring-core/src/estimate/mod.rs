//! Pure functions from numbers to estimates, without tables of findings, clocks, files or output:
//! algebra, intervals, variances, the line through rows, the vector of times and its views.
//!
//! [`ratio`] compares two solved systems.

mod algebra;
mod between;
mod cells;
mod departure;
mod deviates;
mod interval;
mod linear;
mod moments;
mod options;
mod parallel;
mod rank;
mod segments;
mod serial;
mod skewness;
mod system;
mod variation;

pub mod complexity;
pub mod experiments;
pub mod ratio;
pub mod solution;

pub(crate) use algebra::{Cholesky, Matrix, dot};
pub use between::{between_machines, between_runs};
pub(crate) use cells::Cells;
pub(crate) use departure::{
    Departure, LIMITS as DEPARTURE_LIMITS, along_columns, clearest, departure, rounding,
};
pub use deviates::extreme_deviates;
pub use interval::{
    Contribution, Estimate, Source, Spread, Uncertain, coverage_factor, student_factor,
};
pub(crate) use interval::{f_tail, t_quantile};
pub(crate) use linear::LinearMap;
pub(crate) use moments::Moments;
pub use options::{Ending, Options, Repeats};
pub(crate) use parallel::in_parallel;
pub use rank::{Combination, Rank, exact_rank};
pub(crate) use ratio::{moved, quotient};
pub(crate) use segments::levels_with_steps;
pub use segments::noise;
pub(crate) use serial::{InOrder, LIMITS as SERIAL_LIMITS, Serial};
pub use skewness::skewness_bound;
pub use solution::{Component, LackOfFit, LeftOut, RowFit, Solution};
pub(crate) use solution::{Entry, Part, RowDeparture, Vector, combined, components};
pub(crate) use system::{Fit, System, location_variances};
pub(crate) use variation::{
    CORRELATED_BLOCKS, InBlocks, LIMITS as VARIATION_LIMITS, LayoutMeans, LayoutsAre, weights,
};
pub use variation::{inflation, lag_one_correlation, variance, variance_of_mean, variance_of_runs};

/// Median (the mean of the two middle values if their number is even); NaN for no values. Reorders
/// the values.
///
/// ```
/// use hairspring_core::estimate::{median, robust_sd};
/// let mut values = [1.0, 9.0, 2.0, 3.0];
/// assert_eq!((median(&mut values), robust_sd(&[1.0, 2.0, 4.0], 2.0)), (2.5, 1.4826));
/// ```
pub fn median(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let (middle, even) = (values.len() / 2, values.len() % 2 == 0);
    let (below, upper, _) = values.select_nth_unstable_by(middle, in_order);
    let lower = if even { below.iter().copied().fold(f64::NEG_INFINITY, f64::max) } else { *upper };
    (lower + *upper) / 2.0
}

/// The order of numbers, which takes half of the time of a total one: none of them is NaN, or all
/// are equal to it.
#[inline]
fn in_order(a: &f64, b: &f64) -> std::cmp::Ordering {
    a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal)
}

/// Standard deviation about a middle by the median of the distances from it, as that of a normal
/// distribution; NaN for no values.
pub fn robust_sd(values: &[f64], middle: f64) -> f64 {
    1.4826 * median(&mut values.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>())
}

/// Largest error of an unknown whose rows have these counts, by a clock of this quantum: a quantum
/// between the row with the fewest and the row with the most. A larger error would show as a
/// reading that is one quantum longer. For a constant, such as the overhead, it is the quantum.
pub(crate) fn largest_error(counts: impl Iterator<Item = f64>, quantum: f64) -> f64 {
    let (least_count, most_count) = counts
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least_count, most_count), count| {
            (least_count.min(count), most_count.max(count))
        });
    if most_count > least_count { quantum / (most_count - least_count) } else { quantum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn error_is_a_quantum_over_the_range_of_the_counts() {
        assert_eq!(largest_error((1..=20).map(f64::from), 1000.0), 1000.0 / 19.0);
        assert_eq!(largest_error([1.0; 5].into_iter(), 8.0), 8.0);
    }
}
