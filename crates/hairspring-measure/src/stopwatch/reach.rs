//! How long a span a counter that wraps can measure. Its two readings do not tell how often it wrapped, so the system's clock
//! limits the time between them.

use hairspring_host::clock::{Clock, RateMeter};
use std::time::{Duration, Instant};

/// The limit of a counter that wraps, and the time since the span began.
#[derive(Debug)]
pub struct Reach {
    began: Instant,
    /// Half the period: the core may become up to twice as fast as it was when the rate was measured.
    longest: Duration,
    clock: &'static str,
    bits: u32,
}

impl Reach {
    /// The limit of a clock; `None` if it does not wrap.
    pub fn new(clock: &Clock, meter: &RateMeter) -> Option<Reach> {
        let half_ticks = clock.width.period()? / 2.0;
        let longest = Duration::try_from_secs_f64(half_ticks / meter.rate().hz).unwrap_or(Duration::MAX);
        Some(Reach { began: Instant::now(), longest, clock: clock.name, bits: clock.width.count() })
    }

    /// Begins a span. Call it before the counter is read.
    pub fn restart(&mut self) {
        self.began = Instant::now();
    }

    /// Whether the counter cannot have wrapped unseen since the start or the last call. Call it after the counter is read; the next span
    /// begins.
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
            "{} s passed between its readings, and `{}` has {} bits and may have wrapped more than once: time at most {} s at once (with laps), \
             or choose another clock",
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

/// Seconds with three significant digits.
fn seconds(time: f64) -> String {
    let digits = (2.0 - time.max(1e-9).log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{time:.digits$}")
}
