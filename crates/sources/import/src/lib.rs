//! Benchmark files of other tools as observations, to be fitted again with an intercept.
//!
//! Criterion.rs fits a line through the origin, and Google Benchmark divides: with both, the
//! constant part of every reading stays in the result. Their files contain how often the code ran
//! and how long that took, which is an observation. Conversion is pure: from a stream to a table.
//! Entries that cannot be used are listed in [`Imported::remarks`].

mod collect;
mod criterion;
mod google_benchmark;
mod json;

pub mod results;

use hairspring_core::Result;
use hairspring_core::error::Error;
use hairspring_core::observations::Observations;
use std::io::{Cursor, Read};

/// Largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 256 << 20;
/// Bytes at the beginning by which a format is detected.
const HEAD: u64 = 4096;

/// The tools whose files can be read.
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
    /// The tool that wrote it.
    pub tool: Tool,
    /// Messages about what was left out.
    pub remarks: Vec<String>,
}

/// Detects by its beginning the tool that wrote a file; `None` for anything else, including
/// observations.
pub fn detect(head: &[u8]) -> Option<Tool> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let first = text.lines().next().unwrap_or_default();
    if text.starts_with('{') {
        let has = |key: &str| text.contains(&format!("\"{key}\""));
        return if has("context")
            || has("benchmarks")
            || !(has("iters") || has("sampling_mode") || has("times"))
        {
            Some(Tool::GoogleBenchmark)
        } else {
            Some(Tool::Criterion)
        };
    }
    (first.contains("sample_measured_value") && first.contains("iteration_count"))
        .then_some(Tool::Criterion)
}

/// The beginning of a stream, and the whole stream again.
///
/// # Errors
/// An error of the stream.
pub fn head(mut stream: impl Read) -> std::io::Result<(Vec<u8>, impl Read)> {
    let mut head = Vec::new();
    stream.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(stream)))
}

/// Reads a file of a tool.
///
/// # Errors
/// [`Error::BadTable`] with the place of the damage, or if no benchmark in it ran with different
/// numbers of iterations.
///
/// ```
/// use hairspring_import::{Tool, read};
/// let text = r#"{"sampling_mode": "Linear", "iters": [1.0, 2.0, 3.0],
///     "times": [108.0, 208.0, 308.0]}"#;
/// let imported = read(text.as_bytes(), Tool::Criterion).unwrap();
/// assert_eq!(imported.table.readings().len(), 3);
/// ```
pub fn read(stream: impl Read, tool: Tool) -> Result<Imported> {
    let (head, stream) =
        head(stream).map_err(|error| Error::BadTable(format!("cannot be read: {error}")))?;
    let is_json =
        head.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte))
            == Some(&b'{');
    match tool {
        Tool::GoogleBenchmark => google_benchmark::read(stream),
        Tool::Criterion if is_json => criterion::read_sample(stream),
        Tool::Criterion => criterion::read_raw(stream),
    }
}

#[cfg(test)]
mod tests;
