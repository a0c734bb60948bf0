//! Sounds: edges that are finite, and no panic, by every method.
#![no_main]

use hairspring_capture::edge::Method;
use hairspring_capture::read::{Request, read_wav};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (_, method) in Method::NAMES {
        let _ = read_wav(bytes, &Request { method, ..Request::default() }, &mut |edge| assert!(edge.at.is_finite()));
    }
});
