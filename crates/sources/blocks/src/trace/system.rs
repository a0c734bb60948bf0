//! Which calls of the system can be repeated.

use std::collections::BTreeSet;

/// Calls that leave nothing behind that would make the next call another one, or whose traces are in memory that is put
/// back. Output goes nowhere while a program is traced.
const HARMLESS: [i64; 22] = [
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_getcpu,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_sched_yield,
    libc::SYS_futex,
    libc::SYS_getrandom,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_ioctl,
];

/// The name of a call.
fn name(number: i64) -> String {
    let known = usize::try_from(number).ok().and_then(syscalls::x86_64::Sysno::new);
    known.map_or_else(|| format!("number {number}"), |known| known.name().to_owned())
}

/// Whether a call that made these calls of the system can be repeated from the same state.
///
/// # Errors
/// The names of those that cannot.
pub fn repeatable(calls: &BTreeSet<i64>) -> Result<(), String> {
    let harmful: Vec<String> = calls.iter().filter(|number| !HARMLESS.contains(number)).map(|number| name(*number)).collect();
    if harmful.is_empty() {
        return Ok(());
    }
    Err(format!("it makes system calls whose effects cannot be undone ({}); time a function that does not", harmful.join(", ")))
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
