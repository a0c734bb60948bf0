//! Chains for x86-64.
#![allow(
    unsafe_code,
    reason = "the chains are assembly: their length must not depend on a compiler"
)]

use super::rows::{all_pairs, chain};
use super::{Chain, InitBody};

/// All chains. The first is the ruler.
pub fn chains() -> Vec<Chain> {
    let mut all_chains = vec![
        chain!(xmm_reg, Multiply, "imul", "imul {a}, {c}"),
        chain!(xmm_reg, Simple, "xor", "xor {a}, {c}"),
        chain!(xmm_reg, Add, "add", "add {a}, {c}"),
        chain!(xmm_reg, Rotate, "ror", "ror {a}, 5"),
        chain!(xmm_reg, Load, "load", "mov {p}, [{p}]"),
        chain!(xmm_reg, FloatMultiply, "mulsd", "mulsd {x}, {y}"),
        chain!(xmm_reg, FloatDivide, "divsd", "divsd {x}, {y}"),
        chain!(xmm_reg, SimpleMultiply, "xor+imul", "xor {a}, {c}\nimul {a}, {c}"),
        chain!(
            xmm_reg,
            SimpleMultiplySimple,
            "xor+imul+xor",
            "xor {a}, {c}\nimul {a}, {c}\nxor {a}, {c}"
        ),
        chain!(xmm_reg, TwoMultiplies, "imul+imul", "imul {a}, {c}\nimul {a}, {c}"),
        chain!(xmm_reg, TwoSimples, "xor+xor", "xor {a}, {c}\nxor {a}, {c}"),
    ];
    if std::arch::is_x86_feature_detected!("popcnt") {
        all_chains.insert(4, chain!(xmm_reg, CountBits, "popcnt", "popcnt {a}, {a}"));
    }
    all_chains
}

/// All pairs.
pub fn pairs() -> Vec<InitBody> {
    all_pairs!("imul {a}, {c}")
}
