//! Clocks of other systems, listed so that the error for selecting one states the reason.

use super::super::Clock;

const NAMES: [(&str, &str, bool); 3] = [
    (
        "perf",
        "perf's user page of a hardware cycle counter (a Linux interface)",
        cfg!(target_os = "linux"),
    ),
    ("qpc", "QueryPerformanceCounter (a Windows interface)", cfg!(windows)),
    ("mach", "mach_absolute_time (an Apple interface)", cfg!(target_vendor = "apple")),
];

/// The clocks of other systems; never available.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let elsewhere = NAMES.into_iter().filter(|(_, _, here)| !here);
    let reason = || format!("this system is {}", std::env::consts::OS);
    elsewhere
        .map(|(name, description, _)| (Clock::new(name, description, none), Err(reason())))
        .collect()
}

/// The read of a clock that does not exist here: always 0.
extern "C" fn none() -> u64 {
    0
}
