//! Tables: edges that are finite, and no panic.
#![no_main]

use hairspring_capture::read::{Request, read_csv};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for channel in [None, Some("1".to_owned())] {
        let _ = read_csv(bytes, &Request { channel, ..Request::default() }, &mut |edge| assert!(edge.at.is_finite()));
    }
});
