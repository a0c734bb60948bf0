//! The absolute time of the Mach kernel.
#![allow(
    unsafe_code,
    reason = "neither call has a safe form in the standard library; one writes to memory handed to \
              it"
)]

use super::super::{Clock, Ordering};

#[repr(C)]
struct Timebase {
    numerator: u32,
    denominator: u32,
}

unsafe extern "C" {
    fn mach_absolute_time() -> u64;
    fn mach_timebase_info(timebase: *mut Timebase) -> i32;
}

/// The counter with the rate that the kernel states.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let mut base = Timebase { numerator: 0, denominator: 0 };
    // SAFETY: the pointer is to a live structure of the layout that the call writes.
    let is_known = unsafe { mach_timebase_info(&raw mut base) } == 0
        && base.numerator > 0
        && base.denominator > 0;
    let clock = Clock {
        nominal_hz: is_known.then(|| 1e9 * f64::from(base.denominator) / f64::from(base.numerator)),
        ordering: Ordering { before: Some("system"), after: None },
        ..Clock::new("mach", "mach_absolute_time", counter)
    };
    vec![(
        clock,
        is_known.then_some(()).ok_or_else(|| "mach_timebase_info states no rate".to_owned()),
    )]
}

extern "C" fn counter() -> u64 {
    // SAFETY: has no arguments and accesses no memory.
    unsafe { mach_absolute_time() }
}
