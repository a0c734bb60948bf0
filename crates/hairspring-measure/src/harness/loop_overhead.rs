//! The time of a loop itself (Staelin and McVoy, 6.3), from the caller's own loop, so that it is the one that his compiler
//! made.

use super::{Body, Harness};
use crate::batches::run_batch;
use crate::error::Result;
use crate::limits::Batch;
use crate::rounds::{Dither, Loops, Rounds};
use crate::table::Table;
use hairspring_core::design::loops::{ALONE, COMPONENTS, LoopRow, alone, two_equations};
use hairspring_core::estimate::{Estimate, Options, solve};
use hairspring_host::clock::Clock;
use std::time::{Duration, Instant};

/// The longest loop lasts this long in nanoseconds, or so many quanta of a coarser clock, but no longer than the last.
const WINDOW_NS: f64 = 5e3;
const WINDOW_QUANTA: f64 = 20.0;
const MOST_WINDOW_NS: f64 = 1e6;
/// Rounds over the rows: few, as this comes before the measurement that it is for, and what is left of doubt is in its interval.
const ROUNDS: Batch = Batch { time: Duration::from_millis(40), fewest: 12, most: 100 };

/// How long a loop is looked at again, in nanoseconds: a share of an experiment, so that what a neighbour does to the core
/// from one microsecond to the next is in both alike.
const LOOK_NS: f64 = 5e5;
/// Shortest time of a trip that is believed, in nanoseconds.
const LEAST_LOOP_NS: f64 = 0.05;
/// A trip that takes less than so many times a trip with nothing in it cannot be told from one: a neighbour on the core's
/// other hardware thread makes the same loop twice as long, and so does another place in memory, by less.
const LIKE_NOTHING: f64 = 2.5;

/// What a loop adds to its body, in nanoseconds a trip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopOverhead {
    /// By the paper's two equations: twice a loop of one copy less a loop of two. About 0 where the loop hides in the shadow
    /// of its body, as on cores that run both at once.
    pub by_two_equations_ns: Estimate,
    /// Of a loop with nothing in it.
    pub alone_ns: Estimate,
}

impl LoopOverhead {
    /// What to subtract: the answer of the two equations. Its interval reaches to the time of the loop alone, because another
    /// body may hide more of the loop, or less.
    pub fn estimate(&self) -> Estimate {
        let (found, alone) = (self.by_two_equations_ns, self.alone_ns);
        Estimate { low: found.low.min(alone.low), high: found.high.max(alone.high), ..found }
    }
}

/// The loop alone, looked at again beside each experiment: a core that shares its units with a neighbour runs the same loop
/// at half the speed from one moment to the next, and a body that cannot be told from nothing would then seem to be
/// something.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopWatch {
    trips: u64,
    timing_ns: f64,
    quantum_ns: f64,
    seen_ns: Vec<f64>,
}

impl LoopWatch {
    /// Nothing is seen yet. `loop_ns` is about what a trip takes alone, `timing_ns` what a read of the clock takes.
    pub fn new(harness: &Harness, loop_ns: f64, timing_ns: f64) -> LoopWatch {
        let trips = ((LOOK_NS / loop_ns.max(LEAST_LOOP_NS)) as u64).max(1);
        LoopWatch { trips, timing_ns, quantum_ns: harness.quantum_ns, seen_ns: Vec::new() }
    }

    /// Looks at the loop.
    pub fn look(&mut self, harness: &Harness, run: &mut dyn FnMut(LoopRow)) {
        let timed = harness.time(self.trips, &mut |trips| run(LoopRow { copies: 0, trips }));
        self.seen_ns.push((timed.interval_ns - self.timing_ns + self.quantum_ns) / timed.trips as f64);
    }

    /// The longest that a trip was seen to take alone, in nanoseconds; of three looks and more the second longest, as an
    /// interrupt may have fallen into one. 0 where nothing was seen.
    pub fn most_ns(&self) -> f64 {
        let mut sorted = self.seen_ns.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        sorted.get(usize::from(sorted.len() > 2)).copied().unwrap_or(0.0)
    }

    /// Whether a trip that takes so long, nothing subtracted, can be told from a trip of a loop with nothing in it.
    pub fn tells(&self, trip_ns: f64) -> bool {
        trip_ns > LIKE_NOTHING * self.most_ns()
    }
}

impl Harness {
    /// Measures a loop that runs with 0, 1 and 2 copies of some expression in a trip. All rows run in the same rounds at a
    /// dithered phase, on the clock that this harness is of, and the one estimator solves them. Takes some tens of milliseconds.
    ///
    /// # Errors
    /// As [`Harness::experiment`], and those of [`solve`].
    pub fn loop_overhead(&self, clock: &Clock, level: f64, run: &mut dyn FnMut(LoopRow)) -> Result<LoopOverhead> {
        let window_ns = WINDOW_NS.max((WINDOW_QUANTA * self.quantum_ns).min(MOST_WINDOW_NS));
        let mut one = |trips| run(LoopRow { copies: 1, trips });
        let body: &mut Body = &mut one;
        let trips = self.experiment(window_ns, 1, body)?.trips;
        let (pair, empty) = (two_equations(trips), alone(trips));
        let quantum = self.quantum_ns / self.ns_per_tick;
        let mut rig = Loops { now: self.now, rows: pair.iter().chain(&empty).copied().collect(), run };
        let dither = if quantum > 0.0 { Dither::over(clock, quantum as u64) } else { Dither::none() };
        let mut rounds = Rounds::new(rig.rows.len(), 1, dither, quantum as u64).with_width(clock.width);
        let mut bodies = table(&COMPONENTS, quantum, pair.iter().map(|row| row.counts().to_vec()));
        let mut nothing = table(&ALONE, quantum, empty.iter().map(|row| vec![row.trips as f64]));
        let begin = Instant::now();
        let ran = run_batch(&mut rounds, &mut rig, ROUNDS, &|| begin.elapsed(), |readings| {
            bodies.push(&readings[..pair.len()]);
            nothing.push(&readings[pair.len()..]);
        });
        // Loops do not fail; if they did, the tables would be too short to be solved, which is an error below.
        ran.unwrap_or_default();
        let found = |table: &Table| loop_ticks(table, level).map(|ticks| ticks.scaled(self.ns_per_tick));
        Ok(LoopOverhead { by_two_equations_ns: found(&bodies)?, alone_ns: found(&nothing)? })
    }
}

/// Name of the one series.
const SERIES: &str = "loops";

/// A table of loops of one series, the time of a trip being its last component.
fn table(components: &[&str], quantum: f64, counts: impl Iterator<Item = Vec<f64>>) -> Table {
    let mut table = Table::new(components.iter().map(|name| (*name).to_owned()).collect());
    table.observations_mut().origin.granularity = (quantum > 0.0).then_some(quantum);
    counts.for_each(|counts| table.add_row(SERIES, &counts));
    table
}

fn loop_ticks(table: &Table, level: f64) -> Result<Estimate> {
    let observations = table.observations();
    // Both tables have full rank by their design (design::loops), so the series and the component are there.
    let missing = || hairspring_core::Error::BadTable("the time of a trip is unknown: some loops have no readings".into());
    let series = observations.find_series(SERIES).ok_or_else(missing)?;
    let solution = solve(observations, series, &Options { level, ..Options::default() })?;
    let found = solution.component(ALONE[0]).map(|component| component.ticks);
    Ok(found.ok_or_else(missing)?)
}
