//! How well a sum of the parts describes the rows.

use hairspring_core::estimate::{LeftOut, RowFit, Solution, exact_rank, variance};
use std::collections::HashSet;

/// How well a sum of the parts describes the rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Share of the variation between rows that it explains, at most 1; below 0 if it is worse than
    /// the mean row. `None` if rows hardly vary, or if nothing checks the sum.
    pub explained: Option<f64>,
    /// Standard deviation of the rows from it, as a share of their size (root mean square): parts
    /// of calls may be a block or many trips of a loop, and all of them may be wrong by what a core
    /// overlaps where they end. `None` where nothing checks the sum.
    pub departure: Option<f64>,
    /// Rows with different counts beyond the number of unknowns: with none, some times always fit.
    pub spare: usize,
    /// Whether the times of its parts can be trusted; `None` if nothing checks the sum.
    pub carried: Option<bool>,
    /// Whether they cannot be trusted because of a negative time.
    pub negative: bool,
}

/// Most rows of parts that are far off the line and left out, as a share of all.
const MOST_OFF: f64 = 0.1;
/// Departure above which the sum of the parts does not describe the rows.
const NOT_ADDITIVE: f64 = 0.05;
/// Departure above which it describes them only roughly.
const ROUGH_DEPARTURE: f64 = 0.01;
/// Share of the variation that must be explained.
const EXPLAINED_SHARE: f64 = 0.9;
/// Variation between rows, as a share of their mean, below which none needs to be explained.
const NO_VARIATION: f64 = 0.02;

impl Quality {
    /// The quality of a solution of parts of calls, or of calls.
    pub fn new(solution: &Solution, rows: usize, in_parts: bool) -> Quality {
        if in_parts {
            Quality::of_parts(solution, rows)
        } else {
            Quality::from_solution(solution, rows)
        }
    }

    /// The quality of a solution whose first rows are those of the function; the others measure the
    /// overhead alone.
    pub fn from_solution(solution: &Solution, rows: usize) -> Quality {
        Quality::of(solution, rows, |row| row.left_out != Some(LeftOut::Interference))
    }

    /// The same for parts of calls: a few that are far off the line are left out. A callee takes a
    /// hundred times as long in one of hundreds of parts, as where a table grows, and that says
    /// nothing of the others.
    fn of_parts(solution: &Solution, rows: usize) -> Quality {
        let off = solution.rows.iter().filter(|row| row.left_out == Some(LeftOut::OffLine)).count();
        if off as f64 > MOST_OFF * rows as f64 {
            return Quality::from_solution(solution, rows);
        }
        Quality::of(solution, rows, |row| {
            !matches!(row.left_out, Some(LeftOut::Interference | LeftOut::OffLine))
        })
    }

    fn of(solution: &Solution, rows: usize, counts: impl Fn(&RowFit) -> bool) -> Quality {
        if solution.rows.is_empty() {
            // Too many rows to list: a sample.
            let departure = solution.lack_of_fit.map_or(0.0, |lack| lack.sd) / solution.largest;
            return Quality {
                explained: None,
                departure: Some(departure),
                spare: 1,
                carried: Some(departure < NOT_ADDITIVE),
                negative: false,
            };
        }
        // Rows that were left out of the fit are included: the sum must describe them, too.
        let of_function = solution.rows.iter().filter(|row| (row.row as usize) < rows);
        let seen_rows = of_function.filter(|row| counts(row) && row.residual.is_finite());
        let different: HashSet<Vec<u64>> = seen_rows
            .clone()
            .map(|row| row.counts.iter().map(|count| count.to_bits()).collect())
            .collect();
        let times: Vec<(f64, f64)> =
            seen_rows.clone().map(|row| (row.location, row.residual)).collect();
        let columns: Vec<Vec<f64>> = seen_rows
            .clone()
            .map(|row| row.counts.iter().copied().chain([1.0]).collect())
            .collect();
        let unknowns = exact_rank(&columns).pivots.len();
        match different.len().saturating_sub(unknowns) {
            0 if different.len() == 1 && solution.overhead.is_some() => of_one_path(&times),
            0 => Quality {
                explained: None,
                departure: None,
                spare: 0,
                carried: None,
                negative: false,
            },
            spare => from_rows(&times, unknowns, spare),
        }
    }

    /// Whether the times of the parts can be shown: the sum is checked and not found wrong.
    pub fn is_carried(&self) -> bool {
        self.carried == Some(true)
    }

    /// Why the times of the parts are not shown.
    pub fn refusal(&self) -> Option<&'static str> {
        match (self.carried, self.negative) {
            (Some(true), _) => None,
            (_, true) => Some("a time came out negative"),
            (None, _) => Some(
                "no spare row: there are as many unknowns as rows with different counts, so some \
                 times always fit",
            ),
            (Some(false), _) => Some(
                "the rows depart too far from the sum, or it explains too little of their \
                 variation",
            ),
        }
    }

    /// Whether it describes the rows only roughly.
    pub fn is_rough(&self) -> bool {
        self.departure.is_some_and(|departure| departure > ROUGH_DEPARTURE)
    }

    /// The quality of a sum that a negative time shows to be wrong.
    #[must_use]
    pub fn with_negative(self) -> Quality {
        Quality { carried: Some(false), negative: true, ..self }
    }
}

/// The quality where all rows have the same counts, and the overhead is known from others: the only
/// time is that of the whole row, so no sum needs a check.
fn of_one_path(rows: &[(f64, f64)]) -> Quality {
    let departure = (rows.len() > 1).then(|| {
        let mean = rows.iter().map(|row| row.0).sum::<f64>() / rows.len() as f64;
        variance(&rows.iter().map(|row| row.0).collect::<Vec<_>>()).sqrt() / mean
    });
    Quality { explained: None, departure, spare: 0, carried: Some(true), negative: false }
}

/// The quality from the rows' times and residuals. Both mean squares are per degree of freedom;
/// otherwise a sum of many unknowns would look too good.
fn from_rows(rows: &[(f64, f64)], unknowns: usize, spare: usize) -> Quality {
    let count = rows.len() as f64;
    let mean = rows.iter().map(|row| row.0).sum::<f64>() / count;
    let around = rows.iter().map(|row| (row.0 - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let variance_left =
        rows.iter().map(|row| row.1.powi(2)).sum::<f64>() / (rows.len() - unknowns) as f64;
    let size = (rows.iter().map(|row| row.0.powi(2)).sum::<f64>() / count).sqrt();
    let departure = variance_left.sqrt() / size;
    let explained = (around.sqrt() > NO_VARIATION * mean).then(|| 1.0 - variance_left / around);
    let carried =
        departure < NOT_ADDITIVE && explained.is_none_or(|explained| explained > EXPLAINED_SHARE);
    Quality {
        explained,
        departure: Some(departure),
        spare,
        carried: Some(carried),
        negative: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::estimate::Options;
    use hairspring_core::observations::Observations;
    use hairspring_core::pipeline::solve;

    /// Rows of two blocks with their times, each read eight times with noise of mean 0.
    fn quality(rows: &[([f64; 2], f64)]) -> Quality {
        let mut table = Observations::new(vec!["a".into(), "b".into()]);
        let series = table.series("main");
        for (counts, ticks) in rows {
            let row = table.row_apart(series, counts);
            (0..8).for_each(|round| table.push(row, round, ticks + 0.5 * f64::from(round % 2)));
        }
        Quality::from_solution(&solve(&table, series, &Options::default()).unwrap(), rows.len())
    }

    #[test]
    fn as_many_unknowns_as_distinct_rows_are_unchecked() {
        let unchecked =
            Quality { explained: None, departure: None, spare: 0, carried: None, negative: false };
        assert_eq!(quality(&[([1.0, 3.0], 100.0), ([1.0, 9.0], 500.0)]), unchecked);
        // Rows with equal counts check the clock, not the sum.
        let twice =
            [([1.0, 3.0], 100.0), ([1.0, 3.0], 103.0), ([1.0, 9.0], 500.0), ([1.0, 9.0], 490.0)];
        assert_eq!(quality(&twice), unchecked);
    }

    #[test]
    fn a_part_far_off_the_line_says_nothing_of_the_others_and_a_call_does() {
        let off = |count: usize| {
            let mut table = Observations::new(vec!["a".into(), "b".into()]);
            let series = table.series("main");
            for at in 0..60 {
                let counts = [f64::from(at % 7 + 1), f64::from(at % 11)];
                let far = if (at as usize) < count { 40_000.0 } else { 0.0 };
                let row = table.row_apart(series, &counts);
                (0..8).for_each(|round| {
                    table.push(
                        row,
                        round,
                        80.0 + 9.0 * counts[0] + 5.0 * counts[1] + far + 0.5 * f64::from(round % 2),
                    )
                });
            }
            let solution = solve(&table, series, &Options::default()).unwrap();
            (
                Quality::of_parts(&solution, 60).is_carried(),
                Quality::from_solution(&solution, 60).is_carried(),
            )
        };
        assert_eq!((off(0), off(5), off(8)), ((true, true), (true, false), (false, false)));
    }

    #[test]
    fn one_path_needs_no_check_where_the_overhead_is_known() {
        let mut table = Observations::new(vec!["a".into(), "b".into(), "copies".into()]);
        let series = table.series("main");
        for (counts, ticks) in [
            ([1.0, 3.0, 0.0], 130.0),
            ([1.0, 3.0, 0.0], 180.0),
            ([0.0, 0.0, 1.0], 90.0),
            ([0.0, 0.0, 9.0], 170.0),
        ] {
            let row = table.row_apart(series, &counts);
            (0..8).for_each(|round| table.push(row, round, ticks + 0.5 * f64::from(round % 2)));
        }
        let solution = solve(&table, series, &Options::default()).unwrap();
        let quality = Quality::from_solution(&solution, 2);
        assert!(
            quality.is_carried() && quality.spare == 0 && quality.departure.unwrap() > 0.1,
            "{quality:?}"
        );
        let whole = &solution.components[0];
        assert!(whole.ticks.low < 50.0 && whole.ticks.high > 100.0, "{whole:?}");
    }

    #[test]
    fn a_spare_row_checks_the_sum() {
        let good = quality(&[([1.0, 3.0], 130.0), ([1.0, 9.0], 190.0), ([1.0, 5.0], 150.0)]);
        assert!(
            good.carried == Some(true)
                && good.spare == 1
                && good.explained.unwrap() > 0.999
                && !good.is_rough(),
            "{good:?}"
        );
        let bad = quality(&[([1.0, 3.0], 130.0), ([1.0, 9.0], 190.0), ([1.0, 5.0], 350.0)]);
        assert!(bad.carried == Some(false), "{bad:?}");
    }

    #[test]
    fn rows_that_hardly_vary_have_nothing_to_explain() {
        let flat = quality(&[
            ([1.0, 3.0], 1000.0),
            ([1.0, 9.0], 1001.0),
            ([1.0, 5.0], 999.0),
            ([1.0, 6.0], 1000.0),
        ]);
        assert!(flat.explained.is_none() && flat.carried == Some(true), "{flat:?}");
    }
}
