//! Runs a compiler with limits on its time and memory.

use super::Compiler;
use crate::error::{Error, Result, io};
use hairspring_host::process::{Group, wait_until};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time limits for a compilation and for `--version`. Tests that compile the longest rows run side
/// by side, and beside other builds.
const MOST_COMPILE_TIME: Duration = Duration::from_secs(if cfg!(test) { 600 } else { 60 });
const MOST_VERSION_TIME: Duration = Duration::from_secs(10);
/// Memory limit for a compiler.
const MOST_COMPILE_BYTES: u64 = 4 << 30;
/// Maximum number of message bytes that are read.
const MOST_MESSAGE_BYTES: u64 = 1 << 20;

/// What a program answers to a question about itself; `None` if it fails.
pub fn answer(question: &mut Command) -> Option<String> {
    question.stdout(Stdio::piped()).stderr(Stdio::null());
    let ended = bounded(question, MOST_VERSION_TIME).ok().flatten();
    ended.filter(|(status, _)| status.success()).map(|(_, answer)| answer)
}

/// Runs a command of the compiler; `Some` holds its messages if it failed.
pub fn failure(mut command: Command, compiler: &Compiler) -> Result<Option<String>> {
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    limit_memory(&mut command);
    let ended_compiler = bounded(&mut command, MOST_COMPILE_TIME)
        .map_err(io(format!("running {}", compiler.command)))?;
    let too_long = || {
        Error::CompilerFailed(format!(
            "took longer than {} s and was stopped",
            MOST_COMPILE_TIME.as_secs()
        ))
    };
    let (status, text) = ended_compiler.ok_or_else(too_long)?;
    let silent = || format!("the compiler failed ({status}) without a message");
    Ok((!status.success()).then(|| if text.trim().is_empty() { silent() } else { text }))
}

/// Runs a program with a time limit; returns its status and the output of the one stream that is a
/// pipe.
fn bounded(
    program: &mut Command,
    longest: Duration,
) -> std::io::Result<Option<(ExitStatus, String)>> {
    let (mut child, group) = Group::spawn(program.stdin(Stdio::null()))?;
    let pipe = child
        .stderr
        .take()
        .map(OwnedFd::from)
        .or(child.stdout.take().map(OwnedFd::from))
        .map(File::from);
    let reader = std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = pipe.map(|pipe| pipe.take(MOST_MESSAGE_BYTES).read_to_end(&mut text));
        read.map(|_| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
    });
    let status = wait_until(&mut child, Instant::now() + longest)?;
    drop(group);
    match status {
        Some(status) => Ok(Some((status, reader.join().unwrap_or_default()))),
        None => child.wait().map(|_| None),
    }
}

#[allow(
    unsafe_code,
    reason = "a limit for the compiler alone can only be set between fork and exec"
)]
fn limit_memory(command: &mut Command) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    // SAFETY: both calls are async-signal-safe and the closure touches nothing else.
    unsafe {
        command.pre_exec(|| {
            let (_, hard) = getrlimit(Resource::RLIMIT_AS)?;
            let most_bytes = crate::host::as_limit(MOST_COMPILE_BYTES).min(hard);
            setrlimit(Resource::RLIMIT_AS, most_bytes, most_bytes).map_err(std::io::Error::from)
        });
    }
}
