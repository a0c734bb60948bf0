//! The clocks of POSIX and Linux.

use super::super::Clock;
use nix::time::{ClockId, clock_gettime};

/// The clocks that clock_gettime, gettimeofday and times offer here.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let named = |name, description, read, hz| Clock { name, description, read, nominal_hz: Some(hz) };
    let list = vec![
        named("monotonic", "clock_gettime(CLOCK_MONOTONIC)", monotonic, 1e9),
        #[cfg(target_os = "linux")]
        named("monotonic_raw", "clock_gettime(CLOCK_MONOTONIC_RAW), not steered", monotonic_raw, 1e9),
        #[cfg(target_os = "linux")]
        named("monotonic_coarse", "clock_gettime(CLOCK_MONOTONIC_COARSE), moves with the kernel's tick", monotonic_coarse, 1e9),
        named("realtime", "clock_gettime(CLOCK_REALTIME), may be set back", realtime, 1e9),
        named("process_cputime", "clock_gettime(CLOCK_PROCESS_CPUTIME_ID)", process_cputime, 1e9),
        named("thread_cputime", "clock_gettime(CLOCK_THREAD_CPUTIME_ID)", thread_cputime, 1e9),
        named("gettimeofday", "gettimeofday, in microseconds", gettimeofday, 1e6),
        named("times", "times(), in the kernel's accounting ticks", times, ticks_per_second()),
    ];
    list.into_iter().map(|clock| (clock, Ok(()))).collect()
}

/// Nanoseconds of the clock that rates are measured against: not steered, where the system has such a one.
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

#[allow(unsafe_code, reason = "neither call has a safe form in the libraries used; both only write to memory handed to them")]
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
    nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().map_or(100.0, |ticks| ticks as f64)
}
