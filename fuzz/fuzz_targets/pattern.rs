//! The decoder: whatever the intervals are, a frame has as many pulses as it says, and they follow one another.
#![no_main]

use hairspring_capture::edge::Edge;
use hairspring_capture::observe::Collector;
use hairspring_capture::pattern::{Decoder, Item};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut decoder, mut collector) = (Decoder::new(None), Collector::new(Vec::new()));
    let mut take = |item| match item {
        Item::Frame(frame) => {
            assert_eq!(frame.pulses.len(), frame.kind.pulses());
            assert!(frame.pulses.iter().all(|pulse| pulse.width() >= 0.0));
            let _ = collector.frame(&frame);
        }
        Item::Problem(problem) => collector.problem(problem),
        Item::Stray(_) => (),
    };
    let (mut at, mut rising) = (0.0, true);
    for byte in bytes {
        // An interval in tenths of a unit; 0 leaves an edge out.
        at += f64::from(*byte);
        if *byte > 0 {
            decoder.push(Edge { at, rising }, &mut take);
        }
        rising = !rising;
    }
    decoder.finish(&mut take);
    let _ = collector.finish();
});
