//! Rows that show what fences hide: a chain of known length behind fences, in place of the body.

use crate::barrier::{align, chain, fence};
use hairspring_host::clock::ReadFn;
use hairspring_program::{Order, Row};

/// Writes a statement out so many times.
macro_rules! times {
    (1 $code:block) => { $code };
    (2 $code:block) => { $code $code };
    (4 $code:block) => { $code $code $code $code };
    (8 $code:block) => {{ times!(4 $code); times!(4 $code); }};
    (16 $code:block) => {{ times!(8 $code); times!(8 $code); }};
}

/// A row of chains, with fences before each of them as often as inits would be.
macro_rules! row {
    ($bodies:tt, $inits:tt) => {{
        #[inline(never)]
        fn run(now: ReadFn) -> u64 {
            align();
            let begin = now();
            times!($bodies {
                times!($inits {
                    fence();
                    fence();
                });
                chain();
            });
            now().wrapping_sub(begin)
        }
        Row::new($bodies, $bodies * $inits, Order::Shadow, |now| Some(run(now)))
    }};
}

/// Fences around nothing, where fenced rows have their init.
pub fn shadow() -> Vec<Row<'static>> {
    macro_rules! rows {
        ($($bodies:tt $inits:tt),*) => { vec![$( row!($bodies, $inits) ),*] };
    }
    rows!(1 1, 1 2, 2 1, 2 2, 4 1, 4 2, 8 1, 8 2, 16 1)
}
