//! The rows of a series: how many copies, from a short trial.

use crate::design::{Quantity, Series};
use hairspring_host::chains::{EncodedRows, RowBytes, RowFn};
use hairspring_host::clock::ReadFn;
use hairspring_measure::rounds::Rig;

/// Length of the longest row in core cycles: long enough for one-cycle chains, short enough to be
/// undisturbed by a co-runner.
const LONGEST_CYCLES: f64 = 1_500.0;
/// Most machine code of a row of a chain.
const MOST_BYTES: usize = 8_192;
/// Most copies of a chain.
const MOST_COPIES: f64 = 2_048.0;
/// The same for a block of independent copies, which runs from the cache of decoded instructions.
const BLOCK_BYTES: usize = 1_536;
const BLOCK_COPIES: f64 = 256.0;
/// Calls of a block. Unlike the end of a loop, they are all predicted.
const RUNS_OF_A_BLOCK: u32 = 16;
/// Times that a row of blocks runs before it is measured. Redwood Cove gets faster at three loads
/// of 256 bits in a cycle for so long: 0.354 cycles a copy after 40 runs, 0.337 after 150, 0.334
/// after 300 and in a loop.
const RUNS_BEFORE_BLOCKS: u32 = 150;
/// Fewest copies of the longest row.
const FEWEST_COPIES: f64 = 12.0;
/// Copies of the rows as shares of the longest one.
const SHARES: [f64; 6] = [0.125, 0.25, 0.375, 0.5, 0.75, 1.0];
/// The same for blocks: a call and its return run beside the copies of a short one.
const BLOCK_SHARES: [f64; 6] = [0.25, 0.375, 0.5, 0.625, 0.75, 1.0];
/// The same for independent copies of instructions of 512 bits: Zen 5 runs the first ones behind
/// other code more slowly, and makes up for a part of it within 800 cycles. With the rows of other
/// instructions, two additions in a cycle came to 0.489 cycles for 0.5.
const WIDE_SHARES: [f64; 6] = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0];
/// Most copies in a block of these, and the length of the longest row in core cycles.
const WIDE_COPIES: f64 = 170.0;
const WIDE_CYCLES: f64 = 2_000.0;
/// Independent copies of an instruction that takes at least so many cycles are not limited by how
/// fast they are decoded.
const SLOW_CYCLES: f64 = 2.0;

/// Copies in a row, and how often it runs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Copies of the instruction.
    pub copies: u32,
    /// Runs of all copies.
    pub runs: u32,
}

impl Length {
    /// Evaluations in a row.
    pub fn count(self) -> f64 {
        f64::from(self.copies) * f64::from(self.runs)
    }

    /// Times that a row runs before it is measured.
    pub fn runs_before(self) -> u32 {
        if self.runs > 1 { RUNS_BEFORE_BLOCKS } else { 1 }
    }
}

/// Lengths of the rows of a series whose copies take about this many cycles.
pub fn lengths(series: &Series, cycles: f64) -> Vec<Length> {
    let bytes = series.copies.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let (runs, shares, longest, most_bytes, most_copies) = match series.quantity {
        Quantity::Throughput(_) if cycles >= SLOW_CYCLES => {
            (1, SHARES, LONGEST_CYCLES, MOST_BYTES, MOST_COPIES)
        }
        Quantity::Throughput(_) if series.form.contains("zmm") => {
            (RUNS_OF_A_BLOCK, WIDE_SHARES, WIDE_CYCLES, MOST_BYTES, WIDE_COPIES)
        }
        Quantity::Throughput(_) => {
            (RUNS_OF_A_BLOCK, BLOCK_SHARES, LONGEST_CYCLES, BLOCK_BYTES, BLOCK_COPIES)
        }
        Quantity::Latency(_) => (1, SHARES, LONGEST_CYCLES, MOST_BYTES, MOST_COPIES),
    };
    let longest = longest / (f64::from(runs) * cycles.max(0.01));
    let most_copies_here =
        longest.min((most_bytes / bytes) as f64).clamp(FEWEST_COPIES, most_copies);
    let length =
        |share: &f64| Length { copies: (share * most_copies_here).round().max(1.0) as u32, runs };
    let mut all_lengths: Vec<Length> = shares.iter().map(length).collect();
    all_lengths.dedup();
    all_lengths
}

/// A row of a series.
pub fn row(series: &Series, Length { copies, runs }: Length) -> RowBytes {
    RowBytes {
        code: series.code(copies),
        runs,
        registers: series.registers.clone(),
        vectors: series.vectors,
        buffer: series.buffer,
    }
}

/// Encoded rows, then chains of known length.
#[derive(Debug)]
pub struct Rows {
    /// The clock.
    pub now: ReadFn,
    /// Rows of the series.
    pub encoded: EncodedRows,
    /// Times that each of them runs before it is measured.
    pub runs_before: Vec<u32>,
    /// Rows of the chains.
    pub chains: Vec<RowFn>,
}

impl Rig for Rows {
    fn rows(&self) -> usize {
        self.encoded.len() + self.chains.len()
    }

    fn runs_before(&self, row: usize) -> u32 {
        self.runs_before.get(row).copied().unwrap_or(1)
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
pub fn trial(all_series: &[Series], now: ReadFn) -> Result<Vec<f64>, String> {
    let rows: Vec<RowBytes> = all_series
        .iter()
        .flat_map(|series| TRIAL_COPIES.map(|copies| row(series, Length { copies, runs: 1 })))
        .collect();
    let rows = EncodedRows::new(&rows)?;
    let shortest = |at: usize| (0..TRIALS).map(|_| rows.run(at, now)).min().unwrap_or(0) as f64;
    let step = f64::from(TRIAL_COPIES[1] - TRIAL_COPIES[0]);
    Ok((0..all_series.len())
        .map(|at| ((shortest(2 * at + 1) - shortest(2 * at)) / step).max(0.0))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::series;
    use crate::forms::all;

    #[test]
    fn rows_fit_the_time_the_cache_and_the_fit() {
        let form = all().into_iter().find(|form| form.name == "add r64, r64").unwrap();
        let all_series = series(&form).unwrap();
        let series = &all_series[0];
        let of = |series: &Series, cycles: f64| -> Vec<(u32, u32)> {
            lengths(series, cycles).iter().map(|length| (length.copies, length.runs)).collect()
        };
        assert_eq!(of(series, 1.0), [188, 375, 563, 750, 1125, 1500].map(|copies| (copies, 1)));
        assert_eq!(of(series, 0.0), [256, 512, 768, 1024, 1536, 2048].map(|copies| (copies, 1)));
        assert_eq!(of(series, 1e4), [2, 3, 5, 6, 9, 12].map(|copies| (copies, 1)));
        let independent = all_series.last().unwrap();
        assert_eq!(of(independent, 0.2), [64, 96, 128, 160, 192, 256].map(|copies| (copies, 16)));
        assert_eq!(of(independent, 3.0), [63, 125, 188, 250, 375, 500].map(|copies| (copies, 1)));
        let form = all().into_iter().find(|form| form.name == "vaddpd zmm, zmm, zmm").unwrap();
        let series_of_wide = crate::design::series(&form).unwrap();
        assert_eq!(
            of(series_of_wide.last().unwrap(), 0.5),
            [85, 102, 119, 136, 153, 170].map(|copies| (copies, 16))
        );
        assert_eq!(
            of(&series_of_wide[0], 4.0),
            [47, 94, 141, 188, 281, 375].map(|copies| (copies, 1))
        );
        assert_eq!(
            row(series, Length { copies: 7, runs: 1 }).code.len(),
            7 * series.copies[0].len()
        );
    }
}
