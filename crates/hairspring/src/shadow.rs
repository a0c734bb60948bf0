//! Rows that show what fences hide: a chain of known length behind fences, in place of the body.

use crate::barrier::{align, chain, fence, flush, touch};
use hairspring_engine::clock::ReadFn;
use hairspring_program::{Order, Row};

/// Writes a statement out so many times.
macro_rules! times {
    (0 $code:block) => {};
    (1 $code:block) => { $code };
    (2 $code:block) => { $code $code };
    (3 $code:block) => { $code $code $code };
    (4 $code:block) => { $code $code $code $code };
    (8 $code:block) => {{ times!(4 $code); times!(4 $code); }};
    (16 $code:block) => {{ times!(8 $code); times!(8 $code); }};
}

/// A row of chains: `before` so many times before each of them, and once more behind the last.
macro_rules! row {
    ($rows:ident, $bodies:tt, $before:tt $code:block, behind $behind:tt) => {{
        #[inline(never)]
        fn run(now: ReadFn, code: impl Fn()) -> u64 {
            align();
            let begin = now();
            times!($bodies {
                times!($before { code() });
                chain();
            });
            times!($behind { code() });
            now().wrapping_sub(begin)
        }
        $rows.push(Row::new($bodies, $bodies * $before + $behind, Order::Shadow, move |now| Some(run(now, || $code))));
    }};
}

/// Fences around nothing, where fenced rows have their init.
pub fn shadow() -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    macro_rules! fenced {
        ($($bodies:tt $inits:tt),*) => { $( row!(rows, $bodies, $inits { fence(); fence(); }, behind 0); )* };
    }
    fenced!(1 1, 1 2, 2 1, 2 2, 4 1, 4 2, 8 1, 8 2, 16 1);
    rows
}

/// The same with these bytes flushed, as rows with cold caches do.
pub fn flushed<T: ?Sized>(value: &'static T) -> Vec<Row<'static>> {
    let mut rows = Vec::new();
    touch(value);
    macro_rules! cold {
        ($($bodies:tt $behind:tt),*) => { $( row!(rows, $bodies, 1 { flush(value) }, behind $behind); )* };
    }
    cold!(1 0, 1 1, 2 0, 2 1, 3 0, 3 1, 4 0, 4 1, 8 0, 8 1);
    rows
}
