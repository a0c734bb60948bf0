//! Clock reads that need assembly, one file per architecture; each offers `clocks()`.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::clocks;

/// No assembly for this architecture yet: the clocks of the operating system serve.
#[cfg(not(target_arch = "x86_64"))]
pub fn clocks() -> Vec<(super::Clock, std::result::Result<(), String>)> {
    Vec::new()
}
