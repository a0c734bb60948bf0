//! perf's counter of core cycles, read in user space from the page that the kernel shares (perf_event_open(2), "mmap
//! layout"). It counts while the thread that enabled it runs in user code, and steps with the core's own clock.
#![allow(unsafe_code, reason = "perf_event_open, its page and rdpmc have no safe form in the libraries used")]

use super::super::{Clock, CountsWhen, Ordering};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64, Ordering as Memory, compiler_fence};

/// The part of the page that a read needs. The kernel may write to it at any time.
#[repr(C)]
struct Page {
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

/// Bytes of the page that are mapped: the smallest page size of the supported machines.
const PAGE_BYTES: usize = 4096;
/// `cap_user_rdpmc`: user code may read the counter.
const CAN_READ: u64 = 1 << 2;

thread_local! {
    /// This thread's page. It remains mapped until the process ends, because the clock may be read until then.
    static PAGE: Cell<Option<&'static Page>> = const { Cell::new(None) };
}

/// The clock, and whether this thread may use it.
pub fn clocks() -> Vec<(Clock, Result<(), String>)> {
    let clock = Clock {
        ordering: Ordering::both("lfence"),
        counts: CountsWhen::WhileThreadRuns,
        enable: Some(enable),
        ..Clock::new("perf", "core cycles of this thread in user code, by rdpmc on perf's user page", read)
    };
    vec![(clock, available())]
}

/// Core cycles of this thread; 0 where it was not enabled in this thread.
extern "C" fn read() -> u64 {
    PAGE.get().and_then(|page| cycles(page, rdpmc)).unwrap_or(0)
}

/// Reads the counter under the page's lock; `None` while the kernel has no hardware counter for it.
fn cycles(page: &Page, hardware: impl Fn(u32) -> u64) -> Option<u64> {
    loop {
        let lock = page.lock.load(Memory::Acquire);
        compiler_fence(Memory::SeqCst);
        let index = page.index.load(Memory::Relaxed);
        let offset = page.offset.load(Memory::Relaxed);
        let unused = 64 - u32::from(page.width.load(Memory::Relaxed)).clamp(1, 64);
        // The counter is narrower than 64 bits and its sign is that of its highest bit.
        let count = index.checked_sub(1).map(|number| offset.wrapping_add((hardware(number) << unused) as i64 >> unused));
        compiler_fence(Memory::SeqCst);
        if page.lock.load(Memory::Acquire) == lock {
            return count.map(|count| count as u64);
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn rdpmc(number: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: only with the index of a page whose `cap_user_rdpmc` is set; writes eax and edx.
    unsafe {
        std::arch::asm!("lfence", "rdpmc", "lfence", in("ecx") number, out("eax") low, out("edx") high, options(nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(not(target_arch = "x86_64"))]
fn rdpmc(_: u32) -> u64 {
    0
}

/// Opens the counter for this thread, unless it is already open.
fn enable() -> Result<(), String> {
    if PAGE.get().is_none() {
        PAGE.set(Some(open()?.keep()));
    }
    Ok(())
}

/// Whether the counter can be opened. Opens and closes it.
fn available() -> Result<(), String> {
    if PAGE.get().is_some() { Ok(()) } else { open().map(drop) }
}

/// Opens a counter that this thread can read.
fn open() -> Result<Opened, String> {
    if !cfg!(target_arch = "x86_64") {
        return Err(format!("no read of the hardware counter is built for {}", std::env::consts::ARCH));
    }
    let opened = Opened::new().map_err(|error| refused(&error))?;
    if opened.page.capabilities.load(Memory::Relaxed) & CAN_READ == 0 {
        return Err("the kernel counts cycles, but does not let user code read them (cap_user_rdpmc is not set): \
                    echo 2 > /sys/bus/event_source/devices/cpu/rdpmc"
            .into());
    }
    if opened.page.index.load(Memory::Relaxed) == 0 {
        return Err("all hardware counters are in use (by the NMI watchdog or another perf): free one".into());
    }
    Ok(opened)
}

/// The attributes in their first published form (PERF_ATTR_SIZE_VER0), which every kernel accepts.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample: u64,
    format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    /// On arm64 bit 1 asks for a counter that user code may read.
    config1: u64,
}

/// PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES.
const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
/// `pinned`: always on a hardware counter; `exclude_kernel`, `exclude_hv`: without these an unprivileged user may not count.
const PINNED_USER_ONLY: u64 = 1 << 2 | 1 << 5 | 1 << 6;

const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// A counter and its page.
struct Opened {
    page: &'static Page,
    file: i32,
}

impl Opened {
    fn new() -> Result<Opened, std::io::Error> {
        let attributes = Attributes {
            kind: HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: CYCLES,
            period: 0,
            sample: 0,
            format: 0,
            flags: PINNED_USER_ONLY,
            wakeup: 0,
            breakpoint: 0,
            config1: if cfg!(target_arch = "aarch64") { 2 } else { 0 },
        };
        // SAFETY: the attributes live and have the size that they state; this thread, any CPU, no group, closed on exec.
        let file = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC) } as i32;
        if file < 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: maps the first page of the counter that was just opened, for reading.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), PAGE_BYTES, libc::PROT_READ, libc::MAP_SHARED, file, 0) };
        if page == libc::MAP_FAILED {
            let error = std::io::Error::last_os_error();
            // SAFETY: closes the file opened above, which nothing else uses.
            unsafe { libc::close(file) };
            return Err(error);
        }
        // SAFETY: the mapping is aligned to pages and longer than the structure; all that the kernel changes is read
        // through atomics. The reference leaves this file by `keep` only, which never unmaps.
        Ok(Opened { page: unsafe { &*page.cast::<Page>() }, file })
    }

    /// Leaves the counter open and the page mapped for the life of the process.
    fn keep(self) -> &'static Page {
        let page = self.page;
        std::mem::forget(self);
        page
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: undoes what `new` did; nothing else uses the page, because `keep` was not called.
        unsafe {
            libc::munmap(std::ptr::from_ref(self.page).cast_mut().cast(), PAGE_BYTES);
            libc::close(self.file);
        }
    }
}

/// Why the kernel refused, with the setting that it depends on.
fn refused(error: &std::io::Error) -> String {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    explain(error, paranoid.trim())
}

fn explain(error: &std::io::Error, paranoid: &str) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this CPU offers no cycle counter to the system, as in most virtual machines"
        }
        Some(libc::EACCES | libc::EPERM) => "not allowed: lower kernel.perf_event_paranoid to 2, or give the program CAP_PERFMON",
        Some(libc::ENOSYS) => "the kernel is built without perf events, or a sandbox forbids them",
        Some(libc::EMFILE | libc::ENFILE) => "too many open files",
        _ => "unexpected",
    };
    let paranoid = if paranoid.is_empty() { "not readable" } else { paranoid };
    format!("{why} (perf_event_open: {error}; perf_event_paranoid is {paranoid})")
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
        assert_eq!((places, offset_of!(Page, capabilities), offset_of!(Page, width)), ((8, 12, 16), 40, 48));
        assert_eq!(size_of::<Attributes>(), 64);
    }

    #[test]
    fn counter_is_sign_extended_and_added_to_the_offset() {
        let count = |hardware: u64| cycles(&page(3, 1 << 50, 48), |number| if number == 2 { hardware } else { 0 });
        assert_eq!(count(1_000), Some((1 << 50) + 1_000));
        // Counters are loaded with a negative number so that they overflow after a period.
        assert_eq!(count(0xffff_ffff_fff0), Some((1 << 50) - 16));
    }

    #[test]
    fn without_a_hardware_counter_there_is_no_count() {
        assert_eq!(cycles(&page(0, 5, 48), |_| 7), None);
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
            7
        });
        assert_eq!((count, reads.get()), (Some(507), 2));
    }

    #[test]
    fn reason_names_the_error_and_the_setting() {
        let text = explain(&std::io::Error::from_raw_os_error(libc::ENOENT), "2");
        assert!(text.contains("virtual machines") && text.contains("perf_event_paranoid is 2"), "{text}");
        let text = explain(&std::io::Error::from_raw_os_error(libc::EACCES), "");
        assert!(text.contains("CAP_PERFMON") && text.contains("not readable"), "{text}");
    }
}
