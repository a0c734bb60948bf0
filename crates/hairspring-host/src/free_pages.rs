//! The free physical pages of a CPU, in a random order.
//!
//! The system keeps the pages that were freed last in a list for each CPU, and gives them out again
//! first. So a process that starts behind one like it gets the same physical pages, and processes
//! started one after the other are not independent: their code and data fall into the same sets of
//! the caches that are indexed by physical addresses. A hash map in Rust took 405 cycles in 13
//! processes in a row and 457 in the 100 others; with the free pages in a random order none of 100
//! processes took less than 430.
#![allow(
    unsafe_code,
    reason = "an anonymous mapping and giving back one of its pages have no safe form in the \
              libraries used"
)]

use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, munmap};
use nix::unistd::{SysconfVar, sysconf};
use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::ptr::NonNull;

/// Memory that is taken and given back: more than a process with a small benchmark uses, and about
/// a millisecond of work.
const BYTES: NonZeroUsize = NonZeroUsize::new(4 << 20).unwrap();

/// Puts free pages of the CPU that the calling thread runs on into a random order: takes 4 MiB and
/// gives them back page by page. Returns whether that was possible; it is not where the memory may
/// not grow.
///
/// Memory that is locked from the start is not mixed as well, because the system may then take
/// large pages: call this before.
pub fn mix() -> bool {
    let Ok(mapping) = Mapping::new() else { return false };
    let mut pages: Vec<usize> = (0..BYTES.get() / mapping.page).collect();
    pages.iter().for_each(|page| mapping.touch(*page));
    fastrand::shuffle(&mut pages);
    pages.iter().all(|page| mapping.give_back(*page))
}

/// Private memory that no file stands behind.
struct Mapping {
    start: NonNull<c_void>,
    /// Bytes of a page.
    page: usize,
}

impl Mapping {
    fn new() -> nix::Result<Mapping> {
        let page = sysconf(SysconfVar::PAGE_SIZE)?
            .and_then(|bytes| usize::try_from(bytes).ok())
            .unwrap_or(4096);
        // SAFETY: a new mapping, at an address that the system chooses.
        let start = unsafe {
            mmap_anonymous(
                None,
                BYTES,
                ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                MapFlags::MAP_PRIVATE,
            )?
        };
        let mapping = Mapping { start, page };
        // Where the system has no large pages it refuses, and there is nothing to keep it from.
        // SAFETY: the mapping has this size; the advice changes no contents.
        let _ = unsafe { madvise(start, BYTES.get(), MmapAdvise::MADV_NOHUGEPAGE) };
        Ok(mapping)
    }

    /// The first byte of a page.
    fn at(&self, page: usize) -> NonNull<c_void> {
        debug_assert!(page < BYTES.get() / self.page);
        // SAFETY: the page lies in the mapping.
        unsafe { self.start.byte_add(page * self.page) }
    }

    /// Has the system find a physical page.
    fn touch(&self, page: usize) {
        // SAFETY: the page is mapped, can be written, and nothing else refers to it.
        unsafe { self.at(page).cast::<u8>().write_volatile(1) }
    }

    /// Gives the physical page back; returns whether that was possible.
    fn give_back(&self, page: usize) -> bool {
        // SAFETY: nothing refers to the contents, which are lost.
        unsafe { madvise(self.at(page), self.page, MmapAdvise::MADV_DONTNEED) }.is_ok()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping of this value, which ends here. It was mapped with this size, so this
        // cannot fail.
        let _ = unsafe { munmap(self.start, BYTES.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::{current_cpu, pin};
    use std::os::unix::fs::FileExt;

    /// Numbers of the physical pages behind the first ones of a mapping; none if the system does
    /// not tell them to this user.
    fn physical(mapping: &Mapping, pages: usize) -> Option<Vec<u64>> {
        let map = std::fs::File::open("/proc/self/pagemap").ok()?;
        let number = |page: usize| {
            mapping.touch(page);
            let (mut entry, at) =
                ([0_u8; 8], mapping.at(page).as_ptr() as usize / mapping.page * 8);
            map.read_exact_at(&mut entry, at as u64).ok()?;
            // The lower 55 bits are the number of the page, or 0 without CAP_SYS_ADMIN.
            Some(u64::from_ne_bytes(entry) & ((1 << 55) - 1)).filter(|number| *number > 0)
        };
        (0..pages).map(number).collect()
    }

    /// Number of neighbours that also are neighbours in physical memory.
    fn in_sequence(numbers: &[u64]) -> usize {
        numbers.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1).count()
    }

    #[test]
    fn pages_that_are_taken_next_are_in_no_order() {
        let _alone = crate::thread::alone();
        pin(current_cpu()).unwrap();
        // Another process on the CPU may give pages back in between, in order. It hardly does so
        // every time.
        let tries = (0..10).map_while(|_| {
            assert!(mix());
            let next = Mapping::new().unwrap();
            physical(&next, 128).map(|numbers| in_sequence(&numbers))
        });
        match tries.min() {
            // 128 of 1024 pages in a random order have a quarter of a pair in the mean; without the
            // random order there are dozens.
            Some(pairs) => assert!(pairs <= 16, "{pairs}"),
            None => eprintln!(
                "physical addresses are hidden from this user: only the calls were tested"
            ),
        }
    }

    #[test]
    fn what_was_taken_is_given_back() {
        let before = resident();
        (0..20).for_each(|_| assert!(mix()));
        assert!(
            resident() < before + 10 * BYTES.get() as u64,
            "{before} bytes before, {} after",
            resident()
        );
    }

    fn resident() -> u64 {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
        pages * sysconf(SysconfVar::PAGE_SIZE).unwrap().unwrap() as u64
    }
}
