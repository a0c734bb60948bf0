//! Starts a program under ptrace.
#![allow(unsafe_code, reason = "what runs between fork and exec has no safe form")]

use super::{Members, Owner, Process, Stop};
use crate::error::{Error, Result};
use hairspring_host::process::Group;
use nix::sys::ptrace;
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::Pid;
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

impl Process {
    /// Starts a program, stopped before its first instruction. Its output is discarded.
    ///
    /// # Errors
    /// [`Error::System`] if the input or the arguments are at fault, else an error of the program.
    pub fn start(
        program: &Path,
        arguments: &[OsString],
        input: Option<&Path>,
        cpu: usize,
    ) -> Result<Process> {
        let fail =
            |reason: String| Error::Program { program: program.display().to_string(), reason };
        let stdin = match input {
            Some(path) => Stdio::from(
                File::open(path)
                    .map_err(|e| Error::system(&format!("open its input {}", path.display()), e))?,
            ),
            None => Stdio::null(),
        };
        let mut command = traced_command(program, cpu);
        command.args(arguments).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
        let (child, group) = Group::spawn_marked(&mut command).map_err(|e| match e.kind() {
            ErrorKind::ArgumentListTooLong | ErrorKind::InvalidInput => {
                Error::system("start the program with these arguments", e)
            }
            _ => fail(not_started(&e)),
        })?;
        let pid = Pid::from_raw(child.id() as i32);
        let mut process = Process {
            pid,
            members: Members::of(pid),
            owner: Rc::new(Owner { group: RefCell::new(group), forked: Cell::new(false) }),
            pending: None,
            has_ended: false,
            threads: Vec::new(),
            newest: None,
        };
        match process.wait()? {
            Stop::Trap => {}
            other => return Err(fail(format!("it cannot be traced: {other:?}"))),
        }
        ptrace::setoptions(process.pid, options())
            .map_err(|e| fail(format!("it cannot be traced: {e}")))?;
        Ok(process)
    }
}

/// A command that is traced and bound to a CPU when it starts.
fn traced_command(program: &Path, cpu: usize) -> Command {
    let mut command = Command::new(program);
    // With lazy binding the first call of a library function resolves its symbol, and so would
    // every repeated call.
    command.env("LD_BIND_NOW", "1");
    // SAFETY: only system calls that are allowed between fork and exec; nothing is allocated.
    unsafe {
        command.pre_exec(move || {
            // If addresses cannot be fixed, they differ from input to input: more variation, but no
            // wrong answer.
            let _ = nix::sys::personality::get().and_then(|set| {
                nix::sys::personality::set(set | nix::sys::personality::Persona::ADDR_NO_RANDOMIZE)
            });
            setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
            let mut cpus = nix::sched::CpuSet::new();
            cpus.set(cpu)?;
            nix::sched::sched_setaffinity(Pid::from_raw(0), &cpus)?;
            ptrace::traceme()?;
            Ok(())
        });
    }
    command
}

/// What a program stops for: what it starts, and what the filter does not let through.
fn options() -> ptrace::Options {
    use ptrace::Options;
    Options::PTRACE_O_EXITKILL
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEVFORKDONE
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACEEXEC
}

fn not_started(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) => format!(
            "it cannot be traced: {error} (ptrace; some containers and sandboxes forbid it)"
        ),
        _ => format!("it cannot be started: {error}"),
    }
}
