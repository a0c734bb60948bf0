//! Finds the memory that a call writes, by comparison before and after it.

use super::maps::{Mapping, of_process};
use super::process::Process;
use crate::error::{Error, Result};

/// Most memory that is compared.
const MOST: u64 = 512 << 20;
/// Two written stretches with fewer equal bytes between them are joined.
const NEAR: usize = 64;

/// The previous contents of memory that was written.
pub type Patches = Vec<(u64, Vec<u8>)>;

/// All memory that a process may write to.
#[derive(Debug)]
pub struct Snapshot {
    parts: Vec<(u64, Vec<u8>)>,
}

impl Snapshot {
    /// Takes a snapshot without the stack below `stack_from` and without mappings that begin at the addresses in `except`.
    ///
    /// # Errors
    /// A process with too much memory.
    pub fn take(process: &Process, stack_from: u64, except: &[u64]) -> Result<Snapshot> {
        let wanted = |mapping: &Mapping| mapping.writable && !except.contains(&mapping.range.start) && !mapping.name.starts_with("[v");
        let ranges: Vec<(u64, u64)> = of_process(process.id())?
            .iter()
            .filter(|mapping| wanted(mapping))
            .map(|mapping| match mapping.range.contains(&stack_from) {
                true => (stack_from, mapping.range.end),
                false => (mapping.range.start, mapping.range.end),
            })
            .collect();
        let total: u64 = ranges.iter().map(|(from, to)| to - from).sum();
        if total > MOST {
            let reason = format!("the program has {} MiB of memory that it may write to; {} MiB can be compared", total >> 20, MOST >> 20);
            return Err(Error::system("find out what the call writes", reason));
        }
        let read = |(from, to): (u64, u64)| {
            let mut bytes = vec![0; (to - from) as usize];
            process.read(from, &mut bytes).then_some((from, bytes))
        };
        Ok(Snapshot { parts: ranges.into_iter().filter_map(read).collect() })
    }

    /// The previous contents of the memory that was written since.
    pub fn written(&self, process: &Process) -> Patches {
        let mut patches = Vec::new();
        for (start, before) in &self.parts {
            let mut now = vec![0; before.len()];
            if process.read(*start, &mut now) {
                differing(before, &now).into_iter().for_each(|(from, to)| patches.push((start + from as u64, before[from..to].to_vec())));
            }
        }
        patches
    }
}

/// Restores memory.
pub fn put_back(process: &Process, patches: &Patches) -> Result<()> {
    patches.iter().try_for_each(|(address, bytes)| process.write(*address, bytes))
}

/// Stretches in which two equally long pieces differ.
fn differing(before: &[u8], now: &[u8]) -> Vec<(usize, usize)> {
    const STRIDE: usize = 4096;
    let mut found: Vec<(usize, usize)> = Vec::new();
    for from in (0..before.len()).step_by(STRIDE) {
        let to = (from + STRIDE).min(before.len());
        if before[from..to] == now[from..to] {
            continue;
        }
        for at in (from..to).filter(|at| before[*at] != now[*at]) {
            match found.last_mut() {
                Some(last) if at < last.1 + NEAR => last.1 = at + 1,
                _ => found.push((at, at + 1)),
            }
        }
    }
    found
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
        assert_eq!(differing(&before, &now), [(3, 41), (4095, 4097), (9_999, 10_000)]);
        assert!(differing(&before, &before).is_empty());
    }
}
