//! The memory of a process that holds an instrumented copy of the function: its code, its data, the
//! table of the targets of its indirect jumps, and the log of its branches with a page behind that
//! cannot be written.
//!
//! It is mapped before the first call and stays: memory that the call itself maps must have the
//! same addresses in each repeat.

use super::maps::{Mapping, free_near};
use super::process::{Process, Registers};
use crate::error::{Error, Result};
use nix::sys::signal::Signal;
use std::ops::Range;

const PAGE: u64 = 4096;
/// Bytes of code for each byte of the function: a branch of two bytes takes about a hundred, most
/// instructions take their own length.
const GROWTH: u64 = 32;
const LEAST_CODE: u64 = 64 << 10;
const MOST_CODE: u64 = 64 << 20;
/// Targets of indirect jumps that the table has room for, by the lower bits of their addresses.
pub const TARGETS: u64 = 1 << 16;
/// Bytes of the log.
const LOG: u64 = 256 << 10;
/// Bytes of an event of the log.
pub const EVENT: usize = 4;

/// Where the parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    base: u64,
    code: u64,
}

impl Room {
    /// Maps it near a function of a size, by system calls from an address of code; `None` if there
    /// is no room near.
    ///
    /// # Errors
    /// The system's error.
    pub fn install(
        process: &mut Process,
        mappings: &[Mapping],
        from: u64,
        near: u64,
        size: u64,
    ) -> Result<Option<Room>> {
        const READ_WRITE: u64 = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        const READ_RUN: u64 = (libc::PROT_READ | libc::PROT_EXEC) as u64;
        const PLACE: u64 = (libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE) as u64;
        let code =
            (size.saturating_mul(GROWTH)).clamp(LEAST_CODE, MOST_CODE).next_multiple_of(PAGE);
        let mut room = Room { base: 0, code };
        let Some(base) = free_near(mappings, near, room.size()) else { return Ok(None) };
        room.base = base;
        process.system_call(
            from,
            libc::SYS_mmap,
            [base, room.size(), READ_WRITE, PLACE, u64::MAX, 0],
        )?;
        process.system_call(from, libc::SYS_mprotect, [base, code, READ_RUN, 0, 0, 0])?;
        process.system_call(
            from,
            libc::SYS_mprotect,
            [room.log().end, PAGE, libc::PROT_NONE as u64, 0, 0, 0],
        )?;
        Ok(Some(room))
    }

    fn size(&self) -> u64 {
        self.log().end + PAGE - self.base
    }

    /// All of it.
    pub fn area(&self) -> Range<u64> {
        self.base..self.base + self.size()
    }

    /// The code.
    pub fn code(&self) -> Range<u64> {
        self.base..self.base + self.code
    }

    /// The word that holds the address of the next event.
    pub fn cursor(&self) -> u64 {
        self.base + self.code
    }

    /// A word of the data, where a register is kept.
    pub fn word(&self, number: u64) -> u64 {
        self.cursor() + 8 + 8 * number
    }

    /// The table of the targets, negated; the addresses of the code for them follow at a distance
    /// of [`Room::distance`].
    pub fn table(&self) -> u64 {
        self.cursor() + PAGE
    }

    /// Distance from a target in the table to the address of its code.
    pub fn distance() -> u32 {
        8 * TARGETS as u32
    }

    fn log(&self) -> Range<u64> {
        let begin = self.table() + 16 * TARGETS;
        begin..begin + LOG
    }

    /// Empties the log.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn clear(&self, process: &Process) -> Result<()> {
        process.write(self.cursor(), &self.log().start.to_ne_bytes())
    }

    /// Takes the events out of the log.
    ///
    /// # Errors
    /// Memory that the program changed or cannot be read.
    pub fn take(&self, process: &Process) -> Result<Vec<u8>> {
        let fail = || {
            Error::system(
                "follow the call",
                "the log of its branches cannot be read: the program writes over it",
            )
        };
        let mut cursor = [0u8; 8];
        let is_read = process.read(self.cursor(), &mut cursor);
        let (log, end) = (self.log(), u64::from_ne_bytes(cursor));
        if !is_read || !(log.start..=log.end).contains(&end) {
            return Err(fail());
        }
        let mut events = vec![0u8; (end - log.start) as usize];
        if events.is_empty() {
            return Ok(events);
        }
        if !process.read(log.start, &mut events) {
            return Err(fail());
        }
        self.clear(process)?;
        Ok(events)
    }

    /// Whether a signal says that the log is full.
    pub fn is_full(&self, process: &Process, signal: Signal) -> bool {
        signal == Signal::SIGSEGV && process.fault() == Some(self.log().end)
    }

    /// Lets the code that found the log full write its event at the beginning of the log, which was
    /// taken.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn begin_again(&self, process: &mut Process) -> Result<()> {
        process.hold();
        let now = process.registers()?;
        process.set_registers(Registers { rcx: self.log().start, orig_rax: u64::MAX, ..now })
    }

    /// Gives the memory back to the system; the addresses stay.
    ///
    /// # Errors
    /// The system's error.
    pub fn release(&self, process: &mut Process, from: u64) -> Result<()> {
        let area = self.area();
        let arguments = [area.start, area.end - area.start, libc::MADV_DONTNEED as u64, 0, 0, 0];
        process.system_call(from, libc::SYS_madvise, arguments).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_do_not_overlap_and_are_within_reach_of_a_jump() {
        for code in [LEAST_CODE, MOST_CODE] {
            let room = Room { base: 0x10_0000, code };
            let edges =
                [room.code().end, room.table(), room.log().start, room.log().end, room.area().end];
            assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:x?}");
            assert!(
                room.word(3) + 8 <= room.table()
                    && room.log().start - room.table() == 2 * u64::from(Room::distance())
            );
            assert!(room.area().end - room.area().start < 1 << 30);
        }
    }
}
