//! The document of a comparison of two saved results.

use super::{Compared, Limit, Pair};
use crate::document::{Measures, ResultDocument, Series, ToolOrigin, Unit};
use crate::identity::Identity;
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Verdict};
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CompareSchema {
    /// First version.
    #[serde(rename = "hairspring/compare/1")]
    V1,
}

/// Two saved results, series by series.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Hairspring comparison of saved results"))]
pub struct CompareDocument {
    /// Name and version of this format.
    pub schema: CompareSchema,
    /// The verb that made it.
    pub command: String,
    /// When and where the comparison was made; `null` if it is part of another document.
    pub identity: Option<Identity>,
    /// The result that is compared with.
    pub old: Side,
    /// The result that is compared.
    pub new: Side,
    /// How much longer a body may take, in percent; `null` if no limit was set.
    pub threshold_percent: Option<f64>,
    /// Series that both have, in the order of the new result.
    pub comparisons: Vec<Change>,
    /// Series of the old result that the new one does not have.
    pub missing: Vec<Unpaired>,
    /// Series of the new result that the old one does not have.
    pub added: Vec<Unpaired>,
    /// Differences between the circumstances of the two, most severe first.
    pub findings: Vec<Finding>,
    /// Number of comparisons whose whole interval lies above the threshold.
    pub past_threshold: usize,
}

/// One of the two results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Side {
    /// The file, or the name of the baseline; `null` for the current measurement.
    pub source: Option<String>,
    /// The verb that made it.
    pub command: String,
    /// When, where and by which version it was made; `null` in documents of version 0.1.0.
    pub identity: Option<Identity>,
    /// The tool that wrote it; left out of results of Hairspring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<ToolOrigin>,
}

/// A series that only one of the two has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unpaired {
    /// Name of the series.
    pub name: String,
    /// The code.
    pub code: Option<String>,
}

/// One series of both.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// Name of the series in the new result.
    pub name: String,
    /// The code.
    pub code: Option<String>,
    /// The component that is compared: the first one.
    pub component: String,
    /// What the times are; left out of results of Hairspring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<Measures>,
    /// Unit of `old` and `new`.
    pub unit: Option<Unit>,
    /// The old time; below resolution its interval reaches from zero or lower to the bound.
    pub old: Option<Estimate>,
    /// The new time; below resolution its interval reaches from zero or lower to the bound.
    pub new: Option<Estimate>,
    /// New over old. The two were not measured in the same rounds, so disturbances do not cancel:
    /// the interval covers the worst case of both intervals.
    pub ratio: Option<Estimate>,
    /// Lower bound of the ratio, if there is no ratio because the old time is below resolution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_at_least: Option<f64>,
    /// Why there is no ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_reason: Option<String>,
    /// The conclusion from the interval of the ratio about the new time.
    pub verdict: Verdict,
    /// Why there is no verdict although there is a ratio: the two ran on different CPUs or
    /// machines, one of the results is not to be trusted or lacks layouts of the code, or the new
    /// time is not above zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict_reason: Option<String>,
    /// Where the interval lies relative to the threshold; `null` if no limit was set.
    pub limit: Option<Limit>,
}

impl CompareDocument {
    /// The document of a comparison; `old` and `new` name where the two results come from.
    pub fn new(
        compared: &Compared,
        old: (Option<&str>, &ResultDocument),
        new: (Option<&str>, &ResultDocument),
    ) -> CompareDocument {
        let side = |side: (Option<&str>, &ResultDocument)| Side {
            source: side.0.map(str::to_owned),
            command: side.1.command.clone(),
            identity: side.1.environment.identity.clone(),
            origin: side.1.origin.as_deref().cloned(),
        };
        let unpaired =
            |series: &Series| Unpaired { name: series.name.clone(), code: series.code.clone() };
        CompareDocument {
            schema: CompareSchema::V1,
            command: "compare".into(),
            identity: None,
            old: side(old),
            new: side(new),
            threshold_percent: compared.threshold.map(|share| share * 100.0),
            comparisons: compared.pairs.iter().map(|pair| pair_json(compared, pair)).collect(),
            missing: compared.missing.iter().map(unpaired).collect(),
            added: compared.added.iter().map(unpaired).collect(),
            findings: compared.findings.clone(),
            past_threshold: compared.past(),
        }
    }
}

fn pair_json(compared: &Compared, pair: &Pair) -> Change {
    let change = pair.change.as_ref().ok();
    let ratio = change.and_then(|change| change.ratio.if_finite());
    let below = change.filter(|_| ratio.is_none());
    Change {
        name: pair.name.clone(),
        code: pair.code.clone(),
        component: pair.component.clone(),
        measures: pair.measures.clone(),
        unit: change.map(|change| change.unit),
        old: change.and_then(|change| change.old.if_finite()),
        new: change.and_then(|change| change.new.if_finite()),
        ratio,
        ratio_at_least: below.map(|change| change.ratio.low).filter(|low| low.is_finite()),
        ratio_reason: below
            .map(|_| "the old time is below resolution".to_owned())
            .or_else(|| pair.change.as_ref().err().cloned()),
        verdict: change.map_or(Verdict::Undecided, |change| change.verdict),
        verdict_reason: change.and_then(super::Change::no_verdict).map(str::to_owned),
        limit: compared.limit(pair),
    }
}
