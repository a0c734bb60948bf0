//! Keeps a repeated call inside of its process: a filter in the kernel refuses system calls, and
//! memory that others share cannot be written.

use super::maps::{Mapping, of_process};
use super::process::Process;
use super::system::{OF_MEMORY, OWN_ADVICE, Policy, SystemCall, nowhere};
use crate::error::{Error, Result};
use nix::sys::signal::Signal;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::{BTreeMap, BTreeSet};

/// What a call may do to the world.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    policy: Policy,
    /// Numbers of the system calls that the followed call made.
    seen_calls: BTreeSet<i64>,
}

impl Guard {
    /// Takes away the right to write memory that others share: plain stores reach them without a
    /// system call. Devices must not even be read, because that can change them, too.
    ///
    /// # Errors
    /// Memory whose rights cannot be changed.
    pub fn protect(process: &mut Process, from: u64) -> Result<Guard> {
        let is_open =
            |mapping: &Mapping| mapping.shared && (mapping.writable || is_device(mapping));
        let shared: Vec<Mapping> = of_process(process.id())?.into_iter().filter(is_open).collect();
        for mapping in &shared {
            let rights = if is_device(mapping) {
                0
            } else {
                mapping.protection() & !(libc::PROT_WRITE as u64)
            };
            let done = process.protect(from, mapping, rights);
            done.map_err(|e| {
                Error::system(&format!("protect {} from repeated calls", named(mapping)), e)
            })?;
        }
        let policy = Policy { nowhere: nowhere(process.id()), shared };
        Ok(Guard { policy, seen_calls: BTreeSet::new() })
    }

    /// Checks a system call before it happens, and cancels it if it is refused.
    ///
    /// # Errors
    /// Why it cannot be repeated.
    pub fn check(&self, process: &Process) -> Result<SystemCall> {
        const SYSCALL: [u8; 2] = [0x0f, 0x05];
        let registers = process.registers()?;
        let call = SystemCall::of(&registers);
        let mut instruction = [0u8; 2];
        // Others number the calls as 32-bit programs do.
        let is_native =
            process.read(registers.rip.wrapping_sub(2), &mut instruction) && instruction == SYSCALL;
        let checked = match (is_native, call.ends()) {
            (false, _) => {
                Err("it makes system calls of 32-bit programs, which are not repeated".to_owned())
            }
            // The program's end is seen as such.
            (true, true) => Ok(()),
            (true, false) => self
                .policy
                .check(process.id(), &call, || of_process(process.id()).unwrap_or_default()),
        };
        match checked {
            Ok(()) => Ok(call),
            Err(reason) => {
                process.cancel_system_call()?;
                Err(Error::system("repeat the call", reason))
            }
        }
    }

    /// Lets a system call of a repeat through that the filter stopped, if the followed call made
    /// it, too.
    ///
    /// # Errors
    /// Why it cannot be repeated.
    pub fn check_repeat(&self, process: &Process) -> Result<()> {
        let call = self.check(process)?;
        if self.seen_calls.contains(&call.number) {
            return Ok(());
        }
        process.cancel_system_call()?;
        let reason = format!(
            "a repeat made the system call {}, which the followed call did not: its path differs",
            call.name()
        );
        Err(Error::system("repeat the call", reason))
    }

    /// The reason if a fault is a write to memory that others share.
    pub fn blame(&self, process: &Process, signal: Signal) -> Option<Error> {
        if !matches!(signal, Signal::SIGSEGV | Signal::SIGBUS) {
            return None;
        }
        let address = process.fault()?;
        let mapping = self.policy.shared.iter().find(|mapping| mapping.range.contains(&address))?;
        Some(harm("it", mapping, address))
    }

    /// Checks what a system call of the followed call answered: the kernel, too, cannot write to
    /// memory that others share, and says so by an error that the program would not get.
    ///
    /// # Errors
    /// Why it cannot be repeated.
    pub fn check_answer(&self, process: &Process, call: &SystemCall) -> Result<()> {
        if self.policy.shared.is_empty() {
            return Ok(());
        }
        self.refused_by_kernel(call, process.registers()?.rax as i64).map_or(Ok(()), Err)
    }

    /// The reason if an answer of a system call is due to memory that was protected.
    fn refused_by_kernel(&self, call: &SystemCall, answer: i64) -> Option<Error> {
        /// Most bytes that the kernel writes at one place before it gives up (struct utsname).
        const MOST_BYTES: u64 = 390;
        if answer != -i64::from(libc::EFAULT) {
            return None;
        }
        let (written, read) = call.pointers();
        let meets = |pointer: u64, mapping: &Mapping| {
            pointer < mapping.range.end && mapping.range.start < pointer.saturating_add(MOST_BYTES)
        };
        let mut all_pointers = written
            .into_iter()
            .map(|pointer| (pointer, true))
            .chain(read.into_iter().map(|pointer| (pointer, false)));
        all_pointers.find_map(|(pointer, is_written)| {
            let mapping =
                self.policy.shared.iter().find(|mapping| {
                    meets(pointer, mapping) && (is_written || is_device(mapping))
                })?;
            Some(harm(
                &format!("its system call {}", call.name()),
                mapping,
                pointer.max(mapping.range.start),
            ))
        })
    }

    /// From here on the kernel stops every system call that the followed call did not make, before
    /// it happens.
    ///
    /// # Errors
    /// A kernel without such filters.
    pub fn restrict(
        &mut self,
        process: &mut Process,
        from: u64,
        seen_calls: &BTreeSet<i64>,
    ) -> Result<()> {
        self.seen_calls.extend(seen_calls);
        let program =
            self.program().map_err(|e| Error::system("make the filter of system calls", e))?;
        install(process, from, &program)
            .map_err(|e| Error::system("keep the repeated call inside of its process (seccomp)", e))
    }

    fn program(&self) -> std::result::Result<BpfProgram, seccompiler::BackendError> {
        let changes_memory = OF_MEMORY.iter().any(|number| self.seen_calls.contains(number));
        // Undoing what the call did to its memory takes the others of these, too.
        let wanted_calls =
            self.seen_calls.iter().chain(OF_MEMORY.iter().filter(|_| changes_memory));
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for number in wanted_calls.filter(|number| !self.needs_a_look(**number)) {
            rules.insert(*number, self.conditions(*number)?);
        }
        let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, SeccompAction::Trace(0), SeccompAction::Allow, architecture)?
            .try_into()
    }

    /// Whether the tracer decides each time: the filter knows no ranges, and nothing of descriptors
    /// that are not open.
    fn needs_a_look(&self, number: i64) -> bool {
        match number {
            libc::SYS_exit | libc::SYS_exit_group => true,
            libc::SYS_munmap | libc::SYS_mprotect | libc::SYS_mremap => {
                !self.policy.shared.is_empty()
            }
            libc::SYS_write | libc::SYS_writev | libc::SYS_ioctl => self.policy.nowhere.is_empty(),
            _ => false,
        }
    }

    /// The conditions of which one must hold; none if the number decides.
    fn conditions(
        &self,
        number: i64,
    ) -> std::result::Result<Vec<SeccompRule>, seccompiler::BackendError> {
        let condition = |argument, operator, value| {
            SeccompRule::new(vec![SeccompCondition::new(
                argument,
                SeccompCmpArgLen::Dword,
                operator,
                value,
            )?])
        };
        match number {
            libc::SYS_write | libc::SYS_writev | libc::SYS_ioctl => self
                .policy
                .nowhere
                .iter()
                .map(|descriptor| condition(0, SeccompCmpOp::Eq, u64::from(*descriptor)))
                .collect(),
            libc::SYS_futex => {
                let private = libc::FUTEX_PRIVATE_FLAG as u64;
                Ok(vec![condition(1, SeccompCmpOp::MaskedEq(private), private)?])
            }
            libc::SYS_madvise => OWN_ADVICE
                .iter()
                .map(|advice| condition(2, SeccompCmpOp::Eq, *advice as u64))
                .collect(),
            libc::SYS_mmap => {
                let own_flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
                Ok(vec![condition(3, SeccompCmpOp::MaskedEq(own_flags | 0x0f), own_flags)?])
            }
            _ => Ok(Vec::new()),
        }
    }
}

/// Puts a filter into a process.
fn install(process: &mut Process, from: u64, program: &BpfProgram) -> Result<()> {
    const SET_MODE_FILTER: u64 = 1;
    const HEAD: usize = 16;
    const READ_WRITE: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    const OWN_MAPPING: u64 = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    let size = (HEAD + 8 * program.len()) as u64;
    let at = process.system_call(
        from,
        libc::SYS_mmap,
        [0, size, READ_WRITE, OWN_MAPPING, u64::MAX, 0],
    )?;
    let mut bytes = (program.len() as u64).to_ne_bytes().to_vec();
    bytes.extend((at + HEAD as u64).to_ne_bytes());
    for step in program {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    process.write(at, &bytes)?;
    process.system_call(
        from,
        libc::SYS_prctl,
        [libc::PR_SET_NO_NEW_PRIVS as u64, 1, 0, 0, 0, 0],
    )?;
    // Without the flag, older kernels take a filter as a reason to slow the process's loads down
    // (speculative store bypass).
    process.system_call(
        from,
        libc::SYS_seccomp,
        [SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW, at, 0, 0, 0],
    )?;
    process.system_call(from, libc::SYS_munmap, [at, size, 0, 0, 0, 0]).map(drop)
}

/// Whether a mapping leads to a device, apart from those that only stand for memory.
fn is_device(mapping: &Mapping) -> bool {
    const MEMORY: [&str; 3] = ["/dev/shm/", "/dev/zero", "/dev/hugepages/"];
    mapping.name.starts_with("/dev/")
        && !MEMORY.iter().any(|memory| mapping.name.starts_with(memory))
}

/// The error of who wrote to memory that others share, or used a device.
fn harm(who: &str, mapping: &Mapping, address: u64) -> Error {
    let does = if is_device(mapping) { "uses" } else { "writes to" };
    let reason = format!(
        "{who} {does} {} at {address:#x}, which others see: a repeated call would do it again and \
         nothing can undo it; time a function that does not, or let the program keep this memory \
         to itself (MAP_PRIVATE)",
        named(mapping)
    );
    Error::system("repeat the call", reason)
}

fn named(mapping: &Mapping) -> String {
    match mapping.name.as_str() {
        "" | "/dev/zero (deleted)" => "memory that it shares with other processes".to_owned(),
        name => format!("shared memory ({name})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(name: &str, range: std::ops::Range<u64>) -> Mapping {
        Mapping {
            range,
            writable: true,
            executable: false,
            readable: true,
            shared: true,
            offset: 0,
            name: name.into(),
        }
    }

    #[test]
    fn the_kernel_is_kept_from_shared_memory_and_other_bad_addresses_are_the_programs_own() {
        const EFAULT: i64 = -(libc::EFAULT as i64);
        let mut guard = Guard::default();
        guard.policy.shared =
            vec![shared("/dev/shm/board", 0x5000..0x7000), shared("/dev/mem", 0x9000..0xa000)];
        let reason = |number, arguments, answer| {
            guard
                .refused_by_kernel(&SystemCall { number, arguments }, answer)
                .map_or_else(String::new, |error| error.to_string())
        };
        for (number, arguments, expected) in [
            (
                libc::SYS_getrandom,
                [0x6ff8, 8, 0, 0, 0, 0],
                "getrandom writes to shared memory (/dev/shm/board) at 0x6ff8",
            ),
            // It begins before, and ends there.
            (
                libc::SYS_fstat,
                [0, 0x4f90, 0, 0, 0, 0],
                "fstat writes to shared memory (/dev/shm/board) at 0x5000",
            ),
            (
                libc::SYS_gettimeofday,
                [0x100, 0x5000, 0, 0, 0, 0],
                "gettimeofday writes to shared memory (/dev/shm/board) at 0x5000",
            ),
            (
                libc::SYS_stat,
                [0x9010, 0x100, 0, 0, 0, 0],
                "stat uses shared memory (/dev/mem) at 0x9010",
            ),
        ] {
            let reason = reason(number, arguments, EFAULT);
            assert!(
                reason.contains(expected) && reason.contains("; time a function that does not"),
                "{number}: {reason}"
            );
        }
        assert_eq!(reason(libc::SYS_getrandom, [0x5000, 8, 0, 0, 0, 0], 8), "");
        assert_eq!(
            reason(libc::SYS_stat, [0x8000, 0x5000, 0, 0, 0, 0], -i64::from(libc::ENOENT)),
            ""
        );
        // What is only read was readable, and other registers hold anything.
        assert_eq!(reason(libc::SYS_stat, [0x5000, 0, 0, 0, 0, 0], EFAULT), "");
        assert_eq!(reason(libc::SYS_fstat, [0, 8, 0x5000, 0x5000, 0x5000, 0x5000], EFAULT), "");
        assert_eq!(reason(libc::SYS_getrandom, [0x7000, 8, 0, 0, 0, 0], EFAULT), "");
    }

    #[test]
    fn a_filter_is_short_and_devices_are_told_from_memory() {
        let mut guard = Guard::default();
        guard.seen_calls.extend([libc::SYS_write, libc::SYS_mmap, libc::SYS_exit_group]);
        guard.policy.nowhere.extend([1, 2]);
        let program = guard.program().unwrap();
        assert!(program.len() > 10 && program.len() < 200, "{}", program.len());
        let mapping = |name: &str| shared(name, 0..4096);
        assert!(is_device(&mapping("/dev/mem")) && is_device(&mapping("/dev/dri/card0")));
        assert!(
            !is_device(&mapping("/dev/shm/x"))
                && !is_device(&mapping("/dev/zero (deleted)"))
                && !is_device(&mapping("/tmp/file"))
        );
    }
}
