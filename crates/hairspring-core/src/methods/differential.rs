//! Two executions minus one (Moreno and Fischmeister, 3.1): free of the overhead, but noisier than
//! a line fit.

use super::Means;
use super::method::{Departure, Measured, Method, Shown};
use crate::estimate::{Contribution, Estimate, Source, Uncertain};
use crate::estimate::{variance, variance_of_mean};
use crate::observations::{Observations, SeriesId};

/// The method beside the line fit.
pub const METHOD: Method = Method {
    name: "differential",
    summary: "Two copies minus one",
    copies: &[1, 2],
    shown: Shown::OnRequest,
    departure: Departure::Doubtful,
    remedy: "use the line fit: the clock's fence hides the first cycles of a short row, and with \
             them part of the difference",
    measure: measured,
};

fn measured(table: &Observations, series: SeriesId, level: f64) -> Vec<Measured> {
    let technique = |(many, few): (f64, f64)| format!("differential {many}x - {few}x");
    let measured = differential(table, series, level);
    measured
        .map(|measured| Measured {
            technique: technique(measured.copies),
            ticks: measured.ticks,
            sd: measured.sd,
        })
        .into_iter()
        .collect()
}

/// A differential measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Differential {
    /// Copies in the longer and in the shorter row.
    pub copies: (f64, f64),
    /// Difference of the readings over the difference of the copies, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of a single such measurement, in the table's unit.
    pub sd: f64,
}

/// The difference of the two rows with the fewest copies of the first component and nothing else;
/// `None` if there are fewer than two such rows or complete blocks of rounds.
pub fn differential(table: &Observations, series: SeriesId, level: f64) -> Option<Differential> {
    let means = Means::of(table, series)?;
    let mut alone: Vec<(f64, usize)> = means
        .rows
        .iter()
        .enumerate()
        .filter_map(|(at, row)| Some((means.copies_alone(*row)?, at)))
        .collect();
    alone.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(few, short), (many, long)] = *alone.get(..2)? else { return None };
    let differences: Vec<f64> =
        means.blocks.iter().map(|block| (block[long] - block[short]) / (many - few)).collect();
    let value = differences.iter().sum::<f64>() / differences.len() as f64;
    let (of_mean, dof) = variance_of_mean(&differences);
    let entry = Contribution::standard(Source::Noise, of_mean.sqrt(), dof);
    let (short, long) = (means.readings(means.rows[short]), means.readings(means.rows[long]));
    let of_round = |(round, ticks): &(u32, f64)| {
        let at = short.binary_search_by_key(round, |(round, _)| *round).ok()?;
        Some((ticks - short[at].1) / (many - few))
    };
    let single: Vec<f64> = long.iter().filter_map(of_round).collect();
    Some(Differential {
        copies: (many, few),
        ticks: Uncertain { value, budget: vec![entry] }.estimate(level),
        sd: variance(&single).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_cancels_and_the_noise_of_both_rows_stays() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        for round in 0..64u32 {
            for n in [8.0, 1.0, 2.0] {
                let row = table.row(series, &[n]);
                let noise = if round % 2 == 0 { 0.5 } else { -0.5 };
                table.push(row, round, 40.0 * n + 25.0 + if n == 2.0 { noise } else { 0.0 });
            }
        }
        let difference = differential(&table, series, 0.95).unwrap();
        assert_eq!(difference.copies, (2.0, 1.0));
        assert!((difference.ticks.value - 40.0).abs() < 1e-9, "{difference:?}");
        // Half a tick above and below: the deviation of 64 such readings.
        assert!((difference.sd - 0.5 * (64.0f64 / 63.0).sqrt()).abs() < 1e-9, "{difference:?}");
        assert_eq!(measured(&table, series, 0.95)[0].technique, "differential 2x - 1x");
    }

    #[test]
    fn one_row_has_no_difference() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let row = table.row(series, &[1.0]);
        (0..40).for_each(|round| table.push(row, round, 65.0));
        assert_eq!(differential(&table, series, 0.95), None);
    }
}
