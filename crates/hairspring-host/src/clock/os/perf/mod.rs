//! perf's counter of core cycles, read in user space from the page that the kernel shares
//! (perf_event_open(2), "mmap layout"). It counts while the thread that enabled it runs in user
//! code, and steps with the core's own clock.
#![allow(
    unsafe_code,
    reason = "perf_event_open, its page and rdpmc have no safe form in the libraries used"
)]

#[cfg(not(target_arch = "x86_64"))]
mod call;
mod hardware;
mod open;

use crate::clock::arch::{explain_loss, perf_gives_access};
use crate::clock::{Clock, CountsWhen};
use open::Mapped;
use std::cell::Cell;
use std::sync::atomic::{
    AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering as Memory, compiler_fence,
};

/// The part of the page that a read needs. The kernel may write to it at any time.
#[repr(C)]
pub struct Page {
    version: u32,
    compatible: u32,
    /// Changes whenever the kernel writes to the page; a read during which it changes is repeated.
    lock: AtomicU32,
    /// Number of the hardware counter plus one; 0 while there is none.
    index: AtomicU32,
    offset: AtomicI64,
    enabled: AtomicU64,
    running: AtomicU64,
    capabilities: AtomicU64,
    /// Bits of the hardware counter.
    width: AtomicU16,
}

/// `cap_user_rdpmc`: user code may read the counter.
const CAN_READ: u64 = 1 << 2;

thread_local! {
    /// This thread's page. It remains mapped until the process ends, because the clock may be read
    /// until then.
    static PAGE: Cell<Option<&'static Page>> = const { Cell::new(None) };
}

/// The clocks, and whether this thread may use them.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let clock = Clock {
        ordering: hardware::ORDERING,
        counts: CountsWhen::WhileThreadRuns,
        enable: Some(enable),
        ..Clock::new("perf", hardware::HOW, read)
    };
    vec![
        (clock, available()),
        #[cfg(not(target_arch = "x86_64"))]
        call::clock(),
    ]
}

/// Core cycles of this thread; 0 where it was not enabled in this thread.
extern "C" fn read() -> u64 {
    PAGE.get().and_then(|page| cycles(page, hardware::read)).unwrap_or(0)
}

/// Reads the counter under the page's lock; `None` while the kernel has no hardware counter for it,
/// or one that is not read here.
fn cycles(page: &Page, hardware: impl Fn(u32) -> Option<u64>) -> Option<u64> {
    loop {
        let lock = page.lock.load(Memory::Acquire);
        compiler_fence(Memory::SeqCst);
        let index = page.index.load(Memory::Relaxed);
        let offset = page.offset.load(Memory::Relaxed);
        let unused = 64 - u32::from(page.width.load(Memory::Relaxed)).clamp(1, 64);
        // The counter is narrower than 64 bits and its sign is that of its highest bit.
        let counted = index.checked_sub(1).and_then(&hardware);
        let count =
            counted.map(|counted| offset.wrapping_add((counted << unused) as i64 >> unused));
        compiler_fence(Memory::SeqCst);
        if page.lock.load(Memory::Acquire) == lock {
            return count.map(|count| count as u64);
        }
    }
}

/// Opens the counter for this thread, unless it is already open.
fn enable() -> Result<(), String> {
    if PAGE.get().is_none() {
        let mapped = open()?;
        explain_loss()?; // the system's setting may forbid the reads later
        PAGE.set(Some(mapped.keep()));
    }
    Ok(())
}

/// A child process has no page, and its file would be that of its parent's counter: its clocks read
/// 0 until they are enabled there.
extern "C" fn give_up_in_child() {
    PAGE.set(None);
    open::give_up();
}

/// Whether the counter can be opened. Opens and closes it.
fn available() -> Result<(), String> {
    if PAGE.get().is_some() { Ok(()) } else { open().map(drop) }
}

/// What lets user code read a counter.
const ALLOW: &str = if cfg!(target_arch = "x86_64") {
    "echo 2 > /sys/bus/event_source/devices/cpu/rdpmc"
} else if cfg!(target_arch = "arm") {
    "32-bit ARM kernels never do: use `perf_read`, or a module that allows `pmccntr`"
} else {
    "sysctl kernel.perf_user_access=1"
};

/// Whether the system's setting allows reads by programs, where the page does not tell: on arm64 it
/// then only lacks the counter's number.
fn is_allowed() -> bool {
    !cfg!(target_arch = "aarch64") || perf_gives_access()
}

/// Opens a counter that this thread can read.
fn open() -> Result<Mapped, String> {
    let mapped = Mapped::new()?;
    if mapped.page.capabilities.load(Memory::Relaxed) & CAN_READ == 0 || !is_allowed() {
        return Err(format!(
            "the kernel counts cycles, but does not let user code read them (cap_user_rdpmc is not \
             set): {ALLOW}"
        ));
    }
    if mapped.page.index.load(Memory::Relaxed) == 0 {
        mapped.file.counting()?;
        return Err("the kernel counts cycles, but its page names no counter that user code may \
                    read: choose another clock"
            .into());
    }
    cycles(mapped.page, hardware::read).ok_or_else(|| {
        let number = mapped.page.index.load(Memory::Relaxed);
        format!(
            "the kernel counts cycles on counter {number}, which is not read here on {}",
            std::env::consts::ARCH
        )
    })?;
    Ok(mapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(index: u32, offset: i64, width: u16) -> Page {
        Page {
            version: 0,
            compatible: 0,
            lock: AtomicU32::new(0),
            index: AtomicU32::new(index),
            offset: AtomicI64::new(offset),
            enabled: AtomicU64::new(0),
            running: AtomicU64::new(0),
            capabilities: AtomicU64::new(CAN_READ),
            width: AtomicU16::new(width),
        }
    }

    #[test]
    fn page_has_the_layout_of_the_kernel() {
        use std::mem::offset_of;
        let places = (offset_of!(Page, lock), offset_of!(Page, index), offset_of!(Page, offset));
        assert_eq!(
            (places, offset_of!(Page, capabilities), offset_of!(Page, width)),
            ((8, 12, 16), 40, 48)
        );
    }

    #[test]
    fn counter_is_sign_extended_and_added_to_the_offset() {
        let count = |hardware: u64| {
            cycles(&page(3, 1 << 50, 48), |number| (number == 2).then_some(hardware))
        };
        assert_eq!(count(1_000), Some((1 << 50) + 1_000));
        // Counters are loaded with a negative number so that they overflow after a period.
        assert_eq!(count(0xffff_ffff_fff0), Some((1 << 50) - 16));
    }

    #[test]
    fn counter_of_64_bits_begins_anywhere() {
        let begin = 1u64 << 63;
        let count =
            cycles(&page(32, begin as i64, 64), |number| (number == 31).then_some(begin + 300));
        assert_eq!(count, Some(300));
    }

    #[test]
    fn without_a_hardware_counter_there_is_no_count() {
        assert_eq!(cycles(&page(0, 5, 48), |_| Some(7)), None);
        assert_eq!(cycles(&page(1, 5, 48), |_| None), None);
    }

    #[test]
    fn read_interrupted_by_the_kernel_is_repeated() {
        let page = page(1, 100, 48);
        let reads = Cell::new(0);
        let count = cycles(&page, |_| {
            reads.set(reads.get() + 1);
            if reads.get() == 1 {
                page.lock.fetch_add(1, Memory::Relaxed);
                page.offset.store(500, Memory::Relaxed);
            }
            Some(7)
        });
        assert_eq!((count, reads.get()), (Some(507), 2));
    }
}
