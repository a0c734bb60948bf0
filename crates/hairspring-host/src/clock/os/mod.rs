//! Clocks of the operating system, one file per family; each offers `clocks()`.

#[cfg(target_vendor = "apple")]
mod apple;
mod elsewhere;
#[cfg(target_os = "linux")]
mod perf;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::wall_ns;

use super::Clock;

/// All clocks of this system, and those of other systems with the reason why they are not
/// available.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let mut all_clocks = Vec::new();
    #[cfg(unix)]
    all_clocks.extend(unix::clocks());
    #[cfg(target_os = "linux")]
    all_clocks.extend(perf::clocks());
    #[cfg(target_vendor = "apple")]
    all_clocks.extend(apple::clocks());
    #[cfg(windows)]
    all_clocks.extend(windows::clocks());
    #[cfg(not(unix))]
    all_clocks.push((
        Clock {
            nominal_hz: Some(1e9),
            ..Clock::new("instant", "the standard library's monotonic clock", wall_ns)
        },
        Ok(()),
    ));
    all_clocks.extend(elsewhere::clocks());
    all_clocks
}

/// The counters of the core that only the system offers, where programs may not read them
/// otherwise. On x86-64 the time stamp counter is as fine.
pub fn counters() -> Vec<(Clock, Result<(), String>)> {
    #[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
    return perf::clocks();
    #[cfg(not(all(target_os = "linux", not(target_arch = "x86_64"))))]
    Vec::new()
}

/// Nanoseconds of the standard library's monotonic clock.
#[cfg(not(unix))]
pub extern "C" fn wall_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}
