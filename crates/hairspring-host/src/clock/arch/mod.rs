//! Counters of processors, one file for each architecture. It defines how a C program reads the
//! best counter, ordered, and the clocks that are read in assembly here.

mod aarch64;
#[cfg(target_arch = "arm")]
mod arm;
pub mod c;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")
))]
#[allow(
    unsafe_code,
    reason = "signal handlers have no safe form; this one calls async-signal-safe functions only"
)]
mod guard;
#[cfg(target_arch = "riscv64")]
mod riscv64;
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

/// All architectures with a counter that every program may read.
pub const IN_C: [CounterInC; 2] = [x86_64::IN_C, aarch64::IN_C];

#[cfg(target_arch = "aarch64")]
pub use aarch64::{clocks, open_cycles};
#[cfg(target_arch = "arm")]
pub use arm::{clocks, open_cycles};
#[cfg(target_arch = "riscv64")]
pub use riscv64::clocks;
#[cfg(target_arch = "x86_64")]
pub use x86_64::clocks;

/// What a counter needs that the system may forbid while it is in use.
#[cfg(target_arch = "riscv64")]
const ENABLE: Option<fn() -> Result<(), String>> = Some(explain_loss);

/// Does work that reads counters, in this thread; an error if the system forbids one of the reads
/// meanwhile, which would end the process.
///
/// # Errors
/// The reason.
pub fn attempt<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")
    ))]
    return guard::attempt(work).ok_or_else(|| {
        "the system has forbidden it while it was tried: something else, such as perf, took the \
         counter, or programs may read it on some CPUs only"
            .to_owned()
    });
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")
    )))]
    Ok(work())
}

/// From now on, a read that the system forbids ends the process with a message, and not with a
/// signal.
///
/// # Errors
/// If the system refuses the handler.
pub fn explain_loss() -> Result<(), String> {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")
    ))]
    return guard::explain_loss();
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64")
    )))]
    Ok(())
}

/// Whether the system lets programs read a counter; `counter_name` names it for the reason.
#[cfg(any(target_arch = "aarch64", target_arch = "arm", target_arch = "riscv64"))]
fn permission(read: super::ReadFn, counter_name: &str) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    return guard::is_permitted(read)
        .then_some(())
        .ok_or_else(|| format!("the system does not let programs read {counter_name}"));
    #[cfg(not(target_os = "linux"))]
    return Err(format!(
        "whether programs may read {counter_name} is only tried on Linux; {} is not called",
        read as usize
    ));
}

/// Whether the system lets perf give programs the counter, and take it from them again (arm64).
#[cfg(target_os = "linux")]
pub fn perf_gives_access() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/perf_user_access")
        .is_ok_and(|setting| setting.trim() == "1")
}

/// Whether programs may read the cycle counter of ARM on this CPU, and keep it. `perf` is the clock
/// that perf offers instead.
#[cfg(all(any(target_arch = "aarch64", target_arch = "arm"), target_os = "linux"))]
fn cycles_permission(read: super::ReadFn, counter_name: &str, perf: &str) -> Result<(), String> {
    use super::module;
    module::is_free()?;
    if perf_gives_access() && !module::is_loaded() {
        return Err(format!(
            "programs read {counter_name} with kernel.perf_user_access=1 only while perf lets \
             them, and it is perf's: use `{perf}`, or load the module"
        ));
    }
    permission(read, counter_name).map_err(|reason| format!("{reason}: {}", module::remedy(perf)))
}

/// Other systems let programs read no cycle counter.
#[cfg(all(any(target_arch = "aarch64", target_arch = "arm"), not(target_os = "linux")))]
fn cycles_permission(read: super::ReadFn, counter_name: &str, _: &str) -> Result<(), String> {
    permission(read, counter_name)
}

/// There is no assembly for this architecture: only the clocks of the operating system are
/// available.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "riscv64"
)))]
pub fn clocks() -> Vec<(super::Clock, std::result::Result<(), String>)> {
    Vec::new()
}

/// Programs have no counter here that perf takes from them.
#[cfg(not(any(target_arch = "aarch64", target_arch = "arm")))]
pub fn open_cycles() -> Option<super::Clock> {
    None
}
