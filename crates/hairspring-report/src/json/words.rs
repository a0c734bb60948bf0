//! The engine's enumerations with the words that stand for them in JSON.

use hairspring_core::estimate::{LeftOut, Source};
use hairspring_core::judge::{Severity, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeverityWord {
    /// Worth knowing; the result stands.
    Note,
    /// The result stands, wider or for a narrower question than asked.
    Warning,
    /// The result is not to be trusted.
    Untrusted,
}

impl From<Severity> for SeverityWord {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Note => SeverityWord::Note,
            Severity::Warning => SeverityWord::Warning,
            Severity::Untrusted => SeverityWord::Untrusted,
        }
    }
}

/// What the interval of a ratio `a / b` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// `a` takes less time.
    Faster,
    /// `a` takes more time.
    Slower,
    /// The interval contains 1 and is narrow.
    NoDifference,
    /// The interval contains 1 and is wide, or there is no ratio.
    Undecided,
}

impl From<Verdict> for VerdictWord {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => VerdictWord::Faster,
            Verdict::Slower => VerdictWord::Slower,
            Verdict::NoDifference => VerdictWord::NoDifference,
            Verdict::Undecided => VerdictWord::Undecided,
        }
    }
}

/// Why a row was left out of the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeftOutWord {
    /// The line is not straight yet at this few copies.
    Bend,
    /// Its deviation is far above the median deviation.
    OffLine,
    /// Hardly any reading of it was free of interference.
    Interference,
    /// All its readings came with the flag `x`: whoever took them says why.
    Excluded,
}

impl From<LeftOut> for LeftOutWord {
    fn from(reason: LeftOut) -> Self {
        match reason {
            LeftOut::Bend => LeftOutWord::Bend,
            LeftOut::OffLine => LeftOutWord::OffLine,
            LeftOut::Interference => LeftOutWord::Interference,
            LeftOut::Excluded => LeftOutWord::Excluded,
        }
    }
}

/// Where an uncertainty comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceWord {
    /// Variation between rounds: noise, interference, frequency.
    Stochastic,
    /// Departure of the rows from the straight line (or plane).
    LackOfFit,
    /// The quantum of the clock, where it is not averaged out.
    Granularity,
    /// Uncertainty of the clock's rate.
    Rate,
    /// What a fence before and behind the code hides of it.
    Fence,
    /// Uncertainty of the reference chain.
    Reference,
    /// Differences between runs in processes of their own.
    Runs,
}

impl From<Source> for SourceWord {
    fn from(source: Source) -> Self {
        match source {
            Source::Stochastic => SourceWord::Stochastic,
            Source::LackOfFit => SourceWord::LackOfFit,
            Source::Granularity => SourceWord::Granularity,
            Source::Rate => SourceWord::Rate,
            Source::Fence => SourceWord::Fence,
            Source::Reference => SourceWord::Reference,
            Source::Runs => SourceWord::Runs,
        }
    }
}
