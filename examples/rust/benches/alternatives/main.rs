//! Benchmarks of all kinds: `cargo bench --bench alternatives`.

use hairspring_example::{ones_at_once, ones_by_loop};

mod memory;

/// Latency: a multiplication waits for the one before.
#[hairspring::bench(chain = 3u64)]
fn multiply(x: u64) -> u64 {
    x.wrapping_mul(FACTOR)
}

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The same with an init before every body, which is separated: 10 multiplications after 4.
#[hairspring::bench(chain = 3u64, init = times::<4>(x))]
fn ten_behind_four(x: u64) -> u64 {
    times::<10>(x)
}

#[inline(always)]
fn times<const N: usize>(x: u64) -> u64 {
    (0..N).fold(x, |x, _| hairspring::opaque(x.wrapping_mul(FACTOR)))
}

/// A sorted array must be made again. The code is long, so it is called, and many copies of the
/// call fit the instruction cache.
#[hairspring::bench(init = UNSORTED_VALUES)]
#[inline(never)]
fn sort(numbers: &mut [u32; 16]) {
    numbers.sort_unstable();
}

const UNSORTED_VALUES: [u32; 16] = [9, 2, 15, 0, 7, 12, 4, 11, 1, 14, 6, 3, 13, 8, 10, 5];

/// The call of an empty function. Without the barrier the compiler would leave out the call.
#[hairspring::bench]
#[inline(never)]
fn empty_call() {
    hairspring::keep(&());
}

/// Two alternatives, in the same rounds, for words with few ones and with many.
#[hairspring::bench(args = [0x11, 0xffff_ffff])]
fn one_by_one(word: u64) -> u32 {
    ones_by_loop(word)
}

#[hairspring::bench(args = [0x11, 0xffff_ffff], against = one_by_one)]
fn at_once(word: u64) -> u32 {
    ones_at_once(word)
}

hairspring::main!();
