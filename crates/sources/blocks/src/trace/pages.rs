//! Which pages of a large mapping hold anything: a sanitizer reserves terabytes and uses little of
//! them.
#![allow(
    unsafe_code,
    reason = "the request of the kernel has no safe form; its pointers are to live values of the \
              sizes that it is given"
)]

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;

/// The request `PAGEMAP_SCAN` (Linux 6.7) and its structures, from linux/fs.h.
const PAGEMAP_SCAN: libc::c_ulong = 0xc060_6610;
const PRESENT_FLAG: u64 = 1 << 3;
const SWAPPED_FLAG: u64 = 1 << 4;

#[repr(C)]
#[derive(Default)]
struct Request {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    most_regions: u64,
    most_pages: u64,
    inverted: u64,
    all_of: u64,
    any_of: u64,
    returned: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// The parts of a range of addresses that a process has used; `None` if the kernel does not tell.
pub fn used(id: i32, range: &Range<u64>) -> Option<Vec<Range<u64>>> {
    let file = File::open(format!("/proc/{id}/pagemap")).ok()?;
    let (mut found_pages, mut start) = (Vec::new(), range.start);
    let mut regions = vec![Region::default(); 1024];
    while start < range.end {
        let mut request = Request {
            size: size_of::<Request>() as u64,
            start,
            end: range.end,
            regions: regions.as_mut_ptr() as u64,
            most_regions: regions.len() as u64,
            any_of: PRESENT_FLAG | SWAPPED_FLAG,
            returned: PRESENT_FLAG | SWAPPED_FLAG,
            ..Request::default()
        };
        // SAFETY: the kernel reads and writes the request, whose size is in it, and up to
        // `most_regions` regions, which all live here.
        let count = unsafe { libc::ioctl(file.as_raw_fd(), PAGEMAP_SCAN, &raw mut request) };
        let count = usize::try_from(count).ok()?;
        found_pages.extend(
            regions[..count.min(regions.len())].iter().map(|region| region.start..region.end),
        );
        if request.walk_end <= start {
            return None;
        }
        start = request.walk_end;
    }
    Some(found_pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_process_are_told_from_reserved_ones() {
        const SIZE: usize = 1 << 40;
        // SAFETY: a new mapping that nothing else uses; one byte of it is written.
        let at = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let at = libc::mmap(
                std::ptr::null_mut(),
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                flags,
                -1,
                0,
            );
            assert_ne!(at, libc::MAP_FAILED);
            libc::madvise(at, SIZE, libc::MADV_NOHUGEPAGE);
            at.cast::<u8>().add(SIZE / 2).write_volatile(1);
            at as u64
        };
        // An older kernel does not tell.
        if let Some(found_pages) = used(std::process::id() as i32, &(at..at + SIZE as u64)) {
            let written = at + SIZE as u64 / 2;
            assert!(
                found_pages.len() == 1 && found_pages[0] == (written..written + 4096),
                "{found_pages:x?}"
            );
        }
    }
}
