//! Chains for AArch64. Multiplications are of 32 bits: those of 64 bits take several passes through
//! the multiplier of some cores.
#![allow(
    unsafe_code,
    reason = "the chains are assembly: their length must not depend on a compiler"
)]
#![allow(asm_sub_register, reason = "the comment names registers that no instruction uses")]

use super::rows::{all_pairs, chain};
use super::{Chain, InitBody};

/// All chains. The first is the ruler.
pub fn chains() -> Vec<Chain> {
    vec![
        chain!(vreg, Multiply, "mul", "mul {a:w}, {a:w}, {c:w}"),
        chain!(vreg, Simple, "eor", "eor {a}, {a}, {c}"),
        chain!(vreg, Add, "add", "add {a}, {a}, {c}"),
        chain!(vreg, Rotate, "ror", "ror {a}, {a}, #5"),
        chain!(vreg, Load, "ldr", "ldr {p}, [{p}]"),
        chain!(vreg, FloatMultiply, "fmul", "fmul {x:d}, {x:d}, {y:d}"),
        chain!(vreg, FloatDivide, "fdiv", "fdiv {x:d}, {x:d}, {y:d}"),
        chain!(vreg, SimpleMultiply, "eor+mul", "eor {a}, {a}, {c}\nmul {a:w}, {a:w}, {c:w}"),
        chain!(
            vreg,
            SimpleMultiplySimple,
            "eor+mul+eor",
            "eor {a}, {a}, {c}\nmul {a:w}, {a:w}, {c:w}\neor {a}, {a}, {c}"
        ),
        chain!(vreg, TwoMultiplies, "mul+mul", "mul {a:w}, {a:w}, {c:w}\nmul {a:w}, {a:w}, {c:w}"),
        chain!(vreg, TwoSimples, "eor+eor", "eor {a}, {a}, {c}\neor {a}, {a}, {c}"),
    ]
}

/// All pairs.
pub fn pairs() -> Vec<InitBody> {
    all_pairs!("mul {a:w}, {a:w}, {c:w}")
}
