//! The error budget of a set-up: every source of error, whether it is stochastic or systematic, and
//! its share of the whole. Stochastic contributions add in quadrature, systematic ones linearly
//! (Muller, step 5).

use crate::definition::ErrorKind;
use hairspring_core::estimate::Source;
use serde::Serialize;

/// A line of the budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Where the error comes from.
    pub source: String,
    /// How it adds to others.
    pub kind: ErrorKind,
    /// Half-width from this source alone, in the unit of the record.
    pub half_width: f64,
    /// Its share of the total; all shares add up to 1, unless the total is 0.
    pub share: f64,
    /// Why it is zero, or where it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Entry {
    /// A line whose share is not known yet.
    pub fn new(
        source: impl Into<String>,
        kind: ErrorKind,
        half_width: f64,
        note: Option<String>,
    ) -> Entry {
        // An empty sum is -0.0.
        Entry { source: source.into(), kind, half_width: half_width + 0.0, share: 0.0, note }
    }
}

/// How a source adds to others, and whether every budget lists it.
pub(crate) struct Known {
    pub source: Source,
    pub kind: ErrorKind,
    /// Whether it has a line also where it adds nothing.
    pub always: bool,
}

const fn known(source: Source, kind: ErrorKind, always: bool) -> Known {
    Known { source, kind, always }
}

/// The sources, in the order in which they are listed. What is the same for all readings counts as
/// systematic.
pub(crate) const KNOWN_SOURCES: [Known; 11] = [
    known(Source::Quantum, ErrorKind::Systematic, true),
    known(Source::Rate, ErrorKind::Systematic, true),
    known(Source::Fence, ErrorKind::Systematic, true),
    known(Source::Noise, ErrorKind::Stochastic, true),
    known(Source::Departure, ErrorKind::Systematic, true),
    known(Source::Controls, ErrorKind::Systematic, true),
    known(Source::Readings, ErrorKind::Systematic, false),
    known(Source::Reference, ErrorKind::Systematic, false),
    known(Source::Placement, ErrorKind::Stochastic, false),
    known(Source::Runs, ErrorKind::Stochastic, false),
    known(Source::Machines, ErrorKind::Stochastic, false),
];

/// Total of a budget: stochastic entries in quadrature, plus systematic ones.
pub fn total(entries: &[Entry]) -> f64 {
    let (quadrature, linear) = parts(entries);
    quadrature + linear
}

fn parts(entries: &[Entry]) -> (f64, f64) {
    let of =
        |kind| entries.iter().filter(move |entry| entry.kind == kind).map(|entry| entry.half_width);
    (
        of(ErrorKind::Stochastic).map(|half| half * half).sum::<f64>().sqrt(),
        of(ErrorKind::Systematic).sum(),
    )
}

/// Fills in the shares: a stochastic entry has its square's part of the quadrature sum.
pub fn shared(mut entries: Vec<Entry>) -> Vec<Entry> {
    let (quadrature, linear) = parts(&entries);
    let sum_of_parts = quadrature + linear;
    for entry in entries.iter_mut().filter(|_| sum_of_parts > 0.0) {
        entry.share = match entry.kind {
            ErrorKind::Stochastic if quadrature > 0.0 => {
                entry.half_width * entry.half_width / quadrature / sum_of_parts
            }
            ErrorKind::Stochastic => 0.0,
            ErrorKind::Systematic => entry.half_width / sum_of_parts,
        };
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        let entry = |kind, half| Entry::new("x", kind, half, None);
        let entries = vec![
            entry(ErrorKind::Stochastic, 3.0),
            entry(ErrorKind::Stochastic, 4.0),
            entry(ErrorKind::Systematic, 5.0),
        ];
        assert_eq!(total(&entries), 10.0);
        let shares: Vec<f64> = shared(entries).iter().map(|entry| entry.share).collect();
        assert!(
            (shares[0] - 0.18).abs() < 1e-12
                && (shares[1] - 0.32).abs() < 1e-12
                && shares[2] == 0.5,
            "{shares:?}"
        );
        assert_eq!(shared(vec![entry(ErrorKind::Stochastic, 0.0)])[0].share, 0.0);
        assert_eq!(total(&[]), 0.0);
    }
}
