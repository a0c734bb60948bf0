//! Dependent chains of known-integer length: the ruler that core cycles are read from, without a performance counter.
//!
//! Each chain is one instruction form with a register source, repeated straight-line, every copy waiting for the one
//! before. Forms that cores rename away (`add r, imm`, `inc`, `mov r, r`, a store-load pair) are banned.

mod reads;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub mod expressions;
pub use reads::{ReadsFn, reads};

use crate::clock::ReadFn;

/// Runs one row: reads the clock, runs the copies, reads the clock again, returns the difference in ticks.
pub type RowFn = extern "C" fn(ReadFn) -> u64;

/// A dependent chain at several lengths.
#[derive(Debug, Clone)]
pub struct Chain {
    /// Name of the chain.
    pub name: &'static str,
    /// Number of copies and the function that runs them.
    pub rows: Vec<(u32, RowFn)>,
}

/// An initialisation and a body, both chains, in rows with M inits for N bodies.
#[derive(Debug, Clone)]
pub struct InitBody {
    /// Name of the pair.
    pub name: &'static str,
    /// Copies of the unit chain in the body and in the init.
    pub units: (u32, u32),
    /// Bodies, inits and the function that runs them.
    pub rows: Vec<(u32, u32, RowFn)>,
}

/// The chains of this architecture; empty where there are none yet.
pub fn chains() -> Vec<Chain> {
    #[cfg(target_arch = "x86_64")]
    return x86_64::chains();
    #[cfg(not(target_arch = "x86_64"))]
    return Vec::new();
}

/// The init and body pairs of this architecture; empty where there are none yet.
pub fn pairs() -> Vec<InitBody> {
    #[cfg(target_arch = "x86_64")]
    return x86_64::pairs();
    #[cfg(not(target_arch = "x86_64"))]
    return Vec::new();
}

/// Names of the chains that find the unit: their lengths are coprime on every core seen so far.
pub const LATTICE: [&str; 4] = ["imul", "xor", "xor+imul", "xor+imul+xor"];

/// Name of the chain that runs beside every measurement.
pub const RULER: &str = "imul";

/// Names of the chains that are measured with the ruler beside every measurement: if one does not come out at its length,
/// something else uses the core: its simple units, its load ports, its multiplier or its divider of floating-point numbers.
pub const CONTROLS: [&str; 4] = ["xor", "load", "mulsd", "divsd"];
