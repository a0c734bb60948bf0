//! Benchmarks of a procedure given by its address, for languages that cannot make straight-line
//! copies of code.
//!
//! The copies are straight-line calls, compiled here. Each is an indirect call with one argument,
//! and its time is part of the result; an empty procedure, run as an alternative, shows how much
//! that is.

use crate::measure::run_program;
use crate::sized::{Growing, inputs};
use crate::wall::{Answer, Refusal, Status, text};
use hairspring_core::design::table::RUNS_OF_A_BLOCK;
use hairspring_core::{for_blocks, for_checks, for_line, for_plane, repeat};
use hairspring_host::clock::ReadFn;
use hairspring_host::fence;
use hairspring_program::{Benchmark, Group, Order, Row};
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// A procedure; `context` is whatever was declared with it.
type Procedure = unsafe extern "C" fn(context: *mut c_void);

/// A procedure to be timed. All fields but the name and the procedure may be 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ProcedureEntry {
    /// Its name.
    pub name: *const c_char,
    /// Name of the argument, or null: results are named `name/argument_name:argument`.
    pub argument_name: *const c_char,
    /// The value of that argument, for the name only; the procedure gets it through its context.
    pub argument: i64,
    /// The body: called 1 to 256 times in a row between two reads of the clock.
    pub procedure: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Runs before every body; its time is separated from the body's.
    pub init: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Runs once before the first row.
    pub setup: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Passed to all three procedures.
    pub context: *mut c_void,
    /// 1: runs in the same rounds as the entry before, and is compared with it.
    pub alternative: u32,
    /// 1: the procedure was compiled without optimisation; a finding says so.
    pub unoptimised: u64,
}

// SAFETY: `repr(C)`, and all its fields may be 0.
unsafe impl Growing for ProcedureEntry {
    const LEAST_BYTES: usize = offset_of!(ProcedureEntry, init);
    const SIZE_FIRST: bool = false;
}

/// Runs a program of benchmarks of procedures, as `hairspring_run_program` does: reads the command
/// line, measures, and prints. The time of an indirect call is part of every result. Returns the
/// exit status of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_run_procedures(
    argc: c_int,
    argv: *const *const c_char,
    procedures: *const ProcedureEntry,
    element_size: usize,
    count: usize,
) -> c_int {
    let declared = || {
        // SAFETY: passed on to the caller.
        let procedures =
            unsafe { inputs(procedures, element_size, count, "an entry of the procedures") }?;
        let mut groups: Vec<Group> = Vec::new();
        for entry in &procedures {
            // SAFETY: passed on to the caller.
            let benchmark = unsafe { benchmark(entry) }?;
            match groups.last_mut() {
                Some(group) if entry.alternative != 0 => group.benchmarks.push(benchmark),
                _ => groups.push(benchmark.into()),
            }
        }
        Ok(groups)
    };
    // SAFETY: passed on to the caller.
    unsafe { run_program(argc, argv, declared) }
}

unsafe fn benchmark<'a>(entry: &ProcedureEntry) -> Answer<Benchmark<'a>> {
    // SAFETY: passed on to the caller.
    let mut name = unsafe { text(entry.name, "a procedure's name") }?.to_owned();
    let missing =
        || Refusal::new(Status::BadPointer, format!("benchmark `{name}` has no procedure"));
    let body = Call { procedure: entry.procedure.ok_or_else(missing)?, context: entry.context };
    let rows = match entry.init {
        Some(init) => plane(Call { procedure: init, context: entry.context }, body),
        None => line(body),
    };
    if !entry.argument_name.is_null() {
        // SAFETY: passed on to the caller.
        name = format!(
            "{name}/{}:{}",
            unsafe { text(entry.argument_name, "an argument's name") }?,
            entry.argument
        );
    }
    let setup = entry.setup.map(|procedure| {
        let setup = Call { procedure, context: entry.context };
        Box::new(move || setup.call()) as Box<dyn FnMut() + 'a>
    });
    Ok(Benchmark { setup, unoptimised: entry.unoptimised != 0, ..Benchmark::new(name, rows) })
}

/// A procedure with its context.
#[derive(Clone, Copy)]
struct Call {
    procedure: Procedure,
    context: *mut c_void,
}

impl Call {
    #[inline(always)]
    fn call(self) {
        // SAFETY: the caller's procedure, which is to be called with its context.
        unsafe { (self.procedure)(self.context) }
    }
}

/// A row as a separate function, which gets the procedures to call.
macro_rules! row {
    ($calls:ident: $type:ty, $order:ident, $bodies:expr, $inits:expr,
        |$called:pat_param| $code:block) => {{
        #[inline(never)]
        fn run(now: ReadFn, $called: $type) -> u64 {
            let begin = now();
            $code
            now().wrapping_sub(begin)
        }
        Row::new($bodies, $inits, Order::$order, move |now| Some(run(now, $calls)))
    }};
}

/// Rows of bodies alone.
fn line<'a>(body: Call) -> Vec<Row<'a>> {
    macro_rules! bodies {
        ($n:tt) => {
            row!(body: Call, AtEnd, $n, 0, |body| { repeat!($n { body.call() }) })
        };
    }
    macro_rules! block {
        ($n:tt) => {{
            let row = row!(body: Call, AtEnd, RUNS_OF_A_BLOCK * $n, 0, |body| {
                let mut left = RUNS_OF_A_BLOCK;
                // The compiler must not lay the runs out one after the other.
                while std::hint::black_box(left) > 0 {
                    repeat!($n { body.call() });
                    left -= 1;
                }
            });
            row.in_runs(RUNS_OF_A_BLOCK)
        }};
    }
    [Vec::from(for_line!(bodies)), for_blocks!(block).into()].into_iter().flatten().collect()
}

/// Rows with an init, and rows that check it, except those with fences.
fn plane<'a>(init: Call, body: Call) -> Vec<Row<'a>> {
    let calls = (init, body);
    macro_rules! answer {
        ($n:tt, $further:tt) => {
            row!(calls: (Call, Call), AtEnd, $n, $n + $further, |(init, body)| {
                repeat!($n { init.call(); body.call(); });
                repeat!($further { init.call() });
            })
        };
    }
    macro_rules! in_place {
        ($n:tt, $each:tt) => {
            row!(calls: (Call, Call), InPlace, $n, $n * $each, |(init, body)| {
                repeat!($n { repeat!($each { init.call() }); body.call(); })
            })
        };
    }
    macro_rules! fenced {
        ($n:tt, $each:tt) => {
            row!(calls: (Call, Call), Fenced, $n, $n * $each, |(init, body)| {
                repeat!($n { repeat!($each { fence::order(); init.call(); fence::order(); });
                    body.call(); })
            })
        };
    }
    macro_rules! fenced_chain {
        ($n:tt, $each:tt) => {
            row!(calls: (Call, Call), FencedChain, $n, $n * $each, |_| {
                repeat!($n { repeat!($each { fence::order(); fence::order(); }); fence::chain(); })
            })
        };
    }
    let mut rows: Vec<Row<'a>> = for_plane!(answer).into();
    rows.extend(for_checks!(in_place));
    if fence::here().is_some() {
        rows.extend(for_checks!(fenced));
        rows.extend(for_checks!(fenced_chain));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::design::table::{Before, RowShape, shapes};
    use std::cell::Cell;

    thread_local! {
        static CALLS: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
    }

    unsafe extern "C" fn body(_: *mut c_void) {
        CALLS.set((CALLS.get().0 + 1, CALLS.get().1));
    }

    unsafe extern "C" fn init(_: *mut c_void) {
        CALLS.set((CALLS.get().0, CALLS.get().1 + 1));
    }

    extern "C" fn now() -> u64 {
        u64::from(CALLS.get().0) * 1000 + u64::from(CALLS.get().1)
    }

    fn call_of(procedure: Procedure) -> Call {
        Call { procedure, context: std::ptr::null_mut() }
    }

    #[test]
    fn every_row_calls_as_often_as_it_says() {
        for mut row in line(call_of(body)).into_iter().chain(plane(call_of(init), call_of(body))) {
            CALLS.set((7, 3));
            let ticks = (row.run)(now).unwrap();
            let expected = if row.order == Order::FencedChain {
                0
            } else {
                u64::from(row.bodies) * 1000 + u64::from(row.inits)
            };
            assert_eq!(ticks, expected, "{row:?}");
        }
    }

    #[test]
    fn the_rows_are_those_of_the_table() {
        let has_fences = fence::here().is_some();
        let expected = |before| -> Vec<RowShape> {
            let all_shapes = shapes(before).into_iter();
            all_shapes
                .filter(|row| has_fences || matches!(row.order, Order::AtEnd | Order::InPlace))
                .collect()
        };
        let shapes_of = |rows: Vec<Row>| -> Vec<RowShape> {
            rows.iter()
                .map(|row| RowShape {
                    bodies: row.bodies,
                    inits: row.inits,
                    order: row.order,
                    runs: row.runs,
                })
                .collect()
        };
        assert_eq!(shapes_of(line(call_of(body))), expected(Before::Nothing));
        assert_eq!(shapes_of(plane(call_of(init), call_of(body))), expected(Before::Init));
    }

    #[test]
    fn an_entry_without_a_procedure_is_refused_by_name() {
        let entry = ProcedureEntry {
            name: c"none".as_ptr(),
            argument_name: std::ptr::null(),
            argument: 0,
            procedure: None,
            init: None,
            setup: None,
            context: std::ptr::null_mut(),
            alternative: 0,
            unoptimised: 0,
        };
        // SAFETY: the texts live.
        let refusal = unsafe { benchmark(&entry) }.unwrap_err();
        assert!(format!("{refusal:?}").contains("`none` has no procedure"), "{refusal:?}");
    }
}
