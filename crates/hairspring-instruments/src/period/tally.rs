//! Tallies of wake-ups: pure, and of constant size for a run of any length.
//!
//! A wake-up of cycle n at time w(n) has the latency w(n) - due(n). The period of two consecutive
//! wake-ups is their distance; its error is that distance minus the distance of their due times. If
//! cycles between the two were missed, the due times are further apart, so a missed cycle is
//! counted as missed, not as an error of a whole period.

use super::distribution::Stream;
use super::histogram::Histogram;
use hairspring_core::stream::{Extreme, Moments};
use hairspring_host::clock::Width;

/// One wake-up: two clocks read one after the other, and the time by the clock of the due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wake {
    /// Number of the cycle, from 0.
    pub cycle: u64,
    /// When it was due, in nanoseconds of CLOCK_MONOTONIC.
    pub due_ns: u64,
    /// When it woke, by the same clock.
    pub wake_ns: u64,
    /// Readings of the two clocks, in their ticks.
    pub ticks: [u64; 2],
}

/// A cycle that woke later than the histogram reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Number of the cycle.
    pub cycle: u64,
    /// Its wake-up latency.
    pub latency_ns: f64,
}

/// Most outliers that are listed; further ones are only counted.
pub const MOST_OUTLIERS: usize = 100;

/// Ranges and bins of the histograms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bins {
    /// Latencies beyond this are outliers.
    pub range_ns: f64,
    /// Width of a bin.
    pub bin_ns: f64,
}

impl Bins {
    /// Default bins for a period: latencies up to the period, at most 1 ms, in bins of a power of
    /// ten that are at most a hundredth of it, and at most 1 us.
    pub fn for_period(period_ns: u64) -> Bins {
        let range_ns = (period_ns as f64).min(1e6);
        Bins { range_ns, bin_ns: 10f64.powf((range_ns / 100.0).log10().floor()).clamp(1.0, 1e3) }
    }

    /// Bins for times that are negative only because of the clock's error.
    pub fn positive(&self) -> Histogram {
        Histogram::new(0.0, self.range_ns, self.bin_ns)
    }

    fn both_signs(&self) -> Histogram {
        Histogram::new(-self.range_ns, self.range_ns, self.bin_ns)
    }
}

/// The tally of one clock's periods.
#[derive(Debug, Clone, PartialEq)]
pub struct ClockTally {
    /// Errors of the periods in nanoseconds, by the rate known at the start.
    pub errors: Stream,
    /// Ticks from the first wake-up to the last.
    pub ticks: i64,
    /// Times that the clock went backwards from one wake-up to the next.
    pub backward: u64,
    tick: Tick,
}

/// Converts differences of a clock's readings to time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tick {
    /// Nanoseconds of a tick, by the rate known at the start.
    pub ns: f64,
    /// Width of the counter.
    pub width: Width,
}

impl Tick {
    /// Ticks from one reading to a later one, about `ns` later by another clock. Negative if the
    /// clock went backwards; correct for any number of wraps.
    pub fn distance(&self, from: u64, to: u64, about_ns: f64) -> i64 {
        let about = about_ns / self.ns;
        if about < self.width.half() as f64 / 2.0 {
            return self.width.signed(from, to);
        }
        self.width.unwrapped(self.width.between(from, to), about) as i64
    }
}

impl ClockTally {
    fn new(tick: Tick, bins: &Bins) -> ClockTally {
        ClockTally { errors: Stream::new(bins.both_signs()), ticks: 0, backward: 0, tick }
    }

    /// Adds the distance of two wake-ups, and returns it in nanoseconds.
    fn push(&mut self, ticks: i64, due_ns: f64, cycle: u64) -> f64 {
        self.ticks += ticks;
        self.backward += u64::from(ticks < 0);
        let ns = ticks as f64 * self.tick.ns;
        self.errors.push(ns - due_ns, cycle);
        ns
    }

    /// Nanoseconds of a tick by the rate known at the start.
    pub fn ns_per_tick(&self) -> f64 {
        self.tick.ns
    }
}

/// All tallies of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Wake-ups counted.
    pub cycles: u64,
    /// Cycles between two wake-ups, or after the last one, that were due but did not run.
    pub missed: u64,
    /// Repeated wake-ups of a cycle, or of an earlier one: counted, and otherwise ignored.
    pub repeated: u64,
    /// Wake-up latencies.
    pub latency: Stream,
    /// The two clocks.
    pub clocks: [ClockTally; 2],
    /// Periods by the first clock minus periods by the second, in nanoseconds by the rates known at
    /// the start.
    pub disagreement: Moments,
    /// Longest time between two wake-ups, and the cycle with which it ended.
    pub longest_gap_ns: Extreme,
    /// The first cycles that woke later than the histogram reaches.
    pub outliers: Vec<Outlier>,
    /// Further such cycles, which are not listed.
    pub outliers_not_listed: u64,
    first: Option<Wake>,
    last: Option<Wake>,
}

impl Tally {
    /// An empty tally for clocks with these ticks.
    pub fn new(ticks: [Tick; 2], bins: &Bins) -> Tally {
        Tally {
            cycles: 0,
            missed: 0,
            repeated: 0,
            latency: Stream::new(bins.positive()),
            clocks: ticks.map(|tick| ClockTally::new(tick, bins)),
            disagreement: Moments::default(),
            longest_gap_ns: Extreme::default(),
            outliers: Vec::with_capacity(MOST_OUTLIERS),
            outliers_not_listed: 0,
            first: None,
            last: None,
        }
    }

    /// Adds a wake-up and returns its latency in nanoseconds.
    pub fn push(&mut self, wake: Wake) -> f64 {
        let latency = wake.wake_ns as f64 - wake.due_ns as f64;
        let Some(last) = self.last else {
            self.first = Some(wake);
            return self.count(wake, latency);
        };
        if wake.cycle <= last.cycle {
            self.repeated += 1;
            return latency;
        }
        self.missed += wake.cycle - last.cycle - 1;
        let due_ns = wake.due_ns as f64 - last.due_ns as f64;
        let gap = wake.wake_ns as f64 - last.wake_ns as f64;
        let distance = |clock: &ClockTally, at: usize| {
            clock.tick.distance(last.ticks[at], wake.ticks[at], gap)
        };
        let ticks = [distance(&self.clocks[0], 0), distance(&self.clocks[1], 1)];
        let ns = [0, 1].map(|at| self.clocks[at].push(ticks[at], due_ns, wake.cycle));
        self.disagreement.push(ns[0] - ns[1], wake.cycle);
        if gap > self.longest_gap_ns.value {
            self.longest_gap_ns = Extreme { value: gap, cycle: wake.cycle };
        }
        self.count(wake, latency)
    }

    fn count(&mut self, wake: Wake, latency: f64) -> f64 {
        self.cycles += 1;
        self.last = Some(wake);
        self.latency.push(latency, wake.cycle);
        if latency >= self.latency.histogram.range_ns().1 {
            if self.outliers.len() < MOST_OUTLIERS {
                self.outliers.push(Outlier { cycle: wake.cycle, latency_ns: latency });
            } else {
                self.outliers_not_listed += 1;
            }
        }
        latency
    }

    /// Ends the run, in which `due` cycles were due: those after the last wake-up were missed.
    pub fn finish(&mut self, due: u64) {
        self.missed += due.saturating_sub(self.last.map_or(0, |last| last.cycle + 1));
    }

    /// Latency of the last wake-up minus that of the first.
    pub fn ends_ns(&self) -> f64 {
        let late = |wake: Wake| wake.wake_ns as f64 - wake.due_ns as f64;
        self.first.zip(self.last).map_or(0.0, |(first, last)| late(last) - late(first))
    }

    /// Due periods from the first wake-up to the last.
    pub fn periods(&self) -> u64 {
        self.first.zip(self.last).map_or(0, |(first, last)| last.cycle - first.cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: u64 = 1_000;

    /// A wake-up with this latency; the first clock counts half nanoseconds, the second is that of
    /// the due times.
    fn wake(cycle: u64, late: u64) -> Wake {
        let due_ns = 5_000 + cycle * PERIOD;
        Wake { cycle, due_ns, wake_ns: due_ns + late, ticks: [2 * (due_ns + late), due_ns + late] }
    }

    fn tick(ns: f64) -> Tick {
        Tick { ns, width: Width::FULL }
    }

    fn tally(wakes: &[Wake]) -> Tally {
        let mut tally = Tally::new([tick(0.5), tick(1.0)], &Bins::for_period(PERIOD));
        wakes.iter().for_each(|wake| {
            tally.push(*wake);
        });
        tally
    }

    #[test]
    fn latencies_are_separate_from_period_errors() {
        let tally = tally(&[wake(0, 10), wake(1, 30), wake(2, 20)]);
        assert_eq!(
            (tally.latency.moments.mean(), tally.latency.moments.most().value),
            (20.0, 30.0)
        );
        for clock in &tally.clocks {
            assert_eq!(
                (clock.errors.moments.least().value, clock.errors.moments.most().value),
                (-10.0, 20.0)
            );
            assert_eq!(clock.errors.moments.most().cycle, 1);
        }
        assert_eq!((tally.disagreement.mean(), tally.disagreement.variance()), (0.0, 0.0));
    }

    #[test]
    fn an_overrun_counts_as_missed_cycles_and_not_as_an_error_of_whole_periods() {
        // Cycle 1 wakes 2.5 periods late; 2 and 3 are skipped.
        let tally = tally(&[wake(0, 0), wake(1, 2_500), wake(4, 0)]);
        assert_eq!((tally.cycles, tally.missed, tally.periods()), (3, 2, 4));
        assert_eq!(tally.clocks[0].errors.moments.most(), Extreme { value: 2_500.0, cycle: 1 });
        assert_eq!(tally.clocks[0].errors.moments.least(), Extreme { value: -2_500.0, cycle: 4 });
        assert_eq!(tally.longest_gap_ns, Extreme { value: 3_500.0, cycle: 1 });
        assert_eq!(tally.outliers, [Outlier { cycle: 1, latency_ns: 2_500.0 }]);
    }

    #[test]
    fn a_gap_between_wake_ups_in_time_counts_as_missed_cycles() {
        let tally = tally(&[wake(0, 5), wake(10, 5)]);
        assert_eq!((tally.cycles, tally.missed), (2, 9));
        assert_eq!(tally.clocks[1].errors.moments.mean(), 0.0);
        assert_eq!(tally.clocks[1].ticks, 10_000);
    }

    #[test]
    fn repeated_wake_ups_are_counted_and_change_nothing() {
        let (once, twice) = (
            tally(&[wake(0, 5), wake(1, 5)]),
            tally(&[wake(0, 5), wake(1, 5), wake(1, 900), wake(0, 900)]),
        );
        assert_eq!((twice.repeated, twice.cycles, &twice.latency), (2, once.cycles, &once.latency));
    }

    #[test]
    fn cycles_due_after_the_last_wake_up_are_missed() {
        let mut tally = tally(&[wake(0, 0), wake(1, 0)]);
        tally.finish(5);
        assert_eq!(tally.missed, 3);
    }

    #[test]
    fn a_clock_that_goes_backwards_is_detected() {
        let back = Wake { ticks: [0, wake(1, 0).ticks[1]], ..wake(1, 0) };
        let tally = tally(&[wake(0, 0), back]);
        assert_eq!((tally.clocks[0].backward, tally.clocks[1].backward), (1, 0));
        assert!(tally.clocks[0].errors.moments.least().value < -5_000.0);
    }

    /// Wake-ups with the same times, whose first counter has fewer bits.
    fn narrow(bits: u32, cycles: &[u64]) -> (Tally, Tally) {
        let (width, wide) = (Width::bits(bits), Tick { ns: 0.5, width: Width::FULL });
        let mut tallies = [Tick { width, ..wide }, wide]
            .map(|first| Tally::new([first, tick(1.0)], &Bins::for_period(PERIOD)));
        for cycle in cycles {
            let full = wake(*cycle, 7 * cycle % 50);
            tallies[0].push(Wake { ticks: [width.wrapped(full.ticks[0]), full.ticks[1]], ..full });
            tallies[1].push(full);
        }
        let [narrow, full] = tallies;
        (narrow, full)
    }

    #[test]
    fn a_counter_that_wraps_between_wake_ups_gives_the_same_tally_as_a_wide_one() {
        // 12 bits of half nanoseconds wrap with every second period; 8 bits many times in each.
        for (bits, cycles) in [
            (32, [0, 3_000_000, 3_000_001, 6_000_000]),
            (12, [0, 1, 2, 3]),
            (12, [0, 1, 9, 10]),
            (8, [0, 1, 2, 3]),
        ] {
            let (narrow, full) = narrow(bits, &cycles);
            assert_eq!(
                (narrow.clocks[0].ticks, narrow.clocks[0].backward),
                (full.clocks[0].ticks, 0),
                "{bits} bits"
            );
            assert_eq!(narrow.clocks[0].errors, full.clocks[0].errors);
        }
    }

    #[test]
    fn a_narrow_counter_that_goes_backwards_is_detected() {
        let tick = Tick { ns: 1.0, width: Width::bits(32) };
        assert_eq!(
            (tick.distance(100, 40, 1_000.0), tick.distance(u64::from(u32::MAX) - 1, 40, 1_000.0)),
            (-60, 42)
        );
    }

    #[test]
    fn outliers_are_listed_up_to_a_limit_and_then_counted() {
        let tally = tally(&(0..250).map(|cycle| wake(cycle, 2 * PERIOD)).collect::<Vec<_>>());
        assert_eq!((tally.outliers.len(), tally.outliers_not_listed), (MOST_OUTLIERS, 150));
        assert_eq!(tally.latency.histogram.above(), 250);
    }

    #[test]
    fn bins_suit_the_period() {
        assert_eq!(Bins::for_period(1_000_000), Bins { range_ns: 1e6, bin_ns: 1e3 });
        assert_eq!(Bins::for_period(100_000), Bins { range_ns: 1e5, bin_ns: 1e3 });
        assert_eq!(Bins::for_period(20_000), Bins { range_ns: 2e4, bin_ns: 100.0 });
        assert_eq!(Bins::for_period(10_000_000_000), Bins { range_ns: 1e6, bin_ns: 1e3 });
        assert_eq!(Bins::for_period(50), Bins { range_ns: 50.0, bin_ns: 1.0 });
    }
}
