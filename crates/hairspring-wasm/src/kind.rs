//! What a file is, by its beginning.

use hairspring_capture::read::Format;
use hairspring_import::{Tool, detect, has_only_times};
use serde::{Deserialize, Serialize};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A table of counts and readings.
    Observations,
    /// A recording of a pin.
    Recording,
    /// A file of another tool that has counts, so that a line can be fitted to it.
    Benchmark,
    /// A saved result, of Hairspring or of another tool.
    Result,
}

impl Kind {
    /// The kind of a file that begins like this. What is none of the others is taken for a result,
    /// whose reader says what it expects.
    pub fn of(head: &[u8]) -> Kind {
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if is_observations(text) {
            return Kind::Observations;
        }
        if text.starts_with(['{', '[', '<']) {
            return of_structured(head, text);
        }
        match (detect(head), has_only_times(head), Format::detect(head)) {
            (Some(_), None, _) => Kind::Benchmark,
            (None, None, Some(_)) if !is_known_text(text) => Kind::Recording,
            _ => Kind::Result,
        }
    }
}

/// JSON and XML. A document of Hairspring has its schema at the beginning.
fn of_structured(head: &[u8], text: &str) -> Kind {
    if text.contains("\"hairspring/") || has_only_times(head).is_some() {
        return Kind::Result;
    }
    if detect(head).is_some() { Kind::Benchmark } else { Kind::Result }
}

/// Printed forms of other tools, whose readers say which file to give instead.
fn is_known_text(text: &str) -> bool {
    hairspring_import::Form::of(text).is_some()
}

/// Whether the first line that is no comment names a reading.
fn is_observations(text: &str) -> bool {
    let header = text.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty());
    let is_reading = |name: &str| matches!(name.trim(), "ticks" | "time_ns");
    header.is_some_and(|line| line.split([',', ';', '\t', '|', ' ']).any(is_reading))
        || header.is_none() && text.starts_with('#')
}

/// The tool that wrote a file with counts.
pub fn tool(head: &[u8]) -> Tool {
    detect(head).unwrap_or(Tool::GoogleBenchmark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_beginning() {
        for (head, kind) in [
            ("body,ticks\n1,2\n", Kind::Observations),
            ("# rate_hz: 1e6\n\nround,body,time_ns\n", Kind::Observations),
            ("body;ticks\n1;2\n", Kind::Observations),
            ("# only: comments\n# more", Kind::Observations),
            ("RIFF\x24\0\0\0WAVEfmt ", Kind::Recording),
            ("$date today $end", Kind::Recording),
            ("PK\x03\x04", Kind::Recording),
            ("Time [s],Channel 0\n0,1\n", Kind::Recording),
            ("0.1\n0.2\n0.3\n", Kind::Recording),
            (r#"{"iters": [1.0], "times": [2.0]}"#, Kind::Benchmark),
            (r#"{"context": {}, "benchmarks": []}"#, Kind::Benchmark),
            ("goos: linux\nBenchmarkA 100 12 ns/op\n", Kind::Benchmark),
            (r#"{"schema": "hairspring/result/2", "command": "fit"}"#, Kind::Result),
            (r#"{"results": [{"command": "ls", "mean": 1, "times": []}]}"#, Kind::Result),
            ("command,mean,stddev,median\n", Kind::Result),
            ("<?xml version=\"1.0\"?><Catch2TestRun", Kind::Result),
            ("", Kind::Result),
        ] {
            assert_eq!(Kind::of(head.as_bytes()), kind, "{head:?}");
        }
    }
}
