//! Readings so far above the shortest of their row that something else must have run in between.

use hairspring_core::observations::Flags;
use hairspring_host::clock::Width;

/// A reading above this many times the row's shortest, and above it by [`GAP_TICKS`], has a gap in it.
const GAP_FACTOR: u64 = 2;
/// Shortest gap: about 20 us on a counter of 3 GHz, shorter than a time slice and longer than what code varies by itself.
const GAP_TICKS: u64 = 60_000;
/// ... and shortest gap by a coarse clock, in its quanta.
const GAP_QUANTA: u64 = 3;

/// The shortest reading of a row, by which the others are judged.
#[derive(Debug, Clone, Copy)]
pub struct Shortest {
    ticks: u64,
    gap_ticks: u64,
}

impl Shortest {
    /// Nothing is read yet, by a clock of this quantum in ticks.
    pub fn new(quantum: u64) -> Shortest {
        Shortest { ticks: u64::MAX, gap_ticks: GAP_TICKS.max(GAP_QUANTA.saturating_mul(quantum)) }
    }

    /// The shortest so far.
    pub fn ticks(&self) -> Option<u64> {
        (self.ticks != u64::MAX).then_some(self.ticks)
    }

    /// Doubts about the next reading of a counter of this width: it went backwards, or has a gap in it.
    pub fn doubt(&mut self, ticks: u64, width: Width) -> Flags {
        if ticks > width.half() {
            return Flags::BACKWARD;
        }
        self.ticks = self.ticks.min(ticks);
        let has_gap = ticks > GAP_FACTOR.saturating_mul(self.ticks) && ticks - self.ticks > self.gap_ticks;
        if has_gap { Flags::GAP } else { Flags::NONE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_both_long_and_many_times_the_shortest() {
        let mut shortest = Shortest::new(1);
        let mut doubt = |ticks| shortest.doubt(ticks, Width::FULL);
        assert_eq!([1_000_000, 50_000, 110_000].map(&mut doubt), [Flags::NONE; 3]);
        assert_eq!([110_001, 200_000].map(&mut doubt), [Flags::GAP; 2]);
        assert_eq!((doubt(u64::MAX), shortest.ticks()), (Flags::BACKWARD, Some(50_000)));
    }

    #[test]
    fn a_gap_by_a_coarse_clock_is_longer_than_its_quanta() {
        let mut shortest = Shortest::new(100_000);
        assert_eq!(shortest.ticks(), None);
        let flags = [100_000, 400_000, 400_001].map(|ticks| shortest.doubt(ticks, Width::bits(32)));
        assert_eq!(flags, [Flags::NONE, Flags::NONE, Flags::GAP]);
        assert_eq!(shortest.doubt(1 << 31, Width::bits(32)), Flags::BACKWARD);
    }
}
