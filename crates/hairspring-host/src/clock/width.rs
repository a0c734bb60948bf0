//! Counters of any width: readings lie between 0 and 2^bits - 1 and wrap.

use super::{Clock, ReadFn};

/// Number of bits of a counter. All differences of readings are taken here, so that one that wrapped in between is
/// still right: once, not more often, because the counter does not say how often it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Width(u32);

impl Width {
    /// A counter that does not wrap within the life of a machine.
    pub const FULL: Width = Width(64);

    /// A counter of so many bits.
    ///
    /// # Panics
    /// If there are none, or more than 64.
    pub const fn bits(bits: u32) -> Width {
        assert!(bits >= 1 && bits <= 64, "a counter has 1 to 64 bits");
        Width(bits)
    }

    /// How many bits it has.
    pub const fn count(self) -> u32 {
        self.0
    }

    /// Whether it wraps within the life of a machine.
    pub const fn wraps(self) -> bool {
        self.0 < 64
    }

    /// A difference of readings modulo 2^64, as plain subtraction gives it, as ticks of this counter.
    pub const fn wrapped(self, difference: u64) -> u64 {
        difference & (u64::MAX >> (64 - self.0))
    }

    /// Ticks from one reading to a later one, modulo the counter's period.
    pub const fn between(self, from: u64, to: u64) -> u64 {
        self.wrapped(to.wrapping_sub(from))
    }

    /// Ticks from one reading to another one that lies less than half a period before or behind it: negative where the
    /// clock went backwards.
    pub const fn signed(self, from: u64, to: u64) -> i64 {
        let unused = 64 - self.0;
        ((self.between(from, to) << unused) as i64) >> unused
    }

    /// Largest difference that counts as forward: half the period.
    pub const fn half(self) -> u64 {
        u64::MAX >> (64 - self.0) >> 1
    }

    /// Ticks after which it begins again; `None` for a full counter.
    pub fn period(self) -> Option<f64> {
        self.wraps().then(|| 2f64.powi(self.0 as i32))
    }

    /// The true number of ticks behind a difference modulo the period, where about so many are expected: the nearest
    /// number that leaves the same remainder.
    pub fn unwrapped(self, difference: u64, expected: f64) -> f64 {
        let Some(period) = self.period() else { return difference as f64 };
        difference as f64 + period * ((expected - difference as f64) / period).round().max(0.0)
    }
}

/// A function that reads a counter, and the counter's width: all that taking differences needs.
#[derive(Debug, Clone, Copy)]
pub struct Counter {
    /// Reads it.
    pub read: ReadFn,
    /// Its width.
    pub width: Width,
}

impl From<ReadFn> for Counter {
    /// A full counter.
    fn from(read: ReadFn) -> Counter {
        Counter { read, width: Width::FULL }
    }
}

impl From<&Clock> for Counter {
    fn from(clock: &Clock) -> Counter {
        Counter { read: clock.read, width: clock.width }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_wrapped_once_gives_the_right_difference() {
        let width = Width::bits(32);
        assert_eq!(width.between(0xffff_fff0, 0x10), 0x20);
        assert_eq!(width.between(5, 5), 0);
        // A row subtracts in 64 bits.
        assert_eq!(width.wrapped(0x10u64.wrapping_sub(0xffff_fff0)), 0x20);
        assert_eq!(Width::FULL.between(u64::MAX, 1), 2);
        assert_eq!(Width::bits(1).between(1, 0), 1);
    }

    #[test]
    fn backwards_is_negative_and_a_wrap_is_not() {
        let width = Width::bits(16);
        assert_eq!(width.signed(100, 40), -60);
        assert_eq!(width.signed(0xfff0, 0x10), 0x20);
        assert_eq!(Width::FULL.signed(3, 1), -2);
        assert_eq!((width.half(), Width::FULL.half()), (0x7fff, i64::MAX as u64));
    }

    #[test]
    fn many_wraps_are_counted_where_the_time_is_about_known() {
        let width = Width::bits(16);
        assert_eq!(width.unwrapped(0x20, 3.1 * 65_536.0), 3.0 * 65_536.0 + 32.0);
        assert_eq!(width.unwrapped(0xfff0, 60_000.0), 65_520.0);
        assert_eq!(width.unwrapped(0xfff0, 10.0), 65_520.0);
        assert_eq!(Width::FULL.unwrapped(7, 1e30), 7.0);
    }
}
