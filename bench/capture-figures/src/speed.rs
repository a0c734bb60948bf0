//! A value change dump read by Hairspring and by wellen, in turn or each by itself.

use crate::text;
use hairspring_capture::read::{Request, read_vcd};
use hairspring_capture::{Input, Options, capture};
use serde_json::{Value, json};
use std::fs::File;
use std::time::Instant;
use wellen::simple;

/// Seconds of each reading, and the edges that both found.
pub fn figures(file: &str, channel: &str, times: usize) -> Result<Value, String> {
    let (mut own, mut other, mut found) = (Vec::new(), Vec::new(), (0, 0));
    for _ in 0..times {
        let begin = Instant::now();
        found.0 = hairspring(file, channel)?;
        own.push(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        found.1 = wellen(file, channel)?;
        other.push(begin.elapsed().as_secs_f64());
    }
    let bytes = std::fs::metadata(file).map_err(text)?.len();
    Ok(json!({"bytes": bytes, "hairspring_s": own, "wellen_s": other, "hairspring_edges": found.0,
            "wellen_edges": found.1}))
}

/// The reader by itself: the edges of a channel.
pub fn hairspring(file: &str, channel: &str) -> Result<usize, String> {
    let mut edges = 0;
    let request = Request { channel: Some(channel.to_owned()), ..Request::default() };
    read_vcd(File::open(file).map_err(text)?, &request, &mut |_| edges += 1).map_err(text)?;
    Ok(edges)
}

/// The whole of `hairspring capture` without a document: the rounds, or why there are none.
pub fn frames(file: &str, channel: &str) -> Result<String, String> {
    let request = Request { channel: Some(channel.to_owned()), ..Request::default() };
    let options = Options { request, ..Options::default() };
    let input = Input::File(Box::new(File::open(file).map_err(text)?));
    Ok(match capture(input, &options) {
        Ok(captured) => format!("{} rounds", captured.rounds),
        Err(error) => error.to_string(),
    })
}

/// The library by itself, with its own threads: header, body, and the changes of the one signal.
pub fn wellen(file: &str, channel: &str) -> Result<usize, String> {
    let mut wave = simple::read(file).map_err(text)?;
    let hierarchy = wave.hierarchy();
    let signal = hierarchy
        .all_vars()
        .map(|var| &hierarchy[var])
        .find(|var| var.name(hierarchy) == channel)
        .map(|var| var.signal_ref());
    let signal = signal.ok_or("no such channel")?;
    wave.load_signals(&[signal]);
    let changes = wave.get_signal(signal).ok_or("no changes")?.iter_changes().count();
    // The first change is the level at the beginning.
    Ok(changes - 1)
}
