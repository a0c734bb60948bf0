//! Preparing the measuring thread: pinned to one CPU, with raised priority and locked memory, as
//! far as allowed.
#![allow(
    unsafe_code,
    reason = "setpriority, getpriority, mlockall, sched_setscheduler and tgkill have no safe form \
              in the libraries used; the only pointers are to live values"
)]

pub mod floating;

use crate::error::{Error, Result};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// The settings that were applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparedThread {
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

/// Pins the calling thread to a CPU (the last allowed one by default: the first serves most
/// interrupts), raises its priority and locks its memory.
///
/// # Errors
/// If the CPU does not exist or may not be used. A refused priority or lock is not an error, but
/// reported in the result.
pub fn prepare_thread(cpu: Option<usize>) -> Result<PreparedThread> {
    let allowed = allowed_cpus();
    let cpu = cpu.or(allowed.last().copied()).unwrap_or(0);
    let refused =
        |reason: String| Error::Refused { what: format!("cannot run on CPU {cpu}"), reason };
    check_cpu(cpu)?;
    pin(cpu).map_err(refused)?;
    Ok(PreparedThread { cpu, priority_raised: raise_priority(), memory_locked: lock_memory() })
}

/// Binds the calling thread to a CPU.
///
/// # Errors
/// The error of the system, for example if the CPU does not exist.
pub fn pin(cpu: usize) -> std::result::Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu).and_then(|()| sched_setaffinity(Pid::from_raw(0), &set)).map_err(|e| e.to_string())
}

/// The CPU that the calling thread runs on now.
pub fn current_cpu() -> usize {
    nix::sched::sched_getcpu().unwrap_or(0)
}

/// Whether this process may use a CPU.
///
/// # Errors
/// [`Error::CpuUnavailable`] with the CPUs that it may use.
pub fn check_cpu(cpu: usize) -> Result<()> {
    let allowed = allowed_cpus();
    if allowed.contains(&cpu) {
        Ok(())
    } else {
        Err(Error::CpuUnavailable { cpu, available: list(&allowed) })
    }
}

/// Raises the calling thread to the highest nice priority until this is dropped (StopWatch, 3.3).
/// Threads and processes that it starts meanwhile do not inherit the priority: they get the nice
/// value 0.
#[derive(Debug)]
pub struct RaisedPriority {
    /// The nice value to restore.
    before: i32,
    thread: libc::id_t,
}

/// The nice value of the highest priority.
pub(crate) const HIGHEST_PRIORITY: i32 = -20;

impl RaisedPriority {
    /// Raises the priority.
    ///
    /// # Errors
    /// [`Error::Refused`] if that is not allowed, with what to do.
    pub fn raise() -> Result<RaisedPriority> {
        let thread = thread_number();
        let before = nice_of(thread);
        if set_nice(thread, HIGHEST_PRIORITY) {
            keep_from_children(true);
            Ok(RaisedPriority { before, thread })
        } else {
            Err(not_raised(before, &std::io::Error::last_os_error()))
        }
    }

    /// The nice value before.
    pub fn before(&self) -> i32 {
        self.before
    }
}

/// Nice value of a thread of this process; that of the calling thread if there is no thread of this
/// number.
pub(crate) fn nice_of(thread: libc::id_t) -> i32 {
    // SAFETY: no pointers. -1 is a valid value, and also the answer for a thread that has ended,
    // whose value does not matter.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, thread) }
}

/// Changes the nice value of a thread of this process; returns whether that was allowed.
pub(crate) fn set_nice(thread: libc::id_t, nice: i32) -> bool {
    // SAFETY: changes the scheduling of one thread; no pointers.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, thread, nice) == 0 }
}

/// Whether what the calling thread starts gets the nice value 0 instead of a raised one. Without
/// CAP_SYS_NICE the system refuses to turn this off; it has no effect on a thread whose priority is
/// not raised.
fn keep_from_children(on: bool) {
    #[cfg(target_os = "linux")]
    if let Some((policy, parameters)) = scheduling() {
        schedule(
            if on {
                policy | libc::SCHED_RESET_ON_FORK
            } else {
                policy & !libc::SCHED_RESET_ON_FORK
            },
            &parameters,
        );
    }
    #[cfg(not(target_os = "linux"))]
    let _ = on;
}

impl Drop for RaisedPriority {
    fn drop(&mut self) {
        // Lowering one's own priority is always allowed. The value may be dropped by another
        // thread.
        if thread_number() == self.thread {
            keep_from_children(false);
        }
        set_nice(self.thread, self.before);
    }
}

fn not_raised(before: i32, error: &std::io::Error) -> Error {
    Error::Refused {
        what: format!("cannot raise the priority (nice {before} to {HIGHEST_PRIORITY})"),
        reason: format!(
            "{error}; run as root, allow it (setcap cap_sys_nice+ep PROGRAM, or ulimit -e 40), or \
             measure without"
        ),
    }
}

/// The number of this thread, so that any thread can restore the priority.
#[cfg(target_os = "linux")]
pub(crate) fn thread_number() -> libc::id_t {
    nix::unistd::gettid().as_raw() as libc::id_t
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_number() -> libc::id_t {
    0
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn raise_priority() -> bool {
    // SAFETY: changes the scheduling of the calling process only; no pointers.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) == 0 }
}

/// Locks the current memory of the process, and returns whether that was allowed. Later allocations
/// are not locked.
pub fn lock_memory() -> bool {
    // SAFETY: no pointers; a refusal leaves everything as it was.
    unsafe { libc::mlockall(libc::MCL_CURRENT) == 0 }
}

/// A real-time priority of the calling thread (SCHED_FIFO) until this is dropped.
#[derive(Debug)]
pub struct RealTime {
    policy: libc::c_int,
    parameters: libc::sched_param,
    /// Makes the type `!Send`: it applies to one thread.
    thread: std::marker::PhantomData<*const ()>,
}

impl RealTime {
    /// Runs the calling thread before all threads of lower real-time priority; 1 is the lowest
    /// priority, 99 the highest.
    ///
    /// # Errors
    /// If the priority is out of range, or real-time priorities are not allowed here.
    pub fn fifo(priority: i32) -> Result<RealTime> {
        let failure = format!("cannot run at the real-time priority {priority} (SCHED_FIFO)");
        let refused = |reason: String| Error::Refused { what: failure.clone(), reason };
        let before = scheduling()
            .ok_or_else(|| refused("the system does not report the current priority".into()))?;
        let wanted_parameters = libc::sched_param { sched_priority: priority };
        if schedule(libc::SCHED_FIFO, &wanted_parameters) {
            return Ok(RealTime {
                policy: before.0,
                parameters: before.1,
                thread: std::marker::PhantomData,
            });
        }
        let error = std::io::Error::last_os_error();
        Err(refused(match error.raw_os_error() {
            Some(libc::EINVAL) => "it must be from 1 to 99".into(),
            _ => format!(
                "{error}; run as root or with CAP_SYS_NICE, or raise the limit that `ulimit -r` \
                 shows"
            ),
        }))
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // Restoring a lower priority is always allowed.
        schedule(self.policy, &self.parameters);
    }
}

/// Lets the calling thread run only when its CPU has nothing else to do (SCHED_IDLE), for the rest
/// of its life.
///
/// # Errors
/// If the system refuses.
#[cfg(target_os = "linux")]
pub fn run_when_idle() -> Result<()> {
    if schedule(libc::SCHED_IDLE, &libc::sched_param { sched_priority: 0 }) {
        return Ok(());
    }
    let reason = std::io::Error::last_os_error().to_string();
    Err(Error::Refused { what: "cannot run at idle priority (SCHED_IDLE)".into(), reason })
}

/// Sends a signal to one thread of a process. The process of that number must be the caller or a
/// child that has not been waited for.
///
/// # Errors
/// Errors of the system, such as a thread that has ended.
#[cfg(target_os = "linux")]
pub fn signal_thread(
    process: i32,
    thread: i32,
    signal: nix::sys::signal::Signal,
) -> std::io::Result<()> {
    // SAFETY: three numbers and no pointers.
    let sent = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal as libc::c_int) };
    if sent == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn scheduling() -> Option<(libc::c_int, libc::sched_param)> {
    let mut parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: 0 is the calling thread; the pointer is to a live sched_param.
    let policy = unsafe { libc::sched_getscheduler(0) };
    // SAFETY: as above.
    let known = unsafe { libc::sched_getparam(0, &raw mut parameters) } == 0;
    (policy >= 0 && known).then_some((policy, parameters))
}

fn schedule(policy: libc::c_int, parameters: &libc::sched_param) -> bool {
    // SAFETY: 0 is the calling thread; the pointer is to a live sched_param.
    unsafe { libc::sched_setscheduler(0, policy, std::ptr::from_ref(parameters)) == 0 }
}

/// Held by a test that changes the CPUs or the priority of threads, and by one whose threads
/// another such test would change: a seat gives back what any thread of the process has of it.
#[cfg(test)]
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nice() -> i32 {
        nice_of(thread_number())
    }

    #[test]
    fn priority_is_restored() {
        let _alone = alone();
        let before = nice();
        match RaisedPriority::raise() {
            Ok(raised) => {
                assert_eq!(nice(), HIGHEST_PRIORITY);
                assert_eq!(
                    std::thread::spawn(nice).join().unwrap(),
                    0,
                    "a thread inherits the priority"
                );
                drop(raised);
            }
            Err(refused) => assert!(refused.to_string().contains("cap_sys_nice"), "{refused}"),
        }
        assert_eq!(nice(), before);
        assert_eq!(std::thread::spawn(nice).join().unwrap(), before);
    }

    #[test]
    fn error_of_refused_priority_says_what_to_do() {
        let message = not_raised(0, &std::io::Error::from_raw_os_error(libc::EACCES)).to_string();
        assert!(message.contains("nice 0 to -20") && message.contains("run as root"), "{message}");
    }

    #[test]
    fn error_for_a_missing_cpu_lists_the_allowed_ones() {
        let message = prepare_thread(Some(100_000)).unwrap_err().to_string();
        assert!(message.contains("100000") && message.contains("may use"), "{message}");
    }

    #[test]
    fn real_time_priority_is_restored_or_refused_with_advice() {
        let _alone = alone();
        let before = scheduling().unwrap();
        match RealTime::fifo(1) {
            Ok(raised) => {
                assert_eq!(scheduling().unwrap().0, libc::SCHED_FIFO);
                drop(raised);
            }
            Err(error) => assert!(error.to_string().contains("CAP_SYS_NICE"), "{error}"),
        }
        assert_eq!(
            (scheduling().unwrap().0, scheduling().unwrap().1.sched_priority),
            (before.0, before.1.sched_priority)
        );
    }

    #[test]
    fn error_for_a_priority_out_of_range_states_the_range() {
        let message = RealTime::fifo(1_000).unwrap_err().to_string();
        assert!(message.contains("1000") && message.contains("from 1 to 99"), "{message}");
    }
}
