//! How long a span a counter that wraps can measure. Its two readings do not tell how often it
//! wrapped, so the system's clock limits the time between them.

use hairspring_host::clock::{Clock, RateMeter, highest_hz};
use std::time::{Duration, Instant};

/// The limit of a counter that wraps, and the time since the span began.
#[derive(Debug)]
pub struct Reach {
    began: Instant,
    longest: Duration,
    clock: &'static str,
    bits: u32,
}

impl Reach {
    /// The limit of a clock; `None` if it does not wrap.
    pub fn new(clock: &Clock, meter: &RateMeter) -> Option<Reach> {
        let seconds = longest_s(clock.width.period()?, meter.rate().hz, highest_hz(clock));
        let longest = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Some(Reach { began: Instant::now(), longest, clock: clock.name, bits: clock.width.count() })
    }

    /// Begins a span. Call it before the counter is read.
    pub fn restart(&mut self) {
        self.began = Instant::now();
    }

    /// Whether the counter cannot have wrapped unseen since the start or the last call. Call it
    /// after the counter is read; the next span begins.
    ///
    /// # Errors
    /// The span is too long, with the limit and what to do.
    pub fn check(&mut self) -> Result<(), String> {
        let now = Instant::now();
        let passed = now - std::mem::replace(&mut self.began, now);
        if passed <= self.longest {
            return Ok(());
        }
        Err(format!(
            "{} s passed between its readings, and `{}` has {} bits and may have wrapped more \
             than once: time at most {} s at once (with laps), or choose another clock",
            seconds(passed.as_secs_f64()),
            self.clock,
            self.bits,
            seconds(self.longest.as_secs_f64())
        ))
    }

    /// The limit in nanoseconds.
    pub fn longest_ns(&self) -> f64 {
        self.longest.as_secs_f64() * 1e9
    }
}

/// Most of a period that is used at the highest rate: the system states it in rounded numbers.
const MOST_SHARE: f64 = 0.95;

/// The longest span in seconds of a counter with this period in ticks. At the rate that was
/// measured it is half of a period, because the core may become twice as fast; where the system
/// states a highest rate, the counter must not wrap twice at that rate either.
fn longest_s(period: f64, hz: f64, highest_hz: Option<f64>) -> f64 {
    let at_highest = highest_hz.map_or(f64::INFINITY, |highest| MOST_SHARE * period / highest);
    (period / 2.0 / hz).min(at_highest)
}

/// Seconds with three significant digits.
fn seconds(time: f64) -> String {
    let digits = (2.0 - time.max(1e-9).log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{time:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_does_not_wrap_unseen_if_the_core_becomes_as_fast_as_it_can() {
        let period = 2f64.powi(32);
        let half = longest_s(period, 1e9, None);
        assert!((half - 2.147_483_648).abs() < 1e-9);
        assert_eq!(longest_s(period, 1e9, Some(1e9)), half);
        // A Raspberry Pi 4 that began at 600 MHz and goes up to 1.8 GHz: half a period at 600 MHz
        // is 3.58 s.
        let slow = longest_s(period, 6e8, Some(1.8e9));
        assert!(slow * 1.8e9 < period && slow > 2.2, "{slow}");
        assert!(
            longest_s(period, 6e8, None) * 1.8e9 > period,
            "which half a period does not prevent"
        );
    }
}
