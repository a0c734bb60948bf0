//! The clocks of POSIX and Linux.

use super::super::{Clock, CountsWhen, Ordering};
use nix::time::{ClockId, clock_gettime};

/// A system call.
const CALL: Ordering = Ordering::both("syscall");
/// Counters of Linux that its vDSO does not read.
const NOT_IN_VDSO: [&str; 6] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies", "xen", "pit"];

/// How the clocks are ordered that the vDSO reads without a system call: with a fence before the
/// read but none after it. A process of valgrind or of qemu's user mode has no vDSO, and not every
/// counter is in it: then each read is a system call.
fn vdso() -> Ordering {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let source = std::fs::read_to_string(SOURCE).unwrap_or_default();
    if has_vdso() && !NOT_IN_VDSO.contains(&source.trim()) {
        Ordering { before: Some("vdso"), after: None }
    } else {
        CALL
    }
}

/// Whether the kernel gave a vDSO to the process.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "the call has no safe form in the libraries used; it only reads")]
fn has_vdso() -> bool {
    // SAFETY: any number is allowed; an unknown one gives 0.
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 }
}

#[cfg(not(target_os = "linux"))]
fn has_vdso() -> bool {
    true
}

/// The step that the system states in nanoseconds; `None` if it is one, which every clock of high
/// resolution states, whatever its counter is.
fn stated_step(id: ClockId) -> Option<u64> {
    let step = nix::time::clock_getres(id).ok()?;
    let ns = step.tv_sec() as u64 * 1_000_000_000 + step.tv_nsec() as u64;
    (ns > 1).then_some(ns)
}

/// The clocks that clock_gettime, gettimeofday and times offer here.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let named = |name, description, read, ordering| Clock {
        nominal_hz: Some(1e9),
        ordering,
        ..Clock::new(name, description, read)
    };
    let of_process = "clock_gettime(CLOCK_PROCESS_CPUTIME_ID): counts while this process runs";
    let of_thread = "clock_gettime(CLOCK_THREAD_CPUTIME_ID): counts while this thread runs";
    let vdso = vdso();
    let list = vec![
        named("monotonic", "clock_gettime(CLOCK_MONOTONIC)", monotonic, vdso),
        #[cfg(target_os = "linux")]
        named(
            "monotonic_raw",
            "clock_gettime(CLOCK_MONOTONIC_RAW), not steered",
            monotonic_raw,
            vdso,
        ),
        #[cfg(target_os = "linux")]
        Clock {
            stated_step: stated_step(ClockId::CLOCK_MONOTONIC_COARSE),
            ..named(
                "monotonic_coarse",
                "clock_gettime(CLOCK_MONOTONIC_COARSE), moves with the kernel's tick",
                monotonic_coarse,
                Ordering::NONE,
            )
        },
        named("realtime", "clock_gettime(CLOCK_REALTIME), may be set back", realtime, vdso),
        Clock {
            counts: CountsWhen::WhileProcessRuns,
            ..named("process_cputime", of_process, process_cputime, CALL)
        },
        Clock {
            counts: CountsWhen::WhileThreadRuns,
            ..named("thread_cputime", of_thread, thread_cputime, CALL)
        },
        Clock {
            nominal_hz: Some(1e6),
            ..named("gettimeofday", "gettimeofday, in microseconds", gettimeofday, vdso)
        },
        Clock {
            nominal_hz: Some(ticks_per_second()),
            ..named("times", "times(), in the kernel's accounting ticks", times, CALL)
        },
    ];
    list.into_iter().map(|clock| (clock, Ok(()))).collect()
}

/// Nanoseconds of the clock that rates are measured against: an unsteered clock if the system has
/// one.
pub extern "C" fn wall_ns() -> u64 {
    #[cfg(target_os = "linux")]
    return monotonic_raw();
    #[cfg(not(target_os = "linux"))]
    return monotonic();
}

fn read(id: ClockId) -> u64 {
    // A clock that is listed exists: the call cannot fail.
    clock_gettime(id).map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

extern "C" fn monotonic() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

#[cfg(target_os = "linux")]
extern "C" fn monotonic_raw() -> u64 {
    read(ClockId::CLOCK_MONOTONIC_RAW)
}

#[cfg(target_os = "linux")]
extern "C" fn monotonic_coarse() -> u64 {
    read(ClockId::CLOCK_MONOTONIC_COARSE)
}

extern "C" fn realtime() -> u64 {
    read(ClockId::CLOCK_REALTIME)
}

extern "C" fn process_cputime() -> u64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

extern "C" fn thread_cputime() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

#[allow(
    unsafe_code,
    reason = "neither call has a safe form in the libraries used; both only write to memory handed \
              to them"
)]
extern "C" fn gettimeofday() -> u64 {
    let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: the pointer is to a live timeval; a null time zone is allowed.
    unsafe { libc::gettimeofday(&raw mut time, std::ptr::null_mut()) };
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

#[allow(unsafe_code, reason = "see gettimeofday")]
extern "C" fn times() -> u64 {
    let mut usage = libc::tms { tms_utime: 0, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 };
    // SAFETY: the pointer is to a live tms.
    unsafe { libc::times(&raw mut usage) as u64 }
}

fn ticks_per_second() -> f64 {
    nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)
        .ok()
        .flatten()
        .map_or(100.0, |ticks| ticks as f64)
}
