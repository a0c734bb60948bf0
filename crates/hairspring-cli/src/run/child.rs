//! Runs a program for its output, with limits on time and output. All processes that it started end
//! with it.

use hairspring_host::process::{Group, wait_until};
use hairspring_result::ResultDocument;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Largest output of a program, in bytes.
const MOST_BYTES: usize = 256 << 20;

/// Time between two looks at a running program.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time after which the program is killed.
    pub timeout: Duration,
    /// What the user sets it by.
    pub named: &'static str,
}

/// The result of a program with benchmarks.
pub struct Answer {
    /// Its document.
    pub document: ResultDocument,
    /// Whether a limit that the user set was not met.
    pub limit_missed: bool,
}

/// A program that has ended.
pub struct Ended {
    /// What it printed on standard output.
    pub output: Vec<u8>,
    /// How it ended.
    pub status: ExitStatus,
}

/// Runs a command to its end. Its standard error is this command's.
///
/// # Errors
/// It cannot be started, prints too much or takes too long. It and the processes that it started
/// are then killed.
pub fn run(command: Command, limits: &Limits) -> Result<Ended, String> {
    run_looking(command, limits, limits.timeout, |_| ())
}

/// As [`run`]; also tells whether the program was seen with more than one thread. Looking for them
/// takes time from the program if it runs on this CPU.
///
/// # Errors
/// As [`run`].
pub fn run_counting_threads(command: Command, limits: &Limits) -> Result<(Ended, bool), String> {
    let mut several = false;
    let ended =
        run_looking(command, limits, BETWEEN_LOOKS, |process| several |= has_threads(process))?;
    Ok((ended, several))
}

/// Whether a process has more than one thread, where the system tells.
fn has_threads(process: u32) -> bool {
    std::fs::read_dir(format!("/proc/{process}/task")).is_ok_and(|threads| threads.count() > 1)
}

/// Runs a command to its end, and looks at the process after each such time.
fn run_looking(
    mut command: Command,
    limits: &Limits,
    every: Duration,
    mut look: impl FnMut(u32),
) -> Result<Ended, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let deadline = Instant::now() + limits.timeout;
    let (mut child, group) =
        Group::spawn(&mut command).map_err(|error| format!("cannot be started: {error}"))?;
    let output = read_in_background(&mut child);
    let too_long =
        || format!("did not end within {} s ({})", limits.timeout.as_secs_f64(), limits.named);
    let waited = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match output.recv_timeout(every.min(left)) {
            Err(RecvTimeoutError::Timeout) if every < left => look(child.id()),
            ended => break ended,
        }
    };
    let text = match waited {
        Ok(Ok(bytes)) if bytes.len() <= MOST_BYTES => Ok(bytes),
        Ok(Ok(_)) => Err(format!("prints more than {} MiB", MOST_BYTES >> 20)),
        Ok(Err(error)) => Err(format!("its output cannot be read: {error}")),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(too_long()),
    };
    // The output has ended, so the program ends soon; what it leaves running is killed with the
    // group.
    let status = if text.is_ok() { wait_until(&mut child, deadline).ok().flatten() } else { None };
    drop(group);
    // Reap it in every case.
    let _ = child.wait();
    let output = text?;
    status.map(|status| Ended { output, status }).ok_or_else(too_long)
}

/// The output of the program, up to one byte more than the limit.
fn read_in_background(child: &mut Child) -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    let stream = child.stdout.take();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream
            .map_or(Ok(0), |stream| stream.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes));
        // The receiver is gone after a timeout.
        let _ = sender.send(read.map(|_| bytes));
    });
    receiver
}

/// Describes how a program failed; `None` for the statuses 0 and 3 (a limit was not met).
pub fn complaint(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0 | 3), _) => None,
        (Some(code), _) => Some(format!("ended with status {code}")),
        (None, Some(signal)) => {
            let name = nix::sys::signal::Signal::try_from(signal)
                .map_or_else(|_| signal.to_string(), |signal| signal.to_string());
            Some(format!("was ended by the signal {name}"))
        }
        (None, None) => Some("ended without a status".to_owned()),
    }
}
