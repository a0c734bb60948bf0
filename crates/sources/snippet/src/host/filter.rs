//! Refuses system calls of the code under test that would start processes, affect other processes, or lift the limits.
//! A kernel without seccomp filters is tolerated: the parent kills the whole process group in any case.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch, apply_filter,
};
use std::collections::BTreeMap;

/// A system call with the condition under which it is refused.
type Call = (i64, Vec<SeccompRule>);

/// Calls that affect other processes, with their names for the message.
pub const REACHING_OUT: [(i64, &str); 8] = [
    (libc::SYS_kill, "kill"),
    (libc::SYS_tkill, "tkill"),
    (libc::SYS_tgkill, "tgkill"),
    (libc::SYS_rt_sigqueueinfo, "sigqueue"),
    (libc::SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"),
    (libc::SYS_pidfd_send_signal, "pidfd_send_signal"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
];

/// Installs the filters for the rest of this process's life.
///
/// # Errors
/// If this architecture has no filters.
pub fn refuse_calls() -> Result<(), String> {
    let filters = [
        // A filter cannot see the flags of clone3, which are behind a pointer. With ENOSYS, libc falls back to clone.
        filter(always(&[libc::SYS_clone3]), SeccompAction::Errno(libc::ENOSYS as u32))?,
        filter(limits()?, SeccompAction::Errno(libc::EPERM as u32))?,
        filter(reaching_out()?, SeccompAction::Trap)?,
        filter(processes()?, SeccompAction::Trap)?,
    ];
    let _ = filters.iter().try_for_each(|filter| apply_filter(filter));
    Ok(())
}

/// Starting a process or leaving the group that the parent kills raises SIGSYS. Threads are allowed.
fn processes() -> Result<Vec<Call>, String> {
    let mut calls = always(&[libc::SYS_execve, libc::SYS_execveat, libc::SYS_setsid, libc::SYS_setpgid]);
    #[cfg(target_arch = "x86_64")]
    calls.extend(always(&[libc::SYS_fork, libc::SYS_vfork]));
    // A clone without CLONE_THREAD is a process, including the short-lived one of posix_spawn.
    let thread = SeccompCmpOp::MaskedEq(libc::CLONE_THREAD as u64);
    calls.push((libc::SYS_clone, vec![rule(0, SeccompCmpArgLen::Qword, thread, 0)?]));
    Ok(calls)
}

/// Calls that would affect other processes raise SIGSYS: with an error code they would be timed as failing calls.
/// Signals to the process itself are allowed.
fn reaching_out() -> Result<Vec<Call>, String> {
    let own = u64::from(std::process::id());
    let allowed_for_itself = [libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo];
    let call = |call: i64| -> Result<Call, String> {
        let to_others = || rule(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, own);
        Ok((call, if allowed_for_itself.contains(&call) { vec![to_others()?] } else { Vec::new() }))
    };
    REACHING_OUT.iter().map(|(number, _)| call(*number)).collect()
}

/// Lifting the limits fails with EPERM.
fn limits() -> Result<Vec<Call>, String> {
    let mut calls = always(&[libc::SYS_setrlimit]);
    // Its third argument is a pointer to the new limits; with NULL it only queries.
    calls.push((libc::SYS_prlimit64, vec![rule(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?]));
    Ok(calls)
}

fn always(calls: &[i64]) -> Vec<Call> {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

fn rule(argument: u8, length: SeccompCmpArgLen, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, String> {
    let condition = SeccompCondition::new(argument, length, operator, value);
    condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(|e| refused(&e))
}

fn filter(calls: Vec<Call>, answer: SeccompAction) -> Result<BpfProgram, String> {
    let architecture: TargetArch = std::env::consts::ARCH.try_into().map_err(|e: seccompiler::BackendError| refused(&e))?;
    let calls: BTreeMap<i64, Vec<SeccompRule>> = calls.into_iter().collect();
    let filter = SeccompFilter::new(calls, SeccompAction::Allow, answer, architecture).map_err(|e| refused(&e))?;
    filter.try_into().map_err(|e: seccompiler::BackendError| refused(&e))
}

fn refused(reason: &dyn std::fmt::Display) -> String {
    format!("the system call filter cannot be installed: {reason}")
}
