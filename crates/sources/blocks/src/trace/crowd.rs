//! The program on its way to the function, with all of its threads and the processes that it
//! starts: any of its threads may make the call.
//!
//! All are traced, because a breakpoint in memory that is copied or shared would end one that is
//! not. Calls of the first process count. A process that it starts is held at the function, and its
//! calls count if the first one ends or waits for it.

use super::process::{BREAKPOINT, FAULTS, Process, Resume, Stop};
use crate::error::{Error, Result};
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Time between two looks whether the first process waits, and how long it must for a call of
/// another one to count.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_millis(200);
/// The same for a thread that others, which are parked, may keep waiting.
const PATIENCE_OF_ONE: Duration = Duration::from_millis(20);

/// Another thread or process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Other {
    /// Whether its first stop is still to come, which has no meaning.
    is_new: bool,
    /// Whether it uses the memory of the process that started it until it runs another program
    /// (vfork).
    borrows: bool,
}

/// The first process with all that it starts.
#[derive(Debug)]
pub struct Crowd {
    /// The thread that runs, and that is stopped at the function afterwards.
    pub process: Process,
    /// The process whose calls count.
    first: Pid,
    /// How it ended.
    how_ended: Option<String>,
    other_threads: BTreeMap<Pid, Other>,
    /// Those of which the first stop came before the news of them.
    early: BTreeSet<Pid>,
    /// Whether the process whose calls count ended by itself.
    pub exited: bool,
    /// Processes that are stopped at the function.
    held_threads: Vec<Pid>,
    /// The only thread that is waited for, if there is one.
    only: Option<Pid>,
    /// Threads that stopped at a place where only that one is waited for, and the byte there. They
    /// wait until the breakpoints are removed: if they were to step over one, that thread might
    /// pass it meanwhile.
    parked: Vec<(Pid, u64, u8)>,
}

/// An address to stop at, and the byte there.
type Place = (u64, u8);

/// What came of an event.
enum Event {
    /// A thread whose calls count has reached the place.
    Reached(Pid),
    /// Nothing of interest.
    Passed,
}

impl Crowd {
    /// A program that has not run yet.
    pub fn new(process: Process) -> Crowd {
        let first = Pid::from_raw(process.id());
        Crowd {
            process,
            first,
            how_ended: None,
            other_threads: BTreeMap::new(),
            early: BTreeSet::new(),
            exited: false,
            held_threads: Vec::new(),
            only: None,
            parked: Vec::new(),
        }
    }

    /// Whether there is nothing but one thread of one process.
    pub fn is_alone(&self) -> bool {
        self.other_threads.is_empty()
    }

    /// Runs up to the first of some addresses, each with the byte there, and removes the
    /// breakpoints; returns which. It is any thread that gets there, or `only` one.
    ///
    /// # Errors
    /// By `end_error`: the program ends before, or replaces itself.
    pub fn run_to(
        &mut self,
        places: &[Place],
        only: Option<i32>,
        end_error: &dyn Fn(String) -> Error,
    ) -> Result<u64> {
        self.only = only.map(Pid::from_raw);
        places.iter().try_for_each(|(address, _)| self.process.poke(*address, &[BREAKPOINT]))?;
        self.process.resume(Resume::Run)?;
        let reached = loop {
            let status = self.wait(end_error)?;
            if let Event::Reached(thread) = self.handle(status, places, end_error)? {
                break thread;
            }
        };
        self.change_to(reached);
        let at = self.process.instruction()?.wrapping_sub(1);
        places
            .iter()
            .try_for_each(|(address, original)| self.process.poke(*address, &[*original]))?;
        self.process.go_to(at)?;
        std::mem::take(&mut self.parked).into_iter().for_each(|(id, ..)| go_on(id, None));
        Ok(at)
    }

    /// Runs one instruction of the thread that is stopped.
    ///
    /// # Errors
    /// The thread ends there.
    pub fn step(&mut self, end_error: &dyn Fn(String) -> Error) -> Result<()> {
        // A signal from before would be delivered in place of the step.
        let mut held_signal = self.process.hold();
        loop {
            match self.process.run(Resume::Step)? {
                Stop::Trap => break,
                // Delivered when the thread runs on: a handler that begins here would come back to
                // the same instruction.
                Stop::Signal(signal) if FAULTS.contains(&signal) => {}
                Stop::Signal(_) => held_signal = held_signal.or(self.process.hold()),
                Stop::Filtered | Stop::SystemCall | Stop::VforkDone => {}
                Stop::NewProcess { id, .. } => self.joined(Pid::from_raw(id), false),
                other => return Err(end_error(other.as_end())),
            }
        }
        self.process.deliver_later(held_signal);
        Ok(())
    }

    /// Runs the thread that is stopped for one instruction at least, up to the first of some
    /// addresses.
    ///
    /// # Errors
    /// By `end_error`: the program ends before.
    pub fn step_to(
        &mut self,
        places: &[Place],
        end_error: &dyn Fn(String) -> Error,
    ) -> Result<u64> {
        self.step(end_error)?;
        let at = self.process.instruction()?;
        if places.iter().any(|(place, _)| *place == at) {
            return Ok(at);
        }
        self.run_to(places, Some(self.process.id()), end_error)
    }

    /// Makes another thread the one that is looked at.
    fn change_to(&mut self, thread: Pid) {
        let before = Pid::from_raw(self.process.id());
        if before != thread {
            self.other_threads.remove(&thread);
            self.other_threads.insert(before, Other { is_new: false, borrows: false });
            self.process.change_to(thread);
        }
    }

    /// The next event of any of them.
    fn wait(&mut self, end_error: &dyn Fn(String) -> Error) -> Result<WaitStatus> {
        let mut since = Instant::now();
        loop {
            // Alone it is asked for by its number: others of this command are not looked at.
            let whom = if self.other_threads.is_empty() {
                Pid::from_raw(self.process.id())
            } else {
                Pid::from_raw(-1)
            };
            let must_look = self.parked.len() + self.held_threads.len() > 0;
            let flags = if must_look {
                WaitPidFlag::__WALL | WaitPidFlag::WNOHANG
            } else {
                WaitPidFlag::__WALL
            };
            let status = match waitpid(whom, Some(flags)) {
                Ok(WaitStatus::StillAlive) if self.only.is_some() => {
                    self.let_parked_pass(&mut since)?;
                    continue;
                }
                Ok(WaitStatus::StillAlive) => {
                    if !is_asleep(self.first) && self.how_ended.is_none() {
                        since = Instant::now();
                    }
                    if since.elapsed() > PATIENCE {
                        return Ok(self.take_held());
                    }
                    std::thread::sleep(LOOK_INTERVAL);
                    continue;
                }
                Ok(status) => status,
                Err(Errno::ECHILD) if !self.held_threads.is_empty() => return Ok(self.take_held()),
                Err(error) => return Err(Error::system("wait for the program", error)),
            };
            let Some(id) = status.pid() else { continue };
            if self.other_threads.contains_key(&id) || id.as_raw() == self.process.id() {
                return Ok(status);
            }
            if matches!(status, WaitStatus::Stopped(_, Signal::SIGSTOP)) {
                self.early.insert(id);
            }
            if self.other_threads.is_empty() && self.how_ended.is_some() {
                return Err(end_error(self.how_ended.clone().unwrap_or_default()));
            }
        }
    }

    /// Waits a moment; if the only thread that is waited for sleeps on, a parked thread may keep it
    /// waiting, and passes.
    fn let_parked_pass(&mut self, since: &mut Instant) -> Result<()> {
        if !self.only.is_some_and(|only| sleeps(self.first, only)) {
            *since = Instant::now();
        }
        if since.elapsed() > PATIENCE_OF_ONE && !self.parked.is_empty() {
            let (id, at, original) = self.parked.remove(0);
            pass(id, at, original)?;
        }
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }

    /// The stop of a process that was held: from here on, its calls count.
    fn take_held(&mut self) -> WaitStatus {
        let thread = self.held_threads.remove(0);
        (self.first, self.exited) = (thread, false);
        WaitStatus::Stopped(thread, Signal::SIGTRAP)
    }

    fn handle(
        &mut self,
        status: WaitStatus,
        places: &[Place],
        end_error: &dyn Fn(String) -> Error,
    ) -> Result<Event> {
        match status {
            WaitStatus::Exited(id, code) => {
                self.exited |= id == self.first;
                self.gone(id, format!("the program ended before, with status {code}"), end_error)?;
            }
            WaitStatus::Signaled(id, Signal::SIGKILL, _) if id == self.first => {
                self.process.has_ended();
                return Err(end_error(format!(
                    "the program was killed by {} before",
                    Signal::SIGKILL
                )));
            }
            WaitStatus::Signaled(id, signal, _) => {
                self.gone(id, format!("the program was killed by {signal} before"), end_error)?
            }
            WaitStatus::PtraceEvent(
                id,
                _,
                libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE,
            ) => {
                let borrows =
                    matches!(status, WaitStatus::PtraceEvent(_, _, libc::PTRACE_EVENT_VFORK));
                if let Ok(new) = ptrace::getevent(id) {
                    self.joined(Pid::from_raw(new as i32), borrows);
                }
                go_on(id, None);
            }
            WaitStatus::PtraceEvent(id, _, libc::PTRACE_EVENT_EXEC) => {
                if is_of(id, self.first) {
                    return Err(end_error(
                        "it replaces itself with another program: give that program instead".into(),
                    ));
                }
                let _ = ptrace::detach(id, None);
                self.process.members.remove(id);
                self.other_threads.remove(&id);
            }
            WaitStatus::Stopped(id, Signal::SIGTRAP) => return self.trapped(id, places),
            WaitStatus::Stopped(id, signal) => {
                let is_first = signal == Signal::SIGSTOP
                    && self.other_threads.get(&id).is_some_and(|other| other.is_new);
                if let Some(other) = self.other_threads.get_mut(&id).filter(|_| is_first) {
                    other.is_new = false;
                }
                go_on(id, (!is_first).then_some(signal));
            }
            WaitStatus::PtraceEvent(id, ..) | WaitStatus::PtraceSyscall(id) => go_on(id, None),
            WaitStatus::Continued(_) | WaitStatus::StillAlive => {}
        }
        Ok(Event::Passed)
    }

    /// A thread or a process that was started.
    fn joined(&mut self, new: Pid, borrows: bool) {
        let is_new = !self.early.remove(&new);
        self.other_threads.insert(new, Other { is_new, borrows });
        self.process.members.add(new);
        self.process.has_started_others();
        if !is_new {
            go_on(new, None);
        }
    }

    /// One of them has ended.
    fn gone(&mut self, id: Pid, how: String, end_error: &dyn Fn(String) -> Error) -> Result<()> {
        if id == self.first {
            self.how_ended = Some(how);
        }
        self.process.members.remove(id);
        self.held_threads.retain(|held| *held != id);
        self.parked.retain(|(parked, ..)| *parked != id);
        if id.as_raw() == self.process.id() {
            match self.other_threads.keys().next().copied() {
                // Any other will do until one reaches the function.
                Some(other_thread) => {
                    self.other_threads.remove(&other_thread);
                    self.process.change_to(other_thread);
                }
                None => self.process.has_ended(),
            }
        } else {
            self.other_threads.remove(&id);
        }
        let is_left = !self.other_threads.is_empty() || id.as_raw() != self.process.id();
        if is_left
            && !(self.how_ended.is_some()
                && self.other_threads.is_empty()
                && self.held_threads.is_empty()
                && self.process.id() == id.as_raw())
        {
            return Ok(());
        }
        Err(end_error(
            self.how_ended.clone().unwrap_or_else(|| "the program ended before".to_owned()),
        ))
    }

    /// A thread stopped at a breakpoint, or for a reason of its own.
    fn trapped(&mut self, id: Pid, places: &[Place]) -> Result<Event> {
        let at = instruction(id)?.wrapping_sub(1);
        let Some((_, original)) = places.iter().find(|(address, _)| *address == at) else {
            go_on(id, None);
            return Ok(Event::Passed);
        };
        if self.other_threads.get(&id).is_some_and(|other| other.borrows)
            && shares_memory(id, self.first)
        {
            pass(id, at, *original)?;
            return Ok(Event::Passed);
        }
        match (self.only, is_of(id, self.first)) {
            (None, true) => return Ok(Event::Reached(id)),
            (Some(only), true) if only == id => return Ok(Event::Reached(id)),
            (Some(_), true) => {
                self.park(id, at, *original)?;
                return Ok(Event::Passed);
            }
            // It has a copy of the memory, with breakpoints of its own.
            (Some(_), false) => {
                pass(id, at, *original)?;
                return Ok(Event::Passed);
            }
            (None, false) => {}
        }
        self.held_threads.push(id);
        Ok(Event::Passed)
    }

    /// Keeps a thread at the instruction of a breakpoint.
    fn park(&mut self, id: Pid, at: u64, original: u8) -> Result<()> {
        go_back(id, at)?;
        self.parked.push((id, at, original));
        Ok(())
    }

    /// Ends all of them.
    fn end(&mut self) {
        self.process.members.clear();
        let over = |status: nix::Result<WaitStatus>| {
            matches!(status, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(_))
        };
        let mut threads_left: Vec<Pid> =
            self.other_threads.keys().copied().chain(std::mem::take(&mut self.early)).collect();
        for id in &threads_left {
            let _ = kill(*id, Signal::SIGKILL);
        }
        self.process.kill();
        while !threads_left.is_empty() {
            threads_left
                .retain(|id| !over(waitpid(*id, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG))));
            self.process.reap();
            std::thread::sleep(Duration::from_millis(1));
        }
        self.other_threads.clear();
    }

    /// The process at the call, alone; all others end.
    ///
    /// # Errors
    /// The system's error.
    pub fn into_process(mut self, from: u64) -> Result<Process> {
        if self.is_alone() { Ok(self.process.hand_over()) } else { self.process.fork(from) }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.end();
    }
}

/// Continues a thread; one that is gone meanwhile is seen by its end.
fn go_on(id: Pid, signal: Option<Signal>) {
    let _ = ptrace::cont(id, signal);
}

/// Lets a thread pass a breakpoint.
fn pass(id: Pid, at: u64, original: u8) -> Result<()> {
    let failed = |e| Error::system("pass the function in another process", e);
    super::process::poke(id, at, &[original])?;
    go_back(id, at)?;
    ptrace::step(id, None).map_err(failed)?;
    waitpid(id, Some(WaitPidFlag::__WALL)).map_err(failed)?;
    super::process::poke(id, at, &[BREAKPOINT])?;
    go_on(id, None);
    Ok(())
}

/// Sets the address where a thread continues.
fn go_back(id: Pid, at: u64) -> Result<()> {
    let failed = |e| Error::system("pass the function in another thread", e);
    let registers = ptrace::getregs(id).map_err(failed)?;
    ptrace::setregs(id, libc::user_regs_struct { rip: at, ..registers }).map_err(failed)
}

fn instruction(id: Pid) -> Result<u64> {
    ptrace::getregs(id)
        .map(|registers| registers.rip)
        .map_err(|e| Error::system("read the program's registers", e))
}

/// Whether a thread belongs to a process.
fn is_of(thread: Pid, process: Pid) -> bool {
    thread == process || Path::new(&format!("/proc/{process}/task/{thread}")).exists()
}

fn shares_memory(one: Pid, other: Pid) -> bool {
    super::process::share_memory(one.as_raw(), other.as_raw())
}

/// Whether all threads of a process sleep.
fn is_asleep(process: Pid) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{process}/task")) else { return true };
    threads
        .filter_map(std::io::Result::ok)
        .all(|thread| matches!(state(&thread.path()), Some('S' | 'D' | 'Z' | 'X') | None))
}

/// Whether a thread of a process sleeps.
fn sleeps(process: Pid, thread: Pid) -> bool {
    matches!(state(Path::new(&format!("/proc/{process}/task/{thread}"))), Some('S' | 'D'))
}

/// The state of a thread, by its folder in /proc.
fn state(thread: &Path) -> Option<char> {
    let text = std::fs::read_to_string(thread.join("stat")).unwrap_or_default();
    // The name before it, in brackets, may contain anything.
    text.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next())
}
