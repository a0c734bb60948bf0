//! Divan: `bench_local` with a returned value, `with_inputs` and `bench_local_refs` for what must
//! be made anew.

use divan::{Bencher, black_box};
use work::{DOCUMENT, Data, Numbers, copy, hash, json, parse, sort};

fn main() {
    divan::main();
}

#[divan::bench]
fn sort_100(bencher: Bencher) {
    let mut numbers = Numbers::default();
    bencher.with_inputs(|| numbers.next()).bench_local_refs(sort);
}

#[divan::bench]
fn hash_1k(bencher: Bencher) {
    let data = Data::default();
    bencher.bench_local(|| hash(black_box(&data.kilobyte)));
}

#[divan::bench]
fn parse_list(bencher: Bencher) {
    let data = Data::default();
    bencher.bench_local(|| parse(black_box(&data.list)));
}

#[divan::bench]
fn memcpy_4k(bencher: Bencher) {
    let mut data = Data::default();
    bencher.bench_local(|| {
        copy(black_box(&mut data.buffers.to[..4096]), black_box(&data.buffers.from[..4096]))
    });
}

#[divan::bench]
fn memcpy_64k(bencher: Bencher) {
    let mut data = Data::default();
    bencher.bench_local(|| {
        copy(black_box(&mut data.buffers.to[..]), black_box(&data.buffers.from[..]))
    });
}

#[divan::bench]
fn json_500(bencher: Bencher) {
    bencher.bench_local(|| json(black_box(DOCUMENT)));
}
