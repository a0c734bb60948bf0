//! Measures a closure in the middle of a program.

use crate::barrier::{align, is_unoptimised, opaque};
use crate::rows::catch_panic;
use crate::values::Values;
use hairspring_core::design::table::RUNS_OF_A_BLOCK;
use hairspring_core::estimate::Estimate;
use hairspring_core::judge::{Finding, SeriesResult, Time};
use hairspring_core::{for_blocks, for_closure_line, repeat};
use hairspring_host::clock::ReadFn;
use hairspring_program::{
    Benchmark, Error, Group, Order, Result, Row, Session, Settings, document,
};
use hairspring_result::ResultDocument;
use hairspring_view::{Style, text};
use std::cell::RefCell;

/// The result of measuring a piece of code.
#[derive(Debug)]
pub struct Measurement {
    document: hairspring_result::Measurement,
    level: f64,
}

impl Measurement {
    /// Time of one evaluation in nanoseconds; `None` if the clock's rate is unknown.
    pub fn ns(&self) -> Option<Estimate> {
        self.time().ns.as_ref().map(|ns| ns.estimate(self.level))
    }

    /// Time of one evaluation in core cycles; `None` if no chain could be shown to have a known
    /// length on this machine.
    pub fn cycles(&self) -> Option<Estimate> {
        self.time().cycles.as_ref().map(|cycles| cycles.estimate(self.level))
    }

    /// Time of one evaluation in ticks of the clock.
    pub fn ticks(&self) -> Estimate {
        self.time().ticks
    }

    /// Doubts, the most serious first.
    pub fn findings(&self) -> &[Finding] {
        &self.series().findings
    }

    /// The whole result, including the overhead and the rows.
    pub fn series(&self) -> &SeriesResult {
        &self.document.assessment.series[0]
    }

    fn time(&self) -> &Time {
        &self.series().components[0].time
    }
}

/// The report: times with intervals, the line, the error budget, doubts, circumstances.
impl std::fmt::Display for Measurement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::report(&ResultDocument::new(&self.document), &Style::default()))
    }
}

/// Runs a block of copies so often. The compiler must not lay the runs out one after the other.
macro_rules! runs {
    ($runs:expr, $block:expr) => {
        let mut left: u32 = opaque($runs);
        while left > 0 {
            $block;
            left = opaque(left - 1);
        }
    };
}

/// The straight rows of a closure, and those that run blocks, made by `$row` of copies and runs.
macro_rules! all_rows {
    ($row:ident) => {{
        macro_rules! straight {
            ($copies:tt) => {
                $row!($copies, 1)
            };
        }
        macro_rules! block {
            ($copies:tt) => {
                $row!($copies, RUNS_OF_A_BLOCK)
            };
        }
        Vec::from(for_closure_line!(straight)).into_iter().chain(for_blocks!(block)).collect()
    }};
}

/// Measures code whose evaluations do not wait for each other: throughput. It takes half a second
/// at most; meanwhile the thread is bound to one CPU, unless the code runs other threads. Make
/// constants in the code [`opaque`](crate::opaque()). If the compiler does not inline the closure,
/// its call is part of the time; dropping what it returns is not.
///
/// ```
/// let hash = hairspring::measure("hash",
///     || hairspring::opaque(17u64).wrapping_mul(0x9e37_79b9)).unwrap();
/// println!("{:?} ns, {:?} cycles", hash.ns(), hash.cycles());
/// ```
///
/// # Errors
/// Code that panics, a machine without a usable clock.
pub fn measure<T>(name: &str, code: impl FnMut() -> T) -> Result<Measurement> {
    measure_with(&Settings::default(), name, code)
}

/// Like [`measure`], with other settings: clock, CPU, budget, precision, confidence level, threads.
///
/// # Errors
/// As [`measure`]; a clock or CPU that does not exist.
pub fn measure_with<T>(
    settings: &Settings,
    name: &str,
    code: impl FnMut() -> T,
) -> Result<Measurement> {
    let code = RefCell::new(code);
    macro_rules! row {
        ($copies:tt, $runs:expr) => {{
            #[inline(never)]
            fn run<T>(now: ReadFn, code: &mut impl FnMut() -> T) -> u64 {
                let mut results = Values::room($copies * $runs as usize);
                align();
                let begin = now();
                runs!($runs, repeat!($copies { results.put(code()) }));
                let ticks = now().wrapping_sub(begin);
                results.clear();
                ticks
            }
            Row::new($copies * $runs, 0, Order::AtEnd,
                |now| catch_panic(|| run(now, &mut *code.borrow_mut()))).in_runs($runs)
        }};
    }
    measured(settings, name, is_unoptimised(|| ()), all_rows!(row))
}

/// Measures code of which each evaluation waits for the result of the one before: latency.
///
/// ```
/// let multiply = hairspring::measure_chain("multiply", 3u64,
///     |x| x.wrapping_mul(0x9e37_79b9)).unwrap();
/// assert!(multiply.ticks().value.is_finite());
/// ```
///
/// # Errors
/// As [`measure`].
pub fn measure_chain<T: Clone>(
    name: &str,
    start: T,
    code: impl FnMut(T) -> T,
) -> Result<Measurement> {
    let (code, start) = (RefCell::new(code), &start);
    macro_rules! row {
        ($copies:tt, $runs:expr) => {{
            #[inline(never)]
            fn run<T>(now: ReadFn, start: T, code: &mut impl FnMut(T) -> T) -> u64 {
                let mut link = opaque(start);
                align();
                let begin = now();
                runs!($runs, repeat!($copies { link = opaque(code(link)) }));
                let ticks = now().wrapping_sub(begin);
                drop(link);
                ticks
            }
            Row::new($copies * $runs, 0, Order::AtEnd,
                |now| catch_panic(|| run(now, start.clone(),
                &mut *code.borrow_mut()))).in_runs($runs)
        }};
    }
    measured(&Settings::default(), name, is_unoptimised(|| ()), all_rows!(row))
}

fn measured(
    settings: &Settings,
    name: &str,
    unoptimised: bool,
    rows: Vec<Row>,
) -> Result<Measurement> {
    let session = Session::new(settings)?;
    let mut group = Group::from(Benchmark { unoptimised, ..Benchmark::new(name, rows) });
    let measured = session.measure(&mut group)?;
    let document = document(&session, &group, &measured, "run", None)?;
    let solved =
        document.assessment.series.first().is_some_and(|series| !series.components.is_empty());
    if solved { Ok(Measurement { document, level: settings.level }) } else { Err(Error::Empty) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn short() -> Settings {
        Settings { budget: Duration::from_millis(30), ..Settings::default() }
    }

    #[test]
    fn a_closure_is_measured() {
        let mut calls = 0u64;
        let measurement = measure_with(&short(), "odd \u{1b} name", || calls += 1).unwrap();
        assert!(measurement.ns().is_some_and(|ns| ns.low <= ns.high));
        assert!(!measurement.to_string().contains('\u{1b}'));
        assert!(calls > 1000);
    }

    #[test]
    fn results_with_destructors_and_chains_of_them() {
        assert!(measure_with(&short(), "boxes", || Box::new(3u64)).unwrap().ticks().value > 0.0);
        assert!(
            measure_chain("text", String::from("a"), |text| text)
                .unwrap()
                .ticks()
                .value
                .is_finite()
        );
    }

    #[test]
    fn code_that_panics_is_an_error() {
        let error =
            measure_with(&short(), "bad", || std::panic::resume_unwind(Box::new("quietly")))
                .unwrap_err();
        assert!(error.to_string().contains("`bad` failed"), "{error}");
    }
}
