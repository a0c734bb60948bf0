//! Which calls of the system can be repeated.

use std::collections::BTreeSet;

/// Calls that leave nothing behind that would make the next call another one, or whose traces are in memory that is put
/// back. Output goes nowhere while a program is traced.
const HARMLESS: [(i64, &str); 22] = [
    (libc::SYS_write, "write"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_brk, "brk"),
    (libc::SYS_mmap, "mmap"),
    (libc::SYS_munmap, "munmap"),
    (libc::SYS_mprotect, "mprotect"),
    (libc::SYS_madvise, "madvise"),
    (libc::SYS_getpid, "getpid"),
    (libc::SYS_gettid, "gettid"),
    (libc::SYS_getuid, "getuid"),
    (libc::SYS_getcpu, "getcpu"),
    (libc::SYS_clock_gettime, "clock_gettime"),
    (libc::SYS_gettimeofday, "gettimeofday"),
    (libc::SYS_time, "time"),
    (libc::SYS_times, "times"),
    (libc::SYS_getrusage, "getrusage"),
    (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_getrandom, "getrandom"),
    (libc::SYS_fstat, "fstat"),
    (libc::SYS_newfstatat, "newfstatat"),
    (libc::SYS_ioctl, "ioctl"),
];

/// Calls that people meet, by name.
const KNOWN: [(i64, &str); 14] = [
    (libc::SYS_read, "read"),
    (libc::SYS_pread64, "pread"),
    (libc::SYS_open, "open"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_close, "close"),
    (libc::SYS_lseek, "lseek"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_poll, "poll"),
    (libc::SYS_select, "select"),
    (libc::SYS_sendto, "send"),
    (libc::SYS_recvfrom, "receive"),
    (libc::SYS_fork, "fork"),
    (libc::SYS_clone, "clone"),
];

/// Whether a call that made these calls of the system can be repeated from the same state.
///
/// # Errors
/// The names of those that cannot.
pub fn repeatable(calls: &BTreeSet<i64>) -> Result<(), String> {
    let harmful: Vec<String> = calls
        .iter()
        .filter(|number| !HARMLESS.iter().any(|(harmless, _)| harmless == *number))
        .map(|number| {
            KNOWN.iter().find(|(known, _)| known == number).map_or_else(|| format!("number {number}"), |(_, name)| (*name).to_owned())
        })
        .collect();
    if harmful.is_empty() {
        return Ok(());
    }
    Err(format!("it calls the system ({}), which cannot be put back to where it was; time a function that does not", harmful.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_cannot_be_repeated_and_writing_can() {
        assert!(repeatable(&BTreeSet::from([libc::SYS_write, libc::SYS_brk])).is_ok());
        let reason = repeatable(&BTreeSet::from([libc::SYS_read, libc::SYS_write, 9999])).unwrap_err();
        assert!(reason.contains("read, number 9999") && !reason.contains("write"), "{reason}");
    }
}
