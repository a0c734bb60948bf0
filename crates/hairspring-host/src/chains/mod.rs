//! Dependent chains of known integer length in core cycles: they measure core cycles without a
//! performance counter.
//!
//! Each chain repeats instructions without a loop, and every copy depends on the previous one.
//! Instructions that cores eliminate or shorten (`add r, imm`, `inc`, `mov r, r`, a store-load
//! pair) are not used.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(all(target_arch = "arm", target_abi = "eabihf"))]
mod arm;
mod encoded;
mod reads;
#[cfg(target_arch = "riscv64")]
mod riscv64;
mod roles;
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "arm", target_abi = "eabihf"),
    target_arch = "riscv64"
))]
mod rows;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub mod expressions;
pub use encoded::{
    BUFFER_LINES, Buffer, EncodedRows, LINE_BYTES, Refused, Registers, RowBytes, Vectors,
    can_run_encoded,
};
pub use reads::{ReadsFn, reads};
pub use roles::{CONTROLS, ChainRole, LATTICE, RULER};

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(all(target_arch = "arm", target_abi = "eabihf"))]
use arm as arch;
#[cfg(target_arch = "riscv64")]
use riscv64 as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

/// There are no chains for this architecture.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "arm", target_abi = "eabihf"),
    target_arch = "riscv64"
)))]
mod arch {
    pub fn chains() -> Vec<super::Chain> {
        Vec::new()
    }

    pub fn pairs() -> Vec<super::InitBody> {
        Vec::new()
    }
}

use crate::clock::ReadFn;

/// Runs one row: reads the clock, runs the copies, reads the clock again, and returns the
/// difference in ticks.
pub type RowFn = extern "C" fn(ReadFn) -> u64;

/// A dependent chain at several lengths.
#[derive(Debug, Clone)]
pub struct Chain {
    /// The part of the core that it uses.
    pub role: ChainRole,
    /// Its displayed name: that of its instructions.
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

/// The chains of this architecture; empty where there are none.
pub fn chains() -> Vec<Chain> {
    arch::chains()
}

/// The init and body pairs of this architecture; empty where there are none.
pub fn pairs() -> Vec<InitBody> {
    arch::pairs()
}

/// The displayed name of the chain with a role: that of its instructions, or of the role if there
/// is no such chain.
pub fn name(role: ChainRole) -> &'static str {
    chains().iter().find(|chain| chain.role == role).map_or(role.name(), |chain| chain.name)
}

/// The role of the chain with a displayed name.
pub fn role_of(name: &str) -> Option<ChainRole> {
    chains().iter().find(|chain| chain.name == name).map(|chain| chain.role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_required_role_has_exactly_one_chain() {
        let all_chains = chains();
        for role in LATTICE.into_iter().chain(CONTROLS).chain([RULER]) {
            assert!(
                all_chains.is_empty()
                    || all_chains.iter().filter(|chain| chain.role == role).count() == 1,
                "{role:?}"
            );
            assert!(all_chains.is_empty() || role_of(name(role)) == Some(role), "{role:?}");
        }
    }

    #[test]
    fn names_of_combined_chains_join_those_of_their_parts() {
        for chain in chains() {
            let parts: Vec<&str> = chain.role.parts().into_iter().map(name).collect();
            assert_eq!(chain.name, parts.join("+"));
        }
    }
}
