//! Clocks of other systems, by name, so that asking for one is answered with the reason.

use super::super::Clock;

const NAMES: [(&str, &str, bool); 3] = [
    ("perf", "perf's user page of a hardware cycle counter (a Linux interface)", cfg!(target_os = "linux")),
    ("qpc", "QueryPerformanceCounter (a Windows interface)", cfg!(windows)),
    ("mach", "mach_absolute_time (an Apple interface)", cfg!(target_vendor = "apple")),
];

/// The clocks of other systems; never available.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let elsewhere = NAMES.into_iter().filter(|(_, _, here)| !here);
    let reason = || format!("this system is {}", std::env::consts::OS);
    elsewhere.map(|(name, description, _)| (Clock::new(name, description, none), Err(reason()))).collect()
}

/// What is not there reads 0 and does not count.
extern "C" fn none() -> u64 {
    0
}
