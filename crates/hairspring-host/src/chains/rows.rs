//! Rows of chains, for every architecture: the assembler repeats the instructions.

use std::hint::black_box;

/// A floating-point number, from its bits, that is in no pool of constants. On 32-bit ARM such a
/// pool lies behind the code of a function, and behind a long row it is out of reach.
#[inline(always)]
pub fn float(bits: u64) -> f64 {
    f64::from_bits(if cfg!(target_arch = "arm") { black_box(bits) } else { bits })
}

/// Copies of every chain. Longer than what a fence hides, and short enough for the first-level
/// cache.
macro_rules! for_copies {
    ($make:ident) => {
        vec![
            $make!(32),
            $make!(64),
            $make!(96),
            $make!(128),
            $make!(192),
            $make!(256),
            $make!(384),
            $make!(512),
        ]
    };
}

/// One chain, with the class of the floating-point registers: `{a}` is the chained value and `{c}`
/// the other source, `{p}` is a pointer to itself, and `{x}` and `{y}` are the same for
/// floating-point numbers as `{a}` and `{c}`.
macro_rules! chain {
    ($class:ident, $role:ident, $name:literal, $text:literal) => {{
        macro_rules! row {
                    ($copies:literal) => {{
                        extern "C" fn run(now: $crate::clock::ReadFn) -> u64 {
                            let mut pointer: usize = 0;
                            pointer = &raw const pointer as usize;
                            let cell = &raw mut pointer;
                            let start = now();
                            // SAFETY: only uses the registers named here; loads go through `p`,
                            // which points to a live word that holds its own address. The flags are
                            // clobbered, which is the default.
                            unsafe {
                                // The comment names the operands that this chain does not use:
                                // every operand must be named.
                                std::arch::asm!(concat!(".rept ", $copies), $text, ".endr",
                                    "/* {a} {c} {p} {x} {y} */",
                                    a = inout(reg) 3usize => _, c = inout(reg) 5usize => _,
                                        p = inout(reg) cell => _,
                                    x = inout($class) $crate::chains::rows::float(const {
                                    1.5f64.to_bits() }) => _,
                                    y = inout($class) $crate::chains::rows::float(const {
                                    1.000_000_1f64.to_bits() }) => _, options(nostack));
                            }
                            now().wrapping_sub(start)
                        }
                        ($copies, run as $crate::chains::RowFn)
                    }};
                }
        $crate::chains::Chain { role: $crate::chains::ChainRole::$role, name: $name,
            rows: $crate::chains::rows::for_copies!(row) }
    }};
}

/// An init and body of copies of one instruction, the ruler's: N times init and body, then M - N
/// further inits.
macro_rules! pair {
    ($name:literal, $unit:literal, $body:literal, $init:literal) => {{
        macro_rules! row {
                ($n:literal, $extra:literal) => {{
                    extern "C" fn run(now: $crate::clock::ReadFn) -> u64 {
                        let start = now();
                        // SAFETY: only uses the two registers named here.
                        unsafe {
                            std::arch::asm!(concat!(".rept ", $n), concat!(".rept ", $init), $unit,
                                ".endr", concat!(".rept ", $body), $unit, ".endr", ".endr",
                                concat!(".rept ", $extra), concat!(".rept ", $init), $unit, ".endr",
                                    ".endr",
                                a = inout(reg) 3usize => _, c = in(reg) 5usize, options(nostack));
                        }
                        now().wrapping_sub(start)
                    }
                    ($n, $n + $extra, run as $crate::chains::RowFn)
                }};
            }
        $crate::chains::InitBody {
            name: $name,
            units: ($body, $init),
            rows: vec![
                row!(1, 0),
                row!(1, 2),
                row!(1, 6),
                row!(2, 0),
                row!(2, 1),
                row!(2, 4),
                row!(4, 0),
                row!(4, 2),
                row!(4, 4),
                row!(6, 0),
                row!(6, 2),
                row!(8, 0),
                row!(8, 1),
                row!(8, 3),
            ],
        }
    }};
}

/// All pairs of an architecture, of its ruler's instruction: a body shorter than its init, as long
/// as its init, and longer.
macro_rules! all_pairs {
    ($unit:literal) => {
        vec![
            $crate::chains::rows::pair!("body 10, init 40", $unit, 10, 40),
            $crate::chains::rows::pair!("body 20, init 20", $unit, 20, 20),
            $crate::chains::rows::pair!("body 30, init 8", $unit, 30, 8),
        ]
    };
}

pub(super) use {all_pairs, chain, for_copies, pair};
