//! `nanobench` of hairspring-fuzz-targets.
#![no_main]

hairspring_fuzz_targets::libfuzzer!("nanobench");
