//! tango: `iter` with a returned value. It has no init: the sort includes making the numbers.

use std::hint::black_box;
use tango_bench::{IntoBenchmarks, benchmark_fn, tango_benchmarks, tango_main};
use work::{DOCUMENT, Data, copy, hash, json, parse, sort};

fn table() -> impl IntoBenchmarks {
    [
        benchmark_fn("sort_100", |b| {
            let mut data = Data::default();
            b.iter(move || {
                data.numbers.refill();
                sort(black_box(&mut data.numbers.values));
            })
        }),
        benchmark_fn("hash_1k", |b| {
            let data = Data::default();
            b.iter(move || hash(black_box(&data.kilobyte)))
        }),
        benchmark_fn("parse_list", |b| {
            let data = Data::default();
            b.iter(move || parse(black_box(&data.list)))
        }),
        benchmark_fn("memcpy_4k", |b| {
            let mut data = Data::default();
            b.iter(move || {
                copy(black_box(&mut data.buffers.to[..4096]), black_box(&data.buffers.from[..4096]))
            })
        }),
        benchmark_fn("memcpy_64k", |b| {
            let mut data = Data::default();
            b.iter(move || {
                copy(black_box(&mut data.buffers.to[..]), black_box(&data.buffers.from[..]))
            })
        }),
        benchmark_fn("json_500", |b| b.iter(|| json(black_box(DOCUMENT)))),
    ]
}

tango_benchmarks!(table());
tango_main!();
