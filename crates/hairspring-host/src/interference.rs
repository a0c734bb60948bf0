//! Signs that something else ran: involuntary switches of this thread, and time that the hypervisor
//! took.

/// Counts involuntary context switches of the calling thread.
#[derive(Debug)]
pub struct Switches {
    last: i64,
}

impl Switches {
    /// Starts counting.
    pub fn start() -> Switches {
        Switches { last: involuntary() }
    }

    /// Switches since the last call.
    pub fn since_last(&mut self) -> i64 {
        let now = involuntary();
        std::mem::replace(&mut self.last, now).abs_diff(now) as i64
    }
}

#[cfg(target_os = "linux")]
#[allow(clippy::useless_conversion, reason = "the number has 32 bits on some processors")]
fn involuntary() -> i64 {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_THREAD)
        .map_or(0, |usage| i64::from(usage.involuntary_context_switches()))
}

/// Voluntary context switches of the calling thread so far: it waited for something.
#[cfg(target_os = "linux")]
pub fn voluntary_switches() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| usage.voluntary_context_switches() as u64)
}

/// No other system counts them for a thread.
#[cfg(not(target_os = "linux"))]
pub fn voluntary_switches() -> u64 {
    0
}

/// All context switches of the calling thread so far, voluntary and involuntary, as the kernel
/// counts them.
#[cfg(target_os = "linux")]
pub fn all_switches() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    let switches = |usage: nix::sys::resource::Usage| {
        usage.voluntary_context_switches() + usage.involuntary_context_switches()
    };
    getrusage(UsageWho::RUSAGE_THREAD).map_or(0, |usage| switches(usage) as u64)
}

#[cfg(not(target_os = "linux"))]
fn involuntary() -> i64 {
    0
}

/// No other system counts them for a thread.
#[cfg(not(target_os = "linux"))]
pub fn all_switches() -> u64 {
    0
}

/// Time that the hypervisor gave to other guests while a CPU of this machine was ready to run.
#[derive(Debug)]
pub struct StealMeter {
    start: Option<u64>,
    cpu: usize,
}

impl StealMeter {
    /// Starts counting for one CPU.
    pub fn start(cpu: usize) -> StealMeter {
        StealMeter { start: steal_ticks(cpu), cpu }
    }

    /// Stolen time since the start in milliseconds; `None` if the system does not report it.
    pub fn stolen_ms(&self) -> Option<f64> {
        let per_second =
            nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100);
        Some(steal_ticks(self.cpu)?.saturating_sub(self.start?) as f64 * 1e3 / per_second as f64)
    }
}

/// The eighth number of the CPU's line in /proc/stat (proc(5)).
fn steal_ticks(cpu: usize) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let name = format!("cpu{cpu}");
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
    line.split_whitespace().nth(8)?.parse().ok()
}
