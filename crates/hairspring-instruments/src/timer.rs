//! The system's timer: its time, and sleeping until it.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::time::Duration;

/// Requests that the calling thread's timers end as early as possible. By default a thread of
/// normal priority wakes up to 50 us late. If this is refused, the readings show it.
pub fn least_slack() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// The time of the monotonic clock in nanoseconds.
pub fn now_ns() -> u64 {
    // The clock exists on every system that this is built for: the call cannot fail.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Sleeps until a time of the monotonic clock, or until a signal comes.
pub fn sleep_until(due_ns: u64) {
    let due = TimeSpec::from_duration(Duration::from_nanos(due_ns));
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &due);
}
