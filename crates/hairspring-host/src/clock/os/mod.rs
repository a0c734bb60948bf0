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

/// All clocks of this system, and those of other systems with the reason why they are not available.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let mut all = Vec::new();
    #[cfg(unix)]
    all.extend(unix::clocks());
    #[cfg(target_os = "linux")]
    all.extend(perf::clocks());
    #[cfg(target_vendor = "apple")]
    all.extend(apple::clocks());
    #[cfg(windows)]
    all.extend(windows::clocks());
    #[cfg(not(unix))]
    all.push((Clock { nominal_hz: Some(1e9), ..Clock::new("instant", "the standard library's monotonic clock", wall_ns) }, Ok(())));
    all.extend(elsewhere::clocks());
    all
}

/// Nanoseconds of the standard library's monotonic clock.
#[cfg(not(unix))]
pub extern "C" fn wall_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}
