//! Every form of the attribute, as a program of benchmarks. The bodies check what they are handed.
//! `cargo test` runs each once; with `--bench` they are measured.

use hairspring::{keep, opaque};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Values with a destructor that are alive.
static ALIVE_VALUES: AtomicUsize = AtomicUsize::new(0);
static PREPARED_STATES: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
struct Counted(Box<u64>);

fn counted() -> Counted {
    ALIVE_VALUES.fetch_add(1, Ordering::Relaxed);
    Counted(Box::new(7))
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE_VALUES.fetch_sub(1, Ordering::Relaxed);
    }
}

#[hairspring::bench]
fn plain() -> u64 {
    opaque(3) + 1
}

/// Names that this crate's own code uses as well.
#[hairspring::bench(args = 1..=3, state = [7u8; 4], chain = 1u64, copies = 8)]
fn cases(state: u64, now: &[u8; 4], mut begin: u64) -> u64 {
    assert!((1..=3).contains(&state) && *now == [7; 4]);
    begin += state;
    begin
}

#[hairspring::bench(args = ["", " blank ", "\"quoted\",\n[31m\u{1b}", "äöü/:=%"], copies = 8)]
fn r#try(_text: &str) -> usize {
    _text.len()
}

#[derive(Debug, Clone, Copy)]
struct Point(f32, f32);

#[hairspring::bench(args = [Point(1.0, 2.0), Point(0.5, -0.5)])]
fn debugged(point: Point) -> f32 {
    point.0 + point.1
}

#[hairspring::bench(args = vec![String::from("owned"), String::from("texts")], copies = 16)]
fn owned(text: &str) -> String {
    text.to_owned()
}

#[hairspring::bench(init = counted, copies = 16)]
fn made(value: &mut Counted) -> u64 {
    assert_eq!(*value.0, 7);
    *value.0 += 1;
    *value.0
}

/// At the most those of one row: they are dropped when it is done.
#[hairspring::bench]
fn returned() -> Counted {
    assert!(ALIVE_VALUES.load(Ordering::Relaxed) < 256);
    counted()
}

#[hairspring::bench(args = [4, 9], state = vec![0; size], init = numbers.fill(5), copies = 16)]
fn refilled(size: usize, numbers: &mut [u32]) {
    assert!(numbers.len() == size && numbers.iter().all(|number| *number == 5));
    numbers[size - 1] = 0;
}

#[hairspring::bench(init = 40u64, copies = 16)]
fn scalar(value: &mut u64) {
    assert_eq!(*value, 40);
    *value += 1;
}

#[hairspring::bench(init = [1u64; 40], copies = 16)]
fn large(value: &[u64; 40]) -> [u64; 40] {
    *value
}

#[hairspring::bench(chain = 2.5f64, init = x.abs() + 1.0)]
fn chained_behind_an_init(x: f64) -> f64 {
    assert!(x >= 1.0);
    x / 2.0
}

#[hairspring::bench(setup = prepare, state = Cell::new(0u32))]
fn prepared(calls: &Cell<u32>) {
    assert_eq!(PREPARED_STATES.load(Ordering::Relaxed), 1);
    calls.set(calls.get() + 1);
}

fn prepare() {
    PREPARED_STATES.fetch_add(1, Ordering::Relaxed);
}

#[hairspring::bench(state = vec![1u8; 300], cold = bytes)]
fn cold(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte)).sum()
}

mod inner {
    pub mod deeper {
        #[hairspring::bench(against = super::super::plain)]
        pub fn plain() -> u64 {
            hairspring::opaque(4) * 2
        }
    }

    #[hairspring::bench(against = crate::plain)]
    #[inline(never)]
    fn called() {
        super::keep(&());
    }
}

hairspring::main!();
