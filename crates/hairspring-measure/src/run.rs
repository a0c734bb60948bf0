//! What every measurement brings back, whatever is measured.

use crate::table::Table;
use crate::until::{Ended, Stop};
use hairspring_core::observations::{Observations, Rate};
use std::time::Duration;

/// The rounds of a measurement, with all that is known of them.
#[derive(Debug, Clone)]
pub struct Run {
    /// The raw table, the chains of known length included.
    pub table: Observations,
    /// Rounds of all rows.
    pub rounds: u32,
    /// Time spent in the rounds.
    pub measuring: Duration,
    /// The same with what it took to assess them, and with what else counted towards the budget.
    pub elapsed: Duration,
    /// Why they ended.
    pub stop: Stop,
    /// Time that the hypervisor took meanwhile, where the system says.
    pub stolen_ms: Option<f64>,
}

impl Run {
    /// The rounds in a table, by a clock of this rate.
    pub fn new(table: Table, ended: Ended, rate: Rate, stolen_ms: Option<f64>) -> Run {
        let Ended { stop, measuring, elapsed } = ended;
        Run { rounds: table.rounds(), table: table.finished(rate), measuring, elapsed, stop, stolen_ms }
    }
}
