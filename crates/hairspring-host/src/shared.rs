//! Atomic numbers that two processes share. A file descriptor stands for them, so that another
//! program can map them.
#![allow(
    unsafe_code,
    reason = "a shared mapping has no safe form in the libraries used; it holds atomic numbers \
              only, for which every bit pattern is valid"
)]

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A number on a cache line of its own, so that no write slows a read of another number.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Alone<T>(pub T);

/// The numbers, all 0 at first. What each is for is up to the processes.
#[derive(Debug)]
#[repr(C)]
pub struct Numbers {
    /// Numbers that a futex may wait for.
    pub words: [Alone<AtomicU32>; 8],
    /// Further numbers.
    pub counts: [Alone<AtomicU64>; 8],
}

/// Numbers in memory that another process can map too.
#[derive(Debug)]
pub struct Shared {
    start: NonNull<Numbers>,
    file: File,
}

// SAFETY: the mapping belongs to this value until it is dropped, and is only read and written
// through atomic numbers.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

const BYTES: NonZeroUsize = NonZeroUsize::new(size_of::<Numbers>()).unwrap();

impl Shared {
    /// New numbers. Programs that this process starts inherit the descriptor.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn new() -> std::io::Result<Shared> {
        let file = File::from(memfd_create("hairspring", MFdFlags::empty())?);
        file.set_len(BYTES.get() as u64)?;
        Shared::map(file)
    }

    /// The numbers of the process that started this one, by the descriptor that was inherited.
    ///
    /// # Errors
    /// Errors of the system; also if the descriptor is that of something smaller.
    pub fn inherited(descriptor: RawFd) -> std::io::Result<Shared> {
        let file =
            File::options().read(true).write(true).open(format!("/proc/self/fd/{descriptor}"))?;
        if file.metadata()?.len() < BYTES.get() as u64 {
            return Err(std::io::Error::other(format!(
                "descriptor {descriptor} has fewer than {BYTES} bytes"
            )));
        }
        Shared::map(file)
    }

    fn map(file: File) -> std::io::Result<Shared> {
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping at an address that the system chooses, of a file that is at least
        // so long and is never shortened.
        let start = unsafe { mmap(None, BYTES, protection, MapFlags::MAP_SHARED, &file, 0)? };
        Ok(Shared { start: start.cast(), file })
    }

    /// The descriptor, for a program that this process starts.
    pub fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// The numbers.
    pub fn numbers(&self) -> &Numbers {
        // SAFETY: the mapping is as large as the numbers, begins at a page, and lives as long as
        // this value.
        unsafe { self.start.as_ref() }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no reference to it outlives the value.
        let _ = unsafe { munmap(self.start.cast(), BYTES.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::SeqCst;

    #[test]
    fn both_mappings_have_the_same_numbers() {
        let shared = Shared::new().unwrap();
        let second_mapping = Shared::inherited(shared.descriptor()).unwrap();
        shared.numbers().words[7].0.store(3, SeqCst);
        shared.numbers().counts[7].0.store(u64::MAX, SeqCst);
        let seen_numbers = second_mapping.numbers();
        assert_eq!(
            (
                seen_numbers.words[7].0.load(SeqCst),
                seen_numbers.words[0].0.load(SeqCst),
                seen_numbers.counts[7].0.load(SeqCst)
            ),
            (3, 0, u64::MAX)
        );
        drop(shared);
        second_mapping.numbers().words[0].0.store(1, SeqCst);
        assert_eq!(second_mapping.numbers().words[0].0.load(SeqCst), 1);
    }

    #[test]
    fn something_smaller_is_refused() {
        let small = File::from(memfd_create("small", MFdFlags::empty()).unwrap());
        let message = Shared::inherited(small.as_raw_fd()).unwrap_err().to_string();
        assert!(message.contains("fewer than"), "{message}");
        assert!(Shared::inherited(100_000).is_err());
    }
}
