//! `results_of_tools` of hairspring-fuzz-targets.
#![no_main]

hairspring_fuzz_targets::libfuzzer!("results_of_tools");
