//! sigrok sessions: no panic, and memory that stays small whatever the archive says of its sizes.
#![no_main]

use hairspring_capture::read::{Request, read_sigrok};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_sigrok(Cursor::new(bytes), &Request { channel: Some("1".into()), ..Request::default() }, &mut |edge| {
        assert!(edge.at.is_finite())
    });
});
