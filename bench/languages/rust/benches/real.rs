//! Ordinary code in Rust, for separate runs of the same program.

use hairspring::opaque;
use std::collections::HashMap;
use std::fmt::Write;

const NAMES: [&str; 8] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];

/// Numbers in no order: states of a linear congruential generator.
fn shuffled() -> [u32; 64] {
    let mut state = 1_u32;
    std::array::from_fn(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    })
}

/// A map from names to numbers.
fn numbered() -> HashMap<&'static str, usize> {
    NAMES.into_iter().zip(0..).collect()
}

#[hairspring::bench(state = numbered())]
fn rust_hash_map(map: &HashMap<&'static str, usize>) -> usize {
    opaque(&NAMES).iter().map(|name| map[name]).sum()
}

#[hairspring::bench(state = shuffled(), copies = 64)]
fn rust_sort(numbers: &[u32; 64]) -> u32 {
    let mut numbers = *numbers;
    numbers.sort_unstable();
    opaque(&numbers)[32]
}

#[hairspring::bench(copies = 64)]
fn rust_format() -> String {
    let mut text = String::new();
    let _ = write!(text, "{} {:.3}", opaque(12_345), opaque(2.718_28));
    text
}

#[hairspring::bench]
fn rust_parse() -> f64 {
    opaque("3.141592653589793").parse().unwrap_or(0.0)
}

#[hairspring::bench(copies = 64)]
fn rust_join() -> String {
    opaque(&NAMES).join(", ")
}

hairspring::main!();
