//! Chains for 64-bit RISC-V with the extensions M and D. Rotation and counting bits need an
//! extension that many cores lack.
#![allow(
    unsafe_code,
    reason = "the chains are assembly: their length must not depend on a compiler"
)]

use super::rows::{all_pairs, chain};
use super::{Chain, InitBody};

/// All chains. The first is the ruler.
pub fn chains() -> Vec<Chain> {
    vec![
        chain!(freg, Multiply, "mul", "mul {a}, {a}, {c}"),
        chain!(freg, Simple, "xor", "xor {a}, {a}, {c}"),
        chain!(freg, Add, "add", "add {a}, {a}, {c}"),
        chain!(freg, Load, "ld", "ld {p}, 0({p})"),
        chain!(freg, FloatMultiply, "fmul.d", "fmul.d {x}, {x}, {y}"),
        chain!(freg, FloatDivide, "fdiv.d", "fdiv.d {x}, {x}, {y}"),
        chain!(freg, SimpleMultiply, "xor+mul", "xor {a}, {a}, {c}\nmul {a}, {a}, {c}"),
        chain!(
            freg,
            SimpleMultiplySimple,
            "xor+mul+xor",
            "xor {a}, {a}, {c}\nmul {a}, {a}, {c}\nxor {a}, {a}, {c}"
        ),
        chain!(freg, TwoMultiplies, "mul+mul", "mul {a}, {a}, {c}\nmul {a}, {a}, {c}"),
        chain!(freg, TwoSimples, "xor+xor", "xor {a}, {a}, {c}\nxor {a}, {a}, {c}"),
    ]
}

/// All pairs.
pub fn pairs() -> Vec<InitBody> {
    all_pairs!("mul {a}, {a}, {c}")
}
