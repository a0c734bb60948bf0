//! 100 multiplications, and code that is the same in both builds.

#[hairspring::bench(chain = 3u64)]
fn work(x: u64) -> u64 {
    ab::chain!("100", x)
}

#[hairspring::bench(chain = 3u64)]
fn same(x: u64) -> u64 {
    x.wrapping_mul(6_364_136_223_846_793_005)
}

hairspring::main!();
