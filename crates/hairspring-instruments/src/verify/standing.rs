//! Whether a chain has a whole length on this machine, and so counts as a ruler or a control.

use super::ChainResult;
use super::kinds::CertificateFinding;
use hairspring_core::judge::{Finding, Severity};
use hairspring_measure::proof::Length;
use serde::Serialize;

/// What a chain is worth here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It takes a whole number of core cycles.
    Whole,
    /// It takes a whole number while nobody else uses the core, and now something slows it.
    Slowed,
    /// It takes no whole number, and so is neither ruler nor control.
    None,
    /// Its length varies by more than its noise and shows no whole number: something slows it, and
    /// how long it is does not show.
    Unsteady,
    /// Its interval is too wide to tell.
    Open,
}

impl Standing {
    /// Whether something slows it now.
    pub fn is_slowed(self) -> bool {
        matches!(self, Standing::Slowed | Standing::Unsteady)
    }

    /// From a length.
    pub fn of(length: &Length) -> Standing {
        match length.integer {
            Some(_) if length.slowed().is_some() => Standing::Slowed,
            Some(_) => Standing::Whole,
            None if length.is_open() => Standing::Open,
            None if length.is_unsteady => Standing::Unsteady,
            None => Standing::None,
        }
    }
}

/// What is said of chains that are no rulers, or slowed.
pub(super) fn findings(chains: &[ChainResult]) -> Vec<Finding> {
    let with = |is_wanted: &dyn Fn(Standing) -> bool| -> Vec<String> {
        chains.iter().filter(|chain| is_wanted(chain.standing)).map(described).collect()
    };
    let (slowed, none) = (with(&Standing::is_slowed), with(&|standing| standing == Standing::None));
    let slowed = (!slowed.is_empty()).then(|| {
        Finding::new(Severity::Warning, CertificateFinding::ChainsSlowed { chains: slowed })
    });
    let none = (!none.is_empty())
        .then(|| Finding::new(Severity::Note, CertificateFinding::NoWholeNumber { chains: none }));
    slowed.into_iter().chain(none).collect()
}

/// `load: 4.05 to 4.50 cycles, 4 if undisturbed`.
fn described(chain: &ChainResult) -> String {
    let ((low, high), name) = (chain.parts, &chain.name);
    match chain.standing {
        Standing::Slowed => {
            format!("{name} ({low:.2} to {high:.2} cycles, undisturbed {})", chain.integer)
        }
        Standing::Unsteady => format!("{name} ({low:.2} to {high:.2} cycles)"),
        _ => format!("{name} ({:.2} cycles)", chain.cycles.value),
    }
}
