//! Benchmarks of a C program, run by the engine: rows chosen by a pilot, interleaved rounds, a reference chain beside them.

use crate::clocks::chosen;
use crate::observations::ObservationsHandle;
use crate::wall::{Answer, Refusal, Status, elements, hand_out, same_size, sized, text, wall};
use hairspring_engine::acquire::{Dither, Rig, Rounds};
use hairspring_engine::clock::{Clock, RateMeter, ReadFn, default_clock, granularity};
use hairspring_engine::observations::Observations;
use hairspring_engine::reference::{RULER, RowFn, chains};
use hairspring_machine::unit::find_ruler;
use std::ffi::c_char;
use std::time::{Duration, Instant};

/// Length that the longest row aims at, and the longest that a row may take where there are enough shorter ones.
const TARGET_NS: f64 = 1_500.0;
const MOST_NS: f64 = 50_000.0;
/// Rows that are kept however long they take.
const FEWEST_ROWS: usize = 4;
/// Rows shorter than this share of the longest bend on out-of-order cores.
const SHORTEST_SHARE: u32 = 8;
/// Runs of the pilot for each row.
const PILOT_RUNS: usize = 5;
/// Time over which the rate of a clock is known well enough for a pilot.
const RATE_TIME: Duration = Duration::from_millis(2);
const FEWEST_ROUNDS: u32 = 32;
const MOST_ROUNDS: u32 = 1 << 20;
const DEFAULT_TIME: Duration = Duration::from_millis(300);
/// Name of the series of the reference chain.
const REFERENCE: &str = "reference chain";

/// Code at one number of copies: reads the clock, runs `inits` inits and `bodies` bodies, and reads the clock again.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BenchmarkRow {
    /// Runs it with a clock to read and the benchmark's argument, and returns the ticks in between.
    pub run: Option<unsafe extern "C" fn(now: extern "C" fn() -> u64, argument: i64) -> u64>,
    /// Bodies between the two reads.
    pub bodies: u32,
    /// Inits between the two reads.
    pub inits: u32,
}

/// A benchmark: its rows, the shortest first.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BenchmarkSeries {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Name of its series in the table.
    pub name: *const c_char,
    /// Its rows.
    pub rows: *const BenchmarkRow,
    /// How many they are.
    pub row_count: usize,
    /// What its rows are handed.
    pub argument: i64,
}

/// How to measure.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MeasurementPlan {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Name of the clock; null is the best one here.
    pub clock: *const c_char,
    /// Time to measure for; 0 is 300.
    pub milliseconds: u32,
    /// 1 leaves out the reference chain, and with it the core cycles.
    pub without_cycles: u32,
}

/// What is run as one row of the table.
enum Piece {
    Code(unsafe extern "C" fn(ReadFn, i64) -> u64, i64),
    Chain(RowFn),
}

struct Pieces {
    now: ReadFn,
    rows: Vec<Piece>,
}

impl Rig for Pieces {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn run(&mut self, row: usize) -> u64 {
        match self.rows[row] {
            // SAFETY: the caller's function, which is to be called with a clock and its argument.
            Piece::Code(run, argument) => unsafe { run(self.now, argument) },
            Piece::Chain(run) => run(self.now),
        }
    }
}

/// What a measurement is made with.
struct Instrument {
    clock: Clock,
    quantum: u64,
    meter: RateMeter,
}

/// Runs benchmarks in the same rounds, so that they can be compared; the first is what the others are compared with.
/// Gives a table for `hairspring_assess`. `plan` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_measure(
    series: *const BenchmarkSeries,
    element_size: usize,
    count: usize,
    plan: *const MeasurementPlan,
    out: *mut *mut ObservationsHandle,
) -> Status {
    wall(|| {
        same_size::<BenchmarkSeries>(element_size, "a benchmark")?;
        // SAFETY: passed on to the caller.
        let series = unsafe { elements(series, count, "the array of benchmarks") }?;
        // SAFETY: passed on to the caller.
        let plan = if plan.is_null() { None } else { Some(*unsafe { sized(plan, "the plan") }?) };
        // SAFETY: passed on to the caller.
        let clock = unsafe { chosen(plan.map_or(std::ptr::null(), |plan| plan.clock)) }?;
        // SAFETY: passed on to the caller.
        let named = series.iter().map(|one| unsafe { Named::of(one) }).collect::<Answer<Vec<Named>>>()?;
        let time = plan.filter(|plan| plan.milliseconds > 0).map_or(DEFAULT_TIME, |plan| Duration::from_millis(plan.milliseconds.into()));
        let cycles = plan.is_none_or(|plan| plan.without_cycles == 0);
        // SAFETY: passed on to the caller.
        unsafe { hand_out(out, ObservationsHandle::new(measure(&named, clock, time, cycles)?)) }
    })
}

/// A benchmark whose pointers were looked at.
struct Named<'a> {
    name: &'a str,
    rows: &'a [BenchmarkRow],
    argument: i64,
}

impl Named<'_> {
    unsafe fn of<'a>(from: &BenchmarkSeries) -> Answer<Named<'a>> {
        same_size::<BenchmarkSeries>(from.size, "a benchmark")?;
        // SAFETY: passed on to the caller.
        let (name, rows) = unsafe { (text(from.name, "a benchmark's name")?, elements(from.rows, from.row_count, "a benchmark's rows")?) };
        if rows.len() < FEWEST_ROWS {
            return Err(Refusal::new(Status::BadValue, format!("benchmark `{name}` has {} rows: {FEWEST_ROWS} are needed", rows.len())));
        }
        if rows.iter().any(|row| row.run.is_none()) {
            return Err(Refusal::new(Status::BadPointer, format!("benchmark `{name}` has a row without a function")));
        }
        Ok(Named { name, rows, argument: from.argument })
    }
}

fn measure(series: &[Named], clock: Clock, time: Duration, cycles: bool) -> Answer<Observations> {
    if series.is_empty() {
        return Err(Refusal::new(Status::BadValue, "no benchmark to run"));
    }
    for (at, one) in series.iter().enumerate() {
        let name = one.name;
        if name.trim() != name || name.is_empty() || name == REFERENCE || series[..at].iter().any(|other| other.name == name) {
            let text = format!("`{name}` is no name of a benchmark: it is empty, begins or ends with blanks, or stands twice");
            return Err(Refusal::new(Status::BadValue, text));
        }
    }
    let instrument = Instrument { clock, quantum: granularity(&clock).quantum, meter: RateMeter::start(clock) };
    let begin = Instant::now();
    while clock.nominal_hz.is_none() && begin.elapsed() < RATE_TIME {
        std::hint::spin_loop();
    }
    let inits = series.iter().flat_map(|one| one.rows).any(|row| row.inits > 0);
    let mut table = Observations::new(if inits { vec!["body".into(), "init".into()] } else { vec!["body".into()] });
    let mut rig = Pieces { now: clock.read, rows: Vec::new() };
    let mut rows = Vec::new();
    let mut add = |table: &mut Observations, name: &str, bodies: u32, inits_of: u32, piece: Piece| {
        let counts = [f64::from(bodies), f64::from(inits_of)];
        let id = table.series(name);
        rows.push(table.row(id, &counts[..if inits { 2 } else { 1 }]));
        rig.rows.push(piece);
    };
    for one in series {
        for row in choose(one, &instrument) {
            row.run.into_iter().for_each(|run| add(&mut table, one.name, row.bodies, row.inits, Piece::Code(run, one.argument)));
        }
    }
    if let Some((chain, cycles)) = reference(cycles) {
        chain.into_iter().for_each(|(copies, run)| add(&mut table, REFERENCE, copies, 0, Piece::Chain(run)));
        table.origin.reference = Some((REFERENCE.into(), cycles));
    }
    run_rounds(&mut table, &mut rig, &rows, &instrument, time);
    Ok(table)
}

/// The reference chain's rows and the length of one copy, where it proves itself.
fn reference(wanted: bool) -> Option<(Vec<(u32, RowFn)>, f64)> {
    let ruler = wanted.then(|| find_ruler(default_clock()))?.ok()?;
    let chain = chains().into_iter().find(|chain| chain.name == RULER)?;
    Some((chain.rows, ruler.cycles.into()))
}

/// The rows that are long beside the clock's step, short beside the time between interrupts, and where the line is straight.
fn choose(series: &Named, instrument: &Instrument) -> Vec<BenchmarkRow> {
    let ns_per_tick = 1e9 / instrument.meter.rate().hz;
    let mut rig = Pieces { now: instrument.clock.read, rows: Vec::new() };
    let mut taken: Vec<BenchmarkRow> = Vec::new();
    for row in series.rows {
        rig.rows = row.run.map(|run| Piece::Code(run, series.argument)).into_iter().collect();
        let least = (0..PILOT_RUNS).map(|_| instrument.clock.width.wrapped(rig.run(0))).min().unwrap_or(0);
        let ns = least as f64 * ns_per_tick;
        if taken.len() >= FEWEST_ROWS && ns > MOST_NS {
            break;
        }
        taken.push(*row);
        if ns >= TARGET_NS && straight(&taken).len() > FEWEST_ROWS {
            break;
        }
    }
    let straight = straight(&taken);
    if straight.len() > FEWEST_ROWS { straight } else { taken }
}

/// Rows of at least an eighth of the longest.
fn straight(rows: &[BenchmarkRow]) -> Vec<BenchmarkRow> {
    let longest = rows.iter().map(|row| row.bodies).max().unwrap_or(0);
    rows.iter().copied().filter(|row| row.bodies.saturating_mul(SHORTEST_SHARE) >= longest).collect()
}

fn run_rounds(table: &mut Observations, rig: &mut Pieces, rows: &[u32], instrument: &Instrument, time: Duration) {
    let Instrument { clock, quantum, meter } = instrument;
    let mut rounds = Rounds::new(rows.len(), 1, Dither::over(clock, *quantum), *quantum).with_width(clock.width);
    let begin = Instant::now();
    for round in 0..MOST_ROUNDS {
        for (row, raw) in rows.iter().zip(rounds.round(rig)) {
            table.push_flagged(*row, round, raw.ticks as f64, raw.flags);
        }
        if round + 1 >= FEWEST_ROUNDS && begin.elapsed() >= time {
            break;
        }
    }
    table.origin.clock = Some(clock.name.to_owned());
    table.origin.rate = Some(meter.rate());
    table.origin.granularity = (*quantum > 0).then_some(*quantum as f64);
}
