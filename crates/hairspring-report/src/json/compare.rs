//! The document of a comparison of two saved results.

use super::figure::E;
use super::finding::FindingJson;
use super::words::VerdictWord;
use crate::compare::{Compared, Limit, Pair};
use crate::saved::{SavedResult, SavedSeries};
use schemars::JsonSchema;
use serde::Serialize;

/// The schema's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub enum CompareSchema {
    /// First version.
    #[serde(rename = "hairspring/compare/1")]
    V1,
}

/// Two saved results, series by series.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(title = "Hairspring comparison of saved results")]
pub struct CompareDocument {
    /// Name and version of this format.
    pub schema: CompareSchema,
    /// The verb that made it.
    pub command: String,
    /// The result that is compared with.
    pub old: SideJson,
    /// The result that is compared.
    pub new: SideJson,
    /// How much longer a body may take, in percent; `null` where no limit was set.
    pub threshold_percent: Option<f64>,
    /// Series that both have, in the order of the new result.
    pub comparisons: Vec<ChangeJson>,
    /// Series of the old result that the new one does not have.
    pub missing: Vec<UnpairedJson>,
    /// Series of the new result that the old one does not have.
    pub added: Vec<UnpairedJson>,
    /// What was not the same between the two, the heaviest first.
    pub findings: Vec<FindingJson>,
    /// Comparisons whose whole interval lies past the threshold.
    pub past_threshold: usize,
}

/// One of the two results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SideJson {
    /// The file, or the name of the baseline; `null` for the measurement at hand.
    pub source: Option<String>,
    /// The verb that made it.
    pub command: String,
}

/// A series that only one of the two has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnpairedJson {
    /// Name of the series.
    pub name: String,
    /// The code.
    pub code: Option<String>,
}

/// One series of both.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChangeJson {
    /// Name of the series in the new result.
    pub name: String,
    /// The code.
    pub code: Option<String>,
    /// The component that is compared: the first one.
    pub component: String,
    /// Unit of `old` and `new`.
    pub unit: Option<UnitWord>,
    /// The old time; below resolution its interval reaches from zero or lower to the bound.
    pub old: Option<E>,
    /// The new time, likewise.
    pub new: Option<E>,
    /// New over old. The two were not measured in the same rounds, so nothing cancels: each end of the interval takes the worst
    /// ends of both.
    pub ratio: Option<E>,
    /// Least that the ratio can be, where there is no ratio because the old time is below resolution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_at_least: Option<f64>,
    /// Why there is no ratio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_reason: Option<String>,
    /// What the interval of the ratio says of the new time.
    pub verdict: VerdictWord,
    /// Why there is no verdict although there is a ratio: a result is not to be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict_reason: Option<String>,
    /// Where the interval lies against the threshold; `null` where no limit was set.
    pub limit: Option<LimitWord>,
}

/// Unit of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnitWord {
    /// Core cycles.
    Cycles,
    /// Nanoseconds.
    Ns,
    /// Ticks of the clock.
    Ticks,
}

/// Where an interval lies against the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitWord {
    /// All of it is past the threshold.
    Past,
    /// All of it is within.
    Within,
    /// The threshold is inside of it, or there is no ratio.
    Undecided,
}

impl From<crate::saved::Unit> for UnitWord {
    fn from(unit: crate::saved::Unit) -> Self {
        match unit {
            crate::saved::Unit::Cycles => UnitWord::Cycles,
            crate::saved::Unit::Nanoseconds => UnitWord::Ns,
            crate::saved::Unit::Ticks => UnitWord::Ticks,
        }
    }
}

impl From<Limit> for LimitWord {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Past => LimitWord::Past,
            Limit::Within => LimitWord::Within,
            Limit::Undecided => LimitWord::Undecided,
        }
    }
}

/// The document; sources name the two results.
pub fn compare(compared: &Compared, old: (Option<&str>, &SavedResult), new: (Option<&str>, &SavedResult)) -> CompareDocument {
    let side = |side: (Option<&str>, &SavedResult)| SideJson { source: side.0.map(str::to_owned), command: side.1.command.clone() };
    let unpaired = |series: &SavedSeries| UnpairedJson { name: series.name.clone(), code: series.code.clone() };
    CompareDocument {
        schema: CompareSchema::V1,
        command: "compare".into(),
        old: side(old),
        new: side(new),
        threshold_percent: compared.threshold.map(|share| share * 100.0),
        comparisons: compared.pairs.iter().map(|pair| pair_json(compared, pair)).collect(),
        missing: compared.missing.iter().map(unpaired).collect(),
        added: compared.added.iter().map(unpaired).collect(),
        findings: compared.findings.iter().map(FindingJson::from).collect(),
        past_threshold: compared.past(),
    }
}

fn pair_json(compared: &Compared, pair: &Pair) -> ChangeJson {
    let change = pair.change.as_ref().ok();
    let ratio = change.and_then(|change| E::of(&change.ratio));
    let below = change.filter(|_| ratio.is_none());
    ChangeJson {
        name: pair.name.clone(),
        code: pair.code.clone(),
        component: pair.component.clone(),
        unit: change.map(|change| change.unit.into()),
        old: change.and_then(|change| E::of(&change.old)),
        new: change.and_then(|change| E::of(&change.new)),
        ratio,
        ratio_at_least: below.map(|change| change.ratio.low).filter(|low| low.is_finite()),
        ratio_reason: below.map(|_| "the old time is below resolution".to_owned()).or_else(|| pair.change.as_ref().err().cloned()),
        verdict: change.map_or(VerdictWord::Undecided, |change| change.verdict.into()),
        verdict_reason: change.filter(|change| !change.trusted).map(|_| "not both results are to be trusted".to_owned()),
        limit: compared.limit(pair).map(LimitWord::from),
    }
}
