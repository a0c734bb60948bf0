//! The truth table as a difference of two builds, which is what tango measures: with the feature
//! `candidate` each benchmark runs a chain of 30 cycles and then its case, without the feature only
//! the chain. The init is such a chain, too.

use tango_bench::{benchmark_fn, tango_benchmarks, tango_main, Benchmark, IntoBenchmarks};

/// A benchmark whose builds differ by the case. Generic, so that both chains are inlined.
fn pair(name: &str, before: impl Fn(u64) -> u64 + Copy + 'static,
    case: impl Fn(u64) -> u64 + Copy + 'static) -> Benchmark {
    benchmark_fn(name, move |b| {
        let mut x = chains::SEED;
        b.iter(move || {
            x = before(x);
            if cfg!(feature = "candidate") {
                x = case(x);
            }
            x
        })
    })
}

fn table() -> impl IntoBenchmarks {
    [
        pair("anchor_first", chains::chain_30, chains::anchor),
        pair("chain_1", chains::chain_30, chains::chain_1),
        pair("chain_3", chains::chain_30, chains::chain_3),
        pair("chain_4", chains::chain_30, chains::chain_4),
        pair("chain_5", chains::chain_30, chains::chain_5),
        pair("chain_30", chains::chain_30, chains::chain_30),
        pair("body_30_init_120", chains::init_120, chains::chain_30),
        pair("anchor_last", chains::chain_30, chains::anchor),
    ]
}

tango_benchmarks!(table());
tango_main!();
