//! Three experiments on the latency of reading a clock (Kwon and Choi, 4.1): consecutive reads; a
//! pair of reads every second; a pair every one and five seconds in turn. Pauses let the caches
//! cool and the scheduler step in.

use super::Summary;
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, RateMeter, granularity};
use std::time::Duration;

/// How the experiments are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyPlan {
    /// Differences in each experiment: the paper's 1000.
    pub count: usize,
    /// Pauses are multiplied by this; 1 is the paper's.
    pub scale: f64,
    /// Confidence level.
    pub level: f64,
}

impl LatencyPlan {
    /// Time that all pauses take together.
    pub fn pauses(&self) -> Duration {
        let seconds: f64 =
            PAUSES_S.iter().flat_map(|pauses| (0..self.count).map(|at| pause(pauses, at))).sum();
        Duration::from_secs_f64(seconds * self.scale)
    }
}

/// Names of the experiments, and the pauses before each pair in seconds, taken in turn.
const NAMES: [&str; 3] = ["consecutive", "every_second", "every_1_and_5_seconds"];
const PAUSES_S: [&[f64]; 3] = [&[], &[1.0], &[1.0, 5.0]];

fn pause(pauses: &[f64], at: usize) -> f64 {
    if pauses.is_empty() { 0.0 } else { pauses[at % pauses.len()] }
}

/// The result of one clock in one experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockLatency {
    /// Name of the clock.
    pub clock: String,
    /// Differences of two reads, in nanoseconds.
    pub ns: Summary,
    /// Nanoseconds of a tick, and the quantum in ticks.
    pub tick_ns: f64,
    /// Quantum of the clock in ticks.
    pub quantum: u64,
}

/// One experiment on all clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// Pauses before each pair in milliseconds, taken in turn; none for consecutive reads.
    pub pauses_ms: Vec<f64>,
    /// The clocks, in the requested order.
    pub clocks: Vec<ClockLatency>,
}

/// The experiments.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {
    /// How they were made.
    pub plan: LatencyPlan,
    /// The three of them.
    pub experiments: Vec<Experiment>,
}

/// Runs the experiments on some clocks, which must be ready. `rest` is called for each pause; it
/// sleeps, except in tests. All clocks are read after the same pause, and each is the first in
/// turn, so that none always warms the caches for the others.
pub fn latency(clocks: &[Clock], plan: LatencyPlan, mut rest: impl FnMut(Duration)) -> Latency {
    let meters: Vec<RateMeter> = clocks.iter().map(|clock| RateMeter::start(*clock)).collect();
    let quanta: Vec<u64> = clocks.iter().map(|clock| granularity(clock).quantum).collect();
    let ticks: Vec<Vec<Vec<i64>>> =
        PAUSES_S.iter().map(|pauses| differences(clocks, pauses, plan, &mut rest)).collect();
    let rates: Vec<Rate> = meters.iter().map(RateMeter::rate).collect();
    let summed = |clock: usize, ticks: &[i64]| {
        let (tick_ns, quantum, rate) = (1e9 / rates[clock].hz, quanta[clock], &rates[clock]);
        let ns: Vec<f64> = ticks.iter().map(|ticks| *ticks as f64 * tick_ns).collect();
        let ns = Summary::new(&ns, quantum as f64 * tick_ns, rate, plan.level);
        ClockLatency { clock: clocks[clock].name.to_owned(), ns, tick_ns, quantum }
    };
    let experiments = (0..NAMES.len())
        .map(|at| Experiment {
            name: NAMES[at].to_owned(),
            pauses_ms: PAUSES_S[at].iter().map(|seconds| seconds * 1e3 * plan.scale).collect(),
            clocks: ticks[at]
                .iter()
                .enumerate()
                .map(|(clock, ticks)| summed(clock, ticks))
                .collect(),
        })
        .collect();
    Latency { plan, experiments }
}

/// Differences in ticks, for each clock.
fn differences(
    clocks: &[Clock],
    pauses: &[f64],
    plan: LatencyPlan,
    rest: &mut impl FnMut(Duration),
) -> Vec<Vec<i64>> {
    if pauses.is_empty() {
        return clocks.iter().map(|clock| consecutive(clock, plan.count)).collect();
    }
    let mut all_differences = vec![Vec::with_capacity(plan.count); clocks.len()];
    for at in 0..plan.count {
        rest(Duration::from_secs_f64(pause(pauses, at) * plan.scale));
        for turn in 0..clocks.len() {
            let which = (at + turn) % clocks.len();
            let (first, second) = ((clocks[which].read)(), (clocks[which].read)());
            all_differences[which].push(clocks[which].width.signed(first, second));
        }
    }
    all_differences
}

/// One more read than differences (the paper: 1000 reads, 999 differences).
fn consecutive(clock: &Clock, count: usize) -> Vec<i64> {
    let mut readings = vec![0; count + 1];
    for reading in &mut readings {
        *reading = (clock.read)();
    }
    readings.windows(2).map(|pair| clock.width.signed(pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    #[test]
    fn the_three_experiments_pause_as_in_the_paper_and_show_the_cost_of_a_read() {
        fake::set(fake::Settings { per_read: 40, bits: 16, ..fake::Settings::default() });
        let mut pauses = Vec::new();
        let plan = LatencyPlan { count: 10, scale: 0.5, level: 0.95 };
        let latencies = latency(&[fake::clock(16)], plan, |pause| pauses.push(pause.as_millis()));
        assert_eq!(pauses[..10], [500; 10]);
        assert_eq!(pauses[10..14], [500, 2_500, 500, 2_500]);
        assert_eq!(plan.pauses(), Duration::from_secs(5 + 15));
        for experiment in &latencies.experiments {
            assert_eq!(experiment.clocks[0].ns.count, 10);
            assert!((experiment.clocks[0].ns.mean.value - 40.0).abs() < 1e-9, "{experiment:?}");
        }
    }

    #[test]
    fn only_pairs_show_the_cost_of_a_pause() {
        fake::set(fake::Settings { per_read: 40, ..fake::Settings::default() });
        let slow = || fake::set(fake::Settings { per_read: 90, ..fake::Settings::default() });
        let latencies = latency(
            &[fake::clock(64)],
            LatencyPlan { count: 50, scale: 1e-3, level: 0.95 },
            |_| slow(),
        );
        let mean = |at: usize| latencies.experiments[at].clocks[0].ns.mean.value;
        assert_eq!((mean(0).round(), mean(1).round(), mean(2).round()), (40.0, 90.0, 90.0));
    }
}
