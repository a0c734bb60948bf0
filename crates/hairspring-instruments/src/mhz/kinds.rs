//! Findings about the chains that measure the core clock.

use hairspring_core::judge::code::WIDE_INTERVAL;
use hairspring_core::judge::words::shortened;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about the core clock.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum CoreClockFinding {
    /// Chains whose lengths are not whole numbers of core cycles were left out.
    OffLattice { chains: Vec<String> },
    /// All chains may share a factor, so the core clock is only known up to it.
    FactorUnknown { chains: usize },
    /// The interval is wide for a core clock.
    Wide { component: String, half_width_percent: f64 },
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
                message: format!(
                    "left out, as their lengths are not whole numbers of core cycles: {}",
                    shortened(&chains)
                ),
                numbers: numbers! { chains },
                remedy: "nothing to do if it is always the same chain: this core renames or fuses \
                         it; otherwise measure again on a quieter machine",
            },
            CoreClockFinding::FactorUnknown { chains } => Description {
                code: FACTOR_UNKNOWN,
                numbers: numbers! { chains },
                message: format!(
                    "the core clock is known only up to a factor of two: the lengths of the \
                     {chains} chains may share this factor"
                ),
                remedy: "compare with the manufacturer's figure for the processor",
            },
            CoreClockFinding::Wide { component, half_width_percent } => Description {
                code: WIDE_INTERVAL,
                message: format!("the interval of the {component} is +-{half_width_percent:.1} %"),
                numbers: numbers! { component, half_width_percent },
                remedy: "measure again while the machine is quieter, on another CPU (--cpu), or \
                         for longer (--time)",
            },
        }
    }
}
