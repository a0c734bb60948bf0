//! Reads the lines of the inputs from a file, from standard input or from the output of a command.

use super::BlocksArguments;
use crate::AnyError;
use hairspring_blocks::{Error, Input, read_inputs};
use hairspring_host::process::{Group, wait_until};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The inputs.
///
/// # Errors
/// A file that cannot be read, is not a list of inputs or is too long; a command that fails or
/// takes too long.
pub fn inputs(arguments: &BlocksArguments) -> Result<Vec<Input>, AnyError> {
    match (&arguments.inputs, &arguments.generate) {
        (Some(path), _) if path.as_os_str() == "-" => Ok(read_inputs(std::io::stdin().lock())?),
        (Some(path), _) => from_file(path),
        (None, Some(command)) => generate(command, arguments.timeout),
        // clap asks for one of the two.
        (None, None) => Ok(Vec::new()),
    }
}

fn from_file(path: &Path) -> Result<Vec<Input>, AnyError> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    read_inputs(BufReader::new(file)).map_err(|error| match error {
        Error::System { reason, .. } => format!("{}: {reason}", path.display()).into(),
        other => other.into(),
    })
}

/// The inputs that a command prints. The command is killed when its time is over, or when it prints
/// more than can be used.
fn generate(command: &str, timeout: Duration) -> Result<Vec<Input>, AnyError> {
    let deadline = Instant::now() + timeout;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::piped());
    let (mut child, _group) = Group::spawn_marked(&mut shell)?;
    let output = child.stdout.take().ok_or("--generate: no output")?;
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(read_inputs(BufReader::new(output))));
    let late = || {
        format!(
            "--generate: `{command}` has not ended after {} s (--timeout)",
            timeout.as_secs_f64()
        )
    };
    let inputs = match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(inputs) => inputs,
        Err(RecvTimeoutError::Timeout) => return Err(late().into()),
        Err(RecvTimeoutError::Disconnected) => {
            return Err("--generate: its output could not be read".into());
        }
    };
    // After a bad line the rest of the output is not read, so the status of the command says
    // nothing.
    let is_whole = matches!(&inputs, Ok(_) | Err(Error::NoLines));
    if is_whole && !ended(&mut child, command, deadline)? {
        return Err(late().into());
    }
    Ok(inputs?)
}

/// Whether a command ended in time; an error if it failed.
fn ended(child: &mut Child, command: &str, deadline: Instant) -> Result<bool, AnyError> {
    match wait_until(child, deadline)? {
        Some(status) if !status.success() => {
            Err(format!("--generate: `{command}` ended with {status}").into())
        }
        status => Ok(status.is_some()),
    }
}
