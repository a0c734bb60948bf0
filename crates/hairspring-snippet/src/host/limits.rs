//! What the code under test may not do: live longer than its parent, start processes, take all memory or time, write
//! without end, or speak on the instrument's pipes.
#![allow(unsafe_code, reason = "taking over descriptors 0 and 1 as files")]

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::Signal;
use std::fs::File;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

/// Address space that the code may take.
pub const MOST_MEMORY_BYTES: u64 = 4 << 30;
/// Bytes that the code may write to any one file, its own output included.
pub const MOST_FILE_BYTES: u64 = 16 << 20;

/// Moves the pipes to descriptors that the code does not know, and gives it an empty input.
pub fn take_pipes() -> std::io::Result<(File, File)> {
    let commands = duplicate(std::io::stdin().as_fd())?;
    let replies = duplicate(std::io::stdout().as_fd())?;
    let nothing = File::open("/dev/null")?;
    nix::unistd::dup2_stdin(&nothing)?;
    // Whoever started the host gave it a file for descriptor 2; printing goes there, and is counted.
    nix::unistd::dup2_stdout(std::io::stderr())?;
    Ok((commands, replies))
}

fn duplicate(descriptor: std::os::fd::BorrowedFd) -> std::io::Result<File> {
    const ABOVE: i32 = 200;
    let copy = fcntl(descriptor, FcntlArg::F_DUPFD_CLOEXEC(ABOVE))?;
    // SAFETY: the descriptor was made on the line above and belongs to nobody else.
    let owned = unsafe { OwnedFd::from_raw_fd(copy) };
    fcntl(&owned, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(File::from(owned))
}

/// Sets all limits for the rest of this process' life.
pub fn limit(most_cpu_seconds: u64) -> Result<(), String> {
    let set = |resource, most: u64| setrlimit(resource, most, most).map_err(|e| format!("a limit could not be set: {e}"));
    set(Resource::RLIMIT_AS, MOST_MEMORY_BYTES)?;
    set(Resource::RLIMIT_FSIZE, MOST_FILE_BYTES)?;
    set(Resource::RLIMIT_CPU, most_cpu_seconds)?;
    set(Resource::RLIMIT_CORE, 0)?;
    die_with_parent()?;
    refuse_processes()
}

#[cfg(target_os = "linux")]
fn die_with_parent() -> Result<(), String> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(|e| format!("cannot be tied to its parent: {e}"))
}

#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> Result<(), String> {
    let _ = Signal::SIGKILL;
    Ok(())
}

/// Starting a process is answered with SIGSYS; threads are allowed. A kernel without filters is left as it is: the
/// parent kills the whole process group in any case.
#[cfg(target_os = "linux")]
fn refuse_processes() -> Result<(), String> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
    };
    // A clone that is not a thread is a process, also the short-lived one of posix_spawn.
    let thread = libc::CLONE_THREAD as u64;
    let process = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)
        .and_then(|condition| SeccompRule::new(vec![condition]));
    let describe = |e: &dyn std::fmt::Display| format!("the filter against new processes: {e}");
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> = [(libc::SYS_clone, vec![process.map_err(|e| describe(&e))?])].into();
    #[cfg(target_arch = "x86_64")]
    rules.extend([(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]);
    rules.extend([libc::SYS_execve, libc::SYS_execveat, libc::SYS_setsid, libc::SYS_setpgid].map(|call| (call, Vec::new())));
    let architecture = std::env::consts::ARCH.try_into().map_err(|e: seccompiler::BackendError| describe(&e))?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Trap, architecture).map_err(|e| describe(&e))?;
    let program: BpfProgram = filter.try_into().map_err(|e: seccompiler::BackendError| describe(&e))?;
    // clone3 hides its flags behind a pointer: it is answered as if the kernel did not have it, and libc falls back to clone.
    let unknown = SeccompFilter::new(
        [(libc::SYS_clone3, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        architecture,
    );
    let unknown: BpfProgram = unknown.map_err(|e| describe(&e))?.try_into().map_err(|e: seccompiler::BackendError| describe(&e))?;
    let _ = apply_filter(&unknown).and_then(|()| apply_filter(&program));
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn refuse_processes() -> Result<(), String> {
    Ok(())
}
