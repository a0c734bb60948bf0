//! Which system calls can be repeated: nothing that a repeated call does may leave the process.
//!
//! The list names what is allowed, with the arguments for which it is; everything else is refused
//! before it happens. What is allowed asks the kernel a question, changes memory of the process
//! alone (which is restored), or writes to a descriptor that leads nowhere.

use super::maps::Mapping;
use super::process::Registers;
use std::collections::BTreeSet;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// System calls that only ask, whatever their arguments.
const QUESTIONS: [i64; 23] = [
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getpgrp,
    libc::SYS_getcpu,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_sched_yield,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
];

/// System calls that change where memory is; a call that makes one may need the others to be
/// undone.
pub const OF_MEMORY: [i64; 6] = [
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
];

/// System calls that answer differently from time to time.
const VARYING_CALLS: [i64; 8] = [
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_getrandom,
    libc::SYS_getcpu,
    libc::SYS_sysinfo,
];

/// Kinds of advice that concern only this process; others discard what a shared file holds.
pub const OWN_ADVICE: [i32; 10] = [
    libc::MADV_NORMAL,
    libc::MADV_RANDOM,
    libc::MADV_SEQUENTIAL,
    libc::MADV_WILLNEED,
    libc::MADV_DONTNEED,
    libc::MADV_FREE,
    libc::MADV_HUGEPAGE,
    libc::MADV_NOHUGEPAGE,
    libc::MADV_DONTDUMP,
    libc::MADV_DODUMP,
];

/// Descriptors that lead nowhere: what is written to the null device has no effect.
pub type Nowhere = BTreeSet<u32>;

/// The descriptors of a process that lead nowhere.
pub fn nowhere(id: i32) -> Nowhere {
    const NULL: u64 = libc::makedev(1, 3);
    let Ok(descriptors) = std::fs::read_dir(format!("/proc/{id}/fd")) else {
        return Nowhere::new();
    };
    let leads_nowhere = |path: &std::path::Path| {
        std::fs::metadata(path)
            .is_ok_and(|about| about.file_type().is_char_device() && about.rdev() == NULL)
    };
    let null = descriptors.filter_map(Result::ok).filter(|entry| leads_nowhere(&entry.path()));
    null.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A system call that a process is about to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemCall {
    /// Its number.
    pub number: i64,
    /// Its arguments.
    pub arguments: [u64; 6],
}

impl SystemCall {
    /// The one before which a process with these registers is stopped.
    pub fn of(registers: &Registers) -> SystemCall {
        let arguments = [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ];
        SystemCall { number: registers.orig_rax as i64, arguments }
    }

    /// Its name.
    pub fn name(&self) -> String {
        let known_call = usize::try_from(self.number).ok().and_then(syscalls::x86_64::Sysno::new);
        known_call
            .map_or_else(|| format!("number {}", self.number), |known| known.name().to_owned())
    }

    /// Whether its answer may differ from one repeat to the next.
    pub fn varies(&self) -> bool {
        VARYING_CALLS.contains(&self.number)
    }

    /// Whether it ends the program.
    pub fn ends(&self) -> bool {
        matches!(self.number, libc::SYS_exit | libc::SYS_exit_group)
    }

    /// The first argument, if it is a descriptor.
    fn descriptor(&self) -> Option<u32> {
        const BY_DESCRIPTOR: [&str; 5] = ["read", "write", "send", "recv", "fd"];
        const OTHER_NAMES: [&str; 22] = [
            "ioctl",
            "fcntl",
            "lseek",
            "fsync",
            "fdatasync",
            "ftruncate",
            "fallocate",
            "close",
            "connect",
            "bind",
            "listen",
            "accept",
            "accept4",
            "shutdown",
            "epoll_ctl",
            "epoll_wait",
            "io_uring_enter",
            "io_uring_register",
            "dup",
            "dup2",
            "dup3",
            "flock",
        ];
        let name = self.name();
        let other_calls = [
            "readlink",
            "readahead",
            "memfd",
            "process",
            "pidfd",
            "signalfd",
            "timerfd",
            "eventfd",
            "userfaultfd",
            "sendfile",
        ];
        let by_prefix =
            BY_DESCRIPTOR.iter().any(|known| name.trim_start_matches('p').starts_with(known));
        let is_one = (by_prefix && !other_calls.iter().any(|prefix| name.starts_with(prefix)))
            || OTHER_NAMES.contains(&name.as_str());
        is_one.then_some(self.arguments[0] as u32)
    }

    /// The arguments that point to where the kernel writes, and those that point to what it reads,
    /// of what is allowed. Others may hold what an earlier call left there.
    pub fn pointers(&self) -> (Vec<u64>, Vec<u64>) {
        let (written, read): (&[usize], &[usize]) = match self.number {
            libc::SYS_time
            | libc::SYS_times
            | libc::SYS_uname
            | libc::SYS_sysinfo
            | libc::SYS_getrandom => (&[0], &[]),
            libc::SYS_getcpu | libc::SYS_gettimeofday => (&[0, 1], &[]),
            libc::SYS_clock_gettime
            | libc::SYS_clock_getres
            | libc::SYS_getrusage
            | libc::SYS_fstat => (&[1], &[]),
            libc::SYS_stat | libc::SYS_lstat => (&[1], &[0]),
            libc::SYS_newfstatat => (&[2], &[1]),
            libc::SYS_ioctl => (&[2], &[2]),
            libc::SYS_writev => (&[], &[1]),
            libc::SYS_futex => (&[0, 4], &[0, 3, 4]),
            _ => (&[], &[]),
        };
        let arguments =
            |numbers: &[usize]| numbers.iter().map(|number| self.arguments[*number]).collect();
        (arguments(written), arguments(read))
    }

    fn overlaps(&self, mapping: &Mapping) -> bool {
        let [from, size, ..] = self.arguments;
        from < mapping.range.end && mapping.range.start < from.saturating_add(size.max(1))
    }
}

/// What a call may ask of the kernel.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Descriptors that lead nowhere.
    pub nowhere: Nowhere,
    /// Memory that others share, which the call must not write.
    pub shared: Vec<Mapping>,
}

impl Policy {
    /// Checks that a system call can be repeated; `mappings` are those of the process before it.
    ///
    /// # Errors
    /// What the system call would do, with its name and its descriptor, and what to do next.
    pub fn check(
        &self,
        id: i32,
        call: &SystemCall,
        mappings: impl FnOnce() -> Vec<Mapping>,
    ) -> Result<(), String> {
        let [_, second, third, fourth, ..] = call.arguments;
        let allowed = match call.number {
            number if QUESTIONS.contains(&number) => true,
            libc::SYS_brk => true,
            libc::SYS_write | libc::SYS_writev | libc::SYS_ioctl => {
                self.nowhere.contains(&(call.arguments[0] as u32))
            }
            libc::SYS_futex => second & libc::FUTEX_PRIVATE_FLAG as u64 != 0,
            libc::SYS_madvise => OWN_ADVICE.iter().any(|advice| *advice as u64 == third),
            libc::SYS_mmap => is_own_memory(fourth),
            libc::SYS_mprotect | libc::SYS_mremap => {
                !self.shared.iter().any(|shared| call.overlaps(shared))
            }
            libc::SYS_munmap => return lost(&mappings(), call),
            _ => false,
        };
        if allowed { Ok(()) } else { Err(refusal(id, call)) }
    }
}

/// Whether the flags of a mapping ask for memory of the process alone.
fn is_own_memory(flags: u64) -> bool {
    const KIND: u64 = 0x0f;
    flags & KIND == libc::MAP_PRIVATE as u64 && flags & libc::MAP_ANONYMOUS as u64 != 0
}

/// Memory that is unmapped must be such that it can be made anew.
fn lost(mappings: &[Mapping], call: &SystemCall) -> Result<(), String> {
    let Some(other_mapping) =
        mappings.iter().find(|mapping| call.overlaps(mapping) && !mapping.is_own())
    else {
        return Ok(());
    };
    let description = if other_mapping.name.is_empty() {
        "memory that other processes share"
    } else {
        &other_mapping.name
    };
    Err(format!(
        "it unmaps {description} (munmap at {:#x}), which cannot be mapped again for the next \
         repeat; time a function that does not, or one that it calls before",
        call.arguments[0]
    ))
}

fn refusal(id: i32, call: &SystemCall) -> String {
    let name = call.name();
    let Some(descriptor) = call.descriptor() else {
        let how = how(call);
        return format!(
            "it makes the system call {name}{how}, which a repeated call would make again and \
             nothing can undo; time a function that does not"
        );
    };
    let target = std::fs::read_link(format!("/proc/{id}/fd/{descriptor}"));
    let target = target.map_or_else(|_| "not open".to_owned(), |path| path.display().to_string());
    format!(
        "it makes the system call {name} on descriptor {descriptor} ({target}), which a repeated \
         call would make again and nothing can undo; time a function that does not, or let this \
         descriptor lead to /dev/null"
    )
}

/// What is wrong with the arguments of a system call that is allowed with others.
fn how(call: &SystemCall) -> String {
    match call.number {
        libc::SYS_futex => " (on memory that others may share)".to_owned(),
        libc::SYS_mmap => " (of a file, or of memory to be shared)".to_owned(),
        libc::SYS_mprotect | libc::SYS_mremap => {
            format!(" (of memory that others share, at {:#x})", call.arguments[0])
        }
        libc::SYS_madvise => format!(" (advice {})", call.arguments[2]),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: i64, arguments: [u64; 6]) -> SystemCall {
        SystemCall { number, arguments }
    }

    fn checked(call: &SystemCall) -> Result<(), String> {
        let shared = Mapping {
            range: 0x5000..0x7000,
            writable: true,
            executable: false,
            readable: true,
            shared: true,
            offset: 0,
            name: "/dev/shm/board".into(),
        };
        let policy = Policy { nowhere: Nowhere::from([1, 2]), shared: vec![shared.clone()] };
        policy.check(std::process::id() as i32, call, || vec![shared])
    }

    #[test]
    fn only_descriptors_that_lead_nowhere_are_written() {
        assert!(checked(&call(libc::SYS_write, [1, 0, 0, 0, 0, 0])).is_ok());
        let reason = checked(&call(libc::SYS_write, [9999, 0, 0, 0, 0, 0])).unwrap_err();
        assert!(
            reason.contains("write on descriptor 9999 (not open)") && reason.contains("/dev/null"),
            "{reason}"
        );
        for number in [
            libc::SYS_pwrite64,
            libc::SYS_sendto,
            libc::SYS_ioctl,
            libc::SYS_io_uring_enter,
            libc::SYS_read,
            libc::SYS_close,
        ] {
            let reason = checked(&call(number, [9999, 0, 0, 0, 0, 0])).unwrap_err();
            assert!(reason.contains("on descriptor 9999"), "{reason}");
        }
    }

    #[test]
    fn what_reaches_others_is_refused_by_name() {
        for (number, name) in [
            (libc::SYS_kill, "kill"),
            (libc::SYS_tgkill, "tgkill"),
            (libc::SYS_rt_sigqueueinfo, "rt_sigqueueinfo"),
            (libc::SYS_ptrace, "ptrace"),
            (libc::SYS_process_vm_writev, "process_vm_writev"),
            (libc::SYS_clone, "clone"),
            (libc::SYS_vfork, "vfork"),
            (libc::SYS_setitimer, "setitimer"),
            (9999, "number 9999"),
        ] {
            let reason = checked(&call(number, [0; 6])).unwrap_err();
            assert!(reason.contains(&format!("the system call {name}, which")), "{reason}");
        }
    }

    #[test]
    fn memory_is_its_own_or_refused() {
        let anonymous = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
        assert!(checked(&call(libc::SYS_mmap, [0, 4096, 3, anonymous, u64::MAX, 0])).is_ok());
        for flags in [libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::MAP_PRIVATE] {
            assert!(
                checked(&call(libc::SYS_mmap, [0, 4096, 3, flags as u64, 3, 0])).is_err(),
                "{flags}"
            );
        }
        assert!(checked(&call(libc::SYS_munmap, [0x8000, 4096, 0, 0, 0, 0])).is_ok());
        assert!(
            checked(&call(libc::SYS_munmap, [0x6000, 4096, 0, 0, 0, 0]))
                .unwrap_err()
                .contains("/dev/shm/board")
        );
        assert!(checked(&call(libc::SYS_mprotect, [0x4000, 0x1001, 3, 0, 0, 0])).is_err());
        assert!(
            checked(&call(libc::SYS_madvise, [0x5000, 0x1000, libc::MADV_REMOVE as u64, 0, 0, 0]))
                .is_err()
        );
        assert!(checked(&call(libc::SYS_futex, [0x5000, 1, 1, 0, 0, 0])).is_err());
        assert!(checked(&call(libc::SYS_futex, [0x8000, 129, 1, 0, 0, 0])).is_ok());
    }
}
