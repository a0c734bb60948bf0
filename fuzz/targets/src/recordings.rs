//! Recordings of a pin: edges at finite times in every format, and consistent frames.

use hairspring_capture::edge::{Edge, Method};
use hairspring_capture::observe::Collector;
use hairspring_capture::pattern::{Decoder, Item};
use hairspring_capture::read::{
    Format, Request, read_archive, read_csv, read_fst, read_instrument, read_sound, read_vcd,
};
use hairspring_capture::{Input, Options, capture, read_edges};
use std::io::Cursor;

fn finite(edge: Edge) {
    assert!(edge.at.is_finite(), "an edge at {}", edge.at);
}

fn first_channel() -> Request {
    Request { channel: Some("1".into()), ..Request::default() }
}

/// The whole of `hairspring capture`: an error has a message.
fn captured(bytes: &[u8], format: Format) {
    let options = Options { request: first_channel(), format: Some(format), ..Options::default() };
    if let Err(error) = capture(Input::File(Box::new(Cursor::new(bytes.to_vec()))), &options) {
        assert!(!error.to_string().is_empty());
    }
}

/// Sounds of every container, by every method of finding edges.
pub fn sound(bytes: &[u8]) -> bool {
    let read =
        |method| read_sound(bytes, &Request { method, ..Request::default() }, &mut finite).is_ok();
    captured(bytes, Format::Sound);
    Method::NAMES.iter().filter(|(_, method)| read(*method)).count() > 0
}

/// Value change dumps: edges in the order of their times.
pub fn vcd(bytes: &[u8]) -> bool {
    let mut last = f64::NEG_INFINITY;
    let mut ordered = |edge: Edge| {
        assert!(last <= edge.at, "an edge at {} after one at {last}", edge.at);
        last = edge.at;
    };
    captured(bytes, Format::Vcd);
    read_vcd(bytes, &first_channel(), &mut ordered).is_ok()
}

/// Tables of samples, changes or edges.
pub fn csv(bytes: &[u8]) -> bool {
    captured(bytes, Format::Csv);
    let read = |request: Request| read_csv(bytes, &request, &mut finite).is_ok();
    read(Request::default()) | read(first_channel())
}

/// sigrok sessions, and archives of DSView and the Power Profiler, which may lie about their sizes.
pub fn sigrok(bytes: &[u8]) -> bool {
    captured(bytes, Format::Sigrok);
    read_archive(Cursor::new(bytes), &first_channel(), &mut finite).is_ok()
}

/// FST dumps, which may lie about their sizes.
pub fn fst(bytes: &[u8]) -> bool {
    captured(bytes, Format::Fst);
    read_fst(Cursor::new(bytes), &first_channel(), &mut finite).is_ok()
}

/// Files of logic analysers and oscilloscopes: no more than one edge for each byte.
pub fn instrument(bytes: &[u8]) -> bool {
    let mut edges = 0;
    let mut count = |edge: Edge| {
        finite(edge);
        edges += 1;
    };
    captured(bytes, Format::Instrument);
    let is_ok = read_instrument(Cursor::new(bytes), &first_channel(), &mut count).is_ok();
    assert!(edges <= 8 * bytes.len(), "{edges} edges in {} bytes", bytes.len());
    is_ok
}

/// Compressed recordings, from a pipe.
pub fn compressed(bytes: &[u8]) -> bool {
    let stream = Input::Pipe(Box::new(Cursor::new(bytes.to_vec())));
    read_edges(stream, None, &first_channel(), &mut finite).is_ok()
}

/// The decoder of frames, with bytes as intervals in tenths of a unit, 0 for a missing edge: a
/// frame has as many pulses as its header states, and none of them is negative.
pub fn pattern(bytes: &[u8]) -> bool {
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
        at += f64::from(*byte);
        if *byte > 0 {
            decoder.push(Edge { at, rising }, &mut take);
        }
        rising = !rising;
    }
    decoder.finish(&mut take);
    collector.finish().is_some()
}
