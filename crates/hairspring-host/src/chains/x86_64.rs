//! Chains for x86-64. The assembler repeats the instructions.
#![allow(unsafe_code, reason = "the chains are assembly: their length must not depend on a compiler")]

use super::{Chain, ChainRole, InitBody, RowFn};
use crate::clock::ReadFn;
use std::arch::asm;

/// Copies of every chain. Longer than the fence's shadow, and short enough for the first-level cache.
macro_rules! for_copies {
    ($make:ident) => {
        vec![$make!(32), $make!(64), $make!(96), $make!(128), $make!(192), $make!(256), $make!(384), $make!(512)]
    };
}

/// One chain: `{a}` is the chained value and `{c}` the other source, `{p}` is a pointer to itself, and `{x}` and `{y}` are
/// the same for floating-point numbers as `{a}` and `{c}`.
macro_rules! chain {
    ($role:ident, $name:literal, $text:literal) => {{
        macro_rules! row {
                                ($copies:literal) => {{
                                    extern "C" fn run(now: ReadFn) -> u64 {
                                        let mut pointer: usize = 0;
                                        pointer = &raw const pointer as usize;
                                        let cell = &raw mut pointer;
                                        let start = now();
                                        // SAFETY: only uses the registers named here; loads go through `p`, which points to a live word that
                                        // holds its own address. The flags are clobbered, which is the default.
                                        unsafe {
                                            // The comment names the operands that this chain does not use: every operand must be named.
                                            asm!(concat!(".rept ", $copies), $text, ".endr", "/* {a} {c} {p} {x} {y} */",
                                                a = inout(reg) 3u64 => _, c = inout(reg) 5u64 => _, p = inout(reg) cell => _,
                                                x = inout(xmm_reg) 1.5f64 => _, y = inout(xmm_reg) 1.000_000_1f64 => _, options(nostack));
                                        }
                                        now().wrapping_sub(start)
                                    }
                                    ($copies, run as RowFn)
                                }};
                            }
        Chain { role: ChainRole::$role, name: $name, rows: for_copies!(row) }
    }};
}

/// All chains. The first is the ruler.
pub fn chains() -> Vec<Chain> {
    let mut all = vec![
        chain!(Multiply, "imul", "imul {a}, {c}"),
        chain!(Simple, "xor", "xor {a}, {c}"),
        chain!(Add, "add", "add {a}, {c}"),
        chain!(Rotate, "ror", "ror {a}, 5"),
        chain!(Load, "load", "mov {p}, [{p}]"),
        chain!(FloatMultiply, "mulsd", "mulsd {x}, {y}"),
        chain!(FloatDivide, "divsd", "divsd {x}, {y}"),
        chain!(SimpleMultiply, "xor+imul", "xor {a}, {c}\nimul {a}, {c}"),
        chain!(SimpleMultiplySimple, "xor+imul+xor", "xor {a}, {c}\nimul {a}, {c}\nxor {a}, {c}"),
        chain!(TwoMultiplies, "imul+imul", "imul {a}, {c}\nimul {a}, {c}"),
        chain!(TwoSimples, "xor+xor", "xor {a}, {c}\nxor {a}, {c}"),
    ];
    if std::arch::is_x86_feature_detected!("popcnt") {
        all.insert(4, chain!(CountBits, "popcnt", "popcnt {a}, {a}"));
    }
    all
}

/// An init and body of `imul` copies: N times init and body, then M - N further inits.
macro_rules! pair {
    ($name:literal, $body:literal, $init:literal) => {{
        macro_rules! row {
            ($n:literal, $extra:literal) => {{
                extern "C" fn run(now: ReadFn) -> u64 {
                    let start = now();
                    // SAFETY: only uses the two registers named here.
                    unsafe {
                        asm!(concat!(".rept ", $n), concat!(".rept ", $init), "imul {a}, {c}", ".endr", concat!(".rept ", $body), "imul {a}, {c}", ".endr", ".endr",
                            concat!(".rept ", $extra), concat!(".rept ", $init), "imul {a}, {c}", ".endr", ".endr",
                            a = inout(reg) 3u64 => _, c = in(reg) 5u64, options(nostack));
                    }
                    now().wrapping_sub(start)
                }
                ($n, $n + $extra, run as RowFn)
            }};
        }
        InitBody {
            name: $name,
            units: ($body, $init),
            rows: vec![
                row!(1, 0), row!(1, 2), row!(1, 6), row!(2, 0), row!(2, 1), row!(2, 4), row!(4, 0), row!(4, 2), row!(4, 4),
                row!(6, 0), row!(6, 2), row!(8, 0), row!(8, 1), row!(8, 3),
            ],
        }
    }};
}

/// All pairs: a body shorter than its init, as long as its init, and longer.
pub fn pairs() -> Vec<InitBody> {
    vec![pair!("body 10, init 40", 10, 40), pair!("body 20, init 20", 20, 20), pair!("body 30, init 8", 30, 8)]
}
