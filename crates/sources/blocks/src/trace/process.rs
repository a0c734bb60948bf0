//! A traced process: its registers, memory and stops.
#![allow(
    unsafe_code,
    reason = "the requests for the state of the vector registers and for the mask of signals have \
              no safe form; the pointers are to live values"
)]

mod launch;
mod memory;

use super::maps::Mapping;
use super::watchdog::Members;
use crate::error::{Error, Result};
use hairspring_host::process::Group;
pub(super) use memory::poke;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

/// The instruction that calls the system.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// The one-byte breakpoint instruction.
pub const BREAKPOINT: u8 = 0xcc;

/// The flag with which a processor stops after each instruction.
pub const TRAP_FLAG: u64 = 0x100;

/// Signals of the instruction itself, which come again if they are held.
pub const FAULTS: [Signal; 4] = [Signal::SIGSEGV, Signal::SIGBUS, Signal::SIGFPE, Signal::SIGILL];

/// Registers of the program.
pub type Registers = libc::user_regs_struct;

/// Why a program stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// At a breakpoint or after a single step.
    Trap,
    /// At the beginning or end of a system call.
    SystemCall,
    /// Before a system call that the filter does not let through.
    Filtered,
    /// It started another process or thread.
    NewProcess {
        /// Its number.
        id: i32,
        /// Whether it is a thread of the same process.
        thread: bool,
    },
    /// A child process that shared its memory (vfork) no longer does.
    VforkDone,
    /// It replaced itself with another program (exec).
    Exec,
    /// It got a signal, which is delivered when it continues.
    Signal(Signal),
    /// It exited.
    Exited(i32),
    /// A signal killed it.
    Killed(Signal),
}

impl Stop {
    /// The message for a stop that should not have ended the call.
    pub fn as_end(self) -> String {
        match self {
            Stop::Killed(Signal::SIGKILL) => {
                "something killed it during the call (SIGKILL)".to_owned()
            }
            Stop::Killed(Signal::SIGSYS) => {
                "it makes system calls of 32-bit programs, which are not repeated".to_owned()
            }
            Stop::Killed(signal) => format!("it crashed during the call ({signal})"),
            Stop::Exited(code) => {
                format!(
                    "the program ended during the call, with status {code} (by exit, or after an \
                     exception or longjmp left the function)"
                )
            }
            Stop::NewProcess { .. } => {
                "it started another process or thread during the call".to_owned()
            }
            Stop::Exec => "it started another program during the call".to_owned(),
            Stop::Trap | Stop::SystemCall | Stop::Filtered | Stop::Signal(_) | Stop::VforkDone => {
                "it stopped unexpectedly".to_owned()
            }
        }
    }
}

/// How a program continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// At full speed.
    Run,
    /// At full speed, up to the next system call.
    RunToSystemCall,
    /// By one instruction.
    Step,
}

/// The process group of a program, which ends with the last process that is looked at.
#[derive(Debug)]
struct Owner {
    group: RefCell<Group>,
    /// Whether the program started other processes.
    forked: Cell<bool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if !self.forked.get() {
            self.group.borrow_mut().has_no_children();
        }
    }
}

/// A traced process that is killed when this goes out of scope.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    /// What ends with it when a deadline passes.
    pub members: Members,
    owner: Rc<Owner>,
    pending: Option<Signal>,
    has_ended: bool,
    /// Threads that it started: its end is reported only after theirs.
    threads: Vec<Pid>,
    /// The process that it started last.
    newest: Option<Pid>,
}

impl Process {
    /// Its number.
    pub fn id(&self) -> i32 {
        self.pid.as_raw()
    }

    /// Continues it, with the signal that stopped it, if any.
    pub fn resume(&mut self, how: Resume) -> Result<()> {
        let signal = self.pending.take();
        let gone = |e| refused("continue the program", e);
        match how {
            Resume::Run => ptrace::cont(self.pid, signal).map_err(gone),
            Resume::RunToSystemCall => ptrace::syscall(self.pid, signal).map_err(gone),
            Resume::Step => ptrace::step(self.pid, signal).map_err(gone),
        }
    }

    /// Waits until it stops.
    pub fn wait(&mut self) -> Result<Stop> {
        let status = waitpid(self.pid, Some(WaitPidFlag::__WALL))
            .map_err(|e| refused("wait for the program", e))?;
        Ok(match status {
            WaitStatus::Exited(_, code) => {
                self.has_ended();
                Stop::Exited(code)
            }
            WaitStatus::Signaled(_, signal, _) => {
                self.has_ended();
                Stop::Killed(signal)
            }
            WaitStatus::PtraceSyscall(_) => Stop::SystemCall,
            WaitStatus::PtraceEvent(_, _, event) if event == libc::PTRACE_EVENT_EXEC => Stop::Exec,
            WaitStatus::PtraceEvent(_, _, event) if event == libc::PTRACE_EVENT_SECCOMP => {
                Stop::Filtered
            }
            WaitStatus::PtraceEvent(_, _, event) if event == libc::PTRACE_EVENT_VFORK_DONE => {
                Stop::VforkDone
            }
            WaitStatus::PtraceEvent(_, _, event) => {
                let id = ptrace::getevent(self.pid)
                    .map_err(|e| refused("identify the process that the program started", e))?
                    as i32;
                let thread = event == libc::PTRACE_EVENT_CLONE
                    && Path::new(&format!("/proc/{}/task/{id}", self.pid)).exists();
                if thread {
                    self.threads.push(Pid::from_raw(id));
                    return Ok(Stop::NewProcess { id, thread });
                }
                self.newest = Some(Pid::from_raw(id));
                self.owner.forked.set(true);
                Stop::NewProcess { id, thread: false }
            }
            WaitStatus::Stopped(_, Signal::SIGTRAP) => Stop::Trap,
            WaitStatus::Stopped(_, signal) => {
                self.pending = Some(signal);
                Stop::Signal(signal)
            }
            _ => Stop::Trap,
        })
    }

    /// Notes that it started others.
    pub fn has_started_others(&self) {
        self.owner.forked.set(true);
    }

    /// Notes that it has ended and was waited for.
    pub fn has_ended(&mut self) {
        self.members.remove(self.pid);
        self.has_ended = true;
    }

    /// Looks at another thread from here on.
    pub fn change_to(&mut self, thread: Pid) {
        (self.pid, self.pending) = (thread, None);
    }

    /// This process, which is no longer killed when `self` goes out of scope.
    #[must_use]
    pub fn hand_over(&mut self) -> Process {
        let has_ended = std::mem::replace(&mut self.has_ended, true);
        let (members, owner) = (std::mem::take(&mut self.members), self.owner.clone());
        Process {
            pid: self.pid,
            members,
            owner,
            pending: self.pending.take(),
            has_ended,
            threads: Vec::new(),
            newest: None,
        }
    }

    /// CPU time that it took so far, with all its threads; none if it has ended.
    pub fn cpu_time(&self) -> Duration {
        // Of another process, only the clock of its first thread can be read.
        clock_getcpuclockid(self.pid)
            .or_else(|_| clock_getcpuclockid(first_thread(self.pid)))
            .and_then(clock_gettime)
            .map(Duration::from)
            .unwrap_or_default()
    }

    /// A copy of the process as it is, with this thread only. It is a sibling, of which the program
    /// knows nothing. The system call is made from an address of code.
    ///
    /// # Errors
    /// The system's error.
    pub fn fork(&mut self, from: u64) -> Result<Process> {
        const SIBLING: u64 = (libc::CLONE_PARENT | libc::SIGCHLD) as u64;
        let before = self.registers()?;
        let mut bytes = [0u8; SYSCALL.len()];
        if !self.read(from, &mut bytes) {
            return Err(Error::system("copy the program", "its code is not readable"));
        }
        self.newest = None;
        self.system_call(from, libc::SYS_clone, [SIBLING, 0, 0, 0, 0, 0])?;
        let pid = self
            .newest
            .take()
            .ok_or_else(|| Error::system("copy the program", "the copy is not traced"))?;
        let (members, owner) = (Members::of(pid), self.owner.clone());
        let copy = Process {
            pid,
            members,
            owner,
            pending: None,
            has_ended: false,
            threads: Vec::new(),
            newest: None,
        };
        waitpid(pid, Some(WaitPidFlag::__WALL))
            .map_err(|e| refused("wait for the copy of the program", e))?;
        copy.poke(from, &bytes)?;
        // A thread that was stepped may keep this flag.
        copy.set_registers(Registers {
            orig_rax: u64::MAX,
            eflags: before.eflags & !TRAP_FLAG,
            ..before
        })?;
        Ok(copy)
    }

    /// Memory that it holds for itself, in bytes, with its part of what it shares; 0 if the kernel
    /// does not tell.
    pub fn holds(&self) -> u64 {
        let text =
            std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
        line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok())
            .map_or(0, |kib| kib << 10)
    }

    /// Takes the signal that stopped it, so that it is not delivered.
    pub fn hold(&mut self) -> Option<Signal> {
        self.pending.take()
    }

    /// Sets the signal to be delivered when it continues.
    pub fn deliver_later(&mut self, signal: Option<Signal>) {
        self.pending = self.pending.or(signal);
    }

    /// Continues it and waits until it stops.
    pub fn run(&mut self, how: Resume) -> Result<Stop> {
        self.resume(how)?;
        self.wait()
    }

    /// Its registers.
    pub fn registers(&self) -> Result<Registers> {
        ptrace::getregs(self.pid).map_err(|e| refused("read the program's registers", e))
    }

    /// Sets its registers.
    pub fn set_registers(&self, registers: Registers) -> Result<()> {
        ptrace::setregs(self.pid, registers).map_err(|e| refused("set the program's registers", e))
    }

    /// The address of its next instruction.
    pub fn instruction(&self) -> Result<u64> {
        self.user(offset_of!(Registers, rip))
    }

    /// The stack pointer.
    pub fn stack(&self) -> Result<u64> {
        self.user(offset_of!(Registers, rsp))
    }

    /// The address whose use raised the signal that stopped it.
    pub fn fault(&self) -> Option<u64> {
        let about = ptrace::getsiginfo(self.pid).ok()?;
        // SAFETY: the kernel fills in this field for the signals of faults, and it is a plain
        // number for others.
        Some(unsafe { about.si_addr() } as u64)
    }

    /// Makes the system call before which it is stopped fail: it is not done even if the process
    /// goes on.
    pub fn cancel_system_call(&self) -> Result<()> {
        let set = ptrace::write_user(
            self.pid,
            offset_of!(Registers, orig_rax) as ptrace::AddressType,
            -1,
        );
        set.map_err(|e| refused("cancel a system call", e))
    }

    fn user(&self, offset: usize) -> Result<u64> {
        let word = ptrace::read_user(self.pid, offset as ptrace::AddressType);
        word.map(|word| word as u64).map_err(|e| refused("read a register of the program", e))
    }

    /// Sets the address where it continues.
    pub fn go_to(&self, address: u64) -> Result<()> {
        let set = ptrace::write_user(
            self.pid,
            offset_of!(Registers, rip) as ptrace::AddressType,
            address as libc::c_long,
        );
        set.map_err(|e| refused("set a register of the program", e))
    }

    /// The state of the x87 and vector registers, as the instruction XSAVE lays it out.
    pub fn vector_state(&self) -> Result<Vec<u8>> {
        const NT_X86_XSTATE: usize = 0x202;
        let mut state = vec![0u8; 16 << 10];
        let mut slice = libc::iovec { iov_base: state.as_mut_ptr().cast(), iov_len: state.len() };
        // SAFETY: the kernel writes up to iov_len bytes to the buffer, which lives here, and sets
        // iov_len to what it wrote.
        let done = unsafe {
            libc::ptrace(libc::PTRACE_GETREGSET, self.pid.as_raw(), NT_X86_XSTATE, &raw mut slice)
        };
        if done != 0 {
            return Err(Error::system(
                "read the program's vector registers",
                std::io::Error::last_os_error(),
            ));
        }
        state.truncate(slice.iov_len);
        Ok(state)
    }

    /// Blocks all signals except those of faults: the program's timers would interrupt the repeated
    /// calls.
    ///
    /// # Errors
    /// The system's error.
    pub fn hold_signals(&self) -> Result<()> {
        const LET_THROUGH: [libc::c_int; 5] =
            [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
        let held_signals: u64 = LET_THROUGH
            .iter()
            .fold(u64::MAX, |held_signals, signal| held_signals & !(1 << (signal - 1)));
        // SAFETY: the kernel reads eight bytes, the size of its set of signals, from a value that
        // lives here.
        let done = unsafe {
            libc::ptrace(
                libc::PTRACE_SETSIGMASK,
                self.pid.as_raw(),
                size_of::<u64>(),
                &raw const held_signals,
            )
        };
        match done {
            0 => Ok(()),
            _ => Err(Error::system("block the program's signals", std::io::Error::last_os_error())),
        }
    }

    /// Changes the rights of a mapping, with a system call from an address of code.
    ///
    /// # Errors
    /// The system's error.
    pub fn protect(&mut self, from: u64, mapping: &Mapping, rights: u64) -> Result<u64> {
        let size = mapping.range.end - mapping.range.start;
        self.system_call(from, libc::SYS_mprotect, [mapping.range.start, size, rights, 0, 0, 0])
    }

    /// Makes the program do a system call at an address in its code, whose bytes are restored
    /// afterwards. Signals that come meanwhile are delivered later.
    pub fn system_call(&mut self, from: u64, number: i64, arguments: [u64; 6]) -> Result<u64> {
        let before = self.registers()?;
        let mut bytes = [0u8; 2];
        if !self.read(from, &mut bytes) {
            return Err(Error::system("read the program's code", "not readable"));
        }
        let [rdi, rsi, rdx, r10, r8, r9] = arguments;
        let call = Registers {
            rip: from,
            rax: number as u64,
            orig_rax: u64::MAX,
            rdi,
            rsi,
            rdx,
            r10,
            r8,
            r9,
            ..before
        };
        let mut held_signal = self.hold();
        let answer = self.poke(from, &SYSCALL).and_then(|()| self.answer(call, &mut held_signal));
        let restored = self
            .poke(from, &bytes)
            .and_then(|()| self.set_registers(Registers { orig_rax: u64::MAX, ..before }));
        self.deliver_later(held_signal);
        let answer = answer?;
        restored?;
        match answer as i64 {
            error @ -4095..=-1 => Err(Error::system(
                "prepare the program",
                std::io::Error::from_raw_os_error(-error as i32),
            )),
            _ => Ok(answer),
        }
    }

    /// Steps over a system call; its answer.
    fn answer(&mut self, call: Registers, held_signal: &mut Option<Signal>) -> Result<u64> {
        /// The answers of a system call that a signal interrupts before it has begun
        /// (include/linux/errno.h).
        const RESTART: std::ops::RangeInclusive<i64> = -516..=-512;
        self.set_registers(call)?;
        loop {
            match self.run(Resume::Step)? {
                Stop::Trap => match self.registers()?.rax {
                    answer if RESTART.contains(&(answer as i64)) => self.set_registers(call)?,
                    answer => return Ok(answer),
                },
                // The filter is for the program's own system calls.
                Stop::Filtered | Stop::NewProcess { thread: false, .. } => {}
                Stop::Signal(signal) if !FAULTS.contains(&signal) => {
                    *held_signal = held_signal.or(self.hold())
                }
                stop => {
                    return Err(Error::system(
                        "prepare the program",
                        format!("it stopped with {stop:?}"),
                    ));
                }
            }
        }
    }
}

/// Whether two processes share their memory; `false` if the kernel does not tell.
pub(super) fn share_memory(one: i32, other: i32) -> bool {
    const KCMP_VM: libc::c_int = 1;
    // SAFETY: the system call takes numbers only.
    unsafe { libc::syscall(libc::SYS_kcmp, one, other, KCMP_VM, 0, 0) == 0 }
}

impl Process {
    /// Kills it, if it has not ended; it is still to be waited for.
    pub fn kill(&mut self) {
        if !self.has_ended {
            let _ = nix::sys::signal::kill(self.pid, Signal::SIGKILL);
        }
    }

    /// Waits for its end for as long as that takes no time; returns whether it has ended.
    pub fn reap(&mut self) -> bool {
        let over = |status: nix::Result<WaitStatus>| {
            matches!(status, Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(_))
        };
        let look = Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG);
        self.threads.retain(|thread| !over(waitpid(*thread, look)));
        if !self.has_ended && over(waitpid(self.pid, look)) {
            self.has_ended();
        }
        self.has_ended
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        const LOOK_INTERVAL: Duration = Duration::from_millis(1);
        self.kill();
        while !self.has_ended && !self.reap() {
            std::thread::sleep(LOOK_INTERVAL);
        }
        self.members.clear();
    }
}

/// The thread that a process began with; the thread itself if the kernel does not tell.
fn first_thread(thread: Pid) -> Pid {
    let text = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let number = text.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    number.map_or(thread, Pid::from_raw)
}

/// The error of a refused request; a process that no longer exists was killed while it was stopped.
fn refused(action: &str, error: Errno) -> Error {
    match error {
        Errno::ESRCH | Errno::ECHILD => {
            Error::system(action, "the process is gone: something killed it")
        }
        other => Error::system(action, other),
    }
}
