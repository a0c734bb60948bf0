//! Benchmark files of other tools as observations, so that the one estimator can fit them again, with an intercept.
//!
//! Criterion.rs fits a line through the origin, Google Benchmark divides: both leave what is constant in every reading in
//! the answer. Their files keep how often the code ran and how long that took, and that is an observation. Conversion is
//! pure: from a stream to a table. What could not be used is told in [`Imported::remarks`], never dropped in silence.

mod collect;
mod criterion;
mod google_benchmark;
mod json;

use hairspring_core::Result;
use hairspring_core::error::Error;
use hairspring_core::observations::Observations;
use std::io::{Cursor, Read};

/// Largest JSON document that is read, in bytes. Tables of lines are read as streams.
pub const MOST_BYTES: u64 = 256 << 20;
/// Bytes at the beginning that a format is told by.
const HEAD: u64 = 4096;

/// Formats by the tool that writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Criterion.rs: `sample.json` (`iters`, `times`) or `raw.csv`.
    Criterion,
    /// Google Benchmark: `--benchmark_format=json`.
    GoogleBenchmark,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Its observations, in nanoseconds, a series for each benchmark.
    pub table: Observations,
    /// Whose file it was.
    pub tool: Tool,
    /// What was left out, in words.
    pub remarks: Vec<String>,
}

/// The tool that a file seems to come from, by its beginning; `None` for anything else, observations among it.
pub fn detect(head: &[u8]) -> Option<Tool> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.lines().next().unwrap_or_default();
    if text.starts_with('{') {
        let has = |key: &str| text.contains(&format!("\"{key}\""));
        return if has("context") || has("benchmarks") || !(has("iters") || has("sampling_mode") || has("times")) {
            Some(Tool::GoogleBenchmark)
        } else {
            Some(Tool::Criterion)
        };
    }
    (first.contains("sample_measured_value") && first.contains("iteration_count")).then_some(Tool::Criterion)
}

/// The beginning of a stream, and the whole stream again.
///
/// # Errors
/// What the stream says.
pub fn head(mut stream: impl Read) -> std::io::Result<(Vec<u8>, impl Read)> {
    let mut head = Vec::new();
    stream.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(stream)))
}

/// Reads a file of a tool.
///
/// # Errors
/// What is wrong with it and where, and that no benchmark in it ran with different numbers of iterations.
///
/// ```
/// use hairspring_import::{Tool, read};
/// let text = r#"{"sampling_mode": "Linear", "iters": [1.0, 2.0, 3.0], "times": [108.0, 208.0, 308.0]}"#;
/// let imported = read(text.as_bytes(), Tool::Criterion).unwrap();
/// assert_eq!(imported.table.readings().len(), 3);
/// ```
pub fn read(stream: impl Read, tool: Tool) -> Result<Imported> {
    let (head, stream) = head(stream).map_err(|error| Error::BadTable(format!("cannot be read: {error}")))?;
    let is_json = head.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte)) == Some(&b'{');
    match tool {
        Tool::GoogleBenchmark => google_benchmark::read(stream),
        Tool::Criterion if is_json => criterion::read_sample(stream),
        Tool::Criterion => criterion::read_raw(stream),
    }
}

#[cfg(test)]
mod tests;
