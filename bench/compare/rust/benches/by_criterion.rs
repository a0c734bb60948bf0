//! Criterion: `iter` with a returned value, `iter_batched_ref` for what is changed and must be made
//! anew.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use work::{DOCUMENT, Data, Numbers, copy, hash, json, parse, sort};

fn table(c: &mut Criterion) {
    let mut data = Data::default();
    let mut numbers = Numbers::default();
    c.bench_function("sort_100", |b| {
        b.iter_batched_ref(|| numbers.next(), sort, BatchSize::SmallInput)
    });
    c.bench_function("hash_1k", |b| b.iter(|| hash(black_box(&data.kilobyte))));
    c.bench_function("parse_list", |b| b.iter(|| parse(black_box(&data.list))));
    c.bench_function("memcpy_4k", |b| {
        b.iter(|| {
            copy(black_box(&mut data.buffers.to[..4096]), black_box(&data.buffers.from[..4096]))
        })
    });
    c.bench_function("memcpy_64k", |b| {
        b.iter(|| copy(black_box(&mut data.buffers.to[..]), black_box(&data.buffers.from[..])))
    });
    c.bench_function("json_500", |b| b.iter(|| json(black_box(DOCUMENT))));
}

criterion_group!(benches, table);
criterion_main!(benches);
