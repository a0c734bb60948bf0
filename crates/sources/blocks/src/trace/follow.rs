//! Follows one call: counts where its branches went.
//!
//! The program runs at full speed from branch to branch: every branch that has been reached gets a
//! breakpoint, its condition is computed from the flags, and the program continues at the branch's
//! target. Between two branches the path is fixed, so this sees what single steps would see with a
//! fraction of the stops. Called functions run at full speed. Where there is room for an
//! instrumented copy of the function, that runs in its place and needs hardly any stop (`replay`).

mod ways;

use super::emulate::{emulate, jump_target};
use super::guard::Guard;
use super::process::{BREAKPOINT, FAULTS, Process, Registers, Resume, Stop};
use super::replay::Copy;
use super::start::{Program, Target, is_unchanged};
use super::system::SystemCall;
use super::tripwire::Tripwire;
use crate::binary::{Flow, taken};
use crate::error::{Error, Result};
use iced_x86::{Instruction, Mnemonic};
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Counts of branches by (address of the branch, target).
pub type Branches = BTreeMap<(u64, u64), u64>;

/// The target of a return to the caller.
pub const CALLER: u64 = 0;

/// The record of one call.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    /// How often conditional and indirect branches, jumps out and returns went to each target.
    pub branches: Branches,
    /// Times that the function was entered: more than 1 if it calls itself.
    pub entries: u64,
    /// Beginnings of the call, up to the first time that it reached an address.
    pub partials: Vec<Partial>,
    /// System calls that were made, by number.
    pub system_calls: BTreeSet<i64>,
    /// What it read that differs from time to time: the clock, random numbers.
    pub sources: BTreeSet<String>,
    /// A number that stands for its path: the branches and their targets in their order.
    pub path: u64,
    /// Times that the process was stopped.
    pub stops: u64,
    /// Why no instrumented copy of the function ran in its place, if none did.
    pub stepped: Option<&'static str>,
}

/// The beginning of a call, up to an address.
#[derive(Debug, Clone)]
pub struct Partial {
    /// Where it ends: the instruction there did not run.
    pub until: u64,
    /// Times that control got there, the last one and the beginning of the call included.
    pub passes: u64,
    /// Branches before.
    pub branches: Branches,
    /// Times that the function was entered before.
    pub entries: u64,
    /// Target of the last branch; the path from there to the end is fixed.
    pub from: u64,
}

/// The fixed path from the target of a branch to the next branch.
#[derive(Debug, Clone)]
struct Way {
    /// The next branch; `None` if the path ends with a call that never returns.
    site: Option<u64>,
    /// Addresses on it where a partial run may still end.
    ends: Vec<u64>,
    /// Whether the site is no branch, but an end behind a call: whatever that reaches comes before.
    is_cut: bool,
}

/// Where a call begins: at the function's entry, or inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin {
    /// The address.
    pub at: u64,
    /// Where the return address is on the stack.
    pub slot: u64,
}

/// An activation of the function.
pub(super) struct Frame {
    /// Where control was last known to be.
    pub(super) from: u64,
    /// The next branch on its path, or an end behind a call.
    pub(super) expected: Option<u64>,
    /// Whether it is such an end.
    pub(super) is_cut: bool,
    /// The stack pointer at its entry.
    pub(super) stack: u64,
    /// The jump by which it was left, and where that led, while control is outside.
    pub(super) left: Option<(u64, u64)>,
}

/// Where the number of a path begins, and by what it is multiplied at each step (the constants of
/// FNV-1a).
const FIRST_PATH: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Follows a call from its first instruction to its return.
pub struct Follower<'a> {
    pub(super) program: &'a Program,
    pub(super) process: &'a mut Process,
    pub(super) target: &'a Target,
    guard: &'a Guard,
    pub(super) ends: &'a BTreeMap<u64, BTreeSet<u64>>,
    begin: Begin,
    tripwire: Tripwire,
    /// Landing pads, where exceptions return control into the function.
    pub(super) handlers: BTreeSet<u64>,
    pub(super) planted: HashMap<u64, Instruction>,
    ways: HashMap<u64, Way>,
    /// Counts of branches, but those that the copy has logged.
    pub(super) counts: HashMap<(u64, u64), u64>,
    pub(super) frames: Vec<Frame>,
    /// How often each end was reached.
    arrivals: HashMap<u64, u64>,
    /// Sites that are no branches.
    cuts: BTreeSet<u64>,
    /// Whether the first instruction is behind.
    has_begun: bool,
    pub(super) found: Followed,
    /// The registers at the last stop, until something runs again.
    pub(super) now: Option<Registers>,
    /// The instrumented copy of the function, if there is one.
    pub(super) copy: Option<Copy>,
    /// Where the indirect jump that was passed last leads.
    pub(super) jumps_to: Option<u64>,
    /// After how many branches it ends, if the call has not ended before.
    pub(super) most: Option<u64>,
    /// Branches on its path.
    pub(super) passed: u64,
    /// The system call that is being made.
    in_system: Option<SystemCall>,
    /// Where the call returns to, and the stack pointer after it.
    pub(super) back: u64,
    pub(super) top: u64,
}

/// Where control went after a site.
pub(super) enum Onward {
    /// Inside of the function, to an address.
    To(u64),
    /// Out of the function by a return.
    Returned,
    /// Out of the function by a jump from an address to another.
    JumpedOut(u64, u64),
}

impl<'a> Follower<'a> {
    /// A follower for a process at the beginning of a call; it also counts the call's own
    /// beginnings, up to the arrivals in `ends`.
    pub fn new(
        program: &'a Program,
        process: &'a mut Process,
        target: &'a Target,
        begin: Begin,
        guard: &'a Guard,
        ends: &'a BTreeMap<u64, BTreeSet<u64>>,
    ) -> Follower<'a> {
        let handlers = target.function.handlers.iter().map(|at| at.wrapping_add(target.bias));
        Follower {
            program,
            process,
            target,
            guard,
            ends,
            begin,
            tripwire: Tripwire::default(),
            handlers: handlers.filter(|at| target.code.contains(*at)).collect(),
            planted: HashMap::new(),
            ways: HashMap::new(),
            counts: HashMap::new(),
            frames: Vec::new(),
            arrivals: HashMap::new(),
            cuts: BTreeSet::new(),
            has_begun: false,
            found: Followed { path: FIRST_PATH, ..Followed::default() },
            now: None,
            copy: None,
            jumps_to: None,
            most: None,
            passed: 0,
            in_system: None,
            back: 0,
            top: 0,
        }
    }

    /// Makes the clock hardly move for the first reads.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn with_slow_clock(mut self) -> Result<Follower<'a>> {
        self.tripwire = Tripwire::slow(self.process, self.target.entry())?;
        Ok(self)
    }

    /// Follows the call to its end; the process is then after the call.
    ///
    /// # Errors
    /// The program crashes, ends, changes its code or does what cannot be repeated, or control
    /// leaves the function in an unknown way.
    pub fn run(mut self) -> Result<Followed> {
        self.program.deadline(self.process);
        let entry = self.target.entry();
        let mut back = [0u8; 8];
        self.top = self.begin.slot.wrapping_add(8);
        if !self.process.read(self.top.wrapping_sub(8), &mut back) {
            return Err(failed("the stack cannot be read"));
        }
        self.back = u64::from_ne_bytes(back);
        self.plant(entry)?;
        for handler in self.handlers.clone() {
            self.plant(handler)?;
        }
        self.found.entries = 1;
        self.frames.push(Frame {
            from: 0,
            expected: None,
            is_cut: false,
            stack: self.begin.slot,
            left: None,
        });
        let mut onward = self.arrive(self.begin.at)?;
        while !self.frames.is_empty() {
            if let Some(Onward::To(address)) = onward.as_ref().filter(|_| self.is_enough()) {
                self.process.go_to(*address)?;
                break;
            }
            onward = match onward {
                Some(Onward::To(address)) => self.arrive(address)?,
                Some(Onward::Returned) => {
                    self.frames.pop();
                    None
                }
                Some(Onward::JumpedOut(site, to)) => {
                    self.frames
                        .last_mut()
                        .into_iter()
                        .for_each(|frame| frame.left = Some((site, to)));
                    None
                }
                None if self.is_outside() => self.wander()?,
                None => self.next_site()?,
            };
        }
        self.finish()
    }

    fn finish(mut self) -> Result<Followed> {
        let is_as_left = |(start, bytes): &(u64, Vec<u8>)| {
            let mut now = vec![0u8; bytes.len()];
            self.process.read(*start, &mut now) && now == *bytes
        };
        let overwritten = !self.patched().iter().all(is_as_left);
        self.target
            .code
            .parts()
            .iter()
            .try_for_each(|(start, bytes)| self.process.poke_all(*start, bytes))?;
        if overwritten || !is_unchanged(self.process, &self.target.code) {
            return Err(failed(
                "the function changes its own code: its blocks are not those of the file",
            ));
        }
        self.end_copy()?;
        self.tripwire.disarm(self.process)?;
        self.found.branches = self.counts.into_iter().collect();
        self.program.watchdog.watch(None);
        Ok(self.found)
    }

    /// Control has reached an address in the function: notes the next site, and counts arrivals at
    /// the ends of partial runs.
    pub(super) fn come_to(&mut self, address: u64) -> Result<(Option<u64>, bool)> {
        let (site, is_cut) = self.way(address)?;
        self.has_begun = true;
        if let Some(frame) = self.frames.last_mut() {
            (frame.from, frame.expected, frame.is_cut) = (address, site, is_cut);
        }
        Ok((site, is_cut))
    }

    /// Continues the process from an address in the function to the next site, or passes the site
    /// at once if it is the next instruction.
    pub(super) fn arrive(&mut self, address: u64) -> Result<Option<Onward>> {
        let (site, _) = self.come_to(address)?;
        self.process.go_to(address)?;
        if site == Some(address) {
            return self.pass(address).map(Some);
        }
        if let Some(place) = self.enter_copy(address)? {
            self.process.go_to(place)?;
            return Ok(None);
        }
        site.map_or(Ok(()), |site| self.plant(site))?;
        if self.planted.contains_key(&address) {
            self.step_over(address)?;
            if let Some(site) =
                site.filter(|site| self.process.instruction().is_ok_and(|at| at == *site))
            {
                return self.at_site(site);
            }
        }
        Ok(None)
    }

    /// Control has reached the site that was expected.
    pub(super) fn at_site(&mut self, site: u64) -> Result<Option<Onward>> {
        match self.frames.last().is_some_and(|frame| frame.is_cut) {
            true => self.arrive(site),
            false => self.pass(site).map(Some),
        }
    }

    /// Whether no arrival matters on the way from an address.
    pub(super) fn is_plain(&self, address: u64) -> bool {
        self.ways.get(&address).is_some_and(|way| way.ends.is_empty())
    }

    pub(super) fn decode(&self, at: u64) -> Result<Instruction> {
        let text = || {
            format!("unknown instruction at {:#x} of the file", at.wrapping_sub(self.target.bias))
        };
        self.target.code.decode(at).ok_or_else(|| failed(&text()))
    }

    /// Passes the branch at a site, where the process is stopped.
    pub(super) fn pass(&mut self, site: u64) -> Result<Onward> {
        let instruction = match self.planted.get(&site) {
            Some(instruction) => *instruction,
            None => self.decode(site)?,
        };
        let kind = self.target.code.flow(&instruction, self.target.entry());
        if let Flow::Conditional(to) = kind {
            if let Some(is_taken) = taken(&instruction, self.registers()?.eflags) {
                let to = if is_taken { to } else { instruction.next_ip() };
                return self.went(site, to);
            }
        }
        if kind == Flow::Indirect {
            let registers = self.registers()?;
            if let Some(to) = jump_target(self.process, &instruction, &registers) {
                self.jumps_to = Some(to);
                return self.went(site, to);
            }
        }
        if let (Flow::Jump(to), false) = (kind, instruction.is_call_near()) {
            self.process.go_to(to)?;
            return Ok(if self.target.code.contains(to) {
                Onward::To(to)
            } else {
                Onward::JumpedOut(site, to)
            });
        }
        if self.is_watched(site) && matches!(kind, Flow::Next | Flow::Call) {
            // Reached by the function's own control flow, not by a call or an exception.
            return Ok(Onward::To(site));
        }
        self.step_over(site)?;
        let to = self.process.instruction()?;
        match kind {
            Flow::Return => self.returned(site, to),
            Flow::Conditional(_) | Flow::Indirect => self.went(site, to),
            _ if self.target.code.contains(to) => Ok(Onward::To(to)),
            _ => Ok(Onward::JumpedOut(site, to)),
        }
    }

    /// The registers where the process is stopped; only the place where it goes on may have been
    /// set since.
    fn registers(&mut self) -> Result<Registers> {
        match self.now {
            Some(now) => Ok(now),
            None => {
                let now = self.process.registers()?;
                self.now = Some(now);
                Ok(now)
            }
        }
    }

    /// A return leads to the caller, or to a computed address of the function if its own code put
    /// that on the stack.
    fn returned(&mut self, site: u64, to: u64) -> Result<Onward> {
        let frame = self.frames.last().map_or(u64::MAX, |frame| frame.stack);
        if self.target.code.contains(to) && self.process.stack()? <= frame {
            return self.went(site, to);
        }
        self.tally(site, CALLER);
        Ok(Onward::Returned)
    }

    pub(super) fn went(&mut self, site: u64, to: u64) -> Result<Onward> {
        if self.target.code.contains(to) {
            self.tally(site, to);
            return Ok(Onward::To(to));
        }
        self.process.go_to(to)?;
        Ok(Onward::JumpedOut(site, to))
    }

    /// Counts a branch, and adds it to the path.
    pub(super) fn tally(&mut self, site: u64, to: u64) {
        *self.counts.entry((site, to)).or_insert(0) += 1;
        self.add_to_path(site, to);
    }

    pub(super) fn add_to_path(&mut self, site: u64, to: u64) {
        self.passed += 1;
        for word in [site.wrapping_sub(self.target.bias), to.wrapping_sub(self.target.bias)] {
            self.found.path = (self.found.path ^ word).wrapping_mul(PRIME).rotate_left(23);
        }
    }

    /// Lets the process run to the next site.
    fn next_site(&mut self) -> Result<Option<Onward>> {
        let stopped = self.run_to_breakpoint()?;
        self.replay()?;
        let expected = self.frames.last().and_then(|frame| frame.expected);
        if let Some(site) = self.exit_at(stopped) {
            self.process.go_to(site)?;
            return if expected == Some(site) {
                self.at_site(site)
            } else {
                self.leave_copy(site).map(|()| None)
            };
        }
        if let Some(place) = self.back_in_copy(stopped) {
            return self.come_back(stopped, place).map(|()| None);
        }
        let is_entered = stopped == self.target.entry() && self.is_bridged();
        if Some(stopped) == expected && !is_entered {
            return self.at_site(stopped);
        }
        self.process.go_to(stopped)?;
        if self.cuts.contains(&stopped) {
            // An end that matters behind a call only, and this way leads there without one.
            self.step_over(stopped)?;
            let now = self.process.instruction()?;
            return if expected == Some(now) { self.at_site(now) } else { Ok(None) };
        }
        if stopped == self.target.entry() {
            self.enter()?;
            return self.arrive(stopped);
        }
        if self.handlers.contains(&stopped) {
            return Err(failed(
                "an exception returned control into the function, which cannot be counted as a \
                 branch",
            ));
        }
        Err(failed(LEFT_CALL))
    }

    fn run_to_breakpoint(&mut self) -> Result<u64> {
        self.run_to(|at, follower| {
            follower.planted.contains_key(&at)
                || follower.exit_at(at).is_some()
                || follower.back_in_copy(at).is_some()
        })
    }

    /// Runs to a breakpoint at a place that is known; returns its address.
    pub(super) fn run_to(&mut self, is_known: impl Fn(u64, &Self) -> bool) -> Result<u64> {
        loop {
            self.found.stops += 1;
            self.now = None;
            let stop = self.process.run(Resume::RunToSystemCall)?;
            if stop == Stop::Trap {
                let at = self.registers()?.rip.wrapping_sub(1);
                if is_known(at, self) {
                    return Ok(at);
                }
            }
            self.pass_by(stop)?;
        }
    }

    /// Handles any stop but the expected one: system calls are checked before they happen.
    fn pass_by(&mut self, stop: Stop) -> Result<()> {
        match stop {
            Stop::SystemCall => {
                if let Some(call) = self.in_system.take() {
                    return self
                        .guard
                        .check_answer(self.process, &call)
                        .and_then(|()| self.tripwire.answer(self.process, &call));
                }
                let call = self.guard.check(self.process)?;
                self.in_system = Some(call);
                self.found.system_calls.insert(call.number);
                self.found
                    .sources
                    .extend(call.varies().then(|| format!("the system call {}", call.name())));
            }
            Stop::Signal(signal) => self.get(signal)?,
            Stop::Filtered => self.guard.check_repeat(self.process)?,
            Stop::Trap | Stop::VforkDone => {}
            other => return Err(failed(&other.as_end())),
        }
        Ok(())
    }

    /// Handles a signal.
    fn get(&mut self, signal: Signal) -> Result<()> {
        if self.is_log_full(signal)? {
            return Ok(());
        }
        let at = self.original(self.process.instruction()?);
        let tripped = self.tripwire.tripped(self.process, signal, at)?;
        if tripped.is_none() {
            self.guard.blame(self.process, signal).map_or(Ok(()), Err)?;
            if FAULTS.contains(&signal) {
                self.surface()?;
            }
        }
        self.found.sources.extend(tripped);
        Ok(())
    }

    fn plant(&mut self, site: u64) -> Result<()> {
        if !self.planted.contains_key(&site) {
            let instruction = self.decode(site)?;
            self.process.poke(site, &[BREAKPOINT])?;
            self.planted.insert(site, instruction);
        }
        Ok(())
    }

    fn restore(&mut self, site: u64) -> Result<()> {
        let byte = self
            .target
            .code
            .byte(site)
            .ok_or_else(|| failed("a breakpoint lies outside of the function"))?;
        self.process.poke(site, &[byte])
    }

    /// Runs the one instruction at a site.
    pub(super) fn step_over(&mut self, site: u64) -> Result<()> {
        let instruction = self.decode(site)?;
        if matches!(instruction.mnemonic(), Mnemonic::Syscall | Mnemonic::Int | Mnemonic::Sysenter)
        {
            return Err(failed(
                "it calls the system where a branch leads, which cannot be checked before it \
                 happens",
            ));
        }
        self.now = None;
        if emulate(self.process, &instruction)? {
            return Ok(());
        }
        self.put_code_back()?;
        let planted = self.planted.contains_key(&site);
        if planted {
            self.restore(site)?;
        }
        self.process.go_to(site)?;
        let mut held_signal = None;
        loop {
            self.found.stops += 1;
            match self.process.run(Resume::Step)? {
                Stop::Trap => break,
                Stop::Signal(
                    Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGFPE | Signal::SIGILL,
                ) => {
                    return Err(failed("it crashed during the call (at a branch)"));
                }
                // Delivered when the program continues.
                Stop::Signal(_) => held_signal = self.process.hold(),
                other => return Err(failed(&other.as_end())),
            }
        }
        self.process.deliver_later(held_signal);
        if planted { self.process.poke(site, &[BREAKPOINT]) } else { Ok(()) }
    }
}

/// The reason if something else than the expected branch comes next.
pub(super) const LEFT_CALL: &str = "control left the function in a way that cannot be followed \
                                    (an exception, longjmp, a signal handler)";

pub(super) fn failed(reason: &str) -> Error {
    Error::system("follow the call", reason)
}
