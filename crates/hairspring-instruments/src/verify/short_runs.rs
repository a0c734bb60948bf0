//! Short runs of all chains: how often intervals contain the whole numbers, and how the lengths
//! vary from run to run.

use super::coverage::Coverage;
use super::verdict::REFUSED_FOR_ONE;
use super::{ChainResult, Effort, Standing, trust};
use crate::lines::InCycles;
use hairspring_core::Estimate;
use hairspring_host::chains::{RULER, chains, name};
use hairspring_host::clock::Clock;
use hairspring_measure::sampling::Sampling;

/// The lengths of the chains in short runs; `None` for a run that gave none.
pub(super) struct ShortRuns {
    runs: Vec<Option<InCycles>>,
    level: f64,
    /// Runs that would not be trusted as measurements, because somebody else used the core. They
    /// were made again.
    pub refused: u32,
}

impl ShortRuns {
    /// Makes the runs.
    pub fn new(clock: Clock, effort: &Effort, ruler_cycles: f64) -> ShortRuns {
        let all_chains = chains();
        let mut short = ShortRuns { runs: Vec::new(), level: effort.level, refused: 0 };
        while short.made() < effort.coverage_runs
            && short.refused <= REFUSED_FOR_ONE * effort.coverage_runs
        {
            let sampling = all_chains.iter().fold(Sampling::new(clock), Sampling::with_chain);
            let table = sampling.run(
                effort.per_short_run * all_chains.len() as u32,
                100 + u64::from(short.made() + short.refused),
            );
            let measured = InCycles::new(&table, ruler_cycles, effort.level);
            if measured.as_ref().is_some_and(InCycles::is_disturbed) {
                short.refused += 1;
            } else {
                short.runs.push(measured);
            }
        }
        short
    }

    /// Number of runs.
    pub fn made(&self) -> u32 {
        self.runs.len() as u32
    }

    fn estimates<'r>(&'r self, chain: &'r str) -> impl Iterator<Item = Option<Estimate>> + 'r {
        self.runs.iter().map(|run| run.as_ref()?.first(chain))
    }

    /// The lengths of a chain.
    pub fn lengths(&self, chain: &str) -> Vec<f64> {
        self.estimates(chain).flatten().map(|cycles| cycles.value).collect()
    }

    /// The chain with its coverage, if there were runs and it has a whole length.
    pub fn covering(&self, chain: ChainResult) -> ChainResult {
        let hits = self.distances(&chain).filter(|distance| *distance <= 1.0).count() as u32;
        let is_covered =
            self.made() > 0 && chain.standing == Standing::Whole && chain.name != name(RULER);
        ChainResult {
            coverage: is_covered.then_some(Coverage { hits, runs: self.made() }),
            ..chain
        }
    }

    /// The factor on the half-widths with which the intervals of all chains would hold as often as
    /// their level says.
    pub fn widening(&self, chains: &[ChainResult]) -> Option<f64> {
        let covered = chains.iter().filter(|chain| chain.coverage.is_some());
        trust::widening(covered.flat_map(|chain| self.distances(chain)).collect(), self.level)
    }

    /// Distances of a chain from its integer, in half-widths of its interval.
    fn distances<'r>(&'r self, chain: &'r ChainResult) -> impl Iterator<Item = f64> + 'r {
        let distance = |cycles: Estimate| {
            (cycles.value - f64::from(chain.integer)).abs() / cycles.half_width()
        };
        self.estimates(&chain.name).map(move |cycles| {
            cycles.map(distance).filter(|found| !found.is_nan()).unwrap_or(f64::INFINITY)
        })
    }
}
