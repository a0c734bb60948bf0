//! Value change dumps: edges in the order of their times, and no panic.
#![no_main]

use hairspring_capture::read::{Request, read_vcd};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut last = None;
    let mut ordered = |edge: hairspring_capture::edge::Edge| {
        assert!(last.is_none_or(|last| last <= edge.at));
        last = Some(edge.at);
    };
    let _ = read_vcd(bytes, &Request { channel: Some("1".into()), ..Request::default() }, &mut ordered);
});
