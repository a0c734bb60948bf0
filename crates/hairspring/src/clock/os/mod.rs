//! Clocks of the operating system, one file per family; each offers `clocks()`.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::clocks;
#[cfg(unix)]
pub use unix::wall_ns;

/// The standard library's clock, where nothing closer is known.
#[cfg(not(unix))]
pub fn clocks() -> Vec<(super::Clock, std::result::Result<(), String>)> {
    let clock =
        super::Clock { name: "instant", description: "the standard library's monotonic clock", read: wall_ns, nominal_hz: Some(1e9) };
    vec![(clock, Ok(()))]
}

/// Nanoseconds of the standard library's monotonic clock.
#[cfg(not(unix))]
pub extern "C" fn wall_ns() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}
