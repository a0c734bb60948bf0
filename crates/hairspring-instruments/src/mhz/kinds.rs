//! What is found of the chains that the core clock is measured with.

use hairspring_core::judge::words::shortened;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Doubts about the core clock.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by what they hold; `describe` spells each out")]
pub enum CoreClockFinding {
    /// Chains whose lengths are no whole number of core cycles were left out.
    OffLattice { chains: Vec<String> },
    /// All chains may share a factor: the core cycle is known up to it.
    FactorUnknown { chains: usize },
}

/// Code of [`CoreClockFinding::OffLattice`].
pub const OFF_LATTICE: &str = "off_lattice";
/// Code of [`CoreClockFinding::FactorUnknown`].
pub const FACTOR_UNKNOWN: &str = "factor_unknown";

impl Kind for CoreClockFinding {
    fn describe(self) -> Description {
        match self {
            CoreClockFinding::OffLattice { chains } => Description {
                code: OFF_LATTICE,
                message: format!("no whole number of core cycles, left out: {}", shortened(&chains)),
                numbers: numbers! { chains },
                remedy: "nothing to do if it is always the same: this core renames or fuses it; else measure again on a quieter machine",
            },
            CoreClockFinding::FactorUnknown { chains } => Description {
                code: FACTOR_UNKNOWN,
                numbers: numbers! { chains },
                message: format!(
                    "the core clock is known up to a factor of two: nothing shows that the lengths of the {chains} chains share none"
                ),
                remedy: "compare with what the manufacturer says of the processor",
            },
        }
    }
}
