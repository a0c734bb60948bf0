//! What `lmbench.h` needs besides the experiments: the environment, the current result of a thread,
//! and lines of text.

use crate::lmbench_text::{LoopLine, LoopTime, lmbench, lmbench_without_result};
use crate::trials::{PLAN, TrialsHandle, TrialsPlan, TripTime, open, result_of};
use crate::wall::{Answer, Refusal, Status, copy_text, free, last_error, shared, wall};
use hairspring_core::Estimate;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};

/// The quantity that a line of lmbench reports.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineUnit {
    /// Milliseconds for each operation.
    Milli = 0,
    /// Microseconds for each operation.
    Micro = 1,
    /// Nanoseconds for each operation.
    Nano = 2,
    /// Megabytes (1,000,000 bytes) a second.
    Mb = 3,
    /// Kilobytes (1000 bytes) a second.
    Kb = 4,
}

/// The result that the last BENCH of a thread left.
#[derive(Debug, Clone)]
struct Kept {
    trips: u64,
    time: Result<LoopTime, String>,
}

thread_local! {
    static KEPT_RESULT: RefCell<Kept> = const { RefCell::new(Kept { trips: 0,
        time: Err(String::new()) }) };
}

fn keep(kept_result: Kept) {
    // A thread that is ending no longer has a result.
    let _ = KEPT_RESULT.try_with(|own| *own.borrow_mut() = kept_result);
}

fn kept() -> Kept {
    KEPT_RESULT
        .try_with(|own| own.borrow().clone())
        .unwrap_or(Kept { trips: 0, time: Err(String::new()) })
}

/// A number of microseconds in the environment.
fn from_environment(name: &str) -> Answer<Option<f64>> {
    let Some(value) = std::env::var_os(name) else { return Ok(None) };
    let number = value
        .to_str()
        .and_then(|text| text.trim().parse::<f64>().ok())
        .filter(|number| number.is_finite());
    let text = || {
        format!(
            "the environment variable {name} is `{}`: it must be a number of microseconds, or not \
             set",
            value.to_string_lossy()
        )
    };
    number.map(Some).ok_or_else(|| Refusal::new(Status::BadValue, text()))
}

/// The plan of a BENCH: the environment sets the values that the program does not set.
fn plan(
    enough_us: f64,
    experiments: u32,
    empty_loop: Option<unsafe extern "C" fn(u32, u64)>,
) -> Answer<TrialsPlan> {
    let enough = from_environment("ENOUGH")?.unwrap_or(0.0);
    let (timing, trip) = (from_environment("TIMING_O")?, from_environment("LOOP_O")?);
    Ok(TrialsPlan {
        window_us: if enough_us == 0.0 { enough } else { enough_us },
        experiments,
        timing_is_given: timing.is_some().into(),
        timing_us: timing.unwrap_or(0.0),
        loop_is_given: trip.is_some().into(),
        loop_us: trip.unwrap_or(0.0),
        empty_loop,
        ..PLAN
    })
}

/// Keeps the reason why there is no result.
fn remember(answer: Answer<()>) -> Answer<()> {
    if let Err(refusal) = &answer {
        keep(Kept { trips: 0, time: Err(refusal.to_string()) });
    }
    answer
}

/// Begins a BENCH of `lmbench.h`: calls `hairspring_trials_new` with an interval of `enough_us`
/// microseconds (0: that of the environment variable ENOUGH, or what the clock needs) and this
/// number of experiments (0: eleven, or one if the interval is longer than 100 ms). The environment
/// variables TIMING_O and LOOP_O give the overheads in microseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_lmbench_begin(
    enough_us: f64,
    experiments: u32,
    empty_loop: Option<unsafe extern "C" fn(copies: u32, trips: u64)>,
    now: *mut Option<extern "C" fn() -> u64>,
    out: *mut *mut TrialsHandle,
) -> Status {
    wall(|| {
        let plan = plan(enough_us, experiments, empty_loop);
        // SAFETY: passed on to the caller.
        remember(plan.and_then(|plan| unsafe { open(&plan, now, out) }))
    })
}

/// Ends a BENCH: replaces the result kept for the calling thread, and frees the experiments.
/// `so_far` is the status of the last call of `hairspring_trials_next`: if that failed, its error
/// text is kept instead.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_lmbench_end(trials: *mut TrialsHandle, so_far: i32) -> Status {
    let status = wall(|| {
        // SAFETY: passed on to the caller.
        let trials_result =
            unsafe { shared(trials, "the experiments") }.and_then(|trials| result_of(trials, 0.0));
        match so_far {
            0 => remember(
                trials_result
                    .map(|found| keep(Kept { trips: found.trips, time: Ok(loop_time(&found)) })),
            ),
            _ => remember(Err(Refusal::new(Status::Refused, last_error()))),
        }
    });
    // SAFETY: passed on to the caller.
    unsafe { free(trials) };
    status
}

/// The time of all trips of the median experiment.
fn loop_time(trip_time: &TripTime) -> LoopTime {
    let trip = trip_time.trip_ns;
    let of = Estimate { value: trip.value, low: trip.low, high: trip.high, level: trip.level };
    LoopTime {
        interval_ns: of.scaled(trip_time.trips as f64),
        experiments: trip_time.experiments as usize,
        at_most_ns: (trip_time.below_resolution != 0)
            .then_some(trip_time.bound_ns * trip_time.trips as f64),
    }
}

/// How often the body ran in the interval that the calling thread's last BENCH kept; 0 if there is
/// no result.
#[unsafe(no_mangle)]
pub extern "C" fn hairspring_lmbench_n() -> u64 {
    kept().trips
}

/// Sets how often an operation ran in that interval, for programs that run several operations in
/// one body.
#[unsafe(no_mangle)]
pub extern "C" fn hairspring_lmbench_save_n(n: u64) {
    keep(Kept { trips: n, ..kept() });
}

/// Length of that interval in microseconds, overheads subtracted; 0 if there is no result or it is
/// below resolution.
#[unsafe(no_mangle)]
pub extern "C" fn hairspring_lmbench_usecs() -> f64 {
    kept()
        .time
        .ok()
        .filter(|time| time.at_most_ns.is_none())
        .map_or(0.0, |time| time.interval_ns.value / 1e3)
}

/// Writes the line that reports that result for `count` operations or bytes in the format of
/// lmbench, followed by the interval. The text is cut to `room` bytes including the terminating 0
/// byte; with no room nothing is written. Returns the length of the whole text in bytes, without
/// the terminator. `name` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairspring_lmbench_line(
    name: *const c_char,
    unit: i32,
    count: u64,
    buffer: *mut c_char,
    room: usize,
) -> usize {
    let mut line = String::new();
    let status = wall(|| {
        // SAFETY: passed on to the caller.
        let name = if name.is_null() { "".into() } else { unsafe { lossy(name) } };
        let quantity = match unit {
            unit if unit == LineUnit::Milli as i32 => LoopLine::Milli(count),
            unit if unit == LineUnit::Micro as i32 => LoopLine::Micro(count),
            unit if unit == LineUnit::Nano as i32 => LoopLine::Nano(count),
            unit if unit == LineUnit::Mb as i32 => LoopLine::Mb(count),
            unit if unit == LineUnit::Kb as i32 => LoopLine::Kb(count),
            other => {
                return Err(Refusal::new(
                    Status::BadValue,
                    format!("unit {other}: 0 to 4 are known"),
                ));
            }
        };
        line = match kept().time {
            Ok(time) => lmbench(&name, quantity, &time),
            Err(why) => lmbench_without_result(&name, &why),
        };
        Ok(())
    });
    if status != Status::Ok {
        line = last_error();
    }
    // SAFETY: passed on to the caller.
    unsafe { copy_text(&line, buffer, room) }
}

/// A name of any bytes as text.
unsafe fn lossy(name: *const c_char) -> String {
    // SAFETY: not null; that it ends with a 0 byte is the caller's word.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}
