//! Consecutive reads of a clock, timed by another clock: the cost of a read is the slope over their
//! number.

use crate::clock::ReadFn;

/// Reads the first clock, the second clock several times, and the first again; returns the
/// difference of the first in ticks.
pub type ReadsFn = extern "C" fn(ReadFn, ReadFn) -> u64;

macro_rules! row {
    ($copies:tt) => {{
        extern "C" fn run(outer: ReadFn, inner: ReadFn) -> u64 {
            let start = outer();
            hairspring_core::repeat!($copies {
                inner();
            });
            outer().wrapping_sub(start)
        }
        ($copies, run as ReadsFn)
    }};
}

/// The rows: number of reads of the second clock, and the function that makes them.
pub fn reads() -> Vec<(u32, ReadsFn)> {
    vec![row!(2), row!(4), row!(6), row!(8), row!(12), row!(16), row!(24), row!(32)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::fake;

    #[test]
    fn every_row_makes_its_number_of_reads() {
        for (copies, run) in reads() {
            fake::set(fake::Settings { per_read: 10, ..fake::Settings::default() });
            assert_eq!(run(fake::read, fake::read), 10 * u64::from(copies) + 10);
        }
    }
}
