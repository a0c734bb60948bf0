//! The nine expressions of mhz (Staelin and McVoy, 5.2), with a hundred copies in each trip of a
//! loop.
//!
//! As in the paper, the compiler translates them; they are not chains of chosen instructions. The
//! method only assumes that an expression takes a whole number of cycles. `usize` replaces the
//! paper's C `long`; shifts and sums wrap as in C. Each expression is built twice. In the plain
//! loop the compiler sees all hundred copies and may fold them: LLVM removes almost all of `a^=a+a`
//! and `a++;a^=1;a<<=1`, and a quarter of `a^=a<<b`. This differs between compilers, so both loops
//! are timed. In the opaque loop each copy ends with an empty line of assembly that has the value
//! in a register. It adds no instruction, but the compiler no longer knows the value, and can only
//! optimise within a copy.
#![allow(
    unsafe_code,
    reason = "only an empty line of assembly hides a value from the compiler without storing it to \
              memory"
)]
#![allow(
    clippy::pointers_in_nomem_asm_block,
    reason = "the empty line neither changes the pointer nor reads through it"
)]

use std::hint::black_box;

/// Runs the given number of trips, each with [`COPIES`] copies.
pub type TripsFn = fn(u64);

/// An expression of the paper.
#[derive(Debug, Clone, Copy)]
pub struct Expression {
    /// The expression as written in the paper.
    pub name: &'static str,
    /// The loop in which the compiler sees all copies.
    pub plain: TripsFn,
    /// The loop in which each copy is hidden from the next.
    pub opaque: TripsFn,
}

/// Copies of the expression in one trip of the loop.
pub const COPIES: u32 = 100;

/// A pointer that points to itself.
struct Node {
    next: &'static Node,
}

static NODE: Node = Node { next: &NODE };

/// Keeps the value in a register unchanged, but hides it from the optimiser.
macro_rules! opaque {
    ($value:ident, $kind:ty) => {{
        #[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64",
            target_arch = "arm", target_arch = "riscv64"))]
        {
            // SAFETY: no instruction; the value is unchanged.
            unsafe { std::arch::asm!("/* {0} */", inout(reg) $value,
                options(nomem, nostack, preserves_flags)) };
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64",
            target_arch = "arm", target_arch = "riscv64")))]
        {
            $value = black_box($value);
        }
    }};
}

macro_rules! ten {
    ($copy:block) => {
        $copy $copy $copy $copy $copy $copy $copy $copy $copy $copy
    };
}

macro_rules! hundred {
    ($copy:block) => {
        ten!({
            ten!($copy);
        });
    };
}

/// One expression on the numbers `$a` and `$b`, in a plain and in an opaque loop.
macro_rules! expression {
    ($name:literal, |$a:ident, $b:ident| $next:expr) => {{
        #[inline(never)]
        fn plain(trips: u64) {
            let (mut $a, $b): (usize, usize) = black_box((1, 1));
            for _ in 0..trips {
                hundred!({
                    $a = $next;
                });
            }
            black_box($a.wrapping_add($b));
        }
        #[inline(never)]
        fn opaque(trips: u64) {
            let (mut $a, $b): (usize, usize) = black_box((1, 1));
            for _ in 0..trips {
                hundred!({
                    $a = $next;
                    opaque!($a, usize);
                });
            }
            black_box($a.wrapping_add($b));
        }
        Expression { name: $name, plain, opaque }
    }};
}

/// `p=*p`: every load depends on the previous one.
fn chase() -> Expression {
    #[inline(never)]
    fn plain(trips: u64) {
        let mut p: &'static Node = black_box(&NODE);
        for _ in 0..trips {
            hundred!({
                p = p.next;
            });
        }
        black_box(p as *const Node);
    }
    #[inline(never)]
    fn opaque(trips: u64) {
        let mut p: &'static Node = black_box(&NODE);
        for _ in 0..trips {
            hundred!({
                p = p.next;
                let mut address: *const Node = p;
                opaque!(address, *const Node);
                // SAFETY: `opaque` did not change the address of a live static node.
                p = unsafe { &*address };
            });
        }
        black_box(p as *const Node);
    }
    Expression { name: "p=*p", plain, opaque }
}

/// All nine expressions, in the order of the paper.
pub fn expressions() -> [Expression; 9] {
    [
        chase(),
        expression!("a^=a+a", |a, b| a ^ a.wrapping_add(a)),
        expression!("a^=a+a+a", |a, b| a ^ a.wrapping_add(a).wrapping_add(a)),
        expression!("a>>=b", |a, b| a.wrapping_shr(b as u32)),
        expression!("a>>=a+a", |a, b| a.wrapping_shr(a.wrapping_add(a) as u32)),
        expression!("a^=a<<b", |a, b| a ^ a.wrapping_shl(b as u32)),
        expression!("a^=a+b", |a, b| a ^ a.wrapping_add(b)),
        expression!("a+=(a+b)&07", |a, b| a.wrapping_add(a.wrapping_add(b) & 7)),
        expression!("a++;a^=1;a<<=1", |a, b| (a.wrapping_add(1) ^ 1) << 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_nine_expressions_run_and_have_distinct_names() {
        let all_expressions = expressions();
        let names: std::collections::HashSet<&str> =
            all_expressions.iter().map(|expression| expression.name).collect();
        assert_eq!(names.len(), 9);
        for expression in all_expressions {
            for trips in [0, 1, 3] {
                (expression.plain)(trips);
                (expression.opaque)(trips);
            }
        }
    }
}
