//! A line forced through the origin, as Criterion.rs fits it (`sum(k T) / sum(k^2)`), for
//! comparison with the line fit. It wrongly takes the overhead as 0, so a part of the overhead is
//! in the slope; the interval does not include this error.

use super::method::{Departure, Measured, Method, Shown};
use crate::estimate::variance_of_mean;
use crate::estimate::{Contribution, Estimate, Source, Uncertain};
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
    let slope = through_origin(table, series, level);
    slope
        .map(|slope| Measured {
            technique: "direct, through origin".into(),
            ticks: slope.ticks,
            sd: slope.sd,
        })
        .into_iter()
        .collect()
}

/// A line through the origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThroughOrigin {
    /// Its slope, in the table's unit.
    pub ticks: Estimate,
    /// Standard deviation of the slope from a single reading with the root mean square number of
    /// copies.
    pub sd: f64,
}

/// Blocks of rounds whose slopes show noise that neighbouring readings share, and fewest of them.
const MOST_BLOCKS: u32 = 32;
const FEWEST_BLOCKS: usize = 8;
/// Blocks have the same rows if their mean squares of the copies differ by less than this share.
const SAME_ROWS: f64 = 0.05;

/// The line through the origin and all unflagged readings in which only the first component ran;
/// `None` for fewer than two such readings.
///
/// The interval comes from the slopes of blocks of rounds if every block has the same rows,
/// otherwise from the readings as if they were independent.
pub fn through_origin(table: &Observations, series: SeriesId, level: f64) -> Option<ThroughOrigin> {
    let rows = table.rows();
    let only = |counts: &[f64]| counts[0] > 0.0 && counts[1..].iter().all(|count| *count == 0.0);
    let usable = |row: usize| rows[row].series == series && only(&rows[row].counts);
    let readings = || {
        table
            .readings()
            .iter()
            .filter(|reading| !reading.flags.any() && usable(reading.row as usize))
    };
    let copies = |row: u32| rows[row as usize].counts[0];
    let points: Vec<(f64, f64)> =
        readings().map(|reading| (copies(reading.row), reading.ticks)).collect();
    if points.len() < 2 {
        return None;
    }
    let square: f64 = points.iter().map(|(k, _)| k * k).sum();
    let slope = points.iter().map(|(k, ticks)| k * ticks).sum::<f64>() / square;
    let dof = points.len() as f64 - 1.0;
    let variance = points.iter().map(|(k, ticks)| (ticks - slope * k).powi(2)).sum::<f64>() / dof;
    let by_round = readings().map(|reading| (reading.round, copies(reading.row), reading.ticks));
    let (of_mean, dof) = slopes_of_blocks(by_round, table.rounds())
        .map_or((variance / square, dof), |slopes| variance_of_mean(&slopes));
    let entry = Contribution::standard(Source::Noise, of_mean.sqrt(), dof);
    let sd = (variance * points.len() as f64 / square).sqrt();
    Some(ThroughOrigin {
        ticks: Uncertain { value: slope, budget: vec![entry] }.estimate(level),
        sd,
    })
}

/// Sums over the readings of a block.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    products: f64,
    squares: f64,
    readings: f64,
}

/// The slope of every block, from rounds, copies and readings; `None` if there are few blocks, or
/// they have different rows.
fn slopes_of_blocks(
    readings: impl Iterator<Item = (u32, f64, f64)>,
    rounds: u32,
) -> Option<Vec<f64>> {
    let count = MOST_BLOCKS.min(rounds);
    let mut blocks = vec![Block::default(); count as usize];
    for (round, copies, ticks) in readings {
        let block = &mut blocks[(u64::from(round) * u64::from(count) / u64::from(rounds)) as usize];
        *block = Block {
            products: block.products + copies * ticks,
            squares: block.squares + copies * copies,
            readings: block.readings + 1.0,
        };
    }
    let mean_squares = || blocks.iter().map(|block| block.squares / block.readings);
    let (least_square, most_square) = mean_squares().fold(
        (f64::INFINITY, 0.0),
        |(least_square, most_square): (f64, f64), one| {
            (least_square.min(one), most_square.max(one))
        },
    );
    let have_same_rows = blocks.iter().all(|block| block.readings > 0.0)
        && most_square <= (1.0 + SAME_ROWS) * least_square;
    (blocks.len() >= FEWEST_BLOCKS && have_same_rows)
        .then(|| blocks.iter().map(|block| block.products / block.squares).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Options;
    use crate::pipeline::solve;

    #[test]
    fn overhead_biases_the_slope_by_the_closed_form() {
        let mut table = Observations::new(vec!["body".into()]);
        let series = table.series("main");
        let n = 10u32;
        for k in 1..=n {
            let row = table.row(series, &[f64::from(k)]);
            table.push(row, 0, 40.0 * f64::from(k) + 25.0);
        }
        let slope = through_origin(&table, series, 0.95).unwrap();
        // sum(k) / sum(k^2) = 3 / (2 n + 1).
        assert!(
            (slope.ticks.value - (40.0 + 25.0 * 3.0 / f64::from(2 * n + 1))).abs() < 1e-9,
            "{slope:?}"
        );
        let line = solve(&table, series, &Options::default()).unwrap();
        assert!((line.components[0].ticks.value - 40.0).abs() < 1e-9);
        assert!((line.overhead.unwrap().value - 25.0).abs() < 1e-6);
    }

    #[test]
    fn noise_that_a_round_shares_widens_the_interval() {
        let half_width = |repeated: bool| {
            let mut table = Observations::new(vec!["body".into()]);
            let series = table.series("main");
            for at in 0..512u32 {
                let k = f64::from(at % 8 + 1);
                let row = table.row(series, &[k]);
                // Longer and shorter by 5 % in turn, for 16 rounds each.
                let factor = if at / 128 % 2 == 0 { 1.05 } else { 0.95 };
                table.push(row, if repeated { at / 8 } else { 0 }, 40.0 * k * factor);
            }
            through_origin(&table, series, 0.95).unwrap().ticks.half_width()
        };
        assert!(
            half_width(true) > 3.0 * half_width(false),
            "{} {}",
            half_width(true),
            half_width(false)
        );
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
