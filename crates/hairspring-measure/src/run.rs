//! The result of every measurement.

use crate::table::Table;
use crate::until::{Ended, Stop};
use hairspring_core::judge::core_hz;
use hairspring_core::observations::{ClockSpread, Observations, Rate};
use hairspring_host::clock::default_clock;
use hairspring_host::clock_history::{earlier_spread, with_run};
use std::time::Duration;

/// The rounds of a measurement, and how they ended.
#[derive(Debug, Clone)]
pub struct Run {
    /// The raw table, including the chains of known length.
    pub table: Observations,
    /// Number of rounds.
    pub rounds: u32,
    /// Time spent in the rounds.
    pub measuring: Duration,
    /// Time in the rounds, in their assessment, and in everything else that counts towards the
    /// budget.
    pub elapsed: Duration,
    /// Why the rounds ended.
    pub stop: Stop,
    /// Time that the hypervisor took during the run, in milliseconds, if the system reports it.
    pub stolen_ms: Option<f64>,
}

/// How the core clock moved between the runs on this machine, of which this is the latest. A table
/// without a reference chain, as of code with threads, does not show its own clock, and the earlier
/// runs count. `None` if too few runs are known.
pub fn clock_spread(table: &Observations) -> Option<ClockSpread> {
    if table.origin.reference.is_none() {
        // The readings of other clocks may be core cycles, which do not move with the core clock.
        return earlier_spread()
            .filter(|_| table.origin.clock.as_deref() == Some(default_clock().name));
    }
    with_run(|| core_hz(table))
}

impl Run {
    /// The rounds in a table, measured with a clock of this rate.
    pub fn new(table: Table, ended: Ended, rate: Rate, stolen_ms: Option<f64>) -> Run {
        let Ended { stop, measuring, elapsed } = ended;
        let rounds = table.rounds();
        let mut table = table.finished(rate);
        table.origin.clock_spread = clock_spread(&table);
        Run { rounds, table, measuring, elapsed, stop, stolen_ms }
    }

    /// Number of placements that shared the rounds, if there were several.
    pub fn placements(&self) -> Option<u32> {
        u32::try_from(self.table.placements().len()).ok().filter(|placements| *placements > 1)
    }
}
