//! Precise benchmarks: the time of a piece of code without the loop around it and the clock beside
//! it, with its interval.
//!
//! In Rust, `benches/first.rs`:
//!
//! ```rust
//! #[hairspring::bench(chain = 3u64)]
//! fn multiply(x: u64) -> u64 {
//!     x.wrapping_mul(6_364_136_223_846_793_005)
//! }
//!
//! hairspring::main!();
//! ```
//!
//! The same in C++, with the header `hairspring.hpp` and the C library:
//!
//! ```cpp
//! #include "hairspring.hpp"
//!
//! HAIRSPRING_ADD(hairspring::chain("multiply", std::uint64_t{3}, [](std::uint64_t x) {
//!   return x * 6364136223846793005u;
//! }));
//!
//! HAIRSPRING_MAIN_CPP
//! ```
//!
//! In Python, with the package `hairspring`:
//!
//! ```python
//! import hairspring
//!
//! result = hairspring.time("sorted(data)", setup="data = [3, 1, 2] * 30")
//! print(result)
//! print(result.body.time_ns)
//! ```
//!
//! Rows of a few and of many straight-line copies of a body run between two reads of the clock, in
//! interleaved rounds. The slope of the line through them is the time of one copy; its intercept is
//! the overhead of the measurement. Times have confidence intervals, in nanoseconds and in core
//! cycles, and findings report doubts about them.
//!
//! In `Cargo.toml`:
//!
//! ```toml
//! [dev-dependencies]
//! hairspring = { path = "../hairspring/crates/hairspring" } # where the clone is
//!
//! [[bench]]
//! name = "first"
//! harness = false
//! ```
//!
//! `cargo bench` then measures `benches/first.rs`. A program may have benchmarks of several kinds:
//!
//! ```
//! /// Throughput: the copies may overlap.
//! #[hairspring::bench(args = [64, 4096])]
//! fn sum(size: usize) -> u64 {
//!     (0..size as u64).fold(0, |sum, next| sum ^ hairspring::opaque(next))
//! }
//!
//! /// Latency: every copy waits for the one before.
//! #[hairspring::bench(chain = 3u64)]
//! fn multiply(x: u64) -> u64 {
//!     x.wrapping_mul(0x9e37_79b9)
//! }
//!
//! hairspring::main!();
//! ```
//!
//! `cargo bench` measures them, `cargo bench -- sum` those whose name contains `sum`,
//! `cargo bench -- --help` shows all options; `cargo test --benches` runs each once.
//! [`macro@bench`] has arguments, inits that are timed separately from the body, alternatives in
//! the same rounds, and cold caches.
//!
//! Code that needs an init before every run, and an alternative to it:
//!
//! ```
//! const UNSORTED: [u32; 4] = [3, 1, 4, 1];
//!
//! /// The init is an expression: its value, here an array, is what the body gets.
//! #[hairspring::bench(init = UNSORTED)]
//! fn sort(numbers: &mut [u32]) {
//!     numbers.sort_unstable();
//! }
//!
//! /// Or it refills what was made once; the two run in the same rounds and are compared.
//! #[hairspring::bench(state = vec![0; 4], init = numbers.copy_from_slice(&UNSORTED),
//!     against = sort)]
//! fn sort_stably(numbers: &mut [u32]) {
//!     numbers.sort();
//! }
//!
//! hairspring::main!();
//! ```
//!
//! Wrong uses do not compile. An argument that is not `Copy` must be taken by reference, and a
//! setup returns nothing (use `state` for a value):
//!
//! ```compile_fail,E0277
//! #[hairspring::bench(args = [String::from("text")])]
//! fn length(text: String) -> usize {
//!     text.len()
//! }
//! ```
//!
//! ```compile_fail,E0308
//! #[hairspring::bench(setup = vec![1, 2, 3])]
//! fn sum() {}
//! ```
//!
//! In ordinary code use [`measure`] for a closure, [`Stopwatch`] for something that happens once,
//! and [`fit`] for observations from other sources.

mod barrier;
mod fenced_chain;
mod fit;
mod measure;
mod names;
mod registry;
mod rows;
mod values;

pub use barrier::{keep, opaque};
pub use fit::fit;
pub use hairspring_core::estimate::Estimate;
pub use hairspring_core::judge::{Assessment, Finding, Severity};
pub use hairspring_core::observations::{Observations, read_csv, write_csv};
pub use hairspring_host::clock::default_clock;
pub use hairspring_macros::bench;
pub use hairspring_measure::stopwatch::{Elapsed, Span, Stopwatch};
pub use hairspring_program::{Error, Result, Seating, Settings};
pub use measure::{Measurement, measure, measure_chain, measure_with};
pub use registry::main;

/// The `main` of a program with benchmarks: all functions with [`macro@bench`] in all its modules.
///
/// ```
/// hairspring::main!();
/// ```
#[macro_export]
macro_rules! main {
    () => {
        fn main() -> ::std::process::ExitCode {
            $crate::main()
        }
    };
}

/// Used by the code that the attribute generates. Not part of the interface: it may change without
/// notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::barrier::{align, is_unoptimised, keep, memory, opaque, touch};
    pub use crate::fenced_chain::fenced_chain;
    pub use crate::names::{ByDebug, ByDisplay, ByPlace, Named};
    pub use crate::registry::{Case, Entry};
    pub use crate::rows::{Argument, State, catch_panic};
    pub use crate::values::{Values, hold};
    pub use hairspring_host::clock::ReadFn;
    pub use hairspring_host::fence::{chain, flush, order as fence};
    pub use hairspring_program::{Benchmark, Order, Row};
    pub use inventory::submit;
}
