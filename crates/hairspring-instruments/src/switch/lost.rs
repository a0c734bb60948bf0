//! The second method (Muller, 2.10: idle time): what a background counter loses while switches run
//! at a known rate. Pure.
//!
//! A window is a period of the timer. Its reading is not a time but the work of the counter, so it
//! needs no clock but the timer: `work = (period - switches * t - rest) / unit`. The fit gives
//! `1 / unit` and `-t / unit`, and their ratio is `-t`.
//!
//! In the longer windows the switches are also timed by the clock, because a thread that waits for
//! the CPU makes them longer.

use hairspring_core::estimate::ratio::ratio;
use hairspring_core::estimate::{Component, Options, Solution, Uncertain};
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;

/// Name of the series of the counter's work.
pub const COUNTER: &str = "counter";
/// Name of the series of the switches that are timed beside the counter.
pub const TIMED_SERIES: &str = "beside the counter";
/// Name of the component of the time that passes, in nanoseconds.
pub const PASSED_TIME: &str = "passed";
/// Name of the component of the switches.
pub const SWITCHES: &str = "switches";

/// A window: switches away from the measuring side, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Switches out and back.
    pub pairs: u32,
    /// Length in nanoseconds.
    pub ns: u64,
}

impl Period {
    /// Its counts.
    pub fn counts(&self) -> Vec<f64> {
        vec![self.ns as f64, 2.0 * f64::from(self.pairs)]
    }

    /// Switches in a second.
    pub fn rate(&self) -> f64 {
        2e9 * f64::from(self.pairs) / self.ns as f64
    }
}

/// Lengths of the windows, in nanoseconds.
const LENGTHS: [u64; 2] = [1_000_000, 2_500_000];
/// Shares of the shorter window that the switches take.
const SHARES: [f64; 4] = [0.0, 0.15, 0.3, 0.5];

/// The windows for a switch out and back that takes about this long.
pub fn periods(pair_ns: f64) -> Vec<Period> {
    let scale = (pair_ns / (0.1 * LENGTHS[0] as f64)).max(1.0);
    let ns = |length: u64| (length as f64 * scale) as u64;
    let pairs = |share: f64| (share * ns(LENGTHS[0]) as f64 / pair_ns) as u32;
    LENGTHS
        .iter()
        .flat_map(|length| SHARES.map(|share| Period { pairs: pairs(share), ns: ns(*length) }))
        .collect()
}

/// Fewest undisturbed readings, as a multiple of the number of windows.
const FEWEST_SHARE: usize = 4;

/// The counts of a window whose switches are also timed by the clock: the longer ones. `None` for
/// the others, which have the same numbers of switches.
pub fn timed(period: &Period, all_periods: &[Period]) -> Option<Vec<f64>> {
    let longest = all_periods.iter().map(|period| period.ns).max();
    (Some(period.ns) == longest).then(|| vec![2.0 * f64::from(period.pairs)])
}

/// Time of a switch in nanoseconds, from the clock, beside a counter that waits for the CPU.
///
/// # Errors
/// Why there is none, in words.
pub fn timed_ns(table: &Observations, level: f64) -> Result<Uncertain, String> {
    let solution = solved(table, level)?;
    Ok(component(&solution, SWITCHES)?.uncertain.clone())
}

/// Time of a switch in nanoseconds, from what the counter lost.
///
/// # Errors
/// Why there is none, in words.
pub fn lost_ns(table: &Observations, level: f64) -> Result<Uncertain, String> {
    let solution = solved(table, level)?;
    let lost_time = ratio(
        (&solution, component(&solution, SWITCHES)?),
        (&solution, component(&solution, PASSED_TIME)?),
    );
    lost_time
        .map(|ratio| ratio.scaled(-1.0))
        .ok_or_else(|| "too few windows were undisturbed".into())
}

/// The solution of a table with one series; an error if too few windows were undisturbed.
fn solved(table: &Observations, level: f64) -> Result<Solution, String> {
    enough(table)?;
    solve(table, 0, &Options { level, ..Options::default() }).map_err(|error| error.to_string())
}

fn component<'a>(solution: &'a Solution, name: &str) -> Result<&'a Component, String> {
    solution.component(name).ok_or_else(|| format!("`{name}` cannot be separated from the rest"))
}

/// An error if too few windows were undisturbed.
fn enough(table: &Observations) -> Result<(), String> {
    let undisturbed = table.readings().iter().filter(|reading| !reading.flags.any()).count();
    let is_enough = undisturbed >= FEWEST_SHARE * table.rows().len()
        && undisturbed * 4 >= table.readings().len();
    is_enough.then_some(()).ok_or_else(|| {
        format!("only in {undisturbed} of {} windows nothing else ran", table.readings().len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A table for the work of the counter, without rows.
    fn table() -> Observations {
        let mut table = Observations::new(vec![PASSED_TIME.to_owned(), SWITCHES.to_owned()]);
        table.series(COUNTER);
        table
    }

    /// Windows in which a switch takes this long, a unit of work 130 ns, and a wake-up comes late
    /// by up to 3 us.
    fn simulated(switch_ns: f64, seed: u64) -> Observations {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut table = table();
        for round in 0..40 {
            for period in periods(2.0 * switch_ns) {
                let late = 3_000.0 * (random.random::<f64>() - random.random::<f64>());
                let time_left =
                    period.ns as f64 + late - 2.0 * f64::from(period.pairs) * switch_ns - 5_000.0;
                let row = table.row(0, &period.counts());
                table.push(row, round, (time_left / 130.0).floor());
            }
        }
        table
    }

    #[test]
    fn what_is_lost_gives_the_time_of_a_switch() {
        const RUNS: u64 = 200;
        let inside = (0..RUNS)
            .filter(|seed| {
                lost_ns(&simulated(1_500.0, *seed), 0.95).unwrap().estimate(0.95).contains(1_500.0)
            })
            .count();
        assert!(inside as f64 >= 0.91 * RUNS as f64, "{inside} of {RUNS}");
        let one = lost_ns(&simulated(1_500.0, 1), 0.95).unwrap().estimate(0.95);
        assert!(one.relative() < 0.02, "{one:?}");
    }

    #[test]
    fn windows_have_time_for_their_switches() {
        for pair_ns in [500.0, 3e3, 2e5, 3e7] {
            let all_periods = periods(pair_ns);
            assert!(
                all_periods
                    .iter()
                    .all(|one| f64::from(one.pairs) * pair_ns <= 0.51 * one.ns as f64),
                "{all_periods:?}"
            );
            assert!(
                all_periods.iter().any(|one| one.pairs > 0 && one.rate() > 0.0)
                    && all_periods.iter().any(|one| one.pairs == 0)
            );
        }
    }

    #[test]
    fn without_windows_there_is_a_reason() {
        assert!(!lost_ns(&table(), 0.95).unwrap_err().is_empty());
    }
}
