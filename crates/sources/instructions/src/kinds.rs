//! Findings about instructions.

use crate::Arrangement;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings about a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum InstructionFinding {
    /// A latency is no whole number of cycles.
    OffLattice { pair: String, cycles: f64 },
    /// A latency is no whole number of cycles where that of a helper was subtracted.
    HelperMayDelay { pair: String, helper: String, cycles: f64 },
    /// A latency depends on the values of the operands.
    DependsOnValues { values: String, cycles: f64, ordinary_cycles: f64 },
    /// A chain through memory, or a store, depends on where and how memory is used.
    DependsOnAddresses { what: String, arrangement: Arrangement, cycles: f64, usual_cycles: f64 },
    /// A chain takes no time: the core renames registers instead of running the instruction.
    Eliminated { pair: String, cycles: f64 },
    /// Independent copies are as slow as instructions that do nothing.
    FrontEnd { cycles: f64 },
}

/// Codes of these findings.
pub mod code {
    /// [`InstructionFinding::OffLattice`](super::InstructionFinding::OffLattice).
    pub const OFF_LATTICE: &str = "latency_off_lattice";
    /// [`InstructionFinding::HelperMayDelay`](super::InstructionFinding::HelperMayDelay).
    pub const HELPER_MAY_DELAY: &str = "helper_may_delay";
    /// [`InstructionFinding::DependsOnValues`](super::InstructionFinding::DependsOnValues).
    pub const DEPENDS_ON_VALUES: &str = "depends_on_values";
    /// [`InstructionFinding::DependsOnAddresses`](super::InstructionFinding::DependsOnAddresses).
    pub const DEPENDS_ON_ADDRESSES: &str = "depends_on_addresses";
    /// [`InstructionFinding::Eliminated`](super::InstructionFinding::Eliminated).
    pub const ELIMINATED: &str = "eliminated";
    /// [`InstructionFinding::FrontEnd`](super::InstructionFinding::FrontEnd).
    pub const FRONT_END: &str = "front_end";
}

impl Kind for InstructionFinding {
    fn describe(self) -> Description {
        match self {
            InstructionFinding::OffLattice { pair, cycles } => Description {
                code: code::OFF_LATTICE,
                message: format!(
                    "a chain of {pair} takes {cycles:.2} cycles a copy, which is no whole number"
                ),
                numbers: numbers! { pair, cycles },
                remedy: "the latency differs from copy to copy: where the operands come from, or \
                         which unit runs the copy, matters",
            },
            InstructionFinding::HelperMayDelay { pair, helper, cycles } => {
                helper_may_delay(pair, helper, cycles)
            }
            InstructionFinding::DependsOnValues { values, cycles, ordinary_cycles } => {
                Description {
                    code: code::DEPENDS_ON_VALUES,
                    message: format!(
                        "with values of {values} the latency is {cycles:.2} cycles instead of \
                         {ordinary_cycles:.2}"
                    ),
                    numbers: numbers! { values, cycles, ordinary_cycles },
                    remedy: "a table needs a row for each kind of values",
                }
            }
            InstructionFinding::DependsOnAddresses { what, arrangement, cycles, usual_cycles } => {
                depends_on_addresses(what, arrangement, cycles, usual_cycles)
            }
            InstructionFinding::Eliminated { pair, cycles } => eliminated(pair, cycles),
            InstructionFinding::FrontEnd { cycles } => Description {
                code: code::FRONT_END,
                message: format!(
                    "independent copies take {cycles:.3} cycles, as long as instructions that do \
                     nothing: the front end is the limit"
                ),
                numbers: numbers! { cycles },
                remedy: "the units that run it may be faster than the table says",
            },
        }
    }
}

fn helper_may_delay(pair: String, helper: String, cycles: f64) -> Description {
    Description {
        code: code::HELPER_MAY_DELAY,
        message: format!(
            "{pair} takes {cycles:.2} cycles, which is no whole number: its chain needs {helper}, \
             and the two may compete for units"
        ),
        numbers: numbers! { pair, helper, cycles },
        remedy: "the latency is likely the whole number next to it: no chain tells the cycles \
                 that the two lose to each other",
    }
}

fn depends_on_addresses(
    what: String,
    arrangement: Arrangement,
    cycles: f64,
    usual_cycles: f64,
) -> Description {
    let message = format!(
        "{}, {what} takes {cycles:.2} cycles a copy instead of {usual_cycles:.2}",
        arrangement.condition()
    );
    let arrangement = arrangement.name().to_owned();
    Description {
        code: code::DEPENDS_ON_ADDRESSES,
        message,
        numbers: numbers! { what, arrangement, cycles, usual_cycles },
        remedy: "the core forwards stored values, renames memory or combines stores: no single \
                 number is right for all code",
    }
}

fn eliminated(pair: String, cycles: f64) -> Description {
    Description {
        code: code::ELIMINATED,
        message: format!(
            "a chain of {pair} takes {cycles:.2} cycles a copy: the core renames registers and \
             runs nothing, or breaks the chain"
        ),
        numbers: numbers! { pair, cycles },
        remedy: "nothing to do: this is what the core does",
    }
}
