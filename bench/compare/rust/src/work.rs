//! Ordinary code that people time. Every function is called, never inlined, so that all tools time
//! the same instructions.

use std::hash::{DefaultHasher, Hasher};

/// Numbers to sort, in another order each time: states of a linear congruential generator.
pub struct Numbers {
    state: u32,
    pub values: [u32; 100],
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers { state: 1, values: [0; 100] }
    }
}

impl Numbers {
    /// Makes the next 100 numbers.
    #[inline(never)]
    pub fn refill(&mut self) {
        for value in &mut self.values {
            self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *value = self.state >> 8;
        }
    }

    /// The next 100 numbers, for a tool that takes them by value.
    pub fn next(&mut self) -> [u32; 100] {
        self.refill();
        self.values
    }
}

/// Sorts 100 numbers.
#[inline(never)]
pub fn sort(numbers: &mut [u32; 100]) {
    numbers.sort_unstable();
}

/// The bytes to hash and to copy.
fn byte(at: usize) -> u8 {
    (at * 31 % 251) as u8
}

/// The hash of a byte string by the standard library (SipHash 1-3).
#[inline(never)]
#[must_use]
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// 40 numbers, separated by commas.
#[must_use]
pub fn list() -> String {
    (0..40).map(|at| (at * 7919 % 10_000 + 1000).to_string()).collect::<Vec<_>>().join(",")
}

/// The sum of the numbers of a list; -1 for a list with anything else.
#[inline(never)]
#[must_use]
pub fn parse(list: &str) -> i64 {
    list.split(',').map(str::parse::<i64>).sum::<Result<i64, _>>().unwrap_or(-1)
}

/// Bytes to copy and the place for them, in the same distance and at the same place of a page for
/// all tools.
#[repr(C, align(4096))]
pub struct Buffers {
    pub from: [u8; 1 << 16],
    gap: [u8; 2048],
    pub to: [u8; 1 << 16],
}

impl Default for Buffers {
    fn default() -> Buffers {
        Buffers { from: std::array::from_fn(byte), gap: [0; 2048], to: [0; 1 << 16] }
    }
}

/// Copies bytes.
#[inline(never)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    to.copy_from_slice(from);
}

/// A document in JSON.
pub const DOCUMENT: &str = include_str!("../../document.json");

/// Reads a document, counts its items and drops it: in all tools the drop is in the time.
#[inline(never)]
#[must_use]
pub fn json(text: &str) -> usize {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    value["items"].as_array().map_or(0, Vec::len)
}

/// All data of the workloads.
pub struct Data {
    pub numbers: Numbers,
    pub kilobyte: Vec<u8>,
    pub list: String,
    pub buffers: Box<Buffers>,
}

impl Default for Data {
    fn default() -> Data {
        Data {
            numbers: Numbers::default(),
            kilobyte: (0..1024).map(byte).collect(),
            list: list(),
            buffers: Box::default(),
        }
    }
}
