//! The overhead of the stopwatch on some clocks (StopWatch, Table 2): five times ten thousand runs.

use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::observations::Rate;
use hairspring_host::clock::{Clock, RateMeter, granularity};
use hairspring_measure::stopwatch::{Moments, Overhead, overhead};
use std::time::Duration;

/// The overhead on one clock.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockOverhead {
    /// Name of the clock.
    pub clock: String,
    /// Its rate.
    pub rate: Rate,
    /// Its quantum in ticks.
    pub quantum: u64,
    /// Every repetition.
    pub repetitions: Vec<Overhead>,
}

impl ClockOverhead {
    /// The repetition with the smallest spread, as the paper shows.
    pub fn steadiest(&self) -> Option<&Overhead> {
        self.repetitions.iter().min_by(|a, b| a.calibrator.sd.total_cmp(&b.calibrator.sd))
    }

    /// A mean of the steadiest repetition in ticks. Its interval comes from the spread of the same
    /// mean over all repetitions, which includes disturbances of several neighbouring runs. A clock
    /// that showed no step in n runs may still step once in every n / -ln(1 - level) of them.
    pub fn mean(&self, of: fn(&Overhead) -> &Moments, level: f64) -> Option<Uncertain> {
        let steadiest = of(self.steadiest()?);
        let means: Vec<f64> =
            self.repetitions.iter().map(|repetition| of(repetition).mean).collect();
        let freedom = means.len() as f64 - 1.0;
        let center = means.iter().sum::<f64>() / means.len() as f64;
        let sd = (means.iter().map(|mean| (mean - center).powi(2)).sum::<f64>() / freedom.max(1.0))
            .sqrt();
        let unseen = self.quantum as f64 * -(1.0 - level).ln() / steadiest.used.max(1) as f64;
        let budget = vec![
            Contribution::standard(Source::Noise, sd, freedom.max(1.0)),
            Contribution::bound(Source::Quantum, unseen.min(self.quantum as f64)),
        ];
        Some(Uncertain { value: steadiest.mean, budget })
    }

    /// Smallest and largest mean of the total over the repetitions, in ticks.
    pub fn range(&self) -> (f64, f64) {
        let means = || self.repetitions.iter().map(|repetition| repetition.total.mean);
        (means().fold(f64::INFINITY, f64::min), means().fold(f64::NEG_INFINITY, f64::max))
    }
}

/// The overhead on some clocks.
#[derive(Debug, Clone, PartialEq)]
pub struct OverheadReport {
    /// Requested runs in each repetition.
    pub runs: usize,
    /// One entry for each clock.
    pub clocks: Vec<ClockOverhead>,
    /// Whether the thread's priority was raised.
    pub priority_raised: bool,
}

/// Repetitions, as in the paper, and the time that one may take.
const REPETITIONS: usize = 5;
const MOST_TIME: Duration = Duration::from_secs(2);
/// Shortest time over which a rate is measured.
const RATE_TIME: Duration = Duration::from_millis(50);

/// Measures the overhead on clocks that are ready.
pub fn overheads(clocks: &[Clock], runs: usize, priority_raised: bool) -> OverheadReport {
    let overhead_of = |clock: &Clock| {
        let (meter, begin) = (RateMeter::start(*clock), std::time::Instant::now());
        let quantum = granularity(clock).quantum;
        let repetitions =
            (0..REPETITIONS).map(|_| overhead(*clock, quantum, runs, MOST_TIME)).collect();
        std::thread::sleep(RATE_TIME.saturating_sub(begin.elapsed()));
        ClockOverhead { clock: clock.name.to_owned(), rate: meter.rate(), quantum, repetitions }
    };
    OverheadReport { runs, clocks: clocks.iter().map(overhead_of).collect(), priority_raised }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;

    #[test]
    fn the_overhead_is_split_between_clock_and_stopwatch() {
        fake::set(fake::Settings { per_read: 40, bits: 32, ..fake::Settings::default() });
        let overheads = overheads(&[fake::clock(32)], 500, false);
        let steadiest = overheads.clocks[0].steadiest().unwrap();
        assert_eq!(
            (steadiest.total.mean, steadiest.read.mean, steadiest.calibrator.mean),
            (40.0, 40.0, 0.0)
        );
        assert_eq!((steadiest.total.all, overheads.clocks[0].repetitions.len()), (500, 5));
        assert_eq!(overheads.clocks[0].range(), (40.0, 40.0));
    }

    #[test]
    fn interval_of_a_mean_comes_from_its_repetitions_or_the_bound_of_a_coarse_clock() {
        fake::set(fake::Settings { quantum: 1_000, per_read: 1, ..fake::Settings::default() });
        let report = overheads(&[fake::clock(64)], 200, false);
        let total = report.clocks[0].mean(|overhead| &overhead.total, 0.95).unwrap().estimate(0.95);
        assert!(total.contains(1.0) && total.half_width() >= 14.0, "{total:?}");
        fake::set(fake::Settings { per_read: 40, ..fake::Settings::default() });
        let steady = overheads(&[fake::clock(64)], 200, false).clocks[0]
            .mean(|overhead| &overhead.read, 0.95)
            .unwrap()
            .estimate(0.95);
        assert!(steady.contains(40.0) && steady.half_width() < 1.0, "{steady:?}");
    }
}
