//! A value change dump read by Hairspring and by wellen in turn.

use crate::text;
use hairspring_capture::read::{Request, read_vcd};
use serde_json::{Value, json};
use std::fs::File;
use std::time::Instant;
use wellen::simple;

/// Seconds of each reading, and the edges that both found.
pub fn figures(file: &str, times: usize) -> Result<Value, String> {
    let (mut own, mut other, mut found) = (Vec::new(), Vec::new(), (0, 0));
    for _ in 0..times {
        let begin = Instant::now();
        found.0 = hairspring(file)?;
        own.push(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        found.1 = wellen(file)?;
        other.push(begin.elapsed().as_secs_f64());
    }
    let bytes = std::fs::metadata(file).map_err(text)?.len();
    Ok(json!({"bytes": bytes, "hairspring_s": own, "wellen_s": other, "hairspring_edges": found.0,
            "wellen_edges": found.1}))
}

fn hairspring(file: &str) -> Result<usize, String> {
    let mut edges = 0;
    let request = Request { channel: Some("PB7".into()), ..Request::default() };
    read_vcd(File::open(file).map_err(text)?, &request, &mut |_| edges += 1).map_err(text)?;
    Ok(edges)
}

/// The library by itself, with its own threads: header, body, and the changes of the one signal.
fn wellen(file: &str) -> Result<usize, String> {
    let mut wave = simple::read(file).map_err(text)?;
    let hierarchy = wave.hierarchy();
    let signal = hierarchy
        .all_vars()
        .map(|var| &hierarchy[var])
        .find(|var| var.name(hierarchy) == "PB7")
        .map(|var| var.signal_ref());
    let signal = signal.ok_or("no PB7")?;
    wave.load_signals(&[signal]);
    let changes = wave.get_signal(signal).ok_or("no changes")?.iter_changes().count();
    // The first change is the level at the beginning.
    Ok(changes - 1)
}
