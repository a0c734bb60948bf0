//! How much longer a benchmark may take.

use crate::compare::Limit;
use crate::document::Unit;
use hairspring_core::Estimate;
use serde::{Deserialize, Serialize};

/// How much longer a benchmark may take; each that is set must hold.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold {
    /// In percent of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// In core cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<f64>,
    /// In nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
}

impl Threshold {
    /// Where the interval of a ratio lies; `base` is the time of the base in its unit. `None`
    /// without a threshold. One in another unit than that of the times is undecided.
    pub(super) fn limit(&self, ratio: &Estimate, base: Option<(f64, Unit)>) -> Option<Limit> {
        let absolute = |most: f64, unit: Unit| match base {
            Some((time, of)) if of == unit => place(ratio, 1.0 + most / time),
            _ => Limit::Undecided,
        };
        let all = [
            self.percent.map(|most| place(ratio, 1.0 + most / 100.0)),
            self.cycles.map(|most| absolute(most, Unit::Cycles)),
            self.ns.map(|most| absolute(most, Unit::Nanoseconds)),
        ];
        all.into_iter().flatten().reduce(worse)
    }
}

/// The one that matters more.
fn worse(one: Limit, other: Limit) -> Limit {
    match (one, other) {
        (Limit::Past, _) | (_, Limit::Past) => Limit::Past,
        (Limit::Undecided, _) | (_, Limit::Undecided) => Limit::Undecided,
        _ => Limit::Within,
    }
}

fn place(ratio: &Estimate, most: f64) -> Limit {
    if ratio.low > most {
        Limit::Past
    } else if ratio.high <= most {
        Limit::Within
    } else {
        Limit::Undecided
    }
}
