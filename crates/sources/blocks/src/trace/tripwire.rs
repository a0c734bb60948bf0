//! Notices that a call reads the clock or the time stamp counter, wherever it does: the first read
//! faults.
//!
//! A followed call is slow, and a loop that waits for the clock makes one trip where it makes a
//! hundred at full speed, each time it is followed. So the second time the clock hardly moves: a
//! path that depends on it is then another one.

use super::maps::{Mapping, of_process};
use super::process::{Process, Registers, Resume};
use super::system::SystemCall;
use crate::error::Result;
use nix::sys::signal::Signal;

const TSC_WORKS: u64 = 1;
const TSC_FAULTS: u64 = 2;

/// Reads of the clock that are answered slowly; a loop that waits for it ends after these.
const SLOW_READS: u32 = 256;
/// Ticks from one read to the next of a clock that hardly moves.
const SLOW_TICKS: u64 = 20;

/// The state of the wires in a process.
#[derive(Debug, Default)]
pub struct Tripwire {
    /// An address in the process's code, for system calls.
    from: u64,
    armed: bool,
    /// The memory from which the functions of the vDSO take the time (vdso(7)).
    clock: Vec<Mapping>,
    slow: Option<SlowedClock>,
}

/// A clock that hardly moves.
#[derive(Debug, Default)]
struct SlowedClock {
    reads: u32,
    /// The time stamp counter at the last read.
    counter: Option<u64>,
    /// What the kernel answered first, by the system call and the clock.
    answers: Vec<((i64, u64), [u8; 16])>,
}

impl Tripwire {
    /// Makes the clock hardly move, for the first reads.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn slow(process: &mut Process, from: u64) -> Result<Tripwire> {
        let armed = set_counter(process, from, TSC_FAULTS).is_ok();
        Ok(Tripwire { from, armed, clock: Vec::new(), slow: Some(SlowedClock::default()) })
    }

    /// Arms the wires, those that this kernel has.
    ///
    /// # Errors
    /// A memory map that cannot be read.
    pub fn arm(process: &mut Process, from: u64) -> Result<Tripwire> {
        let mut clock: Vec<Mapping> = of_process(process.id())?
            .into_iter()
            .filter(|mapping| mapping.name.starts_with("[vvar"))
            .collect();
        clock.retain(|mapping| process.protect(from, mapping, 0).is_ok());
        let counter = set_counter(process, from, TSC_FAULTS);
        Ok(Tripwire { from, armed: counter.is_ok() || !clock.is_empty(), clock, slow: None })
    }

    /// What was read, if a signal comes from a wire; these are then disarmed, and the signal is
    /// dropped. A copy of an instruction is at another address than the original, which is named.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn tripped(
        &mut self,
        process: &mut Process,
        signal: Signal,
        original: u64,
    ) -> Result<Option<String>> {
        if !self.armed || signal != Signal::SIGSEGV {
            return Ok(None);
        }
        let at = process.instruction()?;
        let fault = process.fault().unwrap_or(0);
        let source = match self.clock.iter().any(|mapping| mapping.range.contains(&fault)) {
            true => Some("the clock (by the vDSO)".to_owned()),
            false => reads_counter(process, at)
                .then(|| format!("the time stamp counter (rdtsc{})", place(process, original))),
        };
        if source.is_some() {
            process.hold();
            match &mut self.slow {
                Some(slow) if slow.reads < SLOW_READS => slow.count(process, self.from)?,
                _ => self.disarm(process)?,
            }
        }
        Ok(source)
    }

    /// Replaces the answer to a question for the time.
    ///
    /// # Errors
    /// Memory that cannot be written.
    pub fn answer(&mut self, process: &Process, call: &SystemCall) -> Result<()> {
        let Some(slow) = self.slow.as_mut().filter(|slow| slow.reads < SLOW_READS) else {
            return Ok(());
        };
        let [first, second, ..] = call.arguments;
        let (place, which) = match call.number {
            libc::SYS_clock_gettime => (second, first),
            libc::SYS_gettimeofday => (first, 0),
            _ => return Ok(()),
        };
        let mut now = [0u8; 16];
        if place == 0 || !process.read(place, &mut now) {
            return Ok(());
        }
        slow.reads += 1;
        match slow.answers.iter().find(|(known, _)| *known == (call.number, which)) {
            Some((_, first)) => process.write(place, first),
            None => {
                slow.answers.push(((call.number, which), now));
                Ok(())
            }
        }
    }

    /// Takes the wires away.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn disarm(&mut self, process: &mut Process) -> Result<()> {
        if std::mem::take(&mut self.armed) {
            set_counter(process, self.from, TSC_WORKS)?;
            for mapping in std::mem::take(&mut self.clock) {
                process.protect(self.from, &mapping, mapping.protection())?;
            }
        }
        Ok(())
    }
}

impl SlowedClock {
    /// Answers a read of the time stamp counter, where the process is stopped: the first one truly.
    fn count(&mut self, process: &mut Process, from: u64) -> Result<()> {
        self.reads += 1;
        let before = process.registers()?;
        let Some(last) = self.counter else {
            set_counter(process, from, TSC_WORKS)?;
            process.run(Resume::Step)?;
            let now = process.registers()?;
            self.counter = Some(now.rdx << 32 | now.rax & 0xffff_ffff);
            return set_counter(process, from, TSC_FAULTS).map(drop);
        };
        let next = last + SLOW_TICKS;
        self.counter = Some(next);
        // rdtscp has a byte more, and also tells the CPU.
        let mut bytes = [0u8; 2];
        let is_longer = process.read(before.rip, &mut bytes) && bytes[1] == 0x01;
        let (length, rcx) = if is_longer { (3, 0) } else { (2, before.rcx) };
        let (rax, rdx) = (next & 0xffff_ffff, next >> 32);
        process.set_registers(Registers {
            rip: before.rip + length,
            rax,
            rdx,
            rcx,
            orig_rax: u64::MAX,
            ..before
        })
    }
}

/// Lets the time stamp counter work, or fault.
fn set_counter(process: &mut Process, from: u64, to: u64) -> Result<u64> {
    process.system_call(from, libc::SYS_prctl, [libc::PR_SET_TSC as u64, to, 0, 0, 0, 0])
}

/// Whether the instruction at an address is `rdtsc` or `rdtscp`.
fn reads_counter(process: &Process, at: u64) -> bool {
    let mut bytes = [0u8; 3];
    process.read(at, &mut bytes)
        && (bytes.starts_with(&[0x0f, 0x31]) || bytes == [0x0f, 0x01, 0xf9])
}

/// Where an address is, for a message.
fn place(process: &Process, at: u64) -> String {
    let mappings = of_process(process.id()).unwrap_or_default();
    let file = mappings.iter().find(|mapping| mapping.range.contains(&at)).and_then(Mapping::file);
    file.and_then(|path| path.file_name().map(|name| format!(" in {}", name.to_string_lossy())))
        .unwrap_or_default()
}
