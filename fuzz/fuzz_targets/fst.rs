//! `fst` of hairspring-fuzz-targets.
#![no_main]

hairspring_fuzz_targets::libfuzzer!("fst");
