//! The truth table as criterion's users write it: `iter` with a returned value, `iter_batched` for
//! the init.

use criterion::{criterion_group, criterion_main, BatchSize, Criterion};

fn repeat(c: &mut Criterion, name: &str, chain: impl Fn(u64) -> u64 + Copy) {
    c.bench_function(name, |b| {
        let mut x = chains::SEED;
        b.iter(move || {
            x = chain(x);
            x
        })
    });
}

fn after_init(c: &mut Criterion, name: &str, size: BatchSize) {
    c.bench_function(name, |b| {
        let mut x = chains::SEED;
        let init = move || {
            x = chains::init_120(x);
            x
        };
        b.iter_batched(init, chains::chain_30, size)
    });
}

fn calls(c: &mut Criterion) {
    c.bench_function("call_empty", |b| b.iter(chains::work::nothing));
    c.bench_function("call_chain_300", |b| b.iter(chains::work::chain_300));
    c.bench_function("sort_16", |b| {
        b.iter_batched(chains::work::fill, |()| chains::work::sort(), BatchSize::PerIteration)
    });
    c.bench_function("network_16", |b| {
        b.iter_batched(chains::work::fill, |()| chains::work::network(), BatchSize::PerIteration)
    });
}

fn table(c: &mut Criterion) {
    repeat(c, "anchor_first", chains::anchor);
    repeat(c, "chain_1", chains::chain_1);
    repeat(c, "chain_3", chains::chain_3);
    repeat(c, "chain_4", chains::chain_4);
    repeat(c, "chain_5", chains::chain_5);
    repeat(c, "chain_30", chains::chain_30);
    after_init(c, "body_30_init_120", BatchSize::PerIteration);
    after_init(c, "body_30_init_120_small", BatchSize::SmallInput);
    calls(c);
    repeat(c, "anchor_last", chains::anchor);
}

criterion_group!(benches, table);
criterion_main!(benches);
