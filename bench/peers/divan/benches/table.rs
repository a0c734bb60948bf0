//! The truth table as Divan's users write it: `bench_local` with a returned value, `with_inputs`
//! for the init.

use divan::Bencher;

fn main() {
    divan::main();
}

fn repeat(bencher: Bencher, chain: impl Fn(u64) -> u64) {
    let mut x = chains::SEED;
    bencher.bench_local(move || {
        x = chain(x);
        x
    });
}

#[divan::bench]
fn anchor_first(bencher: Bencher) {
    repeat(bencher, chains::anchor);
}

#[divan::bench]
fn chain_1(bencher: Bencher) {
    repeat(bencher, chains::chain_1);
}

#[divan::bench]
fn chain_3(bencher: Bencher) {
    repeat(bencher, chains::chain_3);
}

#[divan::bench]
fn chain_4(bencher: Bencher) {
    repeat(bencher, chains::chain_4);
}

#[divan::bench]
fn chain_5(bencher: Bencher) {
    repeat(bencher, chains::chain_5);
}

#[divan::bench]
fn chain_30(bencher: Bencher) {
    repeat(bencher, chains::chain_30);
}

#[divan::bench]
fn body_30_init_120(bencher: Bencher) {
    bencher
        .with_inputs(|| chains::init_120(chains::SEED))
        .bench_values(chains::chain_30);
}

#[divan::bench]
fn call_empty() {
    chains::work::nothing();
}

#[divan::bench]
fn call_chain_300() {
    chains::work::chain_300();
}

// The inputs of a sample are prepared ahead, so each has its own 16 numbers.
#[divan::bench]
fn sort_16(bencher: Bencher) {
    bencher
        .with_inputs(chains::work::numbers)
        .bench_local_values(|mut numbers| {
            chains::work::sort_these(&mut numbers);
            numbers
        });
}

#[divan::bench]
fn anchor_last(bencher: Bencher) {
    repeat(bencher, chains::anchor);
}
