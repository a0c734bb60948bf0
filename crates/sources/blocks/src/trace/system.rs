//! Which system calls can be repeated.

use std::collections::BTreeSet;

/// System calls without an effect on a repeated call, or with effects only on memory that is restored. Output is discarded
/// while a program is traced.
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

/// The name of a system call.
fn name(number: i64) -> String {
    let known = usize::try_from(number).ok().and_then(syscalls::x86_64::Sysno::new);
    known.map_or_else(|| format!("number {number}"), |known| known.name().to_owned())
}

/// Checks that a call that made these system calls can be repeated from the same state.
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
    fn write_can_be_repeated_but_read_cannot() {
        assert!(repeatable(&BTreeSet::from([libc::SYS_write, libc::SYS_brk])).is_ok());
        let reason = repeatable(&BTreeSet::from([libc::SYS_read, libc::SYS_write, 9999])).unwrap_err();
        assert!(reason.contains("read, number 9999") && !reason.contains("write"), "{reason}");
    }
}
