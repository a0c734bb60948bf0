//! Follows one call: counts where its branches went.
//!
//! The program runs at full speed from branch to branch: every branch that has been reached gets a breakpoint, its
//! condition is computed from the flags, and the program continues at the branch's target. Between two branches the path
//! is fixed, so this sees what single steps would see with a fraction of the stops. Called functions run at full speed.

use super::emulate::emulate;
use super::process::{BREAKPOINT, Process, Resume, Stop};
use super::start::{MULTI_THREADED, Program, Target, is_unchanged};
use crate::binary::{Flow, flow, taken};
use crate::error::{Error, Result};
use iced_x86::Instruction;
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Counts of branches by (address of the branch, target).
pub type Branches = BTreeMap<(u64, u64), u64>;

/// The record of one call.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    /// How often conditional and indirect branches went to each target.
    pub branches: Branches,
    /// Times that the function was entered: more than 1 if it calls itself.
    pub entries: u64,
    /// Beginnings of the call, up to the first time that it reached an address.
    pub partials: Vec<Partial>,
    /// System calls that were made, by number.
    pub system_calls: BTreeSet<i64>,
    /// Times that the process was stopped.
    pub stops: u64,
}

/// The beginning of a call, up to an address.
#[derive(Debug, Clone)]
pub struct Partial {
    /// Where it ends: the instruction there did not run.
    pub until: u64,
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
    /// Addresses on it where a partial run may end, not yet reached.
    ends: Vec<u64>,
}

struct Frame {
    expected: Option<u64>,
}

/// Follows a call from its first instruction to its return.
pub struct Follower<'a> {
    program: &'a Program,
    process: &'a mut Process,
    target: &'a Target,
    ends: &'a BTreeSet<u64>,
    /// Landing pads, where exceptions return control into the function.
    handlers: BTreeSet<u64>,
    planted: HashMap<u64, Instruction>,
    ways: HashMap<u64, Way>,
    counts: HashMap<(u64, u64), u64>,
    frames: Vec<Frame>,
    reached: BTreeSet<u64>,
    found: Followed,
    in_system: bool,
}

/// Where control went after a site.
enum Onward {
    /// Inside of the function, to an address.
    To(u64),
    /// Out of the function by a return.
    Returned,
    /// Out of the function by a jump.
    JumpedOut,
}

impl<'a> Follower<'a> {
    /// A follower for a process at the function's entry; it also counts the call's beginnings up to each of `ends`.
    pub fn new(program: &'a Program, process: &'a mut Process, target: &'a Target, ends: &'a BTreeSet<u64>) -> Follower<'a> {
        Follower {
            program,
            process,
            target,
            ends,
            handlers: target
                .function
                .handlers
                .iter()
                .map(|at| at.wrapping_add(target.bias))
                .filter(|at| target.code.contains(*at))
                .collect(),
            planted: HashMap::new(),
            ways: HashMap::new(),
            counts: HashMap::new(),
            frames: Vec::new(),
            reached: BTreeSet::new(),
            found: Followed::default(),
            in_system: false,
        }
    }

    /// Follows the call to its end; the process is then after the call.
    ///
    /// # Errors
    /// The program crashes, ends, makes threads or changes its code, or control leaves the function in an unknown way.
    pub fn run(mut self) -> Result<Followed> {
        self.program.deadline(self.process);
        let entry = self.target.entry();
        let original = self.process.registers()?;
        let mut back = [0u8; 8];
        if !self.process.read(original.rsp, &mut back) {
            return Err(failed("the stack cannot be read"));
        }
        self.plant(entry)?;
        for handler in self.handlers.clone() {
            self.plant(handler)?;
        }
        self.enter();
        let mut onward = self.arrive(entry)?;
        while !self.frames.is_empty() {
            onward = match onward {
                Some(Onward::To(address)) => self.arrive(address)?,
                Some(Onward::Returned) => {
                    self.frames.pop();
                    None
                }
                Some(Onward::JumpedOut) => {
                    self.frames.pop();
                    if self.frames.is_empty() {
                        self.run_back(u64::from_ne_bytes(back), original.rsp + 8)?;
                    }
                    None
                }
                None => self.next_site()?,
            };
        }
        self.finish()
    }

    fn enter(&mut self) {
        self.found.entries += 1;
        self.frames.push(Frame { expected: None });
    }

    fn finish(mut self) -> Result<Followed> {
        let mut overwritten = false;
        for address in self.planted.keys().copied().collect::<Vec<u64>>() {
            let mut now = [0u8];
            overwritten |= !self.process.read(address, &mut now) || now != [BREAKPOINT];
            self.restore(address)?;
        }
        if overwritten || !is_unchanged(self.process, &self.target.code) {
            return Err(failed("the function changes its own code: its blocks are not those of the file"));
        }
        self.found.branches = self.counts.into_iter().collect();
        self.program.watchdog.watch(None);
        Ok(self.found)
    }

    /// Control has reached an address in the function: continues the process to the next site, or passes the site at once
    /// if it is the next instruction.
    fn arrive(&mut self, address: u64) -> Result<Option<Onward>> {
        let site = self.way(address)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.expected = site;
        }
        self.process.go_to(address)?;
        if site == Some(address) {
            return self.pass(address).map(Some);
        }
        site.map_or(Ok(()), |site| self.plant(site))?;
        if self.planted.contains_key(&address) {
            self.step_over(address)?;
            if let Some(site) = site.filter(|site| self.process.instruction().is_ok_and(|at| at == *site)) {
                return self.pass(site).map(Some);
            }
        }
        Ok(None)
    }

    /// The next branch from an address on; records the ends of partial runs that are passed for the first time.
    fn way(&mut self, address: u64) -> Result<Option<u64>> {
        if !self.ways.contains_key(&address) {
            let way = self.look_ahead(address)?;
            self.ways.insert(address, way);
        }
        let Some(way) = self.ways.get_mut(&address) else { return Err(failed("a path through the function was lost")) };
        let site = way.site;
        for until in std::mem::take(&mut way.ends) {
            if self.reached.insert(until) && self.frames.len() == 1 && until != self.target.entry() {
                let branches = self.counts.iter().map(|(branch, count)| (*branch, *count)).collect();
                self.found.partials.push(Partial { until, branches, entries: self.found.entries, from: address });
            }
        }
        Ok(site)
    }

    fn look_ahead(&self, address: u64) -> Result<Way> {
        let (mut at, mut ends, mut seen, mut behind_call) = (address, Vec::new(), BTreeSet::new(), false);
        loop {
            if self.ends.contains(&at) {
                ends.push(at);
            }
            if self.is_watched(at) && at != address {
                return Ok(Way { site: Some(at), ends });
            }
            let instruction = match self.decode(at) {
                Ok(instruction) => instruction,
                Err(_) if behind_call => return Ok(Way { site: None, ends }),
                Err(error) => return Err(error),
            };
            behind_call = matches!(flow(&instruction), Flow::Call);
            match flow(&instruction) {
                Flow::Next | Flow::Call => at = instruction.next_ip(),
                Flow::Jump(to) if self.target.code.contains(to) && seen.insert(to) => at = to,
                _ => return Ok(Way { site: Some(at), ends }),
            }
        }
    }

    /// Whether control may enter the function at an address from outside.
    fn is_watched(&self, at: u64) -> bool {
        at == self.target.entry() || self.handlers.contains(&at)
    }

    fn decode(&self, at: u64) -> Result<Instruction> {
        let text = || format!("unknown instruction at {:#x} of the file", at.wrapping_sub(self.target.bias));
        self.target.code.decode(at).ok_or_else(|| failed(&text()))
    }

    /// Passes the branch at a site, where the process is stopped.
    fn pass(&mut self, site: u64) -> Result<Onward> {
        let instruction = self.decode(site)?;
        let kind = flow(&instruction);
        if let Flow::Conditional(to) = kind {
            if let Some(is_taken) = taken(&instruction, self.process.flags()?) {
                let to = if is_taken { to } else { instruction.next_ip() };
                return self.went(site, to);
            }
        }
        if self.is_watched(site) && matches!(kind, Flow::Next | Flow::Call) {
            // Reached by the function's own control flow, not by a call or an exception.
            return Ok(Onward::To(site));
        }
        self.step_over(site)?;
        let to = self.process.instruction()?;
        match kind {
            Flow::Return => Ok(Onward::Returned),
            Flow::Conditional(_) | Flow::Indirect => self.went(site, to),
            _ if self.target.code.contains(to) => Ok(Onward::To(to)),
            _ => Ok(Onward::JumpedOut),
        }
    }

    fn went(&mut self, site: u64, to: u64) -> Result<Onward> {
        let inside = self.target.code.contains(to);
        *self.counts.entry((site, to)).or_insert(0) += 1;
        if !inside {
            self.process.go_to(to)?;
        }
        Ok(if inside { Onward::To(to) } else { Onward::JumpedOut })
    }

    /// Lets the process run to the next site.
    fn next_site(&mut self) -> Result<Option<Onward>> {
        let stopped = self.run_to_breakpoint()?;
        let expected = self.frames.last().and_then(|frame| frame.expected);
        self.process.go_to(stopped)?;
        if Some(stopped) == expected {
            return self.pass(stopped).map(Some);
        }
        if stopped == self.target.entry() {
            self.enter();
            return self.arrive(stopped);
        }
        if self.handlers.contains(&stopped) {
            return Err(failed("an exception returned control into the function, which cannot be counted as a branch"));
        }
        Err(failed("control left the function in a way that cannot be followed (an exception, longjmp, a signal handler)"))
    }

    fn run_to_breakpoint(&mut self) -> Result<u64> {
        loop {
            self.found.stops += 1;
            let stop = self.process.run(Resume::RunToSystemCall)?;
            if stop == Stop::Trap {
                let at = self.process.instruction()?.wrapping_sub(1);
                if self.planted.contains_key(&at) {
                    return Ok(at);
                }
            }
            self.pass_by(stop, |follower| {
                let code = &follower.target.code;
                follower.planted.keys().filter_map(|at| Some((*at, code.byte(*at)?))).collect()
            })?;
        }
    }

    /// Handles any stop but the expected one: system calls are recorded, and a child process continues untraced, without the
    /// breakpoints.
    fn pass_by(&mut self, stop: Stop, breakpoints: impl FnOnce(&Self) -> Vec<(u64, u8)>) -> Result<()> {
        match stop {
            Stop::SystemCall => {
                self.in_system = !self.in_system;
                if self.in_system {
                    self.found.system_calls.insert(self.process.registers()?.orig_rax as i64);
                }
            }
            Stop::Trap | Stop::Signal(_) | Stop::VforkDone => {}
            Stop::NewProcess { thread: true, .. } => return Err(failed(MULTI_THREADED)),
            Stop::NewProcess { id, .. } => {
                let bytes = breakpoints(self);
                self.process.release(id, &bytes);
            }
            other => return Err(failed(&other.as_end())),
        }
        Ok(())
    }

    /// Runs to the return address of the outermost call, which was left by a jump.
    fn run_back(&mut self, address: u64, stack: u64) -> Result<()> {
        let mut original = [0u8];
        if !self.process.read(address, &mut original) {
            return Err(failed("the return address cannot be read"));
        }
        self.process.poke(address, &[BREAKPOINT])?;
        loop {
            let stop = self.process.run(Resume::RunToSystemCall)?;
            if stop != Stop::Trap || self.process.instruction()? != address + 1 {
                self.pass_by(stop, |_| vec![(address, original[0])])?;
                continue;
            }
            self.process.poke(address, &original)?;
            self.process.go_to(address)?;
            if self.process.registers()?.rsp == stack {
                return Ok(());
            }
            self.process.run(Resume::Step)?;
            self.process.poke(address, &[BREAKPOINT])?;
        }
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
        let byte = self.target.code.byte(site).ok_or_else(|| failed("a breakpoint lies outside of the function"))?;
        self.process.poke(site, &[byte])
    }

    /// Runs the one instruction at a site.
    fn step_over(&mut self, site: u64) -> Result<()> {
        if emulate(self.process, &self.decode(site)?)? {
            return Ok(());
        }
        let planted = self.planted.contains_key(&site);
        if planted {
            self.restore(site)?;
        }
        self.process.go_to(site)?;
        let mut held = None;
        loop {
            self.found.stops += 1;
            match self.process.run(Resume::Step)? {
                Stop::Trap => break,
                Stop::Signal(Signal::SIGSEGV | Signal::SIGBUS | Signal::SIGFPE | Signal::SIGILL) => {
                    return Err(failed("it crashed during the call (at a branch)"));
                }
                // Delivered when the program continues.
                Stop::Signal(_) => held = self.process.hold(),
                other => return Err(failed(&other.as_end())),
            }
        }
        self.process.deliver_later(held);
        if planted { self.process.poke(site, &[BREAKPOINT]) } else { Ok(()) }
    }
}

fn failed(reason: &str) -> Error {
    Error::system("follow the call", reason)
}
