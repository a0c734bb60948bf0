//! A stopwatch whose overhead is measured through the same calls that programs use.
//!
//! Start reads the clock last, and stop reads it first: locks, checks and texts are outside the
//! span. Only a return and a call remain between the two reads, so the overhead is nearly the same
//! for all places in a program.

use crate::assessment::Estimate;
use crate::clocks::chosen;
use crate::sized::{Growing, input, output};
use crate::wall::{Answer, Status, exclusive, free, hand_out, level, locked, shared, wall};
use hairspring_host::clock::{Clock, ReadFn, granularity};
use hairspring_measure::rounds::Dither;
use hairspring_measure::stopwatch::{EmptyRun, Span, Stopwatch};
use std::ffi::c_char;
use std::hint::black_box;
use std::mem::offset_of;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of empty runs that measure the overhead, and the time that they may take.
const RUNS: usize = 10_000;
const FEWEST_RUNS: usize = 100;
const MOST_TIME: Duration = Duration::from_millis(20);
/// Reads before each run, so that code and data are in the cache.
const WARMING_READS: usize = 4;

/// The golden section of the range of 32-bit numbers: its multiples are spread evenly.
const GOLDEN: u32 = 0x9e37_79b9;

/// A stopwatch. The clock and the start value are outside the lock, so that no lock is taken
/// between start and stop.
#[derive(Debug)]
pub struct StopwatchHandle {
    now: ReadFn,
    started: AtomicU64,
    stopwatch: Mutex<Stopwatch>,
}

impl StopwatchHandle {
    /// Reads the clock for the beginning of a span.
    #[inline]
    fn begin(&self) {
        self.started.store((self.now)(), Ordering::Relaxed);
    }
}

/// A raw reading of a stopwatch, with its overhead included.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct StopwatchSpan {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Ticks; negative if the clock was set back in between.
    pub ticks: i64,
    /// Number of pairs of reads: 1, or the number of laps of a total.
    pub pairs: u32,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for StopwatchSpan {
    const LEAST_BYTES: usize = size_of::<StopwatchSpan>();
}

/// A span as a time.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ElapsedTime {
    /// Size of this struct in bytes.
    pub size: usize,
    /// Time in nanoseconds, minus the overhead; never clamped, so it can be negative.
    pub ns: Estimate,
    /// 1 if the time cannot be distinguished from zero; `bound_ns` is then its upper bound.
    pub below_resolution: u32,
    /// The bound in nanoseconds; 0 if the time is not below resolution.
    pub bound_ns: f64,
    /// Mean overhead that was subtracted for each pair of reads, in ticks.
    pub overhead_ticks: f64,
    /// Standard deviation of the overhead, in ticks.
    pub overhead_sd_ticks: f64,
}

// SAFETY: `repr(C)`, the size first, and all its fields may be 0.
unsafe impl Growing for ElapsedTime {
    const LEAST_BYTES: usize = offset_of!(ElapsedTime, overhead_ticks);
}

impl From<Span> for StopwatchSpan {
    fn from(span: Span) -> StopwatchSpan {
        StopwatchSpan { size: size_of::<StopwatchSpan>(), ticks: span.ticks, pairs: span.pairs }
    }
}

/// Makes a stopwatch on the clock with this name (null: the best one here). It measures the
/// overhead of its own start and stop, through these calls; that takes 10 to 70 ms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_new(
    clock: *const c_char,
    out: *mut *mut StopwatchHandle,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let clock = unsafe { chosen(clock) }?;
        // SAFETY: passed on to the caller; looked at before anything is measured.
        unsafe { exclusive(out, "the pointer for the new handle") }?;
        let handle = StopwatchHandle {
            now: clock.read,
            started: AtomicU64::new(0),
            stopwatch: Mutex::new(Stopwatch::new(clock)?),
        };
        let runs = runs(&handle, clock);
        locked(&handle.stopwatch).calibrate(&runs);
        // SAFETY: passed on to the caller.
        unsafe { hand_out(out, handle) }
    })
}

fn runs(handle: &StopwatchHandle, clock: Clock) -> Vec<EmptyRun> {
    // At a fixed phase of the clock the mean would not be free of its quantum.
    let dither = Dither::over(&clock, granularity(&clock).quantum);
    let begin = Instant::now();
    let mut runs = Vec::with_capacity(RUNS);
    while runs.len() < RUNS && (runs.len() < FEWEST_RUNS || begin.elapsed() < MOST_TIME) {
        let wait = (runs.len() as u32).wrapping_mul(GOLDEN);
        runs.push(run(handle, clock, || dither.wait(wait)));
    }
    runs
}

type Start = unsafe extern "C" fn(*const StopwatchHandle) -> Status;
type Stop = unsafe extern "C" fn(*const StopwatchHandle, *mut StopwatchSpan) -> Status;

/// One run; the wait comes before the start, as a program's own code does.
fn run(handle: &StopwatchHandle, clock: Clock, wait: impl FnOnce()) -> EmptyRun {
    let mut span = StopwatchSpan::from(Span::default());
    let (mut before, mut last) = (0, 0);
    for _ in 0..WARMING_READS {
        (before, last) = (last, (clock.read)());
    }
    wait();
    // SAFETY: both point to living values of this function.
    unsafe {
        pair(
            black_box(hairspring_stopwatch_start),
            black_box(hairspring_stopwatch_stop),
            handle,
            &raw mut span,
        )
    };
    EmptyRun { read: clock.width.signed(before, last), total: span.ticks }
}

/// Calls start and stop as C does, with nothing in between. It is a separate function, so that no
/// code for values that its caller keeps comes between the two.
#[inline(never)]
unsafe fn pair(
    start: Start,
    stop: Stop,
    handle: *const StopwatchHandle,
    span: *mut StopwatchSpan,
) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { start(handle) as i32 | stop(handle, span) as i32 == 0 }
}

/// Frees a stopwatch; null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_free(stopwatch: *mut StopwatchHandle) {
    // SAFETY: passed on to the caller.
    unsafe { free(stopwatch) }
}

/// Starts or restarts a stopwatch; earlier laps are discarded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_start(stopwatch: *const StopwatchHandle) -> Status {
    // SAFETY: passed on to the caller.
    let (handle, status) = unsafe {
        within(stopwatch, |_, stopwatch| {
            stopwatch.arm();
            Ok(())
        })
    };
    handle.inspect(|handle| handle.begin());
    status
}

/// Sets `span` to the time since the start or the last lap, and begins the next lap, also if this
/// one is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_lap(
    stopwatch: *const StopwatchHandle,
    span: *mut StopwatchSpan,
) -> Status {
    // SAFETY: passed on to the caller.
    unsafe {
        let end = end(stopwatch);
        let mut is_taken = false;
        let (handle, status) = within(stopwatch, |start, stopwatch| {
            put(span, || {
                is_taken = true;
                stopwatch.lap_between(start, end)
            })
        });
        handle.filter(|_| is_taken).inspect(|handle| handle.begin());
        status
    }
}

/// Sets `span` to the time since the start or the last lap, and stops the stopwatch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_stop(
    stopwatch: *const StopwatchHandle,
    span: *mut StopwatchSpan,
) -> Status {
    // SAFETY: passed on to the caller.
    unsafe {
        let end = end(stopwatch);
        within(stopwatch, |start, stopwatch| put(span, || stopwatch.stop_between(start, end))).1
    }
}

/// Sets `span` to the sum of all laps since the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_total(
    stopwatch: *const StopwatchHandle,
    span: *mut StopwatchSpan,
) -> Status {
    // SAFETY: passed on to the caller.
    unsafe { within(stopwatch, |_, stopwatch| put(span, || Ok(stopwatch.total()))).1 }
}

/// Reads the clock for the end of a span, before anything else is done; 0 for an invalid pointer,
/// which `within` reports.
#[inline]
unsafe fn end(stopwatch: *const StopwatchHandle) -> u64 {
    if stopwatch.is_null() || !stopwatch.is_aligned() {
        return 0;
    }
    // SAFETY: neither null nor misaligned; the caller guarantees that it points to a live
    // stopwatch.
    unsafe { ((*stopwatch).now)() }
}

/// Works on a stopwatch behind the wall, with the reading at its start. Returns the handle of a
/// valid pointer, so that the clock can be read after the lock is released.
#[inline]
unsafe fn within<'a>(
    stopwatch: *const StopwatchHandle,
    work: impl FnOnce(u64, &mut Stopwatch) -> Answer<()>,
) -> (Option<&'a StopwatchHandle>, Status) {
    let mut known_handle = None;
    let status = wall(|| {
        // SAFETY: passed on to the caller.
        let handle: &StopwatchHandle = unsafe { shared(stopwatch, "the stopwatch") }?;
        let start = handle.started.load(Ordering::Relaxed);
        known_handle = Some(handle);
        work(start, &mut locked(&handle.stopwatch))
    });
    (known_handle, status)
}

/// Checks that there is room for a span in C, then takes it and writes it there.
unsafe fn put(
    out: *mut StopwatchSpan,
    take: impl FnOnce() -> hairspring_host::Result<Span>,
) -> Answer<()> {
    // SAFETY: passed on to the caller.
    let out = unsafe { output(out, "the span") }?;
    out.write(&take()?.into());
    Ok(())
}

/// Converts a span to a time at a confidence level (0 means 0.95). Call it after the measurement,
/// not within it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_stopwatch_elapsed(
    stopwatch: *const StopwatchHandle,
    span: *const StopwatchSpan,
    confidence_level: f64,
    elapsed: *mut ElapsedTime,
) -> Status {
    wall(|| {
        // SAFETY: passed on to the caller.
        let (stopwatch, span, out) = unsafe {
            (
                shared(stopwatch, "the stopwatch")?,
                input(span, "the span")?,
                output(elapsed, "the time")?,
            )
        };
        let level = level(if confidence_level == 0.0 { 0.95 } else { confidence_level })?;
        let stopwatch = locked(&stopwatch.stopwatch);
        let time_of_span = stopwatch.elapsed(Span { ticks: span.ticks, pairs: span.pairs });
        let (bound, overhead) = (time_of_span.below_resolution(level), stopwatch.overhead().total);
        out.write(&ElapsedTime {
            size: size_of::<ElapsedTime>(),
            ns: time_of_span.ns.estimate(level).into(),
            below_resolution: u32::from(bound.is_some()),
            bound_ns: bound.unwrap_or(0.0),
            overhead_ticks: overhead.mean,
            overhead_sd_ticks: overhead.sd,
        });
        Ok(())
    })
}
