//! Findings of the certificate.

use hairspring_core::judge::words::shortened;
use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings of the certificate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the fields are named by what they hold; `describe` spells each out"
)]
pub enum CertificateFinding {
    /// The intervals of one chain hold in too few short runs, but no more chains do so than the
    /// confidence level allows.
    ChainSeldomCovered { chain: String, hits: u32, runs: u32 },
    /// Something else slows chains.
    ChainsSlowed { chains: Vec<String> },
    /// Chains take no whole number of core cycles on this machine.
    NoWholeNumber { chains: Vec<String> },
}

impl Kind for CertificateFinding {
    fn describe(self) -> Description {
        match self {
            CertificateFinding::ChainSeldomCovered { chain, hits, runs } => Description {
                code: "chain_seldom_covered",
                message: format!(
                    "chain {chain}: {hits} of {runs} short runs covered its integer; all of them \
                     have the same rows, which are off the line by the same share of a cycle"
                ),
                numbers: numbers! { chain, hits, runs },
                remedy: "add its distance from the integer, above, to the intervals of such code \
                         on this core: its rows do not show it. The confidence level allows it \
                         for few chains",
            },
            CertificateFinding::ChainsSlowed { chains } => Description {
                code: "chains_slowed",
                message: format!("something else uses the core and slows {}", shortened(&chains)),
                numbers: numbers! { chains },
                remedy: "measure on another CPU or a quieter machine; code that uses these units \
                         takes longer, too, and other code does not",
            },
            CertificateFinding::NoWholeNumber { chains } => Description {
                code: "no_whole_number",
                message: format!(
                    "no whole number of core cycles, so neither ruler nor control here: {}",
                    shortened(&chains)
                ),
                numbers: numbers! { chains },
                remedy: "nothing to do: measurements leave these chains out",
            },
        }
    }
}
