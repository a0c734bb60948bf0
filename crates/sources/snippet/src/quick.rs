//! Quick times of rows, for a pilot.

use crate::child::Child;
use crate::error::Result;
use hairspring_measure::limits::Batch;

/// Mean ticks of each of the rows, without the extremes.
pub fn ticks(child: &mut Child, rows: &[u32], batch: Batch) -> Result<Vec<f64>> {
    let readings = child.run_rows(rows.to_vec(), batch)?;
    let of_row =
        |row: usize| readings.iter().skip(row).step_by(rows.len()).map(|raw| raw.ticks).collect();
    Ok((0..rows.len()).map(|row| mean(of_row(row))).collect())
}

/// The mean without the extremes, or the middle one if that is much less: then something else took
/// the CPU from many of them. The mean is finer than the clock's quantum. Were more left out than
/// outliers, it would follow the commoner of two quanta: 256 copies of code of 0.4 cycles were
/// taken to be long enough by a clock whose quantum is 40 cycles.
fn mean(mut ticks: Vec<u64>) -> f64 {
    const MUCH_LONGER: f64 = 2.0;
    ticks.sort_unstable();
    let rest = &ticks[ticks.len() / 16..ticks.len() - ticks.len() / 8];
    let mean = rest.iter().map(|ticks| *ticks as f64).sum::<f64>() / rest.len().max(1) as f64;
    let middle = ticks.get(ticks.len().saturating_sub(1) / 2).map_or(0.0, |ticks| *ticks as f64);
    if middle > 0.0 && mean > MUCH_LONGER * middle { middle } else { mean }
}

#[cfg(test)]
mod tests {
    use super::mean;

    #[test]
    fn readings_that_something_else_lengthens_by_far_do_not_count() {
        // Of a coarse clock the mean is between two quanta.
        assert_eq!(mean((0..64).map(|at| 26 * (at % 4 / 3)).collect()).round(), 4.0);
        assert_eq!(mean((0..64).map(|at| 26 * (at % 4).min(1)).collect()).round(), 20.0);
        let preempted = |every: u64| {
            mean((0..20).map(|at| if at % every == 0 { 10_000_000 } else { 100 + at }).collect())
        };
        assert!([2, 3, 4].map(preempted).iter().all(|mean| (100.0..121.0).contains(mean)));
        assert_eq!(mean(Vec::new()), 0.0);
    }
}
