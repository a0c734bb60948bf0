//! The memory map of a process.

use crate::error::{Error, Result};
use std::ops::Range;
use std::path::PathBuf;

/// One line of /proc/PID/maps (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mapping {
    /// Addresses.
    pub range: Range<u64>,
    /// Whether the process may write there.
    pub writable: bool,
    /// Whether the process may run code there.
    pub executable: bool,
    /// Whether the process may read there.
    pub readable: bool,
    /// Whether other processes, a file or a device see what is written there.
    pub shared: bool,
    /// Offset in the file.
    pub offset: u64,
    /// The file, or a name in brackets.
    pub name: String,
}

impl Mapping {
    /// The file that is mapped.
    pub fn file(&self) -> Option<PathBuf> {
        self.name.starts_with('/').then(|| PathBuf::from(&self.name))
    }

    /// Whether it holds nothing but what the process itself wrote: it can be made anew.
    pub fn is_own(&self) -> bool {
        !self.shared
            && (self.name.is_empty() || self.name == "[heap]" || self.name.starts_with("[anon:"))
    }

    /// The rights, as mmap(2) takes them.
    pub fn protection(&self) -> u64 {
        let right = |has: bool, bit: i32| if has { bit as u64 } else { 0 };
        right(self.readable, libc::PROT_READ)
            | right(self.writable, libc::PROT_WRITE)
            | right(self.executable, libc::PROT_EXEC)
    }
}

/// All mappings of a process.
pub fn of_process(id: i32) -> Result<Vec<Mapping>> {
    let text = std::fs::read_to_string(format!("/proc/{id}/maps"))
        .map_err(|e| Error::system("read the program's memory map", e))?;
    Ok(text.lines().filter_map(parse).collect())
}

fn parse(line: &str) -> Option<Mapping> {
    let mut words = line.splitn(6, ' ');
    let (range, rights, offset) = (words.next()?, words.next()?, words.next()?);
    let (from, to) = range.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let name = words.nth(2).unwrap_or("").trim().to_owned();
    let right = |letter: char| rights.contains(letter);
    Some(Mapping {
        range: number(from)?..number(to)?,
        writable: right('w'),
        executable: right('x'),
        readable: right('r'),
        shared: right('s'),
        offset: number(offset)?,
        name,
    })
}

/// The entry point that the kernel gave to the program (getauxval(3), `AT_ENTRY`).
pub fn entry_point(id: i32) -> Result<u64> {
    const AT_ENTRY: u64 = 9;
    let bytes = std::fs::read(format!("/proc/{id}/auxv"))
        .map_err(|e| Error::system("find the program's entry point", e))?;
    let word = |at: &[u8]| at.try_into().map(u64::from_ne_bytes).unwrap_or(0);
    let mut entries = bytes.chunks_exact(16).map(|entry| (word(&entry[..8]), word(&entry[8..])));
    let found_entry = entries.find(|(kind, _)| *kind == AT_ENTRY).map(|(_, address)| address);
    found_entry.ok_or_else(|| {
        Error::system("find the program's entry point", "the kernel does not report it")
    })
}

/// A free range of addresses of this size within reach of a 32-bit jump from an address.
pub fn free_near(mappings: &[Mapping], address: u64, size: u64) -> Option<u64> {
    const REACH: u64 = 1 << 30;
    const LOWEST_ADDRESS: u64 = 0x10_0000;
    let floor = mappings
        .iter()
        .map(|mapping| mapping.range.end)
        .filter(|end| *end <= address)
        .chain([LOWEST_ADDRESS]);
    let ceilings = mappings.iter().map(|mapping| mapping.range.end);
    let free = |from: u64| {
        let to = from.checked_add(size)?;
        let clear =
            mappings.iter().all(|mapping| mapping.range.end <= from || mapping.range.start >= to);
        (clear && from >= LOWEST_ADDRESS && from.abs_diff(address) < REACH && to < 1 << 47)
            .then_some(from)
    };
    // The heap grows upwards after the program: leave room for it.
    let apart = |end: u64| end.saturating_add(64 << 20);
    let below =
        mappings.iter().filter_map(|mapping| mapping.range.start.checked_sub(size + (1 << 20)));
    floor
        .chain(below)
        .chain(ceilings.map(apart))
        .filter_map(free)
        .min_by_key(|from| from.abs_diff(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_names_that_have_spaces() {
        let line = "7ffff7d00000-7ffff7d28000 r-xp 00028000 fe:01 1234                       \
                    /usr/lib/a file.so";
        let mapping = parse(line).unwrap();
        assert_eq!(
            (mapping.range.start, mapping.offset, mapping.executable, mapping.writable),
            (0x7fff_f7d0_0000, 0x28000, true, false)
        );
        assert_eq!(mapping.file(), Some(PathBuf::from("/usr/lib/a file.so")));
        assert_eq!(parse("55-66 rw-p 00000000 00:00 0    [heap]").unwrap().file(), None);
        let shared = parse("77-88 rw-s 00000000 00:01 7    /dev/zero (deleted)").unwrap();
        assert!(shared.shared && shared.readable && !shared.is_own() && !mapping.shared);
        assert_eq!(shared.protection(), 3);
        assert!(parse("nonsense").is_none());
    }

    #[test]
    fn free_ranges_are_near_and_unmapped() {
        let taken_range =
            |from: u64, to: u64| parse(&format!("{from:x}-{to:x} r-xp 0 0 0")).unwrap();
        let all_ranges = [
            taken_range(0x5555_5555_4000, 0x5555_5555_8000),
            taken_range(0x7fff_f7d0_0000, 0x7fff_f7f0_0000),
        ];
        for address in [0x5555_5555_5000, 0x7fff_f7d0_1000] {
            let free_range = free_near(&all_ranges, address, 0x4000).unwrap();
            assert!(free_range.abs_diff(address) < 1 << 30);
            assert!(all_ranges.iter().all(|mapping| mapping.range.end <= free_range
                || mapping.range.start >= free_range + 0x4000));
        }
    }
}
