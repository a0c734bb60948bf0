//! Benchmarks: `cargo bench --bench NAME`.
//!
//! Each copy of a chain takes the result of the copy before it, so its time is the latency. Put
//! your own code in the place of `multiply`; without `chain` the copies are independent.

#[hairspring::bench(chain = 3u64)]
fn multiply(x: u64) -> u64 {
    x.wrapping_mul(6_364_136_223_846_793_005)
}

#[hairspring::bench(args = [16, 256])]
fn sum(size: u64) -> u64 {
    (0..size).map(hairspring::opaque).sum()
}

hairspring::main!();
