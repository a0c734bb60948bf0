//! The rows of a series: how many copies, from a short trial.

use crate::design::{Quantity, Series};
use hairspring_host::chains::{EncodedRows, RowBytes, RowFn};
use hairspring_host::clock::ReadFn;
use hairspring_measure::rounds::Rig;

/// Length of the longest row in core cycles: long enough for one-cycle chains, short enough to be undisturbed by a neighbour.
const LONGEST_CYCLES: f64 = 1_500.0;
/// Most machine code of a row: it must stay in the cache of decoded instructions.
const MOST_BYTES: usize = 8_192;
/// Most copies.
const MOST_COPIES: f64 = 2_048.0;
/// Fewest copies of the longest row.
const FEWEST_COPIES: f64 = 12.0;
/// Copies of the rows as shares of the longest one.
const SHARES: [f64; 6] = [0.125, 0.25, 0.375, 0.5, 0.75, 1.0];
/// The same for independent copies of instructions of 512 bits: Zen 5 runs the first ones behind other code more slowly, and makes up for a
/// part of it within 800 cycles. With the rows of other instructions, two additions in a cycle came to 0.489 cycles for 0.5.
const WIDE_SHARES: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Most machine code of a row of these, which is as much as twice that of others.
const WIDE_BYTES: usize = 2 * MOST_BYTES;
/// Length of the longest of these, in core cycles.
const WIDE_CYCLES: f64 = 2_000.0;
/// Most copies of these.
const WIDE_COPIES: f64 = 2_720.0;

/// Copies of the rows of a series whose copies take about this many cycles.
pub fn copies(series: &Series, cycles: f64) -> Vec<u32> {
    let bytes = series.copies.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let is_wide = series.form.contains("zmm") && matches!(series.quantity, Quantity::Throughput(_));
    let (shares, longest, most_bytes, most_copies) =
        if is_wide { (WIDE_SHARES, WIDE_CYCLES, WIDE_BYTES, WIDE_COPIES) } else { (SHARES, LONGEST_CYCLES, MOST_BYTES, MOST_COPIES) };
    let most = (longest / cycles.max(0.01)).min((most_bytes / bytes) as f64).clamp(FEWEST_COPIES, most_copies);
    let mut all: Vec<u32> = shares.iter().map(|share| (share * most).round().max(1.0) as u32).collect();
    all.dedup();
    all
}

/// A row of a series.
pub fn row(series: &Series, copies: u32) -> RowBytes {
    RowBytes { code: series.code(copies), registers: series.registers.clone(), vectors: series.vectors, buffer: series.buffer }
}

/// Encoded rows, then chains of known length.
#[derive(Debug)]
pub struct Rows {
    /// The clock.
    pub now: ReadFn,
    /// Rows of the series.
    pub encoded: EncodedRows,
    /// Rows of the chains.
    pub chains: Vec<RowFn>,
}

impl Rig for Rows {
    fn rows(&self) -> usize {
        self.encoded.len() + self.chains.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        match row.checked_sub(self.encoded.len()) {
            None => self.encoded.run(row, self.now),
            Some(chain) => (self.chains[chain])(self.now),
        }
    }
}

/// Copies of the two rows of a trial.
const TRIAL_COPIES: [u32; 2] = [16, 64];
/// Repeats of a trial, of which the shortest reading counts.
const TRIALS: usize = 9;

/// About how long a copy of each series takes, in ticks.
///
/// # Errors
/// The system refuses memory for code.
pub fn trial(all: &[Series], now: ReadFn) -> Result<Vec<f64>, String> {
    let rows: Vec<RowBytes> = all.iter().flat_map(|series| TRIAL_COPIES.map(|copies| row(series, copies))).collect();
    let rows = EncodedRows::new(&rows)?;
    let shortest = |at: usize| (0..TRIALS).map(|_| rows.run(at, now)).min().unwrap_or(0) as f64;
    let step = f64::from(TRIAL_COPIES[1] - TRIAL_COPIES[0]);
    Ok((0..all.len()).map(|at| ((shortest(2 * at + 1) - shortest(2 * at)) / step).max(0.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::series;
    use crate::forms::all;

    #[test]
    fn rows_fit_the_time_the_cache_and_the_fit() {
        let form = all().into_iter().find(|form| form.name == "add r64, r64").unwrap();
        let series = &series(&form).unwrap()[0];
        assert_eq!(copies(series, 1.0), [188, 375, 563, 750, 1125, 1500]);
        assert_eq!(copies(series, 0.0), [256, 512, 768, 1024, 1536, 2048]);
        assert_eq!(copies(series, 1e4), [2, 3, 5, 6, 9, 12]);
        let form = all().into_iter().find(|form| form.name == "vaddpd zmm, zmm, zmm").unwrap();
        let series_of_wide = crate::design::series(&form).unwrap();
        assert_eq!(copies(series_of_wide.last().unwrap(), 0.5), [1360, 1632, 1904, 2176, 2448, 2720]);
        assert_eq!(copies(&series_of_wide[0], 4.0), [47, 94, 141, 188, 281, 375]);
        assert_eq!(row(series, 7).code.len(), 7 * series.copies[0].len());
    }
}
