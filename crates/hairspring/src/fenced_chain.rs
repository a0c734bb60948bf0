//! Rows that show what fences hide: a chain of known length behind fences, in place of the body.

use crate::barrier::align;
use hairspring_core::{for_checks, repeat};
use hairspring_host::clock::ReadFn;
use hairspring_host::fence::{chain, order};
use hairspring_program::{Order, Row};

/// A row of chains, with fences before each of them as often as inits would be.
macro_rules! row {
    ($bodies:tt, $each:tt) => {{
        #[inline(never)]
        fn run(now: ReadFn) -> u64 {
            align();
            let begin = now();
            repeat!($bodies {
                repeat!($each {
                    order();
                    order();
                });
                chain();
            });
            now().wrapping_sub(begin)
        }
        Row::new($bodies, $bodies * $each, Order::FencedChain, |now| Some(run(now)))
    }};
}

/// Fences around nothing, where fenced rows have their init.
pub fn fenced_chain() -> Vec<Row<'static>> {
    for_checks!(row).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::design::table::{Before, shapes};

    #[test]
    fn the_rows_are_those_of_the_table() {
        let table = shapes(Before::Init)
            .into_iter()
            .filter(|row| row.order == Order::FencedChain)
            .map(|row| (row.bodies, row.inits));
        assert!(fenced_chain().iter().map(|row| (row.bodies, row.inits)).eq(table));
    }
}
