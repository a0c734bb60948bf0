//! Chains for 32-bit ARM with hardware for floating-point numbers.
#![allow(
    unsafe_code,
    reason = "the chains are assembly: their length must not depend on a compiler"
)]

use super::rows::{all_pairs, chain};
use super::{Chain, InitBody};

/// All chains. The first is the ruler.
pub fn chains() -> Vec<Chain> {
    vec![
        chain!(dreg_low16, Multiply, "mul", "mul {a}, {a}, {c}"),
        chain!(dreg_low16, Simple, "eor", "eor {a}, {a}, {c}"),
        chain!(dreg_low16, Add, "add", "add {a}, {a}, {c}"),
        chain!(dreg_low16, Rotate, "ror", "ror {a}, {a}, #5"),
        chain!(dreg_low16, Load, "ldr", "ldr {p}, [{p}]"),
        chain!(dreg_low16, FloatMultiply, "vmul", "vmul.f64 {x}, {x}, {y}"),
        chain!(dreg_low16, FloatDivide, "vdiv", "vdiv.f64 {x}, {x}, {y}"),
        chain!(dreg_low16, SimpleMultiply, "eor+mul", "eor {a}, {a}, {c}\nmul {a}, {a}, {c}"),
        chain!(
            dreg_low16,
            SimpleMultiplySimple,
            "eor+mul+eor",
            "eor {a}, {a}, {c}\nmul {a}, {a}, {c}\neor {a}, {a}, {c}"
        ),
        chain!(dreg_low16, TwoMultiplies, "mul+mul", "mul {a}, {a}, {c}\nmul {a}, {a}, {c}"),
        chain!(dreg_low16, TwoSimples, "eor+eor", "eor {a}, {a}, {c}\neor {a}, {a}, {c}"),
    ]
}

/// All pairs.
pub fn pairs() -> Vec<InitBody> {
    all_pairs!("mul {a}, {a}, {c}")
}
