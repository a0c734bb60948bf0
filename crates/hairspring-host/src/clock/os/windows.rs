//! The high-resolution performance counter of Windows.
#![allow(
    unsafe_code,
    reason = "the counter has no safe form in the standard library; both calls write to memory \
              handed to them"
)]

use super::super::{Clock, Ordering};

#[link(name = "kernel32")]
unsafe extern "system" {
    fn QueryPerformanceCounter(count: *mut i64) -> i32;
    fn QueryPerformanceFrequency(frequency: *mut i64) -> i32;
}

/// The counter with the frequency that the system states.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let mut hz = 0i64;
    // SAFETY: the pointer is to a live integer.
    let is_known = unsafe { QueryPerformanceFrequency(&raw mut hz) } != 0 && hz > 0;
    let clock = Clock {
        nominal_hz: is_known.then_some(hz as f64),
        ordering: Ordering { before: Some("system"), after: None },
        ..Clock::new("qpc", "QueryPerformanceCounter", counter)
    };
    vec![(
        clock,
        is_known
            .then_some(())
            .ok_or_else(|| "QueryPerformanceFrequency states no frequency".to_owned()),
    )]
}

extern "C" fn counter() -> u64 {
    let mut count = 0i64;
    // SAFETY: the pointer is to a live integer.
    unsafe { QueryPerformanceCounter(&raw mut count) };
    count as u64
}
