//! Settling the measuring thread: on one CPU, at a raised priority, with its memory locked, as far as allowed.
#![allow(unsafe_code, reason = "setpriority and mlockall have no safe form in the libraries used; neither takes a pointer")]

use crate::error::{Error, Result};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// What was allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// The CPU that the thread is pinned to.
    pub cpu: usize,
    /// Whether the priority could be raised.
    pub priority_raised: bool,
    /// Whether the memory could be locked.
    pub memory_locked: bool,
}

/// CPUs that this process may run on.
pub fn allowed_cpus() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect()
}

/// Pins the calling thread to a CPU (the last allowed one by default: the first serves most interrupts), raises its
/// priority and locks its memory.
///
/// # Errors
/// If the CPU does not exist or may not be used. Priority and locking are tried, and reported.
pub fn settle(cpu: Option<usize>) -> Result<Settled> {
    let allowed = allowed_cpus();
    let cpu = cpu.or(allowed.last().copied()).unwrap_or(0);
    let refused = |reason: String| Error::Refused { what: format!("cannot run on CPU {cpu}"), reason };
    check_cpu(cpu)?;
    let mut set = CpuSet::new();
    set.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set)).map_err(|e| refused(e.to_string()))?;
    Ok(Settled { cpu, priority_raised: raise_priority(), memory_locked: lock_memory() })
}

/// Whether this process may use a CPU.
///
/// # Errors
/// [`Error::CpuUnavailable`] with those that it may use.
pub fn check_cpu(cpu: usize) -> Result<()> {
    let allowed = allowed_cpus();
    if allowed.contains(&cpu) { Ok(()) } else { Err(Error::CpuUnavailable { cpu, available: list(&allowed) }) }
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn raise_priority() -> bool {
    // SAFETY: changes the scheduling of the calling process only; no pointers.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) == 0 }
}

fn lock_memory() -> bool {
    // SAFETY: no pointers; a refusal leaves everything as it was.
    unsafe { libc::mlockall(libc::MCL_CURRENT) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
        let message = settle(Some(100_000)).unwrap_err().to_string();
        assert!(message.contains("100000") && message.contains("may use"), "{message}");
    }
}
