//! Counters of any width: readings lie between 0 and 2^bits - 1 and wrap.

use super::{Clock, ReadFn};

/// Number of bits of a counter. Differences of readings are computed here, so that they are correct
/// if the counter wrapped once in between. More wraps cannot be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Width(u32);

impl Width {
    /// A counter that does not wrap within the life of a machine.
    pub const FULL: Width = Width(64);

    /// A counter of this many bits.
    ///
    /// # Panics
    /// If `bits` is 0 or more than 64.
    pub const fn bits(bits: u32) -> Width {
        assert!(bits >= 1 && bits <= 64, "a counter has 1 to 64 bits");
        Width(bits)
    }

    /// Number of bits.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// Whether it wraps within the life of a machine.
    pub const fn wraps(self) -> bool {
        self.0 < 64
    }

    /// Converts a difference modulo 2^64, from plain subtraction, to ticks of this counter.
    pub const fn wrapped(self, difference: u64) -> u64 {
        difference & (u64::MAX >> (64 - self.0))
    }

    /// Ticks from one reading to a later one, modulo the counter's period.
    pub const fn between(self, from: u64, to: u64) -> u64 {
        self.wrapped(to.wrapping_sub(from))
    }

    /// Ticks from one reading to another one less than half a period before or after it; negative
    /// if the clock went backwards.
    pub const fn signed(self, from: u64, to: u64) -> i64 {
        let unused = 64 - self.0;
        ((self.between(from, to) << unused) as i64) >> unused
    }

    /// Largest difference that counts as forward: half the period.
    pub const fn half(self) -> u64 {
        u64::MAX >> (64 - self.0) >> 1
    }

    /// Ticks after which it wraps; `None` for a 64-bit counter.
    pub fn period(self) -> Option<f64> {
        self.wraps().then(|| 2f64.powi(self.0 as i32))
    }

    /// The number of ticks for a difference modulo the period, if about `expected` ticks have
    /// passed: the nearest number with the same remainder.
    pub fn unwrapped(self, difference: u64, expected: f64) -> f64 {
        let Some(period) = self.period() else { return difference as f64 };
        difference as f64 + period * ((expected - difference as f64) / period).round().max(0.0)
    }
}

/// Rows that are longer than the shortest one by this factor must not wrap either.
const ROWS: u32 = 64;
/// No counter ticks faster, in Hz.
const FASTEST_HZ: f64 = 5e9;

impl Clock {
    /// Whether rows might wrap the counter more than once if the shortest of them takes this time.
    pub fn wraps_within(&self, shortest: std::time::Duration) -> bool {
        self.width
            .period()
            .is_some_and(|ticks| f64::from(ROWS) * shortest.as_secs_f64() > ticks / FASTEST_HZ)
    }
}

/// A function that reads a counter, and the counter's width, as needed for differences.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    /// Reads the counter.
    pub read: ReadFn,
    /// Its width.
    pub width: Width,
    /// The step in ticks that the system states, if it is coarse.
    pub stated_step: Option<u64>,
}

impl From<ReadFn> for Counter {
    /// A 64-bit counter.
    fn from(read: ReadFn) -> Counter {
        Counter { read, width: Width::FULL, stated_step: None }
    }
}

impl From<&Clock> for Counter {
    fn from(clock: &Clock) -> Counter {
        Counter { read: clock.read, width: clock.width, stated_step: clock.stated_step }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_is_right_after_one_wrap() {
        let width = Width::bits(32);
        assert_eq!(width.between(0xffff_fff0, 0x10), 0x20);
        assert_eq!(width.between(5, 5), 0);
        // A row subtracts in 64 bits.
        assert_eq!(width.wrapped(0x10u64.wrapping_sub(0xffff_fff0)), 0x20);
        assert_eq!(Width::FULL.between(u64::MAX, 1), 2);
        assert_eq!(Width::bits(1).between(1, 0), 1);
    }

    #[test]
    fn backward_step_is_negative_and_wrap_is_not() {
        let width = Width::bits(16);
        assert_eq!(width.signed(100, 40), -60);
        assert_eq!(width.signed(0xfff0, 0x10), 0x20);
        assert_eq!(Width::FULL.signed(3, 1), -2);
        assert_eq!((width.half(), Width::FULL.half()), (0x7fff, i64::MAX as u64));
    }

    #[test]
    fn long_code_is_not_for_a_counter_that_wraps() {
        let wraps = |bits: u32, ms: u64| {
            super::super::fake::clock(bits).wraps_within(std::time::Duration::from_millis(ms))
        };
        assert!(!wraps(32, 10) && wraps(32, 20) && !wraps(64, 1_000_000));
    }

    #[test]
    fn many_wraps_are_counted_from_the_expected_ticks() {
        let width = Width::bits(16);
        assert_eq!(width.unwrapped(0x20, 3.1 * 65_536.0), 3.0 * 65_536.0 + 32.0);
        assert_eq!(width.unwrapped(0xfff0, 60_000.0), 65_520.0);
        assert_eq!(width.unwrapped(0xfff0, 10.0), 65_520.0);
        assert_eq!(Width::FULL.unwrapped(7, 1e30), 7.0);
    }
}
