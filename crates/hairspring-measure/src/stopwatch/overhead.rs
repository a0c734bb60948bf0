//! The overhead of a stopwatch, measured with many empty runs (StopWatch, 3.3 (iv) and Table 2).

use super::{Reader, ticks};
use hairspring_host::clock::Clock;
use std::time::{Duration, Instant};

/// One empty run, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmptyRun {
    /// Between two reads of the clock, back to back.
    pub read: i64,
    /// Between start and stop.
    pub total: i64,
}

/// Mean and spread of a quantity over many runs, without interrupted runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Mean of the runs used.
    pub mean: f64,
    /// Standard deviation of a single run among those used.
    pub sd: f64,
    /// Median of all runs.
    pub median: f64,
    /// Number of runs used.
    pub used: usize,
    /// Number of all runs.
    pub all: usize,
}

/// The overhead of a stopwatch and its parts, in ticks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overhead {
    /// Between start and stop; subtracted from every span.
    pub total: Moments,
    /// Between two consecutive reads of the clock: the clock's part of the overhead.
    pub read: Moments,
    /// The stopwatch's own part: total minus read of each run (the paper's calibrator).
    pub calibrator: Moments,
}

/// Runs further from the median than this many median deviations were interrupted.
const FAR_DEVIATIONS: f64 = 20.0;
/// Reads before each run, so that code and data are in the cache (StopWatch, 3.3 (iii)).
const WARMING_READS: usize = 4;
/// Number of runs that are made regardless of the time limit.
const FEWEST_RUNS: usize = 100;

/// Measures the overhead with at most `runs` runs, or as many as fit into `time`, but at least 100.
/// The clock must be ready; its quantum is in ticks.
pub fn overhead(clock: Clock, quantum: u64, runs: usize, time: Duration) -> Overhead {
    let begin = Instant::now();
    let mut empty_runs = Vec::with_capacity(runs);
    while empty_runs.len() < runs && (empty_runs.len() < FEWEST_RUNS || begin.elapsed() < time) {
        empty_runs.push(run(clock));
    }
    Overhead::from_runs(&empty_runs, quantum)
}

fn run(clock: Clock) -> EmptyRun {
    let (mut before, mut last) = (0, 0);
    for _ in 0..WARMING_READS {
        before = last;
        last = (clock.read)();
    }
    let mut reader = Reader { clock, started: None };
    reader.start();
    let total = reader.stop().unwrap_or(0);
    EmptyRun { read: ticks(clock.width, before, last), total }
}

impl Overhead {
    /// The overhead from runs. `quantum` is that of the clock in ticks; its steps do not count as
    /// interruptions.
    pub fn from_runs(runs: &[EmptyRun], quantum: u64) -> Overhead {
        let column = |value: fn(&EmptyRun) -> i64| {
            moments(
                &runs.iter().map(|run| value(run) as f64).collect::<Vec<_>>(),
                (quantum as f64).max(1.0),
            )
        };
        Overhead {
            total: column(|run| run.total),
            read: column(|run| run.read),
            calibrator: column(|run| run.total - run.read),
        }
    }
}

fn moments(values: &[f64], quantum: f64) -> Moments {
    let center = median(values);
    let deviation =
        median(&values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>()).max(quantum);
    let reach = FAR_DEVIATIONS * deviation;
    let used: Vec<f64> =
        values.iter().copied().filter(|value| (value - center).abs() <= reach).collect();
    let count = used.len().max(1) as f64;
    let mean = used.iter().sum::<f64>() / count;
    let variance =
        used.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    Moments { mean, sd: variance.sqrt(), median: center, used: used.len(), all: values.len() }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}
