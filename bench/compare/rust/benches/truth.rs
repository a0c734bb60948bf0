//! Loops of each workload, timed by two clocks: the truth is made of their differences
//! (bench/suite/compare_truth.py).
//!
//! `truth MICROSECONDS ROUNDS` prints one line for each loop: case, round, form, passes, ns by the
//! wall clock, ns by the clock of the thread. `truth count CASE FORM PASSES` runs one loop, for
//! counters of the hardware.

use hairspring::{keep, opaque};
use std::process::ExitCode;
use std::time::Instant;
use work::{DOCUMENT, Data, copy, hash, json, parse, sort};

/// `body`: one body in a pass; `body2`: two. `base` and `base2`: the same without the body.
const FORMS: [&str; 4] = ["body", "body2", "base", "base2"];
/// Passes of a loop as multiples of the shortest one's, for the form of their place.
const LENGTHS: [&[u64]; 4] = [&[1, 2, 4, 8], &[1], &[1, 2, 4, 8], &[1]];

/// A loop of passes.
#[inline(always)]
fn passes(
    form: usize,
    passes: u64,
    data: &mut Data,
    init: impl Fn(&mut Data),
    body: impl Fn(&mut Data),
) {
    let once = |data: &mut Data| {
        init(data);
        if form < 2 {
            body(data);
        }
    };
    for _ in 0..passes {
        once(data);
        if form % 2 == 1 {
            once(data);
        }
    }
}

/// Each form in a loop of its own.
macro_rules! case {
    ($name:literal, $init:expr, $body:expr) => {{
        fn run(form: usize, count: u64, data: &mut Data) {
            match form {
                0 => passes(0, count, data, $init, $body),
                1 => passes(1, count, data, $init, $body),
                2 => passes(2, count, data, $init, $body),
                _ => passes(3, count, data, $init, $body),
            }
        }
        ($name, run as fn(usize, u64, &mut Data))
    }};
}

fn cases() -> [(&'static str, fn(usize, u64, &mut Data)); 6] {
    [
        case!("sort_100", |d| d.numbers.refill(), |d| sort(opaque(&mut d.numbers.values))),
        case!("hash_1k", |_| (), |d| keep(&hash(opaque(&d.kilobyte)))),
        case!("parse_list", |_| (), |d| keep(&parse(opaque(&d.list)))),
        case!("memcpy_4k", |_| (), |d| copy(
            opaque(&mut d.buffers.to[..4096]),
            opaque(&d.buffers.from[..4096])
        )),
        case!("memcpy_64k", |_| (), |d| copy(
            opaque(&mut d.buffers.to[..]),
            opaque(&d.buffers.from[..])
        )),
        case!("json_500", |_| (), |_| keep(&json(opaque(DOCUMENT)))),
    ]
}

/// Nanoseconds that this thread has run.
fn thread_ns() -> i64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `now` alone.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    assert_eq!(status, 0, "the system has no clock of threads");
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Time of a loop by both clocks.
fn timed(run: fn(usize, u64, &mut Data), form: usize, count: u64, data: &mut Data) -> (u128, i64) {
    let (wall, thread) = (Instant::now(), thread_ns());
    run(form, count, data);
    let thread = thread_ns() - thread;
    (wall.elapsed().as_nanos(), thread)
}

/// Passes that take about so long.
fn enough(run: fn(usize, u64, &mut Data), micros: u128, data: &mut Data) -> u64 {
    let mut count = 1;
    while timed(run, 0, count, data).0 < micros * 1000 {
        count *= 2;
    }
    let least = (0..5).map(|_| timed(run, 0, count, data).0).min().unwrap_or(1);
    (u128::from(count) * micros * 1000 / least.max(1)).max(1) as u64
}

/// All loops of a case, in another order in each round.
fn measure(name: &str, run: fn(usize, u64, &mut Data), micros: u128, rounds: u32, data: &mut Data) {
    let shortest = enough(run, micros, data);
    let mut loops: Vec<(usize, u64)> = (0..4)
        .flat_map(|form| LENGTHS[form].iter().map(move |times| (form, times * shortest)))
        .collect();
    let mut state: u64 = 1;
    for round in 0..rounds {
        for at in (1..loops.len()).rev() {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            loops.swap(at, (state >> 33) as usize % (at + 1));
        }
        for &(form, count) in &loops {
            let (wall, thread) = timed(run, form, count, data);
            println!("{name},{round},{},{count},{wall},{thread}", FORMS[form]);
        }
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let mut data = Data::default();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["count", case, form, count] => {
            let found = cases().into_iter().find(|(name, _)| name == case);
            let form = FORMS.iter().position(|name| name == form);
            let (Some((_, run)), Some(form), Ok(count)) = (found, form, count.parse()) else {
                return ExitCode::from(2);
            };
            run(form, count, &mut data);
        }
        [micros, rounds] => {
            let (Ok(micros), Ok(rounds)) = (micros.parse(), rounds.parse()) else {
                return ExitCode::from(2);
            };
            println!("case,round,form,passes,wall_ns,thread_ns");
            for (name, run) in cases() {
                measure(name, run, micros, rounds, &mut data);
            }
        }
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}
