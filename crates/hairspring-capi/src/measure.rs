//! Benchmarks of a C program, run by the engine: measured into a table, or as a whole program with
//! a command line.

use crate::observations::ObservationsHandle;
use crate::sized::{Growing, input, inputs};
use crate::wall::{Answer, Refusal, Status, elements, hand_out, last_error, shared, text, wall};
use hairspring_core::design::table::RUNS_OF_A_BLOCK;
use hairspring_program::{
    Benchmark, Error, FLUSH, Group, Manner, Order, Row, Session, Settings, seating,
};
use std::ffi::{CStr, OsString, c_char, c_int};
use std::mem::offset_of;
use std::time::Duration;

/// The largest number of arguments of a benchmark.
pub const HAIRSPRING_MOST_ARGUMENTS: usize = 16;

/// A row returns this instead of ticks if its code failed: the program ends with a message and
/// status 1. A clock that was set back by exactly one tick between two reads gives the same value.
pub const HAIRSPRING_FAILED: u64 = u64::MAX;

/// Added to a row's order if it was compiled without optimisation: a finding says so.
pub const HAIRSPRING_UNOPTIMISED: u32 = 256;

/// Added to the order of a row that runs a block of its copies HAIRSPRING_RUNS_OF_A_BLOCK times;
/// its bodies are those of all runs.
pub const HAIRSPRING_IN_BLOCKS: u32 = 512;

/// Code at one number of copies: reads the clock, runs `inits` inits and `bodies` bodies, and reads
/// the clock again.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BenchmarkRow {
    /// Runs the row with a clock to read and the benchmark's argument, and returns the ticks
    /// between the two reads, or HAIRSPRING_FAILED.
    pub run: Option<unsafe extern "C" fn(now: extern "C" fn() -> u64, argument: i64) -> u64>,
    /// Bodies between the two reads.
    pub bodies: u32,
    /// Inits between the two reads.
    pub inits: u32,
    /// 0: an init before every body, the further inits at the end; the result comes from these
    /// rows. The others check that body and init add up. 1: an equal number of inits before every
    /// body; 2: fences around every init; 3: as 2, with a chain of 16 dependent 64-bit
    /// multiplications in place of the body. HAIRSPRING_UNOPTIMISED may be added, and to 0
    /// HAIRSPRING_IN_BLOCKS.
    pub order: u32,
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
    /// Number of rows.
    pub row_count: usize,
    /// The argument passed to its rows.
    pub argument: i64,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for BenchmarkSeries {
    const LEAST_BYTES: usize = offset_of!(BenchmarkSeries, argument);
}

/// How to measure.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MeasurementPlan {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Name of the clock; null is the best one here.
    pub clock: *const c_char,
    /// Time to measure, in milliseconds; 0 means 500, and up to 1500 while something else uses the
    /// core.
    pub milliseconds: u32,
    /// 1 leaves out the reference chain, and with it the core cycles.
    pub without_cycles: u32,
    /// 1: the code runs other threads. Then the thread is not bound to a CPU, its priority stays as
    /// it is, and there are no core cycles. With 0 the code is measured in this way if it turns out
    /// to run other threads.
    pub threads: u32,
    /// 1: the thread is not bound to a CPU.
    pub without_pin: u32,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for MeasurementPlan {
    const LEAST_BYTES: usize = size_of::<usize>();
}

/// Code to be timed, made by HAIRSPRING_BENCHMARK.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct NamedBenchmark {
    /// Its name.
    pub name: *const c_char,
    /// Its rows, the shortest first.
    pub rows: *const BenchmarkRow,
    /// Number of rows.
    pub row_count: usize,
    /// Name of the second component, if there is one; null means `init`.
    pub second: *const c_char,
}

/// A benchmark to run. All fields but the benchmark may be 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct BenchmarkEntry {
    /// The benchmark.
    pub benchmark: *const NamedBenchmark,
    /// Runs once before the first row.
    pub setup: Option<unsafe extern "C" fn(argument: i64)>,
    /// Results are named `benchmark/argument_name:value`; null means `argument`.
    pub argument_name: *const c_char,
    /// The arguments; the benchmark runs once with each.
    pub arguments: [i64; HAIRSPRING_MOST_ARGUMENTS],
    /// Number of arguments. If it is 0, the rows get `arguments[0]`, and the name has no argument.
    pub argument_count: u32,
    /// 1: runs in the same rounds as the entry before, with its arguments if it has any, and is
    /// compared with it.
    pub alternative: u32,
}

// SAFETY: `repr(C)`, and all its fields may be 0.
unsafe impl Growing for BenchmarkEntry {
    const LEAST_BYTES: usize = offset_of!(BenchmarkEntry, setup);
    const SIZE_FIRST: bool = false;
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        match error {
            Error::Core(error) => error.into(),
            Error::Host(error) => error.into(),
            other => Refusal::new(Status::BadValue, other.to_string()),
        }
    }
}

/// Runs benchmarks in the same rounds, so that the others can be compared with the first. `out`
/// gets a table for `hairspring_assess`. `plan` may be null, for the defaults. The thread is bound
/// to one CPU during the call, unless the code runs other threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_measure(
    series: *const BenchmarkSeries,
    element_size: usize,
    count: usize,
    plan: *const MeasurementPlan,
    out: *mut *mut ObservationsHandle,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let series = unsafe { inputs(series, element_size, count, "a benchmark") }?;
        // SAFETY: passed on to the caller.
        let settings = unsafe { settings(plan) }?;
        // SAFETY: passed on to the caller.
        let benchmarks = series
            .iter()
            .map(|one| unsafe { benchmark_from_series(one) })
            .collect::<Answer<Vec<Benchmark>>>()?;
        let measured = Session::new(&settings)?.measure(&mut Group { benchmarks })?;
        // SAFETY: passed on to the caller.
        unsafe {
            hand_out(
                out,
                ObservationsHandle::new(measured.run.table)
                    .with_findings(measured.seated.finding()),
            )
        }
    })
}

unsafe fn settings(plan: *const MeasurementPlan) -> Answer<Settings> {
    let mut settings = Settings::default();
    if !plan.is_null() {
        // SAFETY: passed on to the caller.
        let plan = unsafe { input(plan, "the plan") }?;
        if plan.milliseconds > 0 {
            (settings.budget, settings.is_firm) =
                (Duration::from_millis(plan.milliseconds.into()), true);
        }
        settings.cycles = plan.without_cycles == 0;
        settings.seating = seating(plan.threads != 0, plan.without_pin != 0);
        // SAFETY: passed on to the caller.
        settings.clock = if plan.clock.is_null() {
            None
        } else {
            Some(unsafe { text(plan.clock, "the clock's name") }?.to_owned())
        };
    }
    Ok(settings)
}

unsafe fn benchmark_from_series<'a>(from: &BenchmarkSeries) -> Answer<Benchmark<'a>> {
    // SAFETY: passed on to the caller.
    let name = unsafe { text(from.name, "a benchmark's name") }?;
    // SAFETY: passed on to the caller.
    unsafe { benchmark(name.to_owned(), from.rows, from.row_count, from.argument) }
}

unsafe fn benchmark<'a>(
    name: String,
    rows: *const BenchmarkRow,
    count: usize,
    argument: i64,
) -> Answer<Benchmark<'a>> {
    // SAFETY: passed on to the caller.
    let rows = unsafe { elements(rows, count, "a benchmark's rows") }?;
    let unoptimised = rows.iter().any(|row| row.order & HAIRSPRING_UNOPTIMISED != 0);
    // SAFETY: passed on to the caller.
    let from_rows = unsafe { runnable(&name, rows, argument) }?;
    Ok(Benchmark { unoptimised, ..Benchmark::new(name, from_rows) })
}

unsafe fn runnable<'a>(name: &str, rows: &[BenchmarkRow], argument: i64) -> Answer<Vec<Row<'a>>> {
    let row = |row: &BenchmarkRow| {
        let run = row.run.ok_or_else(|| {
            Refusal::new(
                Status::BadPointer,
                format!("benchmark `{name}` has a row without a function"),
            )
        })?;
        let order = usize::try_from(row.order & !(HAIRSPRING_UNOPTIMISED | HAIRSPRING_IN_BLOCKS))
            .ok()
            .and_then(|at| Order::ALL.get(at).copied());
        let order = order.ok_or_else(|| {
            Refusal::new(
                Status::BadValue,
                format!("benchmark `{name}` has a row of order {}: 0 to 3 are known", row.order),
            )
        })?;
        // SAFETY: the caller's function, which is to be called with a clock and its argument.
        let ticks = move |now| {
            Some(unsafe { run(now, argument) }).filter(|ticks| *ticks != HAIRSPRING_FAILED)
        };
        let runs = if row.order & HAIRSPRING_IN_BLOCKS == 0 { 1 } else { RUNS_OF_A_BLOCK };
        Ok(Row::new(row.bodies, row.inits, order, ticks).in_runs(runs))
    };
    rows.iter().map(row).collect()
}

/// Runs a program of benchmarks: reads its command line, measures, and prints a table or a JSON
/// document; `--help` shows the options. Returns the exit status of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_run_program(
    argc: c_int,
    argv: *const *const c_char,
    entries: *const BenchmarkEntry,
    element_size: usize,
    count: usize,
) -> c_int {
    let declared = || {
        // SAFETY: passed on to the caller.
        unsafe { groups(&inputs(entries, element_size, count, "an entry of the benchmarks")?) }
    };
    // SAFETY: passed on to the caller.
    unsafe { run_program(argc, argv, declared) }
}

/// Runs the program of the benchmarks that `declared` returns, behind the wall; returns its exit
/// status.
pub(crate) unsafe fn run_program<'a>(
    argc: c_int,
    argv: *const *const c_char,
    declared: impl FnOnce() -> Answer<Vec<Group<'a>>>,
) -> c_int {
    let mut status = 1;
    let run = || {
        // SAFETY: passed on to the caller.
        let arguments = unsafe { command_line(argc, argv) }?;
        let groups = declared()?;
        // SAFETY: no pointers. The C library writes the buffered output of its streams, so that the
        // two outputs keep their order.
        unsafe { flush_streams() };
        status = c_int::from(hairspring_program::main(arguments, Manner::Plain, groups));
        Ok(())
    };
    if wall(run) != Status::Ok {
        hairspring_program::output::complain(&last_error());
    }
    status
}

unsafe fn flush_streams() {
    unsafe extern "C" {
        fn fflush(stream: *mut std::ffi::c_void) -> c_int;
    }
    // SAFETY: a null pointer means all streams.
    unsafe { fflush(std::ptr::null_mut()) };
}

unsafe fn command_line(argc: c_int, argv: *const *const c_char) -> Answer<Vec<OsString>> {
    // SAFETY: passed on to the caller.
    let words = unsafe { elements(argv, usize::try_from(argc).unwrap_or(0), "the command line") }?;
    // SAFETY: each word ends with a 0 byte, as every command line of C.
    let word = |word: &*const c_char| {
        if word.is_null() { None } else { Some(unsafe { CStr::from_ptr(*word) }) }
    };
    Ok(words
        .iter()
        .filter_map(word)
        .map(|word| OsString::from(word.to_string_lossy().into_owned()))
        .collect())
}

/// An entry and the alternatives after it make one group for each argument.
unsafe fn groups<'a>(entries: &[BenchmarkEntry]) -> Answer<Vec<Group<'a>>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    while at < entries.len() {
        let alternatives =
            entries[at + 1..].iter().take_while(|entry| entry.alternative != 0).count();
        let together = &entries[at..=at + alternatives];
        let first = &together[0];
        if first.argument_count as usize > HAIRSPRING_MOST_ARGUMENTS {
            let text = format!(
                "an entry has {} arguments: {HAIRSPRING_MOST_ARGUMENTS} is the most",
                first.argument_count
            );
            return Err(Refusal::new(Status::BadValue, text));
        }
        let arguments =
            &first.arguments[..(first.argument_count as usize).clamp(1, HAIRSPRING_MOST_ARGUMENTS)];
        for argument in arguments {
            // SAFETY: passed on to the caller.
            let benchmarks = together
                .iter()
                .map(|entry| unsafe { benchmark_from_entry(entry, first, *argument) })
                .collect::<Answer<_>>()?;
            groups.push(Group { benchmarks });
        }
        at += 1 + alternatives;
    }
    Ok(groups)
}

unsafe fn benchmark_from_entry<'a>(
    entry: &BenchmarkEntry,
    first: &BenchmarkEntry,
    argument: i64,
) -> Answer<Benchmark<'a>> {
    // SAFETY: passed on to the caller.
    let from = unsafe { shared(entry.benchmark, "an entry's benchmark") }?;
    // SAFETY: passed on to the caller.
    let mut name = unsafe { text(from.name, "a benchmark's name") }?.to_owned();
    let argument = if first.argument_count > 0 { argument } else { entry.arguments[0] };
    // SAFETY: passed on to the caller.
    let mut benchmark = unsafe { benchmark(name.clone(), from.rows, from.row_count, argument) }?;
    if first.argument_count > 0 {
        // SAFETY: passed on to the caller.
        let of = if first.argument_name.is_null() {
            "argument"
        } else {
            unsafe { text(first.argument_name, "an argument's name") }?
        };
        name = format!("{name}/{of}:{argument}");
    }
    // SAFETY: passed on to the caller.
    let flush =
        !from.second.is_null() && unsafe { text(from.second, "the name of a component") }? == FLUSH;
    // SAFETY: the caller's function, which is to be called with the argument.
    let setup = entry
        .setup
        .map(|setup| Box::new(move || unsafe { setup(argument) }) as Box<dyn FnMut() + 'a>);
    benchmark.name = name;
    Ok(Benchmark { setup, second: if flush { FLUSH } else { "init" }, ..benchmark })
}
