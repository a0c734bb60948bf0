//! The overhead of the stopwatch on some clocks (StopWatch, Table 2): five times ten thousand runs.

use hairspring::clock::{Clock, RateMeter, granularity};
use hairspring::observations::Rate;
use hairspring::stopwatch::{Overhead, overhead};
use std::time::Duration;

/// The overhead on one clock.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockOverhead {
    /// Name of the clock.
    pub clock: String,
    /// Its rate.
    pub rate: Rate,
    /// Every repetition.
    pub repetitions: Vec<Overhead>,
}

impl ClockOverhead {
    /// The repetition with the least spread, which is the one that the paper shows.
    pub fn steadiest(&self) -> Option<&Overhead> {
        self.repetitions.iter().min_by(|a, b| a.calibrator.sd.total_cmp(&b.calibrator.sd))
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
    /// Runs asked for in each repetition.
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
    let one = |clock: &Clock| {
        let (meter, begin) = (RateMeter::start(*clock), std::time::Instant::now());
        let quantum = granularity(clock).quantum;
        let repetitions = (0..REPETITIONS).map(|_| overhead(*clock, quantum, runs, MOST_TIME)).collect();
        std::thread::sleep(RATE_TIME.saturating_sub(begin.elapsed()));
        ClockOverhead { clock: clock.name.to_owned(), rate: meter.rate(), repetitions }
    };
    OverheadReport { runs, clocks: clocks.iter().map(one).collect(), priority_raised }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring::clock::fake;

    #[test]
    fn the_parts_of_the_overhead_are_those_of_the_clock_and_of_the_stopwatch() {
        fake::set(fake::Settings { per_read: 40, bits: 32, ..fake::Settings::default() });
        let found = overheads(&[fake::clock(32)], 500, false);
        let steadiest = found.clocks[0].steadiest().unwrap();
        assert_eq!((steadiest.total.mean, steadiest.read.mean, steadiest.calibrator.mean), (40.0, 40.0, 0.0));
        assert_eq!((steadiest.total.all, found.clocks[0].repetitions.len()), (500, 5));
        assert_eq!(found.clocks[0].range(), (40.0, 40.0));
    }
}
