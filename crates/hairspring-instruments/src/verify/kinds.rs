//! Findings of the certificate.

use hairspring_core::judge::{Description, Kind};
use hairspring_core::numbers;

/// Findings of the certificate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are named by what they hold; `describe` spells each out")]
pub enum CertificateFinding {
    /// The intervals of one chain hold in too few short runs, but no more chains do so than the confidence level allows.
    ChainSeldomCovered { chain: String, hits: u32, runs: u32 },
}

impl Kind for CertificateFinding {
    fn describe(self) -> Description {
        match self {
            CertificateFinding::ChainSeldomCovered { chain, hits, runs } => Description {
                code: "chain_seldom_covered",
                message: format!(
                    "chain {chain}: {hits} of {runs} short runs covered its integer; all of them have the same rows, which are off the line by the same share of a cycle"
                ),
                numbers: numbers! { chain, hits, runs },
                remedy: "add its distance from the integer, above, to the intervals of such code on this core: its rows do not show it. The confidence level allows it for few chains",
            },
        }
    }
}
