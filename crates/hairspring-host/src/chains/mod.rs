//! Dependent chains of known-integer length: the ruler that core cycles are read from, without a performance counter.
//!
//! Each chain is one instruction form with a register source, repeated straight-line, every copy waiting for the one
//! before. Forms that cores rename away (`add r, imm`, `inc`, `mov r, r`, a store-load pair) are banned.

mod reads;
mod roles;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub mod expressions;
pub use reads::{ReadsFn, reads};
pub use roles::{CONTROLS, ChainRole, LATTICE, RULER};

#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

/// No chains for this architecture yet.
#[cfg(not(target_arch = "x86_64"))]
mod arch {
    pub fn chains() -> Vec<super::Chain> {
        Vec::new()
    }

    pub fn pairs() -> Vec<super::InitBody> {
        Vec::new()
    }
}

use crate::clock::ReadFn;

/// Runs one row: reads the clock, runs the copies, reads the clock again, returns the difference in ticks.
pub type RowFn = extern "C" fn(ReadFn) -> u64;

/// A dependent chain at several lengths.
#[derive(Debug, Clone)]
pub struct Chain {
    /// What it uses of the core.
    pub role: ChainRole,
    /// The name under which it is shown: that of its instructions.
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
    arch::chains()
}

/// The init and body pairs of this architecture; empty where there are none yet.
pub fn pairs() -> Vec<InitBody> {
    arch::pairs()
}

/// The name under which the chain of a role is shown: that of its instructions, or of the role where there is no chain.
pub fn name(role: ChainRole) -> &'static str {
    chains().iter().find(|chain| chain.role == role).map_or(role.name(), |chain| chain.name)
}

/// The role of the chain that is shown under a name.
pub fn role_of(name: &str) -> Option<ChainRole> {
    chains().iter().find(|chain| chain.name == name).map(|chain| chain.role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_that_measurements_rely_on_has_one_chain() {
        let all = chains();
        for role in LATTICE.into_iter().chain(CONTROLS).chain([RULER]) {
            assert!(all.is_empty() || all.iter().filter(|chain| chain.role == role).count() == 1, "{role:?}");
            assert!(all.is_empty() || role_of(name(role)) == Some(role), "{role:?}");
        }
    }

    #[test]
    fn the_name_of_several_instructions_is_made_of_theirs() {
        for chain in chains() {
            let parts: Vec<&str> = chain.role.parts().into_iter().map(name).collect();
            assert_eq!(chain.name, parts.join("+"));
        }
    }
}
