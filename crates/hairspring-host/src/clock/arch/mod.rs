//! Counters of processors, one file for each architecture: it says how a program in C reads the best of them, ordered, and
//! offers the clocks that are read in assembly here.

mod aarch64;
pub mod c;
mod x86_64;

/// How C reads the counter of an architecture. `{0}` stands for a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterInC {
    /// The macro by which a C compiler says that it compiles for the architecture.
    pub c_macro: &'static str,
    /// Name of the clock.
    pub name: &'static str,
    /// The ordered read.
    pub read: &'static str,
    /// Where the counter is found behind the read.
    pub place: Place,
    /// Reads the rate of the counter in Hz, where the processor states it.
    pub rate: Option<&'static str>,
    /// What stands around a read of the system's clock.
    pub fence: &'static str,
}

/// Where a counter is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In `{0}`.
    Register,
    /// The low half and the high half in registers of these constraints.
    Halves([&'static str; 2]),
}

/// All architectures that have a file.
pub const IN_C: [CounterInC; 2] = [x86_64::IN_C, aarch64::IN_C];

#[cfg(target_arch = "x86_64")]
pub use x86_64::clocks;

/// No assembly for this architecture yet: the clocks of the operating system serve.
#[cfg(not(target_arch = "x86_64"))]
pub fn clocks() -> Vec<(super::Clock, std::result::Result<(), String>)> {
    Vec::new()
}
