//! Hairspring: a function with the attribute, an init for what must be made anew.

use hairspring::opaque;
use work::{DOCUMENT, Data, copy, hash, json, parse, sort};

#[hairspring::bench(state = Data::default(), init = data.numbers.refill())]
fn sort_100(data: &mut Data) {
    sort(&mut data.numbers.values);
}

#[hairspring::bench(state = Data::default())]
fn hash_1k(data: &Data) -> u64 {
    hash(opaque(&data.kilobyte))
}

#[hairspring::bench(state = Data::default())]
fn parse_list(data: &Data) -> i64 {
    parse(opaque(&data.list))
}

#[hairspring::bench(state = Data::default())]
fn memcpy_4k(data: &mut Data) {
    copy(opaque(&mut data.buffers.to[..4096]), opaque(&data.buffers.from[..4096]));
}

#[hairspring::bench(state = Data::default())]
fn memcpy_64k(data: &mut Data) {
    copy(opaque(&mut data.buffers.to[..]), opaque(&data.buffers.from[..]));
}

#[hairspring::bench]
fn json_500() -> usize {
    json(opaque(DOCUMENT))
}

hairspring::main!();
