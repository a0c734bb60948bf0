//! Waits with the best clock, and times reads of other clocks with it.

use hairspring_host::clock::{Clock, RateMeter, default_clock};
use std::time::{Duration, Instant};

/// Waits with the best clock of the machine, whose rate it measures at the start.
#[derive(Debug, Clone, Copy)]
pub struct Waiter {
    clock: Clock,
    ns_per_tick: f64,
    read_ns: f64,
}

/// Time over which the rate is measured: to parts in 10,000, which is enough for waits.
const RATE_TIME: Duration = Duration::from_millis(2);
/// A wait that took longer than requested by more than this, and by more than a tenth, was
/// disturbed.
const LATE_NS: f64 = 500.0;

impl Waiter {
    /// Finds rate and cost of the best clock, in a few milliseconds.
    pub fn start() -> Waiter {
        let (clock, begin) = (default_clock(), Instant::now());
        let meter = RateMeter::start(clock);
        while begin.elapsed() < RATE_TIME {}
        let unknown = Waiter { clock, ns_per_tick: 1e9 / meter.rate().hz, read_ns: 0.0 };
        Waiter { read_ns: read_ns(&clock, &unknown), ..unknown }
    }

    /// Reads the clock and discards the reading.
    pub fn look(&self) {
        (self.clock.read)();
    }

    /// The shortest wait, which consists of two reads of the clock.
    pub fn least_ns(&self) -> f64 {
        2.0 * self.read_ns
    }

    /// Waits for this time in addition to the shortest wait, and calls a function while much more
    /// than `pause_ns` remain; a call must take less than that. Returns whether the wait took too
    /// long because something else ran.
    pub fn wait(&self, ns: f64, pause_ns: f64, meanwhile: impl Fn()) -> bool {
        // On average, the last check is late by half a read.
        let end = ns + self.read_ns / 2.0;
        let begin = (self.clock.read)();
        loop {
            let gone =
                self.clock.width.between(begin, (self.clock.read)()) as f64 * self.ns_per_tick;
            if gone >= end {
                return gone - end > LATE_NS.max(ns / 10.0) + pause_ns;
            }
            if end - gone > 2.0 * pause_ns {
                meanwhile();
            }
        }
    }
}

/// The time of a read of a clock by the waiter's clock, in nanoseconds: the fastest of several
/// tries.
pub fn read_ns(clock: &Clock, waiter: &Waiter) -> f64 {
    const READS: u32 = 64;
    const TRIES: usize = 10;
    let time_of_reads = |_| {
        let begin = (waiter.clock.read)();
        for _ in 0..READS {
            (clock.read)();
        }
        waiter.clock.width.between(begin, (waiter.clock.read)()) as f64 * waiter.ns_per_tick
            / f64::from(READS)
    };
    (0..TRIES).map(time_of_reads).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::fake;
    use std::cell::Cell;

    fn waiter() -> Waiter {
        let clock = fake::clock(32);
        let unknown = Waiter { clock, ns_per_tick: 1.0, read_ns: 0.0 };
        Waiter { read_ns: read_ns(&clock, &unknown), ..unknown }
    }

    #[test]
    fn a_wait_has_the_requested_length_even_if_the_clock_wraps() {
        fake::set(fake::Settings {
            per_read: 20,
            start: u64::from(u32::MAX) - 1_000,
            bits: 32,
            ..fake::Settings::default()
        });
        let (waiter, calls) = (waiter(), Cell::new(0));
        assert!((waiter.read_ns - 20.0).abs() < 1.0, "{waiter:?}");
        let begin = fake::read();
        let disturbed = waiter.wait(5_000.0, 100.0, || calls.set(calls.get() + 1));
        let gone = waiter.clock.width.between(begin, fake::read()) as f64;
        assert!(
            (gone - 5_000.0 - waiter.least_ns()).abs() <= 40.0 && !disturbed && calls.get() > 100,
            "{gone}"
        );
    }

    #[test]
    fn a_disturbed_wait_is_reported() {
        fake::set(fake::Settings { per_read: 20, bits: 32, ..fake::Settings::default() });
        let (waiter, first) = (waiter(), Cell::new(true));
        let once = || {
            if first.replace(false) {
                fake::advance(50_000);
            }
        };
        assert!(waiter.wait(5_000.0, 100.0, once));
        assert!(!waiter.wait(5_000.0, 100.0, || {}));
    }
}
