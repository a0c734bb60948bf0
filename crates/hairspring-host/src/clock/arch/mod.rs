//! Counters of processors, one file for each architecture. It defines how a C program reads the best counter, ordered, and
//! the clocks that are read in assembly here.

mod aarch64;
pub mod c;
mod x86_64;

/// How C reads the counter of an architecture. `{0}` is a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterInC {
    /// The macro that C compilers define for the architecture.
    pub c_macro: &'static str,
    /// Name of the clock.
    pub name: &'static str,
    /// The instructions of the ordered read.
    pub read: &'static str,
    /// Where the read leaves the counter.
    pub place: Place,
    /// Instructions that read the rate of the counter in Hz, if the processor reports it.
    pub rate: Option<&'static str>,
    /// The fence before and after a read of the system's clock.
    pub fence: &'static str,
}

/// Where a read leaves the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In `{0}`.
    Register,
    /// The low half and the high half are in registers with these constraints.
    Halves([&'static str; 2]),
}

/// All supported architectures.
pub const IN_C: [CounterInC; 2] = [x86_64::IN_C, aarch64::IN_C];

#[cfg(target_arch = "x86_64")]
pub use x86_64::clocks;

/// There is no assembly for this architecture: only the clocks of the operating system are available.
#[cfg(not(target_arch = "x86_64"))]
pub fn clocks() -> Vec<(super::Clock, std::result::Result<(), String>)> {
    Vec::new()
}
