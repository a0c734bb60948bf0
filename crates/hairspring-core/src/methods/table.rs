//! Comparison of the line fit with the other methods ([`METHODS`]), from one table of observations.

use super::{Departure, METHODS, Measured, Method, Shown};
use crate::estimate::Estimate;
use crate::finding::words::shortened;
use crate::finding::{Finding, Severity, code};
use crate::numbers;
use crate::observations::Observations;
use crate::result::{Assessment, SeriesResult};

/// Name of the line fit among the methods.
pub const LINE: &str = "line";

/// The results of several methods (Moreno and Fischmeister, Table 1).
#[derive(Debug, Clone, PartialEq)]
pub struct MethodTable {
    /// Name of the series.
    pub subject: String,
    /// One row for each method.
    pub rows: Vec<MethodRow>,
}

/// The result of one method.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodRow {
    /// The method's name: [`LINE`], or that of one of the [`METHODS`].
    pub method: &'static str,
    /// The method with its rows, such as `line fit 16x-256x`.
    pub technique: String,
    /// Time of one execution, in the table's unit.
    pub value: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit; NaN if unknown.
    pub sd: f64,
    /// Distance from the line fit, in percent of the line fit.
    pub distance_percent: f64,
}

/// A table of methods for each series of an assessment, in the unit of the observations.
///
/// The standard deviation of the line fit is that of a fit to a single round, from the fits to
/// blocks of rounds.
pub fn methods(table: &Observations, assessment: &Assessment) -> Vec<MethodTable> {
    tables(table, assessment, Shown::OnRequest).collect()
}

/// Compares the line fit of each series with what another tool that took the readings makes of
/// them. The difference shows the effect of the overhead on the result of that tool. A series
/// without such a method has no table.
pub fn beside_tools(table: &Observations, assessment: &Assessment) -> Vec<MethodTable> {
    tables(table, assessment, Shown::BesideTools).filter(|table| table.rows.len() > 1).collect()
}

fn tables(
    table: &Observations,
    assessment: &Assessment,
    shown: Shown,
) -> impl Iterator<Item = MethodTable> {
    assessment.series.iter().filter_map(move |series| method_table(table, series, shown))
}

fn method_table(table: &Observations, series: &SeriesResult, shown: Shown) -> Option<MethodTable> {
    let id = table.find_series(&series.name)?;
    let line = series.components.first()?.time.ticks;
    let row = |method: &Method, measured: Measured| MethodRow {
        method: method.name,
        technique: measured.technique,
        value: measured.ticks,
        sd: measured.sd,
        distance_percent: 100.0 * (measured.ticks.value / line.value - 1.0),
    };
    let sd = sd_of_one_round(table, series);
    let first = MethodRow {
        method: LINE,
        technique: line_name(series),
        value: line,
        sd,
        distance_percent: 0.0,
    };
    let other_methods = METHODS.iter().filter(|method| method.shown == shown);
    let other_rows = other_methods.flat_map(|method| {
        (method.measure)(table, id, line.level).into_iter().map(|found| row(method, found))
    });
    Some(MethodTable {
        subject: series.name.clone(),
        rows: std::iter::once(first).chain(other_rows).collect(),
    })
}

/// Whether the intervals of a method and of the line fit do not overlap.
pub fn departs(row: &MethodRow, line: &MethodRow) -> bool {
    (row.value.value - line.value.value).abs() > row.value.half_width() + line.value.half_width()
}

/// Findings about the other methods of a table, one for each method that departs from the line fit.
/// A departure that shows that one of the two is wrong is a warning, an expected one is only a
/// note.
pub fn doubts(table: &MethodTable) -> Vec<Finding> {
    let Some((line, others)) = table.rows.split_first() else { return Vec::new() };
    METHODS.iter().filter_map(|method| doubt(method, line, others)).collect()
}

fn doubt(method: &Method, line: &MethodRow, other_rows: &[MethodRow]) -> Option<Finding> {
    let off: Vec<&MethodRow> =
        other_rows.iter().filter(|row| row.method == method.name && departs(row, line)).collect();
    let most_percent = off.iter().map(|row| row.distance_percent.abs()).fold(0.0, f64::max);
    let methods: Vec<String> = off.iter().map(|row| row.technique.clone()).collect();
    let severity = match method.departure {
        Departure::Doubtful => Severity::Warning,
        Departure::Expected => Severity::Note,
    };
    let message = format!(
        "{}: up to {most_percent:.2} % off the line, more than the intervals allow (marked ! in \
         the table)",
        shortened(&methods)
    );
    (!off.is_empty()).then(|| {
        Finding::of(
            severity,
            code::METHODS_DEPART,
            message,
            numbers! { methods, most_percent },
            method.remedy,
        )
    })
}

/// Name of the line fit with its copies, such as `line fit 16x-256x`, from the rows in use.
fn line_name(series: &SeriesResult) -> String {
    let used = series.solution.rows.iter().filter(|row| row.left_out.is_none());
    let copies: Vec<f64> = used.filter_map(|row| row.counts.first().copied()).collect();
    let (few, many) = copies
        .iter()
        .fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), n| (low.min(*n), high.max(*n)));
    if copies.is_empty() { "line fit".into() } else { format!("line fit {few}x-{many}x") }
}

fn sd_of_one_round(table: &Observations, series: &SeriesResult) -> f64 {
    let slopes: Vec<f64> = series
        .solution
        .blocks
        .iter()
        .filter_map(|(_, unknowns)| unknowns.first().copied())
        .collect();
    let n = slopes.len() as f64;
    let mean = slopes.iter().sum::<f64>() / n;
    let variance = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Infinite or NaN without blocks: the report then shows `unknown`.
    (variance * f64::from(table.rounds()) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    fn row(method: &'static str, technique: &str, value: f64, half: f64) -> MethodRow {
        let value = Estimate { value, low: value - half, high: value + half, level: 0.95 };
        MethodRow {
            method,
            technique: technique.into(),
            value,
            sd: 1.0,
            distance_percent: 100.0 * (value.value / 10.0 - 1.0),
        }
    }

    #[test]
    fn only_departures_beyond_the_intervals_are_reported() {
        for method in METHODS {
            let rows = vec![row(LINE, "line fit", 10.0, 0.1), row(method.name, "near", 10.2, 0.2)];
            let mut table = MethodTable { subject: "code".into(), rows };
            assert_eq!(doubts(&table), [], "{}", method.name);
            table.rows.extend([
                row(method.name, "far", 7.0, 0.2),
                row(method.name, "farther", 30.0, 0.2),
            ]);
            let findings = doubts(&table);
            let severity = if method.departure == Departure::Expected {
                Severity::Note
            } else {
                Severity::Warning
            };
            let methods = ["far".to_owned(), "farther".to_owned()].to_vec();
            assert_eq!(findings[0].list("methods"), Some(&methods[..]), "{}", method.name);
            assert_eq!(
                (findings.len(), findings[0].severity, &*findings[0].remedy),
                (1, severity, method.remedy)
            );
        }
    }

    #[test]
    fn each_method_has_a_finding_of_its_own() {
        let other_rows = METHODS.iter().map(|method| row(method.name, method.name, 30.0, 0.2));
        let table = MethodTable {
            subject: "code".into(),
            rows: std::iter::once(row(LINE, "line fit", 10.0, 0.1)).chain(other_rows).collect(),
        };
        assert_eq!(doubts(&table).len(), METHODS.len());
    }
}
