//! What the certificate comes to: whether the instrument measures correctly, or does not, or
//! something else kept it from being checked.

use super::coverage;
use super::{Certificate, ChainResult, Coverage, Standing};
use crate::lines::is_of_lattice;
use serde::Serialize;

/// Short runs that may be refused for each one that is made.
pub(super) const REFUSED_FOR_ONE: u32 = 3;
/// Distance from the integer up to which a chain counts as on the lattice, in percent.
pub const ON_LATTICE_PERCENT: f64 = 0.5;
/// Distance of a body behind an init that is accepted, in percent.
pub const PAIR_PERCENT: f64 = 1.0;
/// With this share of undisturbed readings or less, something else used the core: nine of ten
/// guards of calm cores are short.
pub(crate) const QUIET_SHARE: f64 = 0.85;

/// What the certificate comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All checks passed.
    Passed,
    /// The instrument does not measure correctly.
    Failed,
    /// Something else used the core, or intervals were too wide, so that a check says nothing about
    /// the instrument.
    Open,
}

/// A check that did not pass.
struct Missed {
    missed_check: String,
    /// Whether it was missed by noise: the interval is too wide to check anything.
    by_noise: bool,
}

impl Certificate {
    /// What it comes to.
    pub fn verdict(&self) -> Verdict {
        match (self.failures().is_empty(), self.open().is_empty()) {
            (false, _) => Verdict::Failed,
            (true, false) => Verdict::Open,
            (true, true) => Verdict::Passed,
        }
    }

    /// Messages about checks that the instrument failed.
    pub fn failures(&self) -> Vec<String> {
        let backward = self.reading.backward;
        let backward = (backward > 0).then(|| {
            format!("the clock went backwards {backward} times in {} steps", self.reading.steps)
        });
        let missed = if self.is_shared() { Vec::new() } else { self.missed() };
        let missed =
            missed.into_iter().filter(|missed| !missed.by_noise).map(|missed| missed.missed_check);
        backward.into_iter().chain(missed).collect()
    }

    /// Messages about checks that say nothing about the instrument, because something else used the
    /// core or intervals were too wide.
    pub fn open(&self) -> Vec<String> {
        let is_shared = self.is_shared();
        let missed = self
            .missed()
            .into_iter()
            .filter(|missed| is_shared || missed.by_noise)
            .map(|missed| missed.missed_check);
        missed.chain(self.refused_most()).collect()
    }

    /// Whether something else used the core: reads of the clock took longer, short runs were
    /// refused, or a chain is slowed at times.
    pub fn is_shared(&self) -> bool {
        let by_chains = self
            .chains
            .iter()
            .any(|chain| chain.standing.is_slowed() && !is_of_lattice(&chain.name));
        self.refused > 0 || self.quiet_share.is_some_and(|share| share < QUIET_SHARE) || by_chains
    }

    /// Short runs that were refused, if they are too many to check the coverage.
    fn refused_most(&self) -> Option<String> {
        let made_runs = self.made;
        let is_most = self.refused > REFUSED_FOR_ONE * made_runs;
        is_most.then(|| {
            format!(
                "{} short runs were refused, because something else used the core, and {made_runs} \
                 were made",
                self.refused
            )
        })
    }

    fn missed(&self) -> Vec<Missed> {
        let coverage = coverage::judge(&self.covered(), self.core_hz.level).failures;
        let coverage =
            coverage.into_iter().map(|what| Missed { missed_check: what, by_noise: false });
        self.chains_off().chain(self.bodies_off()).chain(coverage).collect()
    }

    /// Chains that are surely off their integers, and those of the lattice whose intervals are too
    /// wide to tell.
    fn chains_off(&self) -> impl Iterator<Item = Missed> + '_ {
        let off = self
            .chains
            .iter()
            .filter(|chain| chain.distance_percent.abs() > ON_LATTICE_PERCENT)
            .map(|chain| {
                let missed_check = format!(
                    "chain {} is {:+.2} % off its integer {}",
                    chain.name, chain.distance_percent, chain.integer
                );
                (
                    chain,
                    Missed {
                        missed_check,
                        by_noise: chain.cycles.contains(f64::from(chain.integer)),
                    },
                )
            });
        let counts = |chain: &ChainResult, missed: &Missed| {
            is_of_lattice(&chain.name) || chain.standing == Standing::Whole && !missed.by_noise
        };
        off.filter(move |(chain, missed)| counts(chain, missed)).map(|(_, missed)| missed)
    }

    fn bodies_off(&self) -> impl Iterator<Item = Missed> + '_ {
        let off = self
            .pairs
            .iter()
            .filter(|pair| (pair.body.0.value / pair.body.1 - 1.0).abs() > PAIR_PERCENT / 100.0);
        off.map(|pair| Missed {
            missed_check: format!(
                "{}: body {:.2} cycles instead of {}",
                pair.name, pair.body.0.value, pair.body.1
            ),
            by_noise: pair.body.0.contains(pair.body.1),
        })
    }

    /// The chains that were tried in short runs.
    pub fn covered(&self) -> Vec<(&str, Coverage)> {
        self.chains
            .iter()
            .filter_map(|chain| chain.coverage.map(|coverage| (chain.name.as_str(), coverage)))
            .collect()
    }
}
