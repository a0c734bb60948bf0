//! One process of a pair: started, given its turns, and read.

use super::turns::{Said, Socket, Wait};
use crate::AnyError;
use crate::run::arguments::RunArguments;
use crate::run::child::complaint;
use crate::run::program::{Program, written};
use hairspring_host::process::{Folder, Group, wait_until};
use hairspring_result::ResultDocument;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Lines of standard error that are shown of a program that failed.
const MOST_LINES: usize = 10;
/// A program ends within this time behind its last turn.
const ENDING: Duration = Duration::from_secs(10);

/// Where an arm stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Its process is not started.
    New,
    /// At the start of a group of benchmarks.
    AtStart,
    /// Between two batches of a group.
    Between,
    /// Its process has ended.
    Ended,
}

/// What is the same for all processes.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// Options of the programs.
    pub arguments: &'a RunArguments,
    /// The CPU on which programs run that may be bound to one.
    pub cpu: Option<usize>,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
}

impl Setting<'_> {
    /// Options of a process whose environment is larger by these bytes.
    pub fn padded(&self, padding: usize) -> RunArguments {
        RunArguments { padding, ..self.arguments.clone() }
    }
}

/// A process of a pair.
pub struct Arm<'a> {
    program: &'a Program,
    setting: Setting<'a>,
    folder: Folder,
    running: Option<(Child, Group)>,
    socket: Socket,
    deadline: Instant,
    /// Bytes by which its environment is larger.
    padding: usize,
    /// Where it stands.
    pub state: State,
    /// Whether it has ever given back a turn.
    pub takes_turns: bool,
}

impl<'a> Arm<'a> {
    /// A process that is not started yet.
    ///
    /// # Errors
    /// No folder or socket can be made.
    pub fn new(
        program: &'a Program,
        setting: Setting<'a>,
        padding: usize,
    ) -> Result<Self, AnyError> {
        let folder = Folder::new().map_err(|error| format!("a temporary folder: {error}"))?;
        let socket = Socket::new(&folder.path().join("turns"))?;
        let deadline = Instant::now() + setting.arguments.timeout;
        let (running, state, takes_turns) = (None, State::New, false);
        Ok(Arm { program, setting, folder, running, socket, deadline, padding, state, takes_turns })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts it. It waits for its first turn, if it takes turns.
    fn start(&mut self) -> Result<(), AnyError> {
        #[cfg(target_os = "linux")]
        crate::run::pages::in_other_pages(self.program.file(), self.setting.cpu);
        let mut command: Command =
            self.program.measuring(&self.setting.padded(self.padding), &self.file("result.json"));
        let errors = std::fs::File::create(self.file("errors"))
            .map_err(|error| format!("a temporary file: {error}"))?;
        command
            .env(hairspring_program::turns::VARIABLE, self.socket.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors);
        let started = Group::spawn(&mut command)
            .map_err(|error| format!("{}: cannot be started: {error}", self.program.shown))?;
        self.running = Some(started);
        Ok(())
    }

    /// Gives it a turn, and waits until it gives the turn back or ends.
    ///
    /// # Errors
    /// It cannot be started, takes too long, or fails.
    pub fn turn(&mut self) -> Result<(), AnyError> {
        if self.state == State::New {
            self.start()?;
        }
        let Some((child, _)) = &mut self.running else { return Ok(()) };
        let wait = Wait { deadline: self.deadline, stop: self.setting.stop };
        let said = self.socket.turn(child, self.setting.cpu, &wait);
        match said.map_err(|error| format!("{}: {error}", self.program.shown))? {
            Said::Start => (self.state, self.takes_turns) = (State::AtStart, true),
            Said::Over => (self.state, self.takes_turns) = (State::Between, true),
            Said::Nothing => self.end()?,
            Said::Stopped => {}
        }
        Ok(())
    }

    /// Waits for its end.
    fn end(&mut self) -> Result<(), AnyError> {
        self.state = State::Ended;
        let Some((mut child, group)) = self.running.take() else { return Ok(()) };
        let deadline = self.deadline.max(Instant::now() + ENDING);
        let status = wait_until(&mut child, deadline);
        drop(group);
        let _ = child.wait();
        let status = status
            .ok()
            .flatten()
            .ok_or_else(|| format!("{}: did not end (--timeout)", self.program.shown))?;
        match complaint(status) {
            Some(complaint) => {
                Err(format!("{}: {complaint}{}", self.program.shown, self.errors()).into())
            }
            None => Ok(()),
        }
    }

    /// The last lines of its standard error.
    fn errors(&self) -> String {
        let bytes = std::fs::read(self.file("errors")).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
        last.iter().map(|line| format!("\n  {line}")).collect()
    }

    /// What it has measured.
    ///
    /// # Errors
    /// It wrote no result.
    pub fn document(&self) -> Result<ResultDocument, AnyError> {
        let found = written(&self.file("result.json"));
        Ok(found.map_err(|error| format!("{}: {error}", self.program.shown))?)
    }
}

impl Drop for Arm<'_> {
    fn drop(&mut self) {
        if let Some((mut child, group)) = self.running.take() {
            drop(group);
            let _ = child.wait();
        }
    }
}
