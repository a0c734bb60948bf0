//! `go_bench` of hairspring-fuzz-targets.
#![no_main]

hairspring_fuzz_targets::libfuzzer!("go_bench");
