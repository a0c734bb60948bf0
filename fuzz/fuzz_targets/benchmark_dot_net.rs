//! `benchmark_dot_net` of hairspring-fuzz-targets.
#![no_main]

hairspring_fuzz_targets::libfuzzer!("benchmark_dot_net");
