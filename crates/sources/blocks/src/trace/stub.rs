//! Times a call inside the process, repeatedly from the same state.
//!
//! A page of code is put into the process. It restores the memory that the call wrote, waits a
//! random time, loads the initial registers of the call, reads the time stamp counter between
//! fences, calls, and reads the counter again. The function runs as the compiler made it, without
//! instrumentation.
#![allow(
    unsafe_code,
    reason = "the page is assembly, and taking its bytes from this program's own image has no safe \
              form"
)]

mod setup;

use super::counter::{Counter, Words};
use super::guard::Guard;
use super::process::{BREAKPOINT, Process, Registers, Resume, Stop, TRAP_FLAG};
use super::room::Room;
use super::tripwire::Tripwire;
use crate::binary::Code;
use crate::error::{Error, Result};
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Readings that the page has room for.
const MOST_READINGS: usize = 64;
/// Bytes of the page of code, and of the data after it.
const CODE: u64 = 4096;
const DATA: u64 = 16 << 10;
const PAGE: u64 = 4096;
/// Where the memory begins that undoes calls.
const FAR_ADDRESS: u64 = 0x2000_0000_0000;
/// Where things lie in the data: see the assembly.
const REGISTERS: u64 = 0x80;
const CALLS: u64 = 0x100;
const INSIDE_OFFSET: u64 = 0x110;
const COUNTER: u64 = 0x120;
const COUNTED_OFFSET: u64 = 0x128;
const SAVED_OFFSET: u64 = 0x130;
const AGAIN_OFFSETS: [u64; 2] = [0x138, 0x140];
const SCRATCH: u64 = 0x480;
const READINGS: u64 = 0x200;
const VECTOR_MASK: u64 = 0x4c0;
const VECTORS: u64 = 0x500;

std::arch::global_asm!(
    ".pushsection .rodata.hairspring_blocks_stub, \"a\"",
    ".p2align 6",
    // The compiler may put the assembly and the references to it into different objects.
    ".globl hairspring_blocks_stub_start, hairspring_blocks_stub_back, hairspring_blocks_stub_stop",
    ".globl hairspring_blocks_stub_return, hairspring_blocks_stub_jump, \
     hairspring_blocks_stub_inside, hairspring_blocks_stub_end",
    ".hidden hairspring_blocks_stub_start, hairspring_blocks_stub_back, \
     hairspring_blocks_stub_stop",
    ".hidden hairspring_blocks_stub_return, hairspring_blocks_stub_jump, \
     hairspring_blocks_stub_inside, hairspring_blocks_stub_end",
    "hairspring_blocks_stub_start:",
    ".set hairspring_blocks_data, hairspring_blocks_stub_start + 4096",
    "20:",
    // Count the arrivals at a place anew.
    "mov rax, [rip + hairspring_blocks_data + 0x120]",
    "mov [rip + hairspring_blocks_data + 0x128], rax",
    // Map again what the call unmapped, and the reverse.
    "mov r14, [rip + hairspring_blocks_data + 0x100]",
    "mov r15, [rip + hairspring_blocks_data + 0x108]",
    "25:",
    "test r15, r15",
    "jz 27f",
    "mov rax, [r14]",
    "mov rdi, [r14 + 8]",
    "mov rsi, [r14 + 16]",
    "mov rdx, [r14 + 24]",
    "mov r10, [r14 + 32]",
    "mov r8, [r14 + 40]",
    "mov r9, [r14 + 48]",
    "syscall",
    "add r14, 56",
    "dec r15",
    "jmp 25b",
    "27:",
    // Put back what the call wrote.
    "mov r12, [rip + hairspring_blocks_data + 0]",
    "mov r13, [rip + hairspring_blocks_data + 8]",
    "cld",
    "30:",
    "test r13, r13",
    "jz 40f",
    "mov rdi, [r12]",
    "mov rcx, [r12 + 8]",
    "mov rsi, [r12 + 16]",
    "rep movsb",
    "add r12, 24",
    "dec r13",
    "jmp 30b",
    "40:",
    // Wait a random time: another phase of the counter each time (a linear congruential generator,
    // Knuth's MMIX).
    "mov rax, [rip + hairspring_blocks_data + 16]",
    "movabs rcx, 6364136223846793005",
    "imul rax, rcx",
    "movabs rcx, 1442695040888963407",
    "add rax, rcx",
    "mov [rip + hairspring_blocks_data + 16], rax",
    "shr rax, 40",
    "imul rax, [rip + hairspring_blocks_data + 24]",
    "shr rax, 24",
    "50:",
    "dec rax",
    "jns 50b",
    // The registers that the call began with.
    "mov eax, [rip + hairspring_blocks_data + 0x4c0]",
    "mov edx, [rip + hairspring_blocks_data + 0x4c4]",
    "xrstor64 [rip + hairspring_blocks_data + 0x500]",
    "lea rsp, [rip + hairspring_blocks_data + 0x480]",
    "push qword ptr [rip + hairspring_blocks_data + 48]",
    "popfq",
    "mov rsp, [rip + hairspring_blocks_data + 40]",
    "mov rbx, [rip + hairspring_blocks_data + 0x88]",
    "mov rcx, [rip + hairspring_blocks_data + 0x90]",
    "mov rsi, [rip + hairspring_blocks_data + 0xa0]",
    "mov rdi, [rip + hairspring_blocks_data + 0xa8]",
    "mov rbp, [rip + hairspring_blocks_data + 0xb0]",
    "mov r8, [rip + hairspring_blocks_data + 0xb8]",
    "mov r9, [rip + hairspring_blocks_data + 0xc0]",
    "mov r10, [rip + hairspring_blocks_data + 0xc8]",
    "mov r11, [rip + hairspring_blocks_data + 0xd0]",
    "mov r12, [rip + hairspring_blocks_data + 0xd8]",
    "mov r13, [rip + hairspring_blocks_data + 0xe0]",
    "mov r14, [rip + hairspring_blocks_data + 0xe8]",
    "mov r15, [rip + hairspring_blocks_data + 0xf0]",
    "lfence",
    "rdtsc",
    "lfence",
    "mov [rip + hairspring_blocks_data + 72], eax",
    "mov [rip + hairspring_blocks_data + 76], edx",
    "mov rax, [rip + hairspring_blocks_data + 0x80]",
    "mov rdx, [rip + hairspring_blocks_data + 0x98]",
    "call qword ptr [rip + hairspring_blocks_data + 32]",
    "hairspring_blocks_stub_back:",
    "lfence",
    "rdtsc",
    "lfence",
    "shl rdx, 32",
    "or rax, rdx",
    "sub rax, [rip + hairspring_blocks_data + 72]",
    "mov rcx, [rip + hairspring_blocks_data + 64]",
    "lea rdx, [rip + hairspring_blocks_data + 0x200]",
    "mov [rdx + 8 * rcx], rax",
    "inc rcx",
    "mov [rip + hairspring_blocks_data + 64], rcx",
    "cmp rcx, [rip + hairspring_blocks_data + 56]",
    "jb 20b",
    "int3",
    "hairspring_blocks_stub_stop:",
    // Functions of known length, called in place of the program's: each begins a number of copies
    // before its end.
    ".p2align 4, 0xcc",
    ".rept 64",
    "imul rdx, rcx",
    ".endr",
    "hairspring_blocks_stub_return:",
    "ret",
    ".p2align 4, 0xcc",
    ".rept 64",
    "imul rdx, rcx",
    ".endr",
    "hairspring_blocks_stub_jump:",
    "jmp hairspring_blocks_stub_back",
    // Begins inside of the function: with its stack, on which it has its own return address.
    ".p2align 4, 0xcc",
    "hairspring_blocks_stub_inside:",
    "mov rsp, [rip + hairspring_blocks_data + 0x110]",
    "jmp qword ptr [rip + hairspring_blocks_data + 0x118]",
    "hairspring_blocks_stub_end:",
    ".popsection",
);

unsafe extern "C" {
    static hairspring_blocks_stub_start: u8;
    static hairspring_blocks_stub_back: u8;
    static hairspring_blocks_stub_stop: u8;
    static hairspring_blocks_stub_return: u8;
    static hairspring_blocks_stub_jump: u8;
    static hairspring_blocks_stub_inside: u8;
    static hairspring_blocks_stub_end: u8;
}

/// The page of code.
struct Page {
    bytes: &'static [u8],
    /// Offset to which the call returns.
    back: u64,
    /// Offset after the breakpoint at which the repeats end.
    stop: u64,
    /// Offsets of the ends of the functions of known length: by a return, and by a jump as calls
    /// are ended early.
    returns: u64,
    jumps: u64,
    /// Offset of what begins a call inside of a function.
    inside: u64,
}

fn page() -> Page {
    let start = &raw const hairspring_blocks_stub_start;
    let (back, stop, end) = (
        &raw const hairspring_blocks_stub_back,
        &raw const hairspring_blocks_stub_stop,
        &raw const hairspring_blocks_stub_end,
    );
    let (returns, jumps) =
        (&raw const hairspring_blocks_stub_return, &raw const hairspring_blocks_stub_jump);
    let inside = &raw const hairspring_blocks_stub_inside;
    // SAFETY: the symbols are in one read-only section that the assembly above makes, all after
    // `start` and none after `end`.
    unsafe {
        let offset = |symbol: *const u8| symbol.offset_from(start) as u64;
        let bytes = std::slice::from_raw_parts(start, offset(end) as usize);
        Page {
            bytes,
            back: offset(back),
            stop: offset(stop),
            returns: offset(returns),
            jumps: offset(jumps),
            inside: offset(inside),
        }
    }
}

/// Bytes of one copy in a function of known length.
const COPY: u64 = 4;
/// Most copies of it.
pub const MOST_COPIES: u32 = 64;

/// A function of the page: a number of multiplications that wait for each other, and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFunction {
    /// Multiplications.
    pub copies: u32,
    /// Whether it returns; else it ends as a call that is ended early.
    pub returns: bool,
}

/// Ticks of one call.
pub type Ticks = u64;

/// The call to run: up to its end, or up to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Call {
    /// Where the call ends; `None` for a whole call.
    pub until: Option<u64>,
    /// At which arrival there.
    passes: u64,
    /// Whether each arrival is counted twice.
    twice: bool,
    /// The function that is called.
    entry: u64,
    patches: u64,
    count: u64,
    calls: u64,
    calls_count: u64,
}

impl Call {
    /// This call from the same state, up to an arrival at an address.
    #[must_use]
    pub fn up_to(self, until: u64, passes: u64) -> Call {
        Call { until: Some(until), passes, ..self }
    }

    /// This call to its end, with the arrivals at an address counted.
    #[must_use]
    pub fn counted_at(self, address: u64) -> Call {
        self.up_to(address, u64::MAX)
    }

    /// This call with each arrival counted twice.
    #[must_use]
    pub fn counted_twice(self) -> Call {
        Call { twice: true, ..self }
    }

    /// Where a jump has to be put for this call, and where it has to lead.
    fn jump(&self) -> Option<(u64, Planted)> {
        let planted = match self.passes {
            0 | 1 => Planted::End,
            _ if self.twice => Planted::CountTwice,
            _ => Planted::Count,
        };
        self.until.map(|until| (until, planted))
    }
}

/// What a jump in the function leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Planted {
    /// The end of the timing.
    End,
    /// What counts arrivals.
    Count,
    /// What counts each of them twice.
    CountTwice,
}

/// The page in a process; a copy of it belongs to a copy of the process.
#[derive(Debug, Clone)]
pub struct Stub {
    base: u64,
    spread: u64,
    /// The bytes below a jump that is planted at the end of a partial call.
    planted: Option<((u64, Planted), [u8; JUMP])>,
    /// What undoes calls, far away from where the program's own memory is placed.
    kept_range: Range<u64>,
    /// What a call may do to the world.
    pub guard: Guard,
    /// What counts arrivals at an address, once and twice.
    counters: BTreeMap<u64, [Counter; 2]>,
    /// The stack pointer with which calls begin inside of the function.
    inside: Option<u64>,
    /// Memory for an instrumented copy of the function.
    pub room: Option<Room>,
    /// The registers that the last repeat left: those that the page itself does not change.
    pub left: [u64; 13],
}

/// Bytes of a near jump.
pub const JUMP: usize = 5;
/// Where in the page arrivals are counted.
const COUNTING: u64 = 0xc00;

impl Stub {
    /// Address of its code, which waits while the program is stopped.
    pub fn code(&self) -> u64 {
        self.base
    }

    /// Address of its writable memory.
    pub fn data(&self) -> u64 {
        self.base + CODE
    }

    /// Where calls return to.
    pub fn back(&self) -> u64 {
        self.base + page().back
    }

    /// Ranges of addresses that hold the timing code and what it needs.
    pub fn areas(&self) -> [Range<u64>; 3] {
        [
            self.base..self.base + CODE + DATA,
            self.kept_range.clone(),
            self.room.map_or(0..0, |room| room.area()),
        ]
    }

    /// Sets the process to the beginning of the page.
    fn set(&mut self, process: &mut Process, call: &Call, repeats: usize, seed: u64) -> Result<()> {
        self.plant(process, call.jump())?;
        let words =
            |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let entry = if self.inside.is_some() { self.base + page().inside } else { call.entry };
        process
            .write(self.data(), &words(&[call.patches, call.count, seed, self.spread, entry]))?;
        process.write(self.data() + CALLS, &words(&[call.calls, call.calls_count]))?;
        if let Some(stack) = self.inside {
            // A function of the page returns to where the page called it.
            let is_own = (self.base..self.base + CODE).contains(&call.entry);
            let stack = if is_own { self.data() + SCRATCH - 8 } else { stack };
            process.write(self.data() + INSIDE_OFFSET, &words(&[stack, call.entry]))?;
        }
        process.write(self.data() + COUNTER, &words(&[call.passes]))?;
        process.write(self.data() + 56, &words(&[repeats as u64, 0]))?;
        let now = process.registers()?;
        process.set_registers(Registers {
            rip: self.base,
            orig_rax: u64::MAX,
            eflags: now.eflags & !TRAP_FLAG,
            ..now
        })
    }

    /// Begins a call as a repeat does, and stops the process at the function's entry.
    ///
    /// # Errors
    /// The process ends or does not get there.
    pub fn begin(&mut self, process: &mut Process, call: &Call, entry: u64) -> Result<()> {
        self.set(process, call, 1, 1)?;
        let mut original = [0u8];
        if !process.read(entry, &mut original) {
            return Err(Error::system("repeat the call", "the function's code cannot be read"));
        }
        process.poke(entry, &[BREAKPOINT])?;
        self.run_until(process, entry + 1, |_, _| Ok(false))?;
        process.poke(entry, &original)?;
        process.go_to(entry)
    }

    /// Runs a call once and returns what it read that differs from time to time.
    ///
    /// # Errors
    /// The process ends or does not return, or it is about to do what cannot be repeated.
    pub fn watch(
        &mut self,
        process: &mut Process,
        call: &Call,
        entry: u64,
    ) -> Result<BTreeSet<String>> {
        self.begin(process, call, entry)?;
        let (back, mut original, mut sources) = (self.base + page().back, [0u8], BTreeSet::new());
        if !process.read(back, &mut original) {
            return Err(Error::system("repeat the call", "the timing code cannot be read"));
        }
        let mut tripwire = Tripwire::arm(process, self.base)?;
        process.poke(back, &[BREAKPOINT])?;
        self.run_until(process, back + 1, |process, signal| {
            let at = process.instruction()?;
            let source = tripwire.tripped(process, signal, at)?;
            let is_known = source.is_some();
            sources.extend(source);
            Ok(is_known)
        })?;
        process.poke(back, &original)?;
        tripwire.disarm(process)?;
        Ok(sources)
    }

    /// The call of a function of the page from the same state as another call.
    pub fn call_of_page(&self, call: &Call, function: PageFunction) -> Call {
        let end = if function.returns { page().returns } else { page().jumps };
        Call {
            until: None,
            entry: self.base + end - COPY * u64::from(function.copies.min(MOST_COPIES)),
            ..*call
        }
    }

    /// Makes the process run a call `repeats` times, and returns the ticks of each.
    ///
    /// # Errors
    /// The process ends or does not return, or it is about to do what cannot be repeated.
    pub fn run(
        &mut self,
        process: &mut Process,
        call: &Call,
        repeats: usize,
        seed: u64,
    ) -> Result<Vec<Ticks>> {
        let repeats = repeats.clamp(1, MOST_READINGS);
        self.set(process, call, repeats, seed)?;
        self.run_until(process, self.base + page().stop, |_, _| Ok(false))?;
        let now = process.registers()?;
        self.left = [
            now.rbx, now.rsi, now.rdi, now.rbp, now.rsp, now.r8, now.r9, now.r10, now.r11, now.r12,
            now.r13, now.r14, now.r15,
        ];
        let mut readings = vec![0u8; 8 * repeats];
        if !process.read(self.data() + READINGS, &mut readings) {
            // Of a process that was killed meanwhile, nothing can be read any longer.
            process.registers()?;
            return Err(Error::system("read the times", "the memory cannot be read"));
        }
        Ok(readings
            .chunks_exact(8)
            .map(|word| word.try_into().map_or(0, u64::from_ne_bytes))
            .collect())
    }

    /// Runs up to a breakpoint, behind which an address is. Signals that `knows` does not explain
    /// are looked into.
    fn run_until(
        &self,
        process: &mut Process,
        behind: u64,
        mut knows: impl FnMut(&mut Process, Signal) -> Result<bool>,
    ) -> Result<()> {
        loop {
            match process.run(Resume::Run)? {
                Stop::Trap if process.instruction()? == behind => return Ok(()),
                Stop::Filtered => self.guard.check_repeat(process)?,
                Stop::Signal(signal) if knows(process, signal)? => {}
                Stop::Signal(signal) => self.guard.blame(process, signal).map_or(Ok(()), Err)?,
                Stop::Trap => {
                    let reason = format!(
                        "it stopped at {:#x}, where no breakpoint is",
                        process.instruction()?
                    );
                    return Err(Error::system("repeat the call", reason));
                }
                other => return Err(Error::system("repeat the call", other.as_end())),
            }
        }
    }

    /// Allows calls to be ended at a later arrival at an address than the first one.
    ///
    /// # Errors
    /// Instructions there that cannot be moved.
    pub fn count_at(&mut self, address: u64, code: &Code) -> Result<()> {
        if !self.counters.contains_key(&address) {
            let data = self.data();
            let words = Words {
                once: [data + COUNTED_OFFSET, data + SAVED_OFFSET],
                again: AGAIN_OFFSETS.map(|word| data + word),
                back: self.back(),
            };
            let counter = |twice| Counter::new(address, code, self.base + COUNTING, words, twice);
            self.counters.insert(address, [counter(false)?, counter(true)?]);
        }
        Ok(())
    }

    /// Puts a jump to the end of the timing at an address, or to what counts arrivals there, and
    /// removes the previous one.
    fn plant(&mut self, process: &Process, jump: Option<(u64, Planted)>) -> Result<()> {
        if self.planted.map(|(planted, _)| planted) == jump {
            return Ok(());
        }
        if let Some(((address, _), bytes)) = self.planted.take() {
            process.poke(address, &bytes)?;
        }
        let Some((address, planted)) = jump else { return Ok(()) };
        let mut bytes = [0u8; JUMP];
        if !process.read(address, &mut bytes) {
            return Err(Error::system("end the call early", "the code there cannot be read"));
        }
        let to = self.counter(process, address, planted)?;
        let distance = to.wrapping_sub(address + JUMP as u64) as u32;
        let mut jump = [0xe9; JUMP];
        jump[1..].copy_from_slice(&distance.to_le_bytes());
        process.poke(address, &jump)?;
        self.planted = Some(((address, planted), bytes));
        Ok(())
    }

    /// Where a jump at an address leads; what counts arrivals is put there.
    fn counter(&self, process: &Process, address: u64, planted: Planted) -> Result<u64> {
        let at = match planted {
            Planted::End => return Ok(self.back()),
            Planted::Count => 0,
            Planted::CountTwice => 1,
        };
        let counters = self
            .counters
            .get(&address)
            .ok_or_else(|| Error::system("end the call early", "nothing counts arrivals there"))?;
        process.poke_all(self.base + COUNTING, counters[at].bytes())?;
        Ok(self.base + COUNTING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_fits_and_its_places_are_in_order() {
        let Page { bytes, back, stop, returns, jumps, inside } = page();
        assert!(jumps < inside && bytes[inside as usize..].starts_with(&[0x48, 0x8b, 0x25]));
        assert!(
            bytes.len() < COUNTING as usize && COUNTING + crate::trace::counter::MOST_BYTES <= CODE
        );
        assert!(back < stop && stop < returns && returns < jumps && jumps < bytes.len() as u64);
        assert_eq!((bytes[stop as usize - 1], bytes[returns as usize]), (0xcc, 0xc3));
        // All copies are there, and as long as is assumed.
        let copy =
            |end: u64, n: u64| &bytes[(end - COPY * n) as usize..(end - COPY * (n - 1)) as usize];
        for end in [returns, jumps] {
            assert!((1..=u64::from(MOST_COPIES)).all(|n| copy(end, n) == [0x48, 0x0f, 0xaf, 0xd1]));
        }
        assert_eq!(READINGS + 8 * MOST_READINGS as u64, 0x400);
    }
}
