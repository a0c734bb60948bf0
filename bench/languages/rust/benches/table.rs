//! The truth table in Rust.

use chains::{SEED, work};

#[hairspring::bench(chain = SEED)]
fn chain_1(x: u64) -> u64 {
    chains::chain_1(x)
}

#[hairspring::bench(chain = SEED)]
fn chain_3(x: u64) -> u64 {
    chains::chain_3(x)
}

#[hairspring::bench(chain = SEED)]
#[inline(always)]
fn chain_30(x: u64) -> u64 {
    chains::chain_30(x)
}

#[hairspring::bench(chain = SEED, init = chains::init_120(x))]
#[inline(always)]
fn body_30_init_120(x: u64) -> u64 {
    chains::chain_30(x)
}

#[hairspring::bench]
fn call_empty() {
    work::nothing();
}

#[hairspring::bench]
fn call_chain_300() {
    work::chain_300();
}

#[hairspring::bench(init = work::fill())]
fn sort_16() {
    work::sort();
}

#[hairspring::bench(init = work::fill())]
fn network_16() {
    work::network();
}

hairspring::main!();
