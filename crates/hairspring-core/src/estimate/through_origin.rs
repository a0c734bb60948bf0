//! A line forced through the origin, as Criterion.rs fits it (`sum(k T) / sum(k^2)`), for comparison with the line fit. It
//! wrongly takes the overhead as 0, so a part of the overhead is in the slope; the interval does not include this error.

use super::interval::{Contribution, Estimate, Source, Uncertain};
use super::method::{Departure, Measured, Method, Shown};
use crate::observations::{Observations, SeriesId};

/// The method beside the line fit.
pub const METHOD: Method = Method {
    name: "through-origin",
    summary: "A line through the origin: a part of the overhead is in its slope",
    copies: &[],
    shown: Shown::BesideTools,
    departure: Departure::Expected,
    remedy: "use the line fit: a direct measurement includes the overhead",
    measure: measured,
};

fn measured(table: &Observations, series: SeriesId, level: f64) -> Vec<Measured> {
    let found = through_origin(table, series, level);
    found.map(|found| Measured { technique: "direct, through origin".into(), ticks: found.ticks, sd: found.sd }).into_iter().collect()
}

/// A line through the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThroughOrigin {
    /// Its slope, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of the slope from a single reading with the root mean square number of copies.
    pub sd: f64,
}

/// The line through the origin and all unflagged readings in which only the first component ran; `None` for fewer than two
/// such readings.
pub fn through_origin(table: &Observations, series: SeriesId, level: f64) -> Option<ThroughOrigin> {
    let rows = table.rows();
    let only = |counts: &[f64]| counts[0] > 0.0 && counts[1..].iter().all(|count| *count == 0.0);
    let usable = |row: usize| rows[row].series == series && only(&rows[row].counts);
    let points: Vec<(f64, f64)> = table
        .readings()
        .iter()
        .filter(|reading| !reading.flags.any() && usable(reading.row as usize))
        .map(|reading| (rows[reading.row as usize].counts[0], reading.ticks))
        .collect();
    if points.len() < 2 {
        return None;
    }
    let square: f64 = points.iter().map(|(k, _)| k * k).sum();
    let slope = points.iter().map(|(k, ticks)| k * ticks).sum::<f64>() / square;
    let dof = points.len() as f64 - 1.0;
    let variance = points.iter().map(|(k, ticks)| (ticks - slope * k).powi(2)).sum::<f64>() / dof;
    let entry = Contribution::standard(Source::Stochastic, (variance / square).sqrt(), dof);
    let sd = (variance * points.len() as f64 / square).sqrt();
    Some(ThroughOrigin { ticks: Uncertain { value: slope, budget: vec![entry] }.estimate(level), sd })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Options, solve};

    #[test]
    fn overhead_biases_the_slope_by_the_closed_form() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let n = 10u32;
        for k in 1..=n {
            let row = table.row(series, &[f64::from(k)]);
            table.push(row, 0, 40.0 * f64::from(k) + 25.0);
        }
        let found = through_origin(&table, series, 0.95).unwrap();
        // sum(k) / sum(k^2) = 3 / (2 n + 1).
        assert!((found.ticks.value - (40.0 + 25.0 * 3.0 / f64::from(2 * n + 1))).abs() < 1e-9, "{found:?}");
        let line = solve(&table, series, &Options::default()).unwrap();
        assert!((line.components[0].ticks.value - 40.0).abs() < 1e-9);
        assert!((line.overhead.unwrap().value - 25.0).abs() < 1e-6);
    }

    #[test]
    fn one_reading_gives_no_line() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let row = table.row(series, &[1.0]);
        table.push(row, 0, 5.0);
        assert_eq!(through_origin(&table, series, 0.95), None);
    }
}
