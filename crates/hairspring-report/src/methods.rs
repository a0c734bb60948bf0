//! The three methods side by side: line fit, differential and direct, from one table of observations.

use crate::document::{MethodRow, MethodTable};
use hairspring::estimate::differential::differential;
use hairspring::estimate::direct::direct;
use hairspring::judge::{Assessment, SeriesResult};
use hairspring::observations::Observations;

/// A table of methods for each series of an assessment, in the unit of the observations.
///
/// The standard deviation of the line fit is that of a fit to a single round, from the fits to blocks of rounds.
pub fn methods(table: &Observations, assessment: &Assessment) -> Vec<MethodTable> {
    assessment.series.iter().filter_map(|series| of_series(table, series)).collect()
}

fn of_series(table: &Observations, series: &SeriesResult) -> Option<MethodTable> {
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
    rows.extend(direct(table, id, level).into_iter().map(|found| MethodRow {
        technique: format!("direct {}x", found.copies),
        value: found.ticks,
        sd: found.sd,
        distance_percent: distance(found.ticks.value),
    }));
    Some(MethodTable { subject: series.name.clone(), rows })
}

/// `line fit 16x-256x`, from the rows in use.
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
    // Infinite or not a number where there are no blocks; the report then says that it is not known.
    (variance * f64::from(table.rounds()) / n).sqrt()
}
