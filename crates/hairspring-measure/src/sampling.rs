//! Running built-in rows in this process and keeping the readings as one table.

use crate::rounds::{Dither, Functions, Rounds};
use hairspring_core::observations::{Observations, RowId};
use hairspring_host::chains::{Chain, InitBody, RowFn};
use hairspring_host::clock::{Clock, RateMeter, granularity};
use std::time::{Duration, Instant};

/// Rows to be run, and the table that their readings go to.
#[derive(Debug)]
pub struct Sampling {
    table: Observations,
    rows: Vec<RowId>,
    functions: Vec<RowFn>,
    clock: Clock,
}

impl Sampling {
    /// No rows yet.
    pub fn new(clock: Clock) -> Sampling {
        let table = Observations::new(vec!["body".into(), "init".into()]);
        Sampling { table, rows: Vec::new(), functions: Vec::new(), clock }
    }

    /// Adds a chain as a series of its own name.
    #[must_use]
    pub fn with_chain(mut self, chain: &Chain) -> Sampling {
        let series = self.table.series(chain.name);
        for (copies, run) in &chain.rows {
            self.rows.push(self.table.row(series, &[f64::from(*copies), 0.0]));
            self.functions.push(*run);
        }
        self
    }

    /// The same with those of its rows that have one of these numbers of copies.
    #[must_use]
    pub fn with_copies(self, chain: &Chain, copies: &[u32]) -> Sampling {
        let rows = chain.rows.iter().filter(|(n, _)| copies.contains(n)).copied().collect();
        self.with_chain(&Chain { role: chain.role, name: chain.name, rows })
    }

    /// Adds an init and body pair as a series of its own name.
    #[must_use]
    pub fn with_pair(mut self, pair: &InitBody) -> Sampling {
        let series = self.table.series(pair.name);
        for (bodies, inits, run) in &pair.rows {
            self.rows.push(self.table.row(series, &[f64::from(*bodies), f64::from(*inits)]));
            self.functions.push(*run);
        }
        self
    }

    /// Runs interleaved rounds for about so long, at least 32 of them, and no more than memory has room for.
    pub fn run(mut self, time: Duration, seed: u64) -> Observations {
        const FEWEST_ROUNDS: u32 = 32;
        const MOST_READINGS: usize = 4_000_000;
        let quantum = granularity(&self.clock).quantum;
        let mut rig = Functions { now: self.clock.read, rows: self.functions };
        let mut rounds = Rounds::new(self.rows.len(), seed, Dither::over(&self.clock, quantum), quantum).with_width(self.clock.width);
        let (meter, begin) = (RateMeter::start(self.clock), Instant::now());
        let mut round = 0;
        while round < FEWEST_ROUNDS || begin.elapsed() < time && self.table.readings().len() < MOST_READINGS {
            for (row, raw) in self.rows.iter().zip(rounds.round(&mut rig)) {
                self.table.push_flagged(*row, round, raw.ticks as f64, raw.flags);
            }
            round += 1;
        }
        self.table.origin.clock = Some(self.clock.name.to_owned());
        self.table.origin.rate = Some(meter.rate());
        self.table.origin.granularity = (quantum > 0).then_some(quantum as f64);
        self.table
    }
}
