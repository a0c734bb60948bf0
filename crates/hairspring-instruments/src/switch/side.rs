//! What both sides do after each switch: units of work, and a pass over a working set.

use super::design::Turn;
use hairspring_host::fence::{CACHE_LINE, flush};
use std::hint::black_box;

/// Dependent multiplications of a unit of work: some 400 cycles.
const LINKS: u32 = 100;
/// Words of a cache line.
const WORDS: usize = CACHE_LINE / size_of::<u64>();

/// The working set of a side.
#[derive(Debug)]
pub struct Work {
    set: Vec<u64>,
    /// Whether the next pass goes up.
    up: bool,
}

impl Work {
    /// A working set of so many bytes, rounded up to whole cache lines.
    pub fn new(bytes: usize) -> Work {
        // A value that is not 0 makes the system provide every page now.
        Work { set: vec![1; bytes.div_ceil(CACHE_LINE) * WORDS], up: true }
    }

    /// Does a turn.
    pub fn turn(&mut self, turn: Turn) {
        units(turn.units);
        for _ in 0..turn.passes {
            self.touch();
            if turn.flush {
                flush(self.set.as_slice());
            }
        }
    }

    /// Reads and writes a word in every cache line, up and down in turn: each pass begins with the
    /// lines that are most likely in a cache. Always in one direction, a set larger than a cache
    /// would find nothing in it, with or without a switch.
    fn touch(&mut self) {
        let write = |line: &mut [u64]| line[0] = line[0].wrapping_add(1);
        let lines = black_box(&mut self.set).chunks_exact_mut(WORDS);
        if self.up {
            lines.for_each(write)
        } else {
            lines.rev().for_each(write)
        }
        self.up = !self.up;
    }
}

/// Runs units of work: a chain of multiplications that nothing else can overlap.
pub fn units(units: u32) {
    for _ in 0..units {
        let mut link = black_box(3_u64);
        for _ in 0..LINKS {
            // The shift keeps a compiler from joining the factors of several links.
            link = link.wrapping_mul(6_364_136_223_846_793_005) ^ (link >> 7);
        }
        black_box(link);
    }
}

/// Turns as a number, for the memory that the sides share.
impl Turn {
    /// The number.
    pub fn encoded(self) -> u64 {
        u64::from(self.units) << 24 | u64::from(self.passes) << 8 | u64::from(self.flush)
    }

    /// The turn of a number.
    pub fn decoded(number: u64) -> Turn {
        Turn { units: (number >> 24) as u32, passes: (number >> 8) as u16, flush: number & 1 != 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_write_every_line_and_a_flush_changes_nothing() {
        let mut work = Work::new(1_000);
        assert_eq!(work.set.len(), 128);
        work.turn(Turn { units: 2, passes: 2, flush: true });
        let written: Vec<usize> = (0..work.set.len()).filter(|at| work.set[*at] == 3).collect();
        assert_eq!(written, (0..16).map(|line| line * WORDS).collect::<Vec<_>>());
        assert!(Work::new(0).set.is_empty());
    }

    #[test]
    fn turns_survive_shared_memory() {
        for turn in [
            Turn::default(),
            Turn { units: u32::MAX, passes: u16::MAX, flush: false },
            Turn { units: 1, passes: 0, flush: true },
        ] {
            assert_eq!(Turn::decoded(turn.encoded()), turn);
        }
    }
}
