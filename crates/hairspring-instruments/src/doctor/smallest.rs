//! The smallest time that can be measured to 1 % here: a hundred times the half-width of the
//! difference of two rows. A time that runs once between two reads is the difference of a row with
//! it and one without; of many copies each takes its part of it. As in every measurement, the
//! reference chain runs in the same rounds, so that steps of the core clock are no noise.

use hairspring_core::estimate::ratio::of_first;
use hairspring_core::estimate::{
    Contribution, Estimate, Options, Solution, Source, Uncertain, variance_of_mean,
};
use hairspring_core::observations::Observations;
use hairspring_core::pipeline::solve;
use hairspring_host::chains::{ChainRole, RULER, chains, name};
use hairspring_host::clock::Clock;
use hairspring_measure::sampling::Sampling;
use std::time::Duration;

/// The precision that counts.
pub const PRECISION: f64 = 0.01;
/// Time of a run.
const RUN: Duration = Duration::from_millis(100);
/// Runs, from whose scatter the interval comes; one more run is as long as all of them.
const RUNS: u32 = 4;
/// Copies of the shortest rows, which are as good as empty ones: their noise is that of reading the
/// clock.
const SHORT_ROWS: [u32; 2] = [32, 64];
/// Copies of rows that differ by many.
const LONG_ROWS: [u32; 2] = [32, 512];
/// Copies of the rows of the reference chain.
const OF_REFERENCE: [u32; 4] = [32, 128, 256, 384];
/// Relative standard deviation of a half-width that comes from 32 blocks of rounds: 1 over the root
/// of twice the degrees of freedom.
const SD_OF_HALF_WIDTH: f64 = 0.127;

/// The smallest times to 1 %, in nanoseconds, and what the step of the clock adds to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smallest {
    /// Of what runs once between two reads, in 0.1 s of measuring.
    pub once_in_100_ms: Estimate,
    /// The same in 1 s.
    pub once_in_1_s: Estimate,
    /// Of what runs in so many copies.
    pub copies: u32,
    /// In 0.1 s.
    pub copy_in_100_ms: Estimate,
    /// In 1 s.
    pub copy_in_1_s: Estimate,
    /// By what factor the step of the clock lengthens the measuring time to the same interval: the
    /// variance of a reading over that without the step.
    pub step_factor: f64,
}

impl Smallest {
    /// Measures rows of the simple chain beside the reference chain, which takes `cycles` at this
    /// core clock; `None` if they cannot be solved.
    pub fn measure(clock: Clock, core_hz: f64, cycles: f64, level: f64) -> Option<Smallest> {
        let ns = |pair: &Pair, copies: &[u32; 2]| {
            Some(pair.half_width(copies, level)? * cycles * 1e9 / core_hz / PRECISION)
        };
        let pair = |copies: &[u32; 2], time: Duration, seed: u64| {
            Pair::solved(&sampled(clock, copies, time, seed)?, level)
        };
        let short: Vec<Pair> =
            (0..RUNS).map(|seed| pair(&SHORT_ROWS, RUN, u64::from(seed))).collect::<Option<_>>()?;
        let once_in_100_ms = of_runs(
            &short.iter().map(|pair| ns(pair, &SHORT_ROWS)).collect::<Option<Vec<f64>>>()?,
            level,
        )?;
        let once_in_1_s =
            of_longer(ns(&pair(&SHORT_ROWS, RUN * RUNS, 10)?, &SHORT_ROWS)?, RUNS, level);
        let long: Vec<f64> = (0..2)
            .map(|seed| ns(&pair(&LONG_ROWS, RUN, 20 + seed)?, &LONG_ROWS))
            .collect::<Option<_>>()?;
        let copies = LONG_ROWS[1] - LONG_ROWS[0];
        // The intervals are those of what runs once: the rows differ in their lengths only.
        let of_copy = |once: Estimate| {
            once.scaled(
                long.iter().sum::<f64>()
                    / long.len() as f64
                    / once_in_100_ms.value
                    / f64::from(copies),
            )
        };
        Some(Smallest {
            once_in_100_ms,
            once_in_1_s,
            copies,
            copy_in_100_ms: of_copy(once_in_100_ms),
            copy_in_1_s: of_copy(once_in_1_s),
            step_factor: short.iter().map(|pair| step_factor(&pair.chain)).sum::<f64>()
                / short.len() as f64,
        })
    }
}

/// Rounds over two rows of the simple chain, and over rows of the reference chain.
fn sampled(clock: Clock, copies: &[u32; 2], time: Duration, seed: u64) -> Option<Observations> {
    let all_chains = chains();
    let chain = |role: ChainRole| all_chains.iter().find(|chain| chain.role == role);
    let sampling = Sampling::new(clock)
        .with_copies(chain(ChainRole::Simple)?, copies)
        .with_copies(chain(RULER)?, &OF_REFERENCE);
    Some(sampling.run(time, seed))
}

/// The lines of the simple chain and of the reference chain.
struct Pair {
    chain: Solution,
    reference: Solution,
}

impl Pair {
    fn solved(table: &Observations, level: f64) -> Option<Pair> {
        let options = Options { level, ..Options::default() };
        let of = |role: ChainRole| solve(table, table.find_series(name(role))?, &options).ok();
        Some(Pair { chain: of(ChainRole::Simple)?, reference: of(RULER)? })
    }

    /// Half-width of the difference of the two rows, in copies of the reference chain.
    fn half_width(&self, copies: &[u32; 2], level: f64) -> Option<f64> {
        let half = of_first(&self.chain, &self.reference, level)?.half_width();
        half.is_finite().then(|| half * f64::from(copies[1] - copies[0]))
    }
}

/// The mean of positive values on the scale of their logarithms, from their scatter.
fn of_runs(values: &[f64], level: f64) -> Option<Estimate> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let (variance, dof) = variance_of_mean(&logs);
    let value = logs.iter().sum::<f64>() / logs.len() as f64;
    let log = Uncertain {
        value,
        budget: vec![Contribution::standard(Source::Noise, variance.sqrt(), dof)],
    }
    .estimate(level);
    let estimate =
        Estimate { value: log.value.exp(), low: log.low.exp(), high: log.high.exp(), level };
    estimate.value.is_finite().then_some(estimate)
}

/// The smallest time in 1 s, from that of a run of `runs` tenths of a second: at the best as if the
/// rest of the time were as independent, at the worst as if it gained nothing.
fn of_longer(measured: f64, runs: u32, level: f64) -> Estimate {
    let value = measured * (f64::from(runs) / 10.0).sqrt();
    Estimate {
        value,
        low: value * (1.0 - 2.0 * SD_OF_HALF_WIDTH),
        high: measured * (1.0 + 2.0 * SD_OF_HALF_WIDTH),
        level,
    }
}

/// The variance of a reading of the shortest row over what it is without the step of the clock. Two
/// reads at any phase of a step have a variance of a sixth of its square.
fn step_factor(solution: &Solution) -> f64 {
    /// The noise of a reading is hardly known better than to so much of it.
    const LEAST_REST: f64 = 0.05;
    let variance =
        solution.rows.iter().filter_map(|row| row.sd).fold(f64::INFINITY, f64::min).powi(2);
    let of_step = solution.quantum.powi(2) / 6.0;
    if variance.is_finite() && variance > 0.0 {
        1.0 / (1.0 - of_step / variance).max(LEAST_REST)
    } else {
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake::{self, SimulatedCore};

    /// Rounds over two rows of this many copies of one cycle on a simulated core, and over rows of
    /// the reference chain, of three cycles.
    fn pair(core: SimulatedCore, copies: [u32; 2], seed: u64) -> Pair {
        fake::simulate(core, seed);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut table = Observations::new(vec!["body".into()]);
        let of = |role, cycles, copies: &[u32]| {
            copies.iter().map(|copies| (name(role), cycles, *copies)).collect::<Vec<_>>()
        };
        let rows = [of(ChainRole::Simple, 1.0, &copies), of(RULER, 3.0, &OF_REFERENCE)].concat();
        for round in 0..4_000 {
            for (name, cycles, copies) in &rows {
                let series = table.series(name);
                let row = table.row(series, &[f64::from(*copies)]);
                fake::wait(3.0 * core.quantum.max(100) as f64 * random.f64());
                let begin = fake::read();
                fake::execute(f64::from(*copies) * cycles, 0.0);
                table.push(row, round, (fake::read() - begin) as f64);
            }
        }
        table.origin.granularity = Some(core.quantum as f64);
        Pair::solved(&table, 0.95).unwrap()
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn code_of_that_size_has_an_interval_of_about_one_percent() {
        let cores = [
            SimulatedCore::CALM,
            SimulatedCore::LEVELS,
            SimulatedCore::coarse(10),
            SimulatedCore::COARSE_READ,
            SimulatedCore::INTERRUPTS,
            SimulatedCore::BURSTS,
        ];
        for core in cores {
            let smallest = |seed| {
                3.0 * pair(core, SHORT_ROWS, seed).half_width(&SHORT_ROWS, 0.95).unwrap()
                    / PRECISION
            };
            let cycles =
                of_runs(&(0..5).map(smallest).collect::<Vec<f64>>(), 0.95).unwrap().value.round()
                    as u32;
            let relative = |seed| {
                let pair = pair(core, [32, 32 + cycles], seed);
                of_first(&pair.chain, &pair.reference, 0.95).unwrap().relative()
            };
            let share = of_runs(&(10..15).map(relative).collect::<Vec<f64>>(), 0.95).unwrap().value;
            println!("{cycles} cycles, +-{:.2} %", 100.0 * share);
            assert!(
                (0.006..0.017).contains(&share),
                "{core:?}: {cycles} cycles, +-{:.2} %",
                100.0 * share
            );
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_coarse_step_costs_time_and_a_fine_one_does_not() {
        let factor = |core| step_factor(&pair(core, SHORT_ROWS, 1).chain);
        assert!(
            (1.0..1.6).contains(&factor(SimulatedCore::CALM)),
            "{}",
            factor(SimulatedCore::CALM)
        );
        assert!(factor(SimulatedCore::coarse(40)) > 5.0, "{}", factor(SimulatedCore::coarse(40)));
    }

    #[test]
    fn the_interval_of_a_second_reaches_from_independent_noise_to_no_gain() {
        let estimate = of_longer(10.0, 4, 0.95);
        assert!(
            (estimate.value - 6.32).abs() < 0.01 && estimate.low < 5.0 && estimate.high > 10.0,
            "{estimate:?}"
        );
        assert!(of_runs(&[2.0, f64::NAN], 0.95).is_none());
    }
}
