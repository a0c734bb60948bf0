#[hairspring::bench(chain = 3u64)]
fn multiply(x: u64) -> u64 {
    x.wrapping_mul(6_364_136_223_846_793_005)
}

hairspring::main!();
