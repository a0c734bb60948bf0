//! The parent's side of the child process: starts it, exchanges messages with a time limit, and
//! reports how it ended.

use crate::embedded;
use crate::error::{Error, Failure, Result, io};
use crate::host::{self, Phase};
use crate::protocol::{Command, CrashReport, Ended, Load, Received, Reply, receive, send};
use hairspring_core::observations::Pauses;
use hairspring_host::process::Group;
use hairspring_measure::Table;
use hairspring_measure::batches::Batches;
use hairspring_measure::limits::{Batch, MOST_ROUNDS_OF_A_MESSAGE};
use hairspring_measure::rounds::Raw;
use hairspring_measure::seating::{Seated, Threads};
use nix::sys::signal::Signal;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child as Process, ChildStdin, Command as Program, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

const STARTS_PROCESSES: &str = "tried to start a process or to change its session (SIGSYS)";
const REFUSED_INSTRUCTION: &str = "the processor refused an instruction: one whose address cannot \
                                   be (a pointer or a container that is spoilt, such as an empty \
                                   one that was popped), one that needs an aligned address, or a \
                                   privileged one, such as hlt, in or wrmsr";
const OVERWRITTEN_MEMORY: &str = "the code may have written where it should not: an index that \
                                  each evaluation raises leaves its array, as a row evaluates the \
                                  code up to 1,024 times";
const UNKNOWN_INSTRUCTION: &str = "this CPU may lack an instruction that the code uses (check \
                                   --cflags); compilers also end code of undefined behaviour, \
                                   such as a division by 0, with an invalid instruction";
const NO_PROCESSES: &str = "code that starts processes cannot be measured in straight-line \
                            copies; hyperfine and perf stat time a whole command, and `hairspring \
                            blocks PROGRAM FUNCTION` a function in it";

/// The environment variable with the command of the emulator under which this program runs, such as
/// `qemu-aarch64 -L DIRECTORY`.
pub const EMULATOR: &str = "HAIRSPRING_EMULATOR";

/// How to start a host: a program, and arguments with which it calls [`crate::host::main`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProgram {
    /// The program.
    pub program: std::path::PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl HostProgram {
    /// This program, with the hidden argument, or the one that it embeds because it cannot load
    /// code itself. A program for another processor is started by the emulator that the environment
    /// variable `HAIRSPRING_EMULATOR` names, because the system cannot.
    ///
    /// # Errors
    /// If the system does not report the path of this program, the embedded one cannot run here, or
    /// the emulator's command is no list of words.
    pub fn current() -> Result<HostProgram> {
        let program = embedded::program()?
            .map_or_else(|| std::env::current_exe().map_err(io("finding this program")), Ok)?;
        HostProgram::started_by(&std::env::var(EMULATOR).unwrap_or_default(), program)
    }

    fn started_by(emulator: &str, program: std::path::PathBuf) -> Result<HostProgram> {
        let not_words = || Error::BadRequest {
            what: EMULATOR.to_owned(),
            reason: format!("`{emulator}` is no list of words: a quote is missing"),
        };
        let mut words = shlex::split(emulator).ok_or_else(not_words)?;
        let own_arguments = vec![host::ARGUMENT.to_owned()];
        if words.is_empty() {
            return Ok(HostProgram { program, arguments: own_arguments });
        }
        let arguments =
            [words.split_off(1), vec![program.display().to_string()], own_arguments].concat();
        Ok(HostProgram { program: words.remove(0).into(), arguments })
    }
}

/// A running host.
#[derive(Debug)]
pub struct Child {
    process: Process,
    commands: Option<ChildStdin>,
    replies: Receiver<std::io::Result<Received<Reply>>>,
    output: File,
    timeout: Duration,
    is_asked: bool,
    seated: Seated,
    /// Pauses of the CPU that were seen and not yet added to a table.
    pauses: Pauses,
    _group: Group,
}

/// The output of the code under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// Total number of bytes.
    pub bytes: u64,
    /// The first line of it, cut.
    pub first_line: String,
}

impl Child {
    /// Starts a host and has it load a library.
    ///
    /// # Errors
    /// The host's refusal, or how the code under test ended it.
    pub fn start(
        host: &HostProgram,
        load: Load,
        timeout: Duration,
    ) -> Result<(Child, crate::protocol::Ready)> {
        let output = tempfile::tempfile().map_err(io("making a file for the code's output"))?;
        let stderr = output.try_clone().map_err(io("making a file for the code's output"))?;
        let mut program = Program::new(&host.program);
        program.args(&host.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        // The environment lies above the stack, so its size moves the stack where the system does
        // not do so itself.
        program.env("HAIRSPRING_PLACEMENT", "x".repeat(load.offset()));
        let (mut process, group) =
            Group::spawn(&mut program).map_err(io("starting the measuring process"))?;
        let (commands, replies) = (process.stdin.take(), listen(process.stdout.take()));
        let is_asked = load.is_asked;
        let mut child = Child {
            process,
            commands,
            replies,
            output,
            timeout,
            is_asked,
            seated: Seated::default(),
            pauses: Pauses::default(),
            _group: group,
        };
        match child.ask(&Command::Load(load))? {
            Reply::Ready(ready) => {
                child.seated = ready.seated;
                Ok((child, ready))
            }
            _ => Err(unexpected()),
        }
    }

    /// Sends a command and waits for the answer.
    ///
    /// # Errors
    /// The code under test ended the host, or it hangs.
    pub fn ask(&mut self, command: &Command) -> Result<Reply> {
        if let Some(pipe) = &mut self.commands {
            // If the host has ended, its answer is missing, which is handled below.
            let _ = send(pipe, command);
        }
        let mut received = self.replies.recv_timeout(self.timeout + OWN_PART + working(command));
        if matches!(received, Ok(Ok(Received::Message(Reply::Prepared)))) {
            // From here on the time is spent in the code under test.
            received = self.replies.recv_timeout(self.timeout + OWN_PART);
        }
        match received {
            Ok(Ok(Received::Message(Reply::Refused(message)))) => Err(Error::Child(message)),
            Ok(Ok(Received::Message(reply))) => Ok(reply),
            Ok(Ok(Received::Crash(report))) => Err(self.failed(crash_failure(report))),
            Ok(Ok(Received::Closed)) | Err(RecvTimeoutError::Disconnected) => Err(self.gone()),
            Ok(Err(error)) => Err(Error::Child(error.to_string())),
            Err(RecvTimeoutError::Timeout) => Err(Error::CodeFailed(self.hangs())),
        }
    }

    /// Runs rounds over some of the rows.
    ///
    /// # Errors
    /// As [`Child::ask`].
    pub fn run_rows(&mut self, rows: Vec<u32>, batch: Batch) -> Result<Vec<Raw>> {
        match self.ask(&Command::Run { rows, batch: batch.at_most(MOST_ROUNDS_OF_A_MESSAGE) })? {
            Reply::Batch(readings, seated, pauses) => {
                self.seated = seated;
                self.pauses.add(pauses);
                Ok(readings)
            }
            _ => Err(unexpected()),
        }
    }

    /// Where the timed thread is, and what is known of other threads.
    pub fn seated(&self) -> Seated {
        self.seated
    }

    /// Other threads that make it necessary to measure anew; a thread on a CPU that was asked for
    /// stays as it is.
    pub fn changed(&self) -> Option<Threads> {
        self.seated.threads.filter(|_| !self.is_asked)
    }

    /// Ends the run and asks for its circumstances.
    ///
    /// # Errors
    /// As [`Child::ask`].
    pub fn end(&mut self) -> Result<Ended> {
        match self.ask(&Command::End)? {
            Reply::Ended(ended) => Ok(ended),
            _ => Err(unexpected()),
        }
    }

    /// The failure of code that does not return, possibly because it retries a refused allocation.
    fn hangs(&self) -> Failure {
        let seconds = (self.timeout.as_secs_f64() * 1e3).round() / 1e3;
        let bytes = host::memory_of(self.process.id());
        if near_limit(bytes) {
            let place = format!("and did not return within {seconds} s");
            return Failure { what: "used up its memory".into(), place, hint: memory_hint(bytes) };
        }
        Failure {
            what: format!("did not return within {seconds} s"),
            place: "and was stopped".into(),
            hint: "if it really takes that long, give it more time with --timeout".into(),
        }
    }

    /// The code's output, if any.
    pub fn printed(&mut self, ended_process: &Ended) -> Option<Printed> {
        const SHOWN_CHARACTERS: u64 = 60;
        let bytes = self.output.metadata().ok()?.len() + ended_process.dropped_bytes;
        let mut start = Vec::new();
        self.output.rewind().ok()?;
        (&mut self.output).take(SHOWN_CHARACTERS).read_to_end(&mut start).ok()?;
        let text = String::from_utf8_lossy(&start);
        (bytes > 0)
            .then(|| Printed { bytes, first_line: text.lines().next().unwrap_or("").to_owned() })
    }

    /// The host ended without a report: it called exit, or it was killed.
    fn gone(&mut self) -> Error {
        let status = self.wait();
        let failure = match (status.and_then(|status| status.signal()),
            status.and_then(|status| status.code())) {
            // posix_spawn blocks the signal, so the crash handler did not run.
            (Some(libc::SIGSYS), _) => Failure { what: STARTS_PROCESSES.into(),
                place: "while it ran".into(), hint: NO_PROCESSES.into() },
            (Some(signal), _) => Failure {
                what: format!("was ended by {}", signal_name(signal)),
                place: "before it could report".into(),
                hint: if signal == libc::SIGKILL {
                    "the system may have run out of memory, unless the code kills itself".into()
                } else {
                    String::new()
                },
            },
            (None, None | Some(host::PIPES_GONE)) => Failure {
                what: "closed the instrument's descriptors".into(),
                place: "while it ran".into(),
                hint: "it may close only what it opened".into(),
            },
            (None, Some(_)) if self.last_line().is_some_and(|line| line.contains("ASan")
            || line.contains("Sanitizer")) => Failure {
                what: "was built with a sanitizer, which ended it".into(),
                place: "while it was loaded or measured".into(),
                hint: "a sanitizer cannot watch code that is loaded into a running process: leave \
                       -fsanitize out of --cflags".into(),
            },
            (None, Some(code)) => Failure {
                what: format!("ended the process with status {code}"),
                place: "instead of returning".into(),
                hint: "remove the call of exit, or measure the program with a stopwatch".into(),
            },
        };
        self.failed(failure)
    }

    fn wait(&mut self) -> Option<ExitStatus> {
        const PATIENCE: u32 = 200;
        for _ in 0..PATIENCE {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// The failure with the last line that the code printed, such as a failed assertion or an
    /// uncaught exception.
    fn failed(&mut self, mut failure: Failure) -> Error {
        if let Some(line) = self.last_line() {
            failure.hint +=
                &format!("{}it printed: {line}", if failure.hint.is_empty() { "" } else { "\n" });
        }
        Error::CodeFailed(failure)
    }

    /// The last line that the code wrote, cut.
    fn last_line(&mut self) -> Option<String> {
        const LOOKED_AT: u64 = 4096;
        const SHOWN_CHARACTERS: usize = 200;
        let bytes = self.output.metadata().ok()?.len();
        self.output.seek(SeekFrom::Start(bytes.saturating_sub(LOOKED_AT))).ok()?;
        let mut end = Vec::new();
        (&mut self.output).take(LOOKED_AT).read_to_end(&mut end).ok()?;
        let text = String::from_utf8_lossy(&end);
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(line.chars().take(SHOWN_CHARACTERS).collect())
    }
}

impl Batches for Child {
    type Error = Error;

    fn run(&mut self, batch: Batch, _: &dyn Fn() -> Duration, table: &mut Table) -> Result<()> {
        table.push(&self.run_rows((0..table.rows() as u32).collect(), batch)?);
        table.add_pauses(std::mem::take(&mut self.pauses));
        Ok(())
    }
}

/// The failure that a crash report describes.
pub fn crash_failure(report: CrashReport) -> Failure {
    let signal = report.signal as i32;
    let place = match report.phase {
        phase if phase == Phase::Loading as u64 => "while it was loaded".to_owned(),
        phase if phase == Phase::Setup as u64 => {
            "in --setup or the initialisers of --let".to_owned()
        }
        phase if phase == Phase::Row as u64 => "while it was measured".to_owned(),
        _ => "between two measurements".to_owned(),
    };
    let event = match signal {
        libc::SIGSYS => refused_call(report.address),
        libc::SIGXFSZ => "wrote more than 16 MiB to its output or to a file (SIGXFSZ)".to_owned(),
        libc::SIGSEGV | libc::SIGBUS if report.address != host::NO_ADDRESS => {
            format!("was ended by {} at address {:#x}", signal_name(signal), report.address)
        }
        _ => format!("was ended by {}", signal_name(signal)),
    };
    let hint = match signal {
        _ if near_limit(report.memory_bytes) => memory_hint(report.memory_bytes),
        libc::SIGSYS if host::signals_others(report.address).is_some() => {
            "the code may signal only its own process; to time a system call, choose one that \
             affects no other process"
                .to_owned()
        }
        libc::SIGSYS => NO_PROCESSES.to_owned(),
        libc::SIGSEGV | libc::SIGBUS if report.address == host::NO_ADDRESS => {
            REFUSED_INSTRUCTION.to_owned()
        }
        libc::SIGSEGV | libc::SIGBUS if report.phase == Phase::Instrument as u64 => {
            OVERWRITTEN_MEMORY.to_owned()
        }
        libc::SIGILL => UNKNOWN_INSTRUCTION.to_owned(),
        libc::SIGXCPU => "it used up its processor time".to_owned(),
        _ => String::new(),
    };
    Failure { what: event, place, hint }
}

/// A system call that was refused, by its number.
fn refused_call(number: u64) -> String {
    let call_of_others = host::signals_others(number)
        .map(|call| format!("tried to reach another process with {call}() (SIGSYS)"));
    call_of_others.unwrap_or_else(|| STARTS_PROCESSES.to_owned())
}

impl Drop for Child {
    fn drop(&mut self) {
        self.commands = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether an address space of this size means that further memory was refused. That of an emulator
/// says nothing: for a processor of 32 bits it reserves 4 GiB.
fn near_limit(bytes: u64) -> bool {
    let emulated = std::env::var_os(EMULATOR).is_some_and(|words| !words.is_empty());
    !emulated && bytes > host::MOST_MEMORY_BYTES / 4 * 3
}

fn memory_hint(bytes: u64) -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    format!(
        "it held {:.1} GiB of address space and the limit is {:.0} GiB: it may allocate without \
         limit",
        gib(bytes),
        gib(host::MOST_MEMORY_BYTES)
    )
}

/// Rejects a run that ended normally but used up its memory: its later readings time refused
/// allocations.
///
/// # Errors
/// [`Error::CodeFailed`] with the memory limit.
pub fn check_memory(ended_process: &Ended) -> Result<()> {
    let failure = || Failure {
        what: "used up its memory".into(),
        place: "while it was measured".into(),
        hint: memory_hint(ended_process.memory_bytes),
    };
    if near_limit(ended_process.memory_bytes) { Err(Error::CodeFailed(failure())) } else { Ok(()) }
}

/// Time limit for the instrument's own preparation: calibrating its clock and proving the reference
/// chain.
const OWN_LOADING: Duration = Duration::from_secs(60);

/// Time allowed on a busy machine for the instrument's part of an answer: linking the code, sending
/// readings.
const OWN_PART: Duration = Duration::from_secs(1);

/// Time that a command is expected to run the code.
fn working(command: &Command) -> Duration {
    match command {
        Command::Run { batch, .. } => batch.time,
        Command::Load(_) => OWN_LOADING,
        Command::End => Duration::ZERO,
    }
}

/// The error of a reply that does not belong to the command.
pub fn unexpected() -> Error {
    Error::Child("an unexpected reply: the code may have written into the instrument's pipe".into())
}

fn signal_name(number: i32) -> String {
    Signal::try_from(number)
        .map_or_else(|_| format!("signal {number}"), |signal| signal.as_str().to_owned())
}

/// Reads replies on a separate thread, so that waiting for one can have a limit.
fn listen(pipe: Option<std::process::ChildStdout>) -> Receiver<std::io::Result<Received<Reply>>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        loop {
            let received = receive(&mut pipe);
            let last = !matches!(received, Ok(Received::Message(_)));
            if sender.send(received).is_err() || last {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emulator_comes_before_this_program() {
        let started = |emulator: &str| HostProgram::started_by(emulator, "/here/program".into());
        let plain = started("").unwrap();
        assert_eq!(
            (plain.program.as_path(), plain.arguments.len()),
            (std::path::Path::new("/here/program"), 1)
        );
        let emulated = started("qemu-arm -L '/a b'").unwrap();
        assert_eq!(emulated.program, std::path::Path::new("qemu-arm"));
        assert_eq!(emulated.arguments, ["-L", "/a b", "/here/program", host::ARGUMENT]);
        assert!(started("qemu-arm 'open").unwrap_err().to_string().contains("a quote is missing"));
    }
}
