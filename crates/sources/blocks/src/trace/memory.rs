//! Finds the memory that a call writes, maps and unmaps, by comparison before and after it, and
//! puts it back.

use super::maps::{Mapping, of_process};
use super::pages::used;
use super::process::Process;
use super::system::SystemCall;
use crate::error::{Error, Result};
use std::ops::Range;

/// Most memory that is compared.
const MOST_BYTES: u64 = 512 << 20;
/// Bytes of a line of the cache; two written stretches with one between them are joined.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// Own memory of more bytes than this is taken by the pages that are used.
const LARGE_BYTES: u64 = 64 << 20;

/// The previous contents of memory that was written.
pub type Patches = Vec<(u64, Vec<u8>)>;

/// What takes the memory of a process back to the beginning of the call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Undo {
    /// System calls that map again what the call unmapped, and the reverse.
    pub calls: Vec<SystemCall>,
    /// The previous contents, to be written after these.
    pub memory: Patches,
}

/// All memory that a process may write to.
#[derive(Debug)]
pub struct Snapshot {
    parts: Vec<(u64, Vec<u8>)>,
    /// Memory of which the parts are only the pages that were used; the others held zeros.
    sparse: Vec<Range<u64>>,
    mappings: Vec<Mapping>,
    /// Where the heap ends.
    heap: u64,
}

impl Snapshot {
    /// Takes a snapshot without the stack below `stack_from` and without mappings in the ranges of
    /// `except`.
    ///
    /// # Errors
    /// A process with too much memory.
    pub fn take(
        process: &mut Process,
        from: u64,
        stack_from: u64,
        except: &[Range<u64>],
    ) -> Result<Snapshot> {
        let is_wanted = |mapping: &Mapping| mapping.writable && !mapping.name.starts_with("[v");
        let mappings = without(of_process(process.id())?, except);
        let (mut ranges, mut sparse) = (Vec::new(), Vec::new());
        for mapping in mappings.iter().filter(|mapping| is_wanted(mapping)) {
            let Range { start, end } = mapping.range;
            let is_large = mapping.is_own() && end - start > LARGE_BYTES;
            match is_large.then(|| used(process.id(), &mapping.range)).flatten() {
                Some(pages) => {
                    sparse.push(start..end);
                    ranges.extend(pages.iter().map(|pages| (pages.start, pages.end)));
                }
                None if mapping.range.contains(&stack_from) => ranges.push((stack_from, end)),
                None => ranges.push((start, end)),
            }
        }
        let total: u64 = ranges.iter().map(|(from, to)| to - from).sum();
        if total > MOST_BYTES {
            let reason = format!(
                "the program has {} MiB of memory that it may write to; {} MiB can be compared; \
                 give it a smaller input, or build it without a sanitizer (with one, Linux 6.7 is \
                 needed)",
                total >> 20,
                MOST_BYTES >> 20
            );
            return Err(Error::system("find out what the call writes", reason));
        }
        let read = |(from, to): (u64, u64)| {
            let mut bytes = vec![0; (to - from) as usize];
            process.read(from, &mut bytes).then_some((from, bytes))
        };
        let parts = ranges.into_iter().filter_map(read).collect();
        let heap = process.system_call(from, libc::SYS_brk, [0; 6])?;
        Ok(Snapshot { parts, sparse, mappings, heap })
    }

    /// What takes the process back to the snapshot.
    ///
    /// # Errors
    /// Memory that the call unmapped and that cannot be mapped again.
    pub fn undo(&self, process: &Process, except: &[Range<u64>]) -> Result<Undo> {
        let now = without(of_process(process.id())?, except);
        let mut calls = Vec::new();
        if heap_end(&now) != heap_end(&self.mappings) {
            calls.push(SystemCall { number: libc::SYS_brk, arguments: [self.heap, 0, 0, 0, 0, 0] });
        }
        calls.extend(remapped(&self.mappings, &now)?);
        Ok(Undo { calls, memory: self.written(process, &now) })
    }

    /// The previous contents of the memory that was written since. Memory that is no longer there
    /// is made anew, full of zeros.
    fn written(&self, process: &Process, now: &[Mapping]) -> Patches {
        let mut patches = Vec::new();
        for (start, before) in &self.parts {
            let part = *start..start + before.len() as u64;
            let mut contents = vec![0; before.len()];
            let there = now
                .iter()
                .filter(|mapping| mapping.readable)
                .map(|mapping| common(&mapping.range, &part));
            for range in there.filter(|range| !range.is_empty()) {
                process.read(
                    range.start,
                    &mut contents[(range.start - start) as usize..(range.end - start) as usize],
                );
            }
            differing(before, &contents).into_iter().for_each(|(from, to)| {
                patches.push((start + from as u64, before[from..to].to_vec()))
            });
        }
        self.newly_used(process, &mut patches);
        patches
    }

    /// Adds pages that were used since: they held zeros.
    fn newly_used(&self, process: &Process, patches: &mut Patches) {
        // The parts are in the order of their addresses, as mappings are.
        let is_known = |at: u64| {
            let before = &self.parts[..self.parts.partition_point(|(start, _)| *start <= at)];
            before.last().is_some_and(|(start, bytes)| at < start + bytes.len() as u64)
        };
        let zeros = [0; PAGE];
        for pages in self.sparse.iter().filter_map(|range| used(process.id(), range)).flatten() {
            for at in (pages.start..pages.end).step_by(PAGE).filter(|at| !is_known(*at)) {
                let mut now = vec![0; PAGE];
                if process.read(at, &mut now) {
                    let changed = differing(&zeros, &now);
                    patches.extend(
                        changed
                            .into_iter()
                            .map(|(from, to)| (at + from as u64, vec![0; to - from])),
                    );
                }
            }
        }
    }
}

fn without(mut mappings: Vec<Mapping>, except: &[Range<u64>]) -> Vec<Mapping> {
    mappings.retain(|mapping| except.iter().all(|range| common(range, &mapping.range).is_empty()));
    mappings
}

fn common(a: &Range<u64>, b: &Range<u64>) -> Range<u64> {
    a.start.max(b.start)..a.end.min(b.end)
}

fn heap_end(mappings: &[Mapping]) -> Option<u64> {
    mappings
        .iter()
        .filter(|mapping| mapping.name == "[heap]")
        .map(|mapping| mapping.range.end)
        .max()
}

/// The system calls that turn one map into the other: what is new goes, then what is gone comes
/// back.
fn remapped(before: &[Mapping], now: &[Mapping]) -> Result<Vec<SystemCall>> {
    const OWN_MAPPING: u64 = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64;
    let mut edges: Vec<u64> = before
        .iter()
        .chain(now)
        .flat_map(|mapping| [mapping.range.start, mapping.range.end])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let (mut gone, mut back, mut rights) = (Vec::new(), Vec::new(), Vec::new());
    for pair in edges.windows(2) {
        let (at, size) = (pair[0], pair[1] - pair[0]);
        let call = |number, arguments| SystemCall { number, arguments };
        match (holding(before, at), holding(now, at)) {
            (None, Some(new)) if !grows_by_itself(new) => {
                gone.push(call(libc::SYS_munmap, [at, size, 0, 0, 0, 0]))
            }
            (Some(old), None) if old.name == "[heap]" => {}
            (Some(old), None) if old.is_own() && (old.writable || !old.readable) => {
                back.push(call(
                    libc::SYS_mmap,
                    [at, size, old.protection(), OWN_MAPPING, u64::MAX, 0],
                ));
            }
            (Some(old), None) => return Err(cannot_come_back(old)),
            (Some(old), Some(new)) if old.name != new.name && !(old.is_own() && new.is_own()) => {
                return Err(cannot_come_back(old));
            }
            (Some(old), Some(new)) if old.protection() != new.protection() => {
                rights.push(call(libc::SYS_mprotect, [at, size, old.protection(), 0, 0, 0]));
            }
            _ => {}
        }
    }
    Ok(gone.into_iter().chain(back).chain(rights).collect())
}

fn holding(mappings: &[Mapping], address: u64) -> Option<&Mapping> {
    mappings.iter().find(|mapping| mapping.range.contains(&address))
}

/// The stack grows when it is used, and the heap is moved as a whole.
fn grows_by_itself(mapping: &Mapping) -> bool {
    mapping.name == "[stack]" || mapping.name == "[heap]"
}

fn cannot_come_back(mapping: &Mapping) -> Error {
    let name = if mapping.name.is_empty() { "memory without a name" } else { &mapping.name };
    let reason = format!(
        "the call unmaps {name} at {:#x}, which cannot be mapped again for the next repeat; time \
         a function that does not",
        mapping.range.start
    );
    Error::system("repeat the call", reason)
}

/// Takes a process back.
pub fn put_back(process: &mut Process, from: u64, undo: &Undo) -> Result<()> {
    for call in &undo.calls {
        process.system_call(from, call.number, call.arguments)?;
    }
    undo.memory.iter().try_for_each(|(address, bytes)| process.write(*address, bytes))
}

/// Stretches in which two equally long pieces differ, in whole lines of the cache: what a repeat
/// writes may differ where the first call happened to write what was there.
fn differing(before: &[u8], now: &[u8]) -> Vec<(usize, usize)> {
    const STRIDE: usize = 4096;
    let mut differences: Vec<(usize, usize)> = Vec::new();
    for from in (0..before.len()).step_by(STRIDE) {
        let to = (from + STRIDE).min(before.len());
        if before[from..to] == now[from..to] {
            continue;
        }
        for at in (from..to).step_by(LINE) {
            let end = (at + LINE).min(to);
            match differences.last_mut() {
                _ if before[at..end] == now[at..end] => {}
                Some(last) if at <= last.1 + LINE => last.1 = end,
                _ => differences.push((at, end)),
            }
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearby_differences_are_joined() {
        let before = vec![0u8; 10_000];
        let mut now = before.clone();
        for at in [3, 40, 4095, 4096, 9_999] {
            now[at] = 1;
        }
        assert_eq!(differing(&before, &now), [(0, 64), (4032, 4160), (9_984, 10_000)]);
        assert!(differing(&before, &before).is_empty());
    }

    fn mapping(range: Range<u64>, writable: bool, name: &str) -> Mapping {
        Mapping {
            range,
            writable,
            executable: false,
            readable: true,
            shared: false,
            offset: 0,
            name: name.into(),
        }
    }

    #[test]
    fn maps_are_turned_back() {
        let before = [
            mapping(0x1000..0x4000, true, ""),
            mapping(0x8000..0x9000, true, "[heap]"),
            mapping(0xa000..0xc000, true, ""),
        ];
        let now = [
            mapping(0x1000..0x2000, true, ""),
            mapping(0x5000..0x6000, true, ""),
            mapping(0x8000..0xa000, true, "[heap]"),
            mapping(0xa000..0xb000, false, ""),
            mapping(0xb000..0xc000, true, ""),
        ];
        let calls = remapped(&before, &now).unwrap();
        let short: Vec<(i64, u64, u64)> =
            calls.iter().map(|call| (call.number, call.arguments[0], call.arguments[1])).collect();
        let expected = [
            (libc::SYS_munmap, 0x5000, 0x1000),
            (libc::SYS_mmap, 0x2000, 0x2000),
            (libc::SYS_mprotect, 0xa000, 0x1000),
        ];
        assert_eq!(short, expected);
        assert!(remapped(&before, &before).unwrap().is_empty());
        let file = [mapping(0x1000..0x2000, true, "/tmp/file")];
        assert!(remapped(&file, &[]).unwrap_err().to_string().contains("/tmp/file"));
    }
}
