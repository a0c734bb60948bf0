//! "Execute n times and divide", for comparison with the line fit (Moreno and Fischmeister, Table
//! 1). It wrongly takes the overhead as 0, so the result is too high by `overhead / n`; its
//! interval does not include this error.

use super::Means;
use super::method::{Departure, Measured, Method, Shown};
use crate::estimate::{Contribution, Estimate, Source, Uncertain};
use crate::estimate::{variance, variance_of_mean};
use crate::observations::{Observations, RowId, SeriesId};

/// The method beside the line fit.
pub const METHOD: Method = Method {
    name: "direct",
    summary: "n copies divided by n: the overhead stays in",
    copies: &COPIES,
    shown: Shown::OnRequest,
    departure: Departure::Expected,
    remedy: "use the line fit: a direct measurement includes the overhead",
    measure: measured,
};

/// Copies of the rows as in Table 1 of Moreno and Fischmeister, as far as straight-line code
/// allows.
const COPIES: [u32; 5] = [1, 10, 20, 55, 100];

/// If the rows of the report's table were run, the rows of the line fit are left out.
fn measured(table: &Observations, series: SeriesId, level: f64) -> Vec<Measured> {
    let direct_times = direct(table, series, level);
    let asked = |copies: f64| COPIES.iter().any(|n| f64::from(*n) == copies);
    let ran_all =
        COPIES[..2].iter().all(|n| direct_times.iter().any(|one| one.copies == f64::from(*n)));
    let shown = direct_times.into_iter().filter(|one| !ran_all || asked(one.copies));
    shown
        .map(|one| Measured {
            technique: format!("direct {}x", one.copies),
            ticks: one.ticks,
            sd: one.sd,
        })
        .collect()
}

/// One direct measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direct {
    /// Copies executed.
    pub copies: f64,
    /// Reading divided by copies, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit.
    pub sd: f64,
}

/// The direct measurement of every row of a series in which only the first component ran, fewest
/// copies first. Empty if there are fewer than two complete blocks of rounds.
pub fn direct(table: &Observations, series: SeriesId, level: f64) -> Vec<Direct> {
    let Some(means) = Means::of(table, series) else { return Vec::new() };
    let alone = |(at, row): (usize, &RowId)| Some((at, means.copies_alone(*row)?));
    let of_row = |(at, copies): (usize, f64)| {
        let values: Vec<f64> = means.blocks.iter().map(|block| block[at] / copies).collect();
        let value = values.iter().sum::<f64>() / values.len() as f64;
        let (of_mean, dof) = variance_of_mean(&values);
        let entry = Contribution::standard(Source::Noise, of_mean.sqrt(), dof);
        let single: Vec<f64> =
            means.readings(means.rows[at]).into_iter().map(|(_, ticks)| ticks / copies).collect();
        Direct {
            copies,
            ticks: Uncertain { value, budget: vec![entry] }.estimate(level),
            sd: variance(&single).sqrt(),
        }
    };
    let mut direct_times: Vec<Direct> =
        means.rows.iter().enumerate().filter_map(alone).map(of_row).collect();
    direct_times.sort_by(|a, b| a.copies.total_cmp(&b.copies));
    direct_times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(copies: &[u32]) -> (Observations, SeriesId) {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for round in 0..40 {
            for n in copies.iter().copied().map(f64::from) {
                let row = table.row(series, &[n]);
                table.push(row, round, 40.0 * n + 25.0);
            }
        }
        (table, series)
    }

    #[test]
    fn result_is_too_high_by_the_overhead_over_the_copies() {
        let (table, series) = table(&[20, 1, 5]);
        let direct_times = direct(&table, series, 0.95);
        assert_eq!(direct_times.iter().map(|one| one.copies).collect::<Vec<_>>(), [1.0, 5.0, 20.0]);
        for direct_time in direct_times {
            assert!(
                (direct_time.ticks.value - (40.0 + 25.0 / direct_time.copies)).abs() < 1e-9
                    && direct_time.sd.abs() < 1e-9,
                "{direct_time:?}"
            );
        }
    }

    #[test]
    fn rows_of_the_line_are_shown_only_without_rows_of_its_own() {
        let techniques = |copies: &[u32]| {
            let (table, series) = table(copies);
            measured(&table, series, 0.95).into_iter().map(|one| one.technique).collect::<Vec<_>>()
        };
        assert_eq!(techniques(&[1, 4, 16]), ["direct 1x", "direct 4x", "direct 16x"]);
        assert_eq!(techniques(&[1, 4, 10, 16, 55]), ["direct 1x", "direct 10x", "direct 55x"]);
    }
}
