//! Refuses system calls of the code under test that would start processes, affect other processes,
//! or lift the limits. A kernel without seccomp filters is tolerated: the parent kills the whole
//! process group in any case. Only the pilot has the filters, because every system call takes a
//! third longer beside one.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// Number of a system call: a `c_long`, which has 32 bits on some processors.
#[cfg_attr(
    target_pointer_width = "64",
    allow(clippy::useless_conversion, clippy::unnecessary_cast)
)]
const fn call(number: libc::c_long) -> i64 {
    number as i64
}

/// A system call with the condition under which it is refused.
type Call = (i64, Vec<SeccompRule>);

/// Calls that affect other processes, with their names for the message.
pub const REACHING_OUT: [(i64, &str); 8] = [
    (call(libc::SYS_kill), "kill"),
    (call(libc::SYS_tkill), "tkill"),
    (call(libc::SYS_tgkill), "tgkill"),
    (call(libc::SYS_rt_sigqueueinfo), "sigqueue"),
    (call(libc::SYS_rt_tgsigqueueinfo), "rt_tgsigqueueinfo"),
    (call(libc::SYS_pidfd_send_signal), "pidfd_send_signal"),
    (call(libc::SYS_ptrace), "ptrace"),
    (call(libc::SYS_process_vm_writev), "process_vm_writev"),
];

/// Installs the filters for the rest of this process's life.
///
/// # Errors
/// If this architecture has no filters.
pub fn refuse_calls() -> Result<(), String> {
    let filters = [
        // A filter cannot see the flags of clone3, which are behind a pointer. With ENOSYS, libc
        // falls back to clone.
        filter(always(&[call(libc::SYS_clone3)]), SeccompAction::Errno(libc::ENOSYS as u32))?,
        filter(limits()?, SeccompAction::Errno(libc::EPERM as u32))?,
        filter(reaching_out()?, SeccompAction::Trap)?,
        filter(processes()?, SeccompAction::Trap)?,
    ];
    let _ = filters.iter().try_for_each(|filter| apply_filter(filter));
    Ok(())
}

/// Starting a process or leaving the group that the parent kills raises SIGSYS. Threads are
/// allowed.
fn processes() -> Result<Vec<Call>, String> {
    let mut calls = always(&[
        call(libc::SYS_execve),
        call(libc::SYS_execveat),
        call(libc::SYS_setsid),
        call(libc::SYS_setpgid),
    ]);
    #[cfg(any(target_arch = "x86_64", target_arch = "arm"))]
    calls.extend(always(&[call(libc::SYS_fork), call(libc::SYS_vfork)]));
    // A clone without CLONE_THREAD is a process, including the short-lived one of posix_spawn.
    let thread = SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64);
    calls.push((call(libc::SYS_clone), vec![rule(0, SeccompCmpArgLen::Qword, thread, 0)?]));
    Ok(calls)
}

/// Calls that would affect other processes raise SIGSYS: with an error code they would be timed as
/// failing calls. Signals to the process itself are allowed.
fn reaching_out() -> Result<Vec<Call>, String> {
    let own_process = u64::from(std::process::id());
    let allowed_for_itself = [
        call(libc::SYS_kill),
        call(libc::SYS_tkill),
        call(libc::SYS_tgkill),
        call(libc::SYS_rt_sigqueueinfo),
        call(libc::SYS_rt_tgsigqueueinfo),
    ];
    let refused = |number: i64| -> Result<Call, String> {
        let to_others = || rule(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, own_process);
        Ok((
            number,
            if allowed_for_itself.contains(&number) { vec![to_others()?] } else { Vec::new() },
        ))
    };
    REACHING_OUT.iter().map(|(number, _)| refused(*number)).collect()
}

/// Lifting the limits fails with EPERM.
fn limits() -> Result<Vec<Call>, String> {
    let mut calls = always(&[call(libc::SYS_setrlimit)]);
    // Its third argument is a pointer to the new limits; with NULL it only queries.
    calls.push((
        call(libc::SYS_prlimit64),
        vec![rule(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?],
    ));
    Ok(calls)
}

fn always(calls: &[i64]) -> Vec<Call> {
    calls.iter().map(|number| (*number, Vec::new())).collect()
}

fn rule(
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, String> {
    let condition = SeccompCondition::new(argument, length, operator, value);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|e| refused(&e))
}

fn filter(calls: Vec<Call>, answer: SeccompAction) -> Result<BpfProgram, String> {
    let architecture: TargetArch =
        stand_in().try_into().map_err(|e: seccompiler::BackendError| refused(&e))?;
    let calls: BTreeMap<i64, Vec<SeccompRule>> = calls.into_iter().collect();
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, answer, architecture)
        .map_err(|e| refused(&e))?;
    let program: BpfProgram =
        filter.try_into().map_err(|e: seccompiler::BackendError| refused(&e))?;
    Ok(for_this_processor(program))
}

/// The processor that the library of filters builds for. It does not know 32-bit ARM, whose filters
/// differ from those of AArch64 only in the number of the processor: the kernel hands both the same
/// structure.
fn stand_in() -> &'static str {
    if cfg!(target_arch = "arm") { "aarch64" } else { std::env::consts::ARCH }
}

/// The kernel's numbers of the two processors (AUDIT_ARCH_AARCH64 and AUDIT_ARCH_ARM).
const AARCH64: u32 = 0xc000_00b7;
const ARM: u32 = 0x4000_0028;

fn for_this_processor(mut program: BpfProgram) -> BpfProgram {
    if cfg!(target_arch = "arm") {
        // The comparison with the processor is among the first steps.
        program.iter_mut().take(3).filter(|step| step.k == AARCH64).for_each(|step| step.k = ARM);
    }
    program
}

fn refused(reason: &dyn std::fmt::Display) -> String {
    format!("the system call filter cannot be installed: {reason}")
}
