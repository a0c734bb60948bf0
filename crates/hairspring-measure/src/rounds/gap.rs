//! Detection of readings so far above the shortest of their row that something else must have run
//! during them.

use hairspring_core::observations::Flags;
use hairspring_host::clock::Width;

/// A reading above this many times the row's shortest, and above it by [`GAP_TICKS`], has a gap in
/// it.
const GAP_FACTOR: u64 = 2;
/// Shortest gap: about 20 us on a counter of 3 GHz, shorter than a time slice and longer than what
/// code varies by itself.
const GAP_TICKS: u64 = 60_000;
/// Shortest gap by a coarse clock, in its quanta.
const GAP_QUANTA: u64 = 3;

/// The shortest reading of a row, with which the others are compared.
#[derive(Debug, Clone, Copy)]
pub struct Shortest {
    ticks: u64,
    gap_ticks: u64,
}

impl Shortest {
    /// No readings yet, from a clock of this quantum in ticks.
    pub fn new(quantum: u64) -> Shortest {
        Shortest { ticks: u64::MAX, gap_ticks: GAP_TICKS.max(GAP_QUANTA.saturating_mul(quantum)) }
    }

    /// The shortest so far.
    pub fn ticks(&self) -> Option<u64> {
        (self.ticks != u64::MAX).then_some(self.ticks)
    }

    /// Flags of the next reading of a counter of this width: whether it went backwards, or has a
    /// gap.
    pub fn check(&mut self, ticks: u64, width: Width) -> Flags {
        if ticks > width.half() {
            return Flags::BACKWARD;
        }
        self.ticks = self.ticks.min(ticks);
        let has_gap =
            ticks > GAP_FACTOR.saturating_mul(self.ticks) && ticks - self.ticks > self.gap_ticks;
        if has_gap { Flags::GAP } else { Flags::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_is_long_and_at_least_twice_the_shortest() {
        let mut shortest = Shortest::new(1);
        let mut check = |ticks| shortest.check(ticks, Width::FULL);
        assert_eq!([1_000_000, 50_000, 110_000].map(&mut check), [Flags::NONE; 3]);
        assert_eq!([110_001, 200_000].map(&mut check), [Flags::GAP; 2]);
        assert_eq!((check(u64::MAX), shortest.ticks()), (Flags::BACKWARD, Some(50_000)));
    }

    #[test]
    fn gap_by_a_coarse_clock_is_longer_than_three_quanta() {
        let mut shortest = Shortest::new(100_000);
        assert_eq!(shortest.ticks(), None);
        let flags = [100_000, 400_000, 400_001].map(|ticks| shortest.check(ticks, Width::bits(32)));
        assert_eq!(flags, [Flags::NONE, Flags::NONE, Flags::GAP]);
        assert_eq!(shortest.check(1 << 31, Width::bits(32)), Flags::BACKWARD);
    }
}
