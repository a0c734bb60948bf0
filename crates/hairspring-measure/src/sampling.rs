//! Rounds for a given time over rows in this process: chains, pairs, reads of a clock.

use crate::batches::{Batches, InProcess};
use crate::limits::{Batch, FEWEST_ROUNDS};
use crate::rounds::{Functions, Rig};
use crate::table::Table;
use hairspring_core::observations::Observations;
use hairspring_host::chains::{Chain, InitBody, RowFn};
use hairspring_host::clock::{Clock, RateMeter, granularity};
use std::time::{Duration, Instant};

/// Rows to run, and the table for their readings.
#[derive(Debug)]
pub struct Sampling {
    table: Table,
    functions: Vec<RowFn>,
    clock: Clock,
}

impl Sampling {
    /// No rows yet.
    pub fn new(clock: Clock) -> Sampling {
        Sampling {
            table: Table::new(vec!["body".into(), "init".into()]),
            functions: Vec::new(),
            clock,
        }
    }

    /// Adds a chain as a series with the chain's name.
    #[must_use]
    pub fn with_chain(mut self, chain: &Chain) -> Sampling {
        for (copies, run) in &chain.rows {
            self.table.add_row(chain.name, &[f64::from(*copies), 0.0]);
            self.functions.push(*run);
        }
        self
    }

    /// Adds the rows of a chain that have one of these numbers of copies.
    #[must_use]
    pub fn with_copies(self, chain: &Chain, copies: &[u32]) -> Sampling {
        let rows = chain.rows.iter().filter(|(n, _)| copies.contains(n)).copied().collect();
        self.with_chain(&Chain { role: chain.role, name: chain.name, rows })
    }

    /// Adds an init and body pair as a series with the pair's name.
    #[must_use]
    pub fn with_pair(mut self, pair: &InitBody) -> Sampling {
        for (bodies, inits, run) in &pair.rows {
            self.table.add_row(pair.name, &[f64::from(*bodies), f64::from(*inits)]);
            self.functions.push(*run);
        }
        self
    }

    /// Runs rounds for about this time.
    pub fn run(self, time: Duration, seed: u64) -> Observations {
        sample(
            self.table,
            Functions { now: self.clock.read, rows: self.functions },
            self.clock,
            time,
            seed,
        )
    }

    /// Ready to run rounds several times.
    pub fn start(self, seed: u64) -> Samples<Functions> {
        Samples::new(
            self.table,
            Functions { now: self.clock.read, rows: self.functions },
            self.clock,
            seed,
        )
    }
}

/// Runs rounds over the rows of a rig, which must be those of the table, for about this time: at
/// least [`FEWEST_ROUNDS`], and no more than fit into the table. Stops at a row that fails.
pub fn sample(
    table: Table,
    rig: impl Rig,
    clock: Clock,
    time: Duration,
    seed: u64,
) -> Observations {
    let mut samples = Samples::new(table, rig, clock, seed);
    samples.run(time);
    samples.table.finished(samples.meter.rate())
}

/// A table that grows by rounds as long as it is asked to.
#[derive(Debug)]
pub struct Samples<R> {
    table: Table,
    rows: InProcess<R>,
    meter: RateMeter,
}

impl<R: Rig> Samples<R> {
    fn new(mut table: Table, rig: R, clock: Clock, seed: u64) -> Samples<R> {
        let quantum = granularity(&clock).quantum;
        table.set_clock(clock.name, quantum);
        Samples {
            table,
            rows: InProcess::new(rig, &clock, quantum, seed),
            meter: RateMeter::start(clock),
        }
    }

    /// Adds rounds for about this time: at least [`FEWEST_ROUNDS`], and no more than fit into the
    /// table. Stops at a row that fails; the table then has the rounds before it. Returns all
    /// rounds so far.
    pub fn run(&mut self, time: Duration) -> &Observations {
        let begin = Instant::now();
        let batch =
            Batch { time, fewest: FEWEST_ROUNDS, most: u32::MAX }.at_most(self.table.room());
        self.rows.run(batch, &|| begin.elapsed(), &mut self.table).unwrap_or_default();
        self.table.observations()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_host::clock::{ReadFn, fake};

    extern "C" fn row(read: ReadFn) -> u64 {
        let begin = read();
        fake::advance(700);
        read() - begin
    }

    #[test]
    fn without_time_the_fewest_rounds_are_run_and_the_table_says_by_which_clock() {
        fake::set(fake::Settings { quantum: 10, per_read: 20, ..fake::Settings::default() });
        let mut table = Table::new(vec!["body".into()]);
        table.add_row("code", &[1.0]);
        let samples = sample(
            table,
            Functions { now: fake::read, rows: vec![row] },
            fake::clock(64),
            Duration::ZERO,
            1,
        );
        assert_eq!(
            (samples.rounds(), samples.readings().len()),
            (FEWEST_ROUNDS, FEWEST_ROUNDS as usize)
        );
        assert!(samples.readings().iter().all(|reading| (710.0..=730.0).contains(&reading.ticks)
            && !reading.flags.contains(hairspring_core::observations::Flags::GAP)));
        // Reads take two steps of this clock, so steps of one are never seen.
        assert_eq!(
            (samples.origin.clock.as_deref(), samples.origin.granularity),
            (Some("fake"), Some(20.0))
        );
    }
}
