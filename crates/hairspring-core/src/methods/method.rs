//! What a method is that is shown beside the line fit. Each is a file of this folder, registered in
//! the list of `mod.rs`.

use crate::estimate::Estimate;
use crate::observations::{Observations, SeriesId};

/// A method of measurement other than the line fit.
#[derive(Debug, Clone)]
pub struct Method {
    /// Its name: one word of lower-case letters, with hyphens.
    pub name: &'static str,
    /// What it does, in one sentence without a full stop.
    pub summary: &'static str,
    /// Numbers of copies whose rows it needs in a design, beside those of the line.
    pub copies: &'static [u32],
    /// Where it is shown.
    pub shown: Shown,
    /// What it means if its result departs from the line fit.
    pub departure: Departure,
    /// What to do if it departs.
    pub remedy: &'static str,
    /// Its measurements of one series, for intervals of a confidence level; empty if the table has
    /// not the rows for it.
    pub measure: fn(&Observations, SeriesId, f64) -> Vec<Measured>,
}

/// One measurement by a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The method with its rows, such as `direct 100x`.
    pub technique: String,
    /// Time of one execution, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit; NaN if unknown.
    pub sd: f64,
}

/// Where a method is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// In a measurement that was asked for it.
    OnRequest,
    /// Beside the readings of another tool, which computes its results so.
    BesideTools,
}

/// What it means if a method departs from the line fit by more than the intervals of both allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// One of the two is wrong.
    Doubtful,
    /// Nothing new: the method includes an error, such as the overhead, that the line fit is free
    /// of.
    Expected,
}

#[cfg(test)]
mod tests {
    use super::super::METHODS;
    use crate::observations::Observations;
    use std::collections::HashSet;

    /// Rows of 1 to 8 copies and those that a method needs, in rounds, each exactly as long as its
    /// copies.
    fn proportional(copies: &[u32], ticks: f64) -> Observations {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let all_copies: std::collections::BTreeSet<u32> =
            (1..=8).chain(copies.iter().copied()).collect();
        for round in 0..40 {
            for n in all_copies.iter().copied().map(f64::from) {
                let row = table.row(series, &[n]);
                table.push(row, round, ticks * n);
            }
        }
        table
    }

    #[test]
    fn every_method_measures_copies_that_have_no_overhead() {
        for method in METHODS {
            let mut table = proportional(method.copies, 40.0);
            let series = table.series("main");
            let measurements = (method.measure)(&table, series, 0.95);
            assert!(!measurements.is_empty(), "{} has no rows", method.name);
            for measurement in measurements {
                assert!(
                    (measurement.ticks.value - 40.0).abs() < 1e-9
                        && measurement.ticks.level == 0.95,
                    "{}: {measurement:?}",
                    method.name
                );
            }
        }
    }

    #[test]
    fn no_method_measures_an_empty_series() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for method in METHODS {
            assert_eq!((method.measure)(&table, series, 0.95), [], "{}", method.name);
        }
    }

    #[test]
    fn methods_have_names_of_their_own_and_texts() {
        let word = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
        };
        let names: HashSet<&str> = METHODS.iter().map(|method| method.name).collect();
        assert_eq!(names.len(), METHODS.len(), "{names:?}");
        for method in METHODS {
            assert!(
                word(method.name) && !["line", "all"].contains(&method.name),
                "`{}`",
                method.name
            );
            assert!(
                !method.summary.is_empty()
                    && !method.remedy.is_empty()
                    && !method.summary.ends_with('.'),
                "{}",
                method.name
            );
        }
    }
}
