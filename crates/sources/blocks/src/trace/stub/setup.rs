//! Puts the page into a process, with the initial state of the calls and what undoes them.

use super::{
    CODE, Call, DATA, FAR_ADDRESS, PAGE, REGISTERS, SCRATCH, Stub, VECTOR_MASK, VECTORS, page,
};
use crate::error::{Error, Result};
use crate::trace::guard::Guard;
use crate::trace::maps::{Mapping, free_near};
use crate::trace::memory::Undo;
use crate::trace::process::{Process, TRAP_FLAG};
use crate::trace::room::Room;
use std::collections::BTreeMap;

impl Stub {
    /// Puts the page into a process, near a function of a size. The process is made to call the
    /// system from an address of its code.
    ///
    /// # Errors
    /// No room near the function, or the system's error.
    pub fn install(
        process: &mut Process,
        mappings: &[Mapping],
        from: u64,
        near: u64,
        size: u64,
        spread: u64,
    ) -> Result<Stub> {
        const READ_WRITE: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        const READ_RUN: u64 = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        const PLACE: u64 =
            (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
        let base = free_near(mappings, near, CODE + DATA).ok_or_else(|| {
            Error::system(
                "prepare the program",
                "there is no room for the timing code near the function",
            )
        })?;
        process.system_call(
            from,
            libc::SYS_mmap,
            [base, CODE + DATA, READ_WRITE, PLACE, u64::MAX, 0],
        )?;
        process.write(base, page().bytes)?;
        process.system_call(from, libc::SYS_mprotect, [base, CODE, READ_RUN, 0, 0, 0])?;
        let page = Mapping { range: base..base + CODE + DATA, ..Mapping::default() };
        let taken_mappings: Vec<Mapping> = mappings.iter().cloned().chain([page]).collect();
        let room = Room::install(process, &taken_mappings, from, near, size)?;
        Ok(Stub {
            base,
            spread,
            planted: None,
            kept_range: FAR_ADDRESS..FAR_ADDRESS,
            guard: Guard::default(),
            counters: BTreeMap::new(),
            inside: None,
            room,
            left: [0; 13],
        })
    }

    /// Takes the initial state of calls from a process that is stopped where they begin: at the
    /// function's entry, or inside of it.
    ///
    /// # Errors
    /// Registers that cannot be read.
    pub fn remember(&mut self, process: &Process, begin: u64, is_inside: bool) -> Result<()> {
        let now = process.registers()?;
        let vectors = process.vector_state()?;
        if vectors.len() as u64 > DATA - VECTORS {
            return Err(Error::system(
                "prepare the program",
                "the state of the vector registers is too large",
            ));
        }
        let words =
            |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        self.inside = is_inside.then_some(now.rsp);
        // The call itself puts the return address on the stack: on that of the page if the function
        // has its own already.
        let stack = if is_inside { self.data() + SCRATCH } else { now.rsp + 8 };
        process.write(self.data() + 32, &words(&[begin, stack, now.eflags & !TRAP_FLAG]))?;
        let general = [
            now.rax, now.rbx, now.rcx, now.rdx, now.rsi, now.rdi, now.rbp, now.r8, now.r9, now.r10,
            now.r11, now.r12, now.r13, now.r14, now.r15,
        ];
        process.write(self.data() + REGISTERS, &words(&general))?;
        process.write(self.data() + VECTOR_MASK, &words(&[u64::MAX]))?;
        process.write(self.data() + VECTORS, &vectors)
    }

    /// Copies what undoes a call into the process, so that the page can do it before each repeat.
    ///
    /// # Errors
    /// The system's error.
    pub fn prepare(&mut self, process: &mut Process, from: u64, undo: &Undo) -> Result<Call> {
        if undo.memory.is_empty() && undo.calls.is_empty() {
            return Ok(Call { entry: from, ..Call::default() });
        }
        const READ_WRITE: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        const PLACE: u64 =
            (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE) as u64;
        let before: usize = 56 * undo.calls.len();
        let list = before + 24 * undo.memory.len();
        let size = list + undo.memory.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        let at = self.kept_range.end;
        process.system_call(
            from,
            libc::SYS_mmap,
            [at, size as u64, READ_WRITE, PLACE, u64::MAX, 0],
        )?;
        self.kept_range.end += (size as u64).next_multiple_of(PAGE);
        let words = undo
            .calls
            .iter()
            .flat_map(|call| std::iter::once(call.number as u64).chain(call.arguments));
        let mut all_bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
        let mut source = at + list as u64;
        for (address, before) in &undo.memory {
            all_bytes.extend(
                [*address, before.len() as u64, source].iter().flat_map(|word| word.to_ne_bytes()),
            );
            source += before.len() as u64;
        }
        undo.memory.iter().for_each(|(_, before)| all_bytes.extend_from_slice(before));
        process.write(at, &all_bytes)?;
        let (patches, count, calls_count) =
            (at + before as u64, undo.memory.len() as u64, undo.calls.len() as u64);
        Ok(Call {
            until: None,
            passes: 0,
            twice: false,
            entry: from,
            patches,
            count,
            calls: at,
            calls_count,
        })
    }
}
