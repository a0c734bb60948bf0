//! The time of a loop itself (Staelin and McVoy, 6.3), measured with the caller's loop as compiled
//! by the caller's compiler.

use super::{Body, Harness};
use crate::batches::run_batch;
use crate::error::Result;
use crate::limits::Batch;
use crate::rounds::{Dither, Loops, Rounds};
use crate::table::Table;
use hairspring_core::design::loops::{ALONE_COMPONENT, COMPONENTS, LoopRow, alone, two_equations};
use hairspring_core::estimate::{Estimate, Options};
use hairspring_core::pipeline::solve;
use hairspring_host::clock::Clock;
use std::time::{Duration, Instant};

/// Length of the longest loop in nanoseconds, in quanta of a coarse clock, and its limit in
/// nanoseconds.
const WINDOW_NS: f64 = 5e3;
const WINDOW_QUANTA: f64 = 20.0;
const MOST_WINDOW_NS: f64 = 1e6;
/// Rounds over the rows: few, because this precedes the actual measurement, and the interval
/// contains the uncertainty.
const ROUNDS: Batch = Batch { time: Duration::from_millis(40), fewest: 12, most: 100 };

/// How long the empty loop is timed again, in nanoseconds: long enough that other processes disturb
/// it like an experiment.
const LOOK_NS: f64 = 5e5;
/// Shortest plausible time of a trip, in nanoseconds.
const LEAST_LOOP_NS: f64 = 0.05;
/// A trip that takes less than this many times an empty trip cannot be told from it: a process on
/// the core's other hardware thread can double the time of the same loop, and another address of
/// the code also lengthens it.
const LIKE_NOTHING: f64 = 2.5;

/// The time that a loop adds to its body, in nanoseconds per trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopOverhead {
    /// From the paper's two equations: twice a loop of one copy minus a loop of two. About 0 on
    /// cores that run the loop and its body at the same time.
    pub by_two_equations_ns: Estimate,
    /// Time of an empty loop.
    pub alone_ns: Estimate,
}

impl LoopOverhead {
    /// The overhead to subtract: the solution of the two equations. Its interval includes that of
    /// the empty loop, because another body may hide more or less of the loop.
    pub fn estimate(&self) -> Estimate {
        let (found, alone) = (self.by_two_equations_ns, self.alone_ns);
        Estimate { low: found.low.min(alone.low), high: found.high.max(alone.high), ..found }
    }
}

/// Times the empty loop again with each experiment. A core that shares its units with another
/// process may suddenly run the same loop at half the speed, and an empty body would then seem to
/// take time.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopWatch {
    trips: u64,
    timing_ns: f64,
    quantum_ns: f64,
    seen_ns: Vec<f64>,
}

impl LoopWatch {
    /// A watch without timings. `loop_ns` is the approximate time of an empty trip, `timing_ns`
    /// that of a read of the clock.
    pub fn new(harness: &Harness, loop_ns: f64, timing_ns: f64) -> LoopWatch {
        let trips = ((LOOK_NS / loop_ns.max(LEAST_LOOP_NS)) as u64).max(1);
        LoopWatch { trips, timing_ns, quantum_ns: harness.quantum_ns, seen_ns: Vec::new() }
    }

    /// Times the empty loop once.
    pub fn look(&mut self, harness: &Harness, run: &mut dyn FnMut(LoopRow)) {
        let timed = harness.time(self.trips, &mut |trips| run(LoopRow { copies: 0, trips }));
        self.seen_ns
            .push((timed.interval_ns - self.timing_ns + self.quantum_ns) / timed.trips as f64);
    }

    /// The longest time of an empty trip in nanoseconds; the second longest of three or more
    /// timings, because an interrupt may have disturbed one. 0 without timings.
    pub fn most_ns(&self) -> f64 {
        let mut sorted = self.seen_ns.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted.get(usize::from(sorted.len() > 2)).copied().unwrap_or(0.0)
    }

    /// Whether a trip of this time, including the loop, can be told from an empty trip.
    pub fn tells(&self, trip_ns: f64) -> bool {
        trip_ns > LIKE_NOTHING * self.most_ns()
    }
}

impl Harness {
    /// Measures a loop with 0, 1 and 2 copies of an expression in each trip. All rows run in the
    /// same rounds at a dithered phase, and [`solve`] solves them. `clock` must be the clock of
    /// this harness. Takes some tens of milliseconds.
    ///
    /// # Errors
    /// As [`Harness::experiment`], and those of [`solve`].
    pub fn loop_overhead(
        &self,
        clock: &Clock,
        level: f64,
        run: &mut dyn FnMut(LoopRow),
    ) -> Result<LoopOverhead> {
        let window_ns = WINDOW_NS.max((WINDOW_QUANTA * self.quantum_ns).min(MOST_WINDOW_NS));
        let mut one_copy = |trips| run(LoopRow { copies: 1, trips });
        let body: &mut Body = &mut one_copy;
        let trips = self.experiment(window_ns, 1, body)?.trips;
        let (pair, empty) = (two_equations(trips), alone(trips));
        let quantum = self.quantum_ns / self.ns_per_tick;
        let mut rig =
            Loops { now: self.now, rows: pair.iter().chain(&empty).copied().collect(), run };
        let dither =
            if quantum > 0.0 { Dither::over(clock, quantum as u64) } else { Dither::none() };
        let mut rounds = Rounds::new(rig.rows.len(), 1, dither, quantum as u64).with_clock(clock);
        let mut bodies = table(&COMPONENTS, quantum, pair.iter().map(|row| row.counts().to_vec()));
        let mut nothing =
            table(&ALONE_COMPONENT, quantum, empty.iter().map(|row| vec![row.trips as f64]));
        let begin = Instant::now();
        let ran = run_batch(&mut rounds, &mut rig, ROUNDS, &|| begin.elapsed(), |readings| {
            bodies.push(&readings[..pair.len()]);
            nothing.push(&readings[pair.len()..]);
        });
        // Loops do not fail; otherwise the tables would be too short to be solved, which is an
        // error below.
        ran.unwrap_or_default();
        let loop_ns =
            |table: &Table| loop_ticks(table, level).map(|ticks| ticks.scaled(self.ns_per_tick));
        Ok(LoopOverhead { by_two_equations_ns: loop_ns(&bodies)?, alone_ns: loop_ns(&nothing)? })
    }
}

/// Name of the only series.
const SERIES: &str = "loops";

/// A table of loops in one series; its last component is the time of a trip.
fn table(components: &[&str], quantum: f64, counts: impl Iterator<Item = Vec<f64>>) -> Table {
    let mut table = Table::new(components.iter().map(|name| (*name).to_owned()).collect());
    table.observations_mut().origin.granularity = (quantum > 0.0).then_some(quantum);
    counts.for_each(|counts| table.add_row(SERIES, &counts));
    table
}

fn loop_ticks(table: &Table, level: f64) -> Result<Estimate> {
    let observations = table.observations();
    // Both tables have full rank by their design (design::loops), so the series and the component
    // are there.
    let missing = || {
        hairspring_core::Error::BadTable(
            "the time of a trip is unknown: some loops have no readings".into(),
        )
    };
    let series = observations.find_series(SERIES).ok_or_else(missing)?;
    let solution = solve(observations, series, &Options { level, ..Options::default() })?;
    let found = solution.component(ALONE_COMPONENT[0]).map(|component| component.ticks);
    Ok(found.ok_or_else(missing)?)
}
