//! Benchmarks of a procedure that is known by its address alone, for languages that cannot lay out copies themselves.
//!
//! The copies are straight-line calls, compiled here. Each is an indirect call with one argument, and its time is part of
//! the answer; a procedure that does nothing, run as an alternative, shows how much that is.

use crate::measure::run_program;
use crate::sized::{Growing, inputs};
use crate::wall::{Answer, Refusal, Status, text};
use hairspring_host::clock::ReadFn;
use hairspring_program::{Benchmark, Group, Order, Row};
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;

/// A procedure; `context` is whatever was declared with it.
type Procedure = unsafe extern "C" fn(context: *mut c_void);

/// A procedure to be timed. All but the name and the procedure may be left 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ProcedureEntry {
    /// Its name.
    pub name: *const c_char,
    /// Name of an argument, where there is one: results are called `name/argument_name:argument`.
    pub argument_name: *const c_char,
    /// The value of that argument; the procedure finds it through its context.
    pub argument: i64,
    /// The body: called 1 to 256 times in a row between two reads of the clock.
    pub procedure: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Runs before every body, and is told apart from it.
    pub init: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Runs once before the first row.
    pub setup: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// What all three are handed.
    pub context: *mut c_void,
    /// 1: runs in the same rounds as the entry before, and is compared with it.
    pub alternative: u32,
}

// SAFETY: `repr(C)`, and all its fields may be 0.
unsafe impl Growing for ProcedureEntry {
    const LEAST: usize = offset_of!(ProcedureEntry, init);
    const SIZE_FIRST: bool = false;
}

/// Runs a program of benchmarks of procedures, as `hairspring_run_program` does: reads the command line, measures, and
/// prints. The time of an indirect call is part of every answer. Returns the exit status of the program.
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
        let procedures = unsafe { inputs(procedures, element_size, count, "an entry of the procedures") }?;
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
    let missing = || Refusal::new(Status::BadPointer, format!("benchmark `{name}` has no procedure"));
    let body = Call { procedure: entry.procedure.ok_or_else(missing)?, context: entry.context };
    let rows = match entry.init {
        Some(init) => plane(Call { procedure: init, context: entry.context }, body),
        None => line(body),
    };
    if !entry.argument_name.is_null() {
        // SAFETY: passed on to the caller.
        name = format!("{name}/{}:{}", unsafe { text(entry.argument_name, "an argument's name") }?, entry.argument);
    }
    let setup = entry.setup.map(|procedure| {
        let setup = Call { procedure, context: entry.context };
        Box::new(move || setup.call()) as Box<dyn FnMut() + 'a>
    });
    Ok(Benchmark { setup, ..Benchmark::new(name, rows) })
}

/// A procedure with what it is handed.
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

/// The code so many times, straight-line: each number is the sum of two that are there.
macro_rules! repeat {
    (0 $code:block) => {};
    (1 $code:block) => { $code };
    (2 $code:block) => { repeat!(1 $code); repeat!(1 $code) };
    (3 $code:block) => { repeat!(2 $code); repeat!(1 $code) };
    (4 $code:block) => { repeat!(2 $code); repeat!(2 $code) };
    (8 $code:block) => { repeat!(4 $code); repeat!(4 $code) };
    (16 $code:block) => { repeat!(8 $code); repeat!(8 $code) };
    (32 $code:block) => { repeat!(16 $code); repeat!(16 $code) };
    (64 $code:block) => { repeat!(32 $code); repeat!(32 $code) };
    (96 $code:block) => { repeat!(64 $code); repeat!(32 $code) };
    (128 $code:block) => { repeat!(64 $code); repeat!(64 $code) };
    (192 $code:block) => { repeat!(128 $code); repeat!(64 $code) };
    (256 $code:block) => { repeat!(128 $code); repeat!(128 $code) };
}

/// A row of bodies alone, in a function of its own.
macro_rules! line_row {
    ($body:ident, $n:tt) => {{
        #[inline(never)]
        fn run(now: ReadFn, body: Call) -> u64 {
            let begin = now();
            repeat!($n { body.call() });
            now().wrapping_sub(begin)
        }
        Row::new($n, 0, Order::AtEnd, move |now| Some(run(now, $body)))
    }};
}

/// A row of so many bodies, each behind `before`, and of further inits at the end.
macro_rules! plane_row {
    ($order:ident, $n:tt bodies, $inits:expr, $extra:tt more, $calls:ident ($init:ident $body:ident) $before:block $behind:block) => {{
        #[inline(never)]
        fn run(now: ReadFn, $calls: (Call, Call)) -> u64 {
            let ($init, $body) = $calls;
            let _ = ($init, $body);
            let begin = now();
            repeat!($n { $before $behind });
            repeat!($extra { $init.call() });
            now().wrapping_sub(begin)
        }
        Row::new($n, $inits, Order::$order, move |now| Some(run(now, $calls)))
    }};
}

/// Rows that check an init, with one init and with two before every body.
macro_rules! check_rows {
    ($rows:ident, $order:ident, $calls:ident ($init:ident $body:ident) $before:block $behind:block) => {
        check_rows!($rows, $order, $calls ($init $body) $before $behind, 1 1 2, 2 2 4, 4 4 8, 8 8 16);
        $rows.push(plane_row!($order, 16 bodies, 16, 0 more, $calls ($init $body) $before $behind));
    };
    ($rows:ident, $order:ident, $calls:ident ($init:ident $body:ident) $before:block $behind:block, $($n:tt $once:tt $twice:tt),+) => {
        $($rows.push(plane_row!($order, $n bodies, $once, 0 more, $calls ($init $body) $before $behind));
        $rows.push(plane_row!($order, $n bodies, $twice, 0 more, $calls ($init $body) { $before $before } $behind));)+
    };
}

fn line<'a>(body: Call) -> Vec<Row<'a>> {
    vec![
        line_row!(body, 1),
        line_row!(body, 2),
        line_row!(body, 3),
        line_row!(body, 4),
        line_row!(body, 8),
        line_row!(body, 16),
        line_row!(body, 32),
        line_row!(body, 64),
        line_row!(body, 96),
        line_row!(body, 128),
        line_row!(body, 192),
        line_row!(body, 256),
    ]
}

macro_rules! answer_rows {
    ($calls:ident ($init:ident $body:ident), $($n:tt + $extra:tt),+) => {
        vec![$(plane_row!(AtEnd, $n bodies, $n + $extra, $extra more, $calls ($init $body) { $init.call() } { $body.call() })),+]
    };
}

fn plane<'a>(init: Call, body: Call) -> Vec<Row<'a>> {
    let calls = (init, body);
    let mut rows: Vec<Row<'a>> =
        answer_rows!(calls (init body), 1 + 0, 1 + 1, 2 + 0, 2 + 2, 4 + 0, 4 + 4, 8 + 0, 8 + 8, 16 + 0, 16 + 16, 32 + 0, 32 + 16);
    check_rows!(rows, InPlace, calls (init body) { init.call(); } { body.call(); });
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        check_rows!(rows, Fenced, calls (init body) { fence(); init.call(); fence(); } { body.call(); });
        check_rows!(rows, Shadow, calls (init body) { fence(); fence(); } { chain(); });
    }
    rows
}

/// All code before is done before code behind begins.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fence() {
    // SAFETY: changes nothing.
    unsafe { std::arch::asm!("lfence", options(nostack, preserves_flags)) }
}

/// All code before is done before code behind begins.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn fence() {
    // SAFETY: changes nothing.
    unsafe { std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags)) }
}

/// 16 dependent multiplications of whatever is in a register.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn chain() {
    // SAFETY: changes a register that is declared, and the flags.
    unsafe { std::arch::asm!(".rept 16", "imul {x}, {x}", ".endr", x = out(reg) _, options(nostack)) }
}

/// 16 dependent multiplications of whatever is in a register.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn chain() {
    // SAFETY: changes a register that is declared.
    unsafe { std::arch::asm!(".rept 16", "mul {x}, {x}, {x}", ".endr", x = out(reg) _, options(nostack)) }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn of(procedure: Procedure) -> Call {
        Call { procedure, context: std::ptr::null_mut() }
    }

    #[test]
    fn every_row_calls_as_often_as_it_says() {
        let rows = line(of(body)).into_iter().chain(plane(of(init), of(body)));
        let mut orders = Vec::new();
        for mut row in rows {
            CALLS.set((7, 3));
            let ticks = (row.run)(now).unwrap();
            let told = if row.order == Order::Shadow { 0 } else { u64::from(row.bodies) * 1000 + u64::from(row.inits) };
            assert_eq!(ticks, told, "{row:?}");
            orders.push(row.order);
        }
        assert_eq!(orders.iter().filter(|order| **order == Order::AtEnd).count(), 24);
        let checks = if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { 27 } else { 9 };
        assert_eq!(orders.len(), 24 + checks);
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
        };
        // SAFETY: the texts live.
        let refusal = unsafe { benchmark(&entry) }.unwrap_err();
        assert!(format!("{refusal:?}").contains("`none` has no procedure"), "{refusal:?}");
    }
}
