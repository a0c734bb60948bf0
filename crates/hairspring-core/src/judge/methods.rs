//! Comparison of the three methods line fit, differential and direct, from one table of observations.

use super::{Assessment, Finding, FindingKind, SeriesResult, Severity};
use crate::design::DIRECT;
use crate::estimate::Estimate;
use crate::estimate::differential::differential;
use crate::estimate::direct::direct;
use crate::estimate::through_origin::through_origin;
use crate::observations::Observations;

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
    /// The method, such as `line fit 16x-256x`.
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
/// The standard deviation of the line fit is that of a fit to a single round, from the fits to blocks of rounds.
pub fn methods(table: &Observations, assessment: &Assessment) -> Vec<MethodTable> {
    assessment.series.iter().filter_map(|series| method_table(table, series)).collect()
}

fn method_table(table: &Observations, series: &SeriesResult) -> Option<MethodTable> {
    let id = table.find_series(&series.name)?;
    let line = series.components.first()?;
    let (truth, level) = (line.time.ticks.value, line.time.ticks.level);
    let distance = |value: f64| 100.0 * (value / truth - 1.0);
    let mut rows =
        vec![MethodRow { technique: line_name(series), value: line.time.ticks, sd: sd_of_one_round(table, series), distance_percent: 0.0 }];
    rows.extend(differential(table, id, level).map(|found| MethodRow {
        technique: format!("differential {}x - {}x", found.copies.0, found.copies.1),
        value: found.ticks,
        sd: found.sd,
        distance_percent: distance(found.ticks.value),
    }));
    // If the rows of the report's table were run, the rows of the line fit are left out.
    let found = direct(table, id, level);
    let asked = |copies: f64| DIRECT.iter().any(|n| f64::from(*n) == copies);
    let ran_all = DIRECT[..2].iter().all(|n| found.iter().any(|one| one.copies == f64::from(*n)));
    rows.extend(found.into_iter().filter(|one| !ran_all || asked(one.copies)).map(|found| MethodRow {
        technique: format!("direct {}x", found.copies),
        value: found.ticks,
        sd: found.sd,
        distance_percent: distance(found.ticks.value),
    }));
    Some(MethodTable { subject: series.name.clone(), rows })
}

/// Compares the line fit of each series with a line through the origin. The difference shows the effect of the overhead on
/// the result of the tool that took the readings.
pub fn beside_origin(table: &Observations, assessment: &Assessment) -> Vec<MethodTable> {
    let compare = |series: &SeriesResult| {
        let line = series.components.first()?.time.ticks;
        let found = through_origin(table, table.find_series(&series.name)?, line.level)?;
        let distance_percent = 100.0 * (found.ticks.value / line.value - 1.0);
        let first = MethodRow { technique: line_name(series), value: line, sd: sd_of_one_round(table, series), distance_percent: 0.0 };
        let second = MethodRow { technique: "direct, through origin".into(), value: found.ticks, sd: found.sd, distance_percent };
        Some(MethodTable { subject: series.name.clone(), rows: vec![first, second] })
    };
    assessment.series.iter().filter_map(compare).collect()
}

/// Whether the intervals of a method and of the line fit do not overlap.
pub fn departs(row: &MethodRow, line: &MethodRow) -> bool {
    (row.value.value - line.value.value).abs() > row.value.half_width() + line.value.half_width()
}

/// Findings about the other methods of a table. A wrong differential measurement is a warning; a direct measurement that
/// includes the overhead is expected and only a note.
pub fn doubts(table: &MethodTable) -> Vec<Finding> {
    let Some((line, others)) = table.rows.split_first() else { return Vec::new() };
    let about = |method: &str, severity| {
        let off: Vec<&MethodRow> = others.iter().filter(|row| row.technique.starts_with(method) && departs(row, line)).collect();
        let most_percent = off.iter().map(|row| row.distance_percent.abs()).fold(0.0, f64::max);
        let methods: Vec<String> = off.iter().map(|row| row.technique.clone()).collect();
        (!methods.is_empty()).then(|| Finding::new(severity, FindingKind::MethodsDepart { methods, most_percent }))
    };
    about("differential", Severity::Warning).into_iter().chain(about("direct", Severity::Note)).collect()
}

/// Name of the line fit with its copies, such as `line fit 16x-256x`, from the rows in use.
fn line_name(series: &SeriesResult) -> String {
    let used = series.solution.rows.iter().filter(|row| row.left_out.is_none());
    let copies: Vec<f64> = used.filter_map(|row| row.counts.first().copied()).collect();
    let (few, many) = copies.iter().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), n| (low.min(*n), high.max(*n)));
    if copies.is_empty() { "line fit".into() } else { format!("line fit {few}x-{many}x") }
}

fn sd_of_one_round(table: &Observations, series: &SeriesResult) -> f64 {
    let slopes: Vec<f64> = series.solution.blocks.iter().filter_map(|(_, unknowns)| unknowns.first().copied()).collect();
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

    fn row(technique: &str, value: f64, half: f64) -> MethodRow {
        let value = Estimate { value, low: value - half, high: value + half, level: 0.95 };
        MethodRow { technique: technique.into(), value, sd: 1.0, distance_percent: 100.0 * (value.value / 10.0 - 1.0) }
    }

    #[test]
    fn only_departures_beyond_the_intervals_are_reported() {
        let rows = vec![row("line fit", 10.0, 0.1), row("differential 2x - 1x", 10.2, 0.2), row("direct 100x", 10.05, 0.1)];
        let mut table = MethodTable { subject: "code".into(), rows };
        assert_eq!(doubts(&table), []);
        table.rows[1] = row("differential 2x - 1x", 7.0, 0.2);
        table.rows.extend([row("direct 1x", 30.0, 0.2), row("direct 10x", 12.0, 0.2)]);
        let found = doubts(&table);
        let departs = |severity, methods: &[&str], most_percent| {
            let methods = methods.iter().map(|name| (*name).to_owned()).collect();
            Finding::new(severity, FindingKind::MethodsDepart { methods, most_percent })
        };
        let off = [100.0 * (7.0f64 / 10.0 - 1.0), 100.0 * (30.0f64 / 10.0 - 1.0)];
        assert_eq!(found[0], departs(Severity::Warning, &["differential 2x - 1x"], off[0].abs()));
        assert_eq!(found[1], departs(Severity::Note, &["direct 1x", "direct 10x"], off[1]));
    }
}
