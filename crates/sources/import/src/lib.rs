//! Benchmark files of other tools as observations, to be fitted again with an intercept.
//!
//! Criterion.rs fits a line through the origin, and other tools divide: the constant part of every
//! reading stays in the result. Their files contain how often the code ran and how long that took,
//! which is an observation. Conversion is pure: from a stream to a table. Entries that cannot be
//! used are listed in [`Imported::remarks`].

mod collect;
mod criterion;
mod detect;
mod dotnet;
mod forms;
mod go;
mod google_benchmark;
mod json;
mod nanobench;
mod text;
mod unpack;

pub mod results;

pub use detect::{detect, has_only_times};
pub use forms::Form;
use hairspring_core::Result;
use hairspring_core::error::Error;
use hairspring_core::observations::Observations;
use std::io::{Cursor, Read};
pub use unpack::unpack;

/// Largest file that is read, in bytes.
pub const MOST_BYTES: u64 = 256 << 20;
/// Bytes at the beginning by which a format is detected.
const HEAD: u64 = 4096;

/// The tools whose files can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Criterion.rs: `sample.json` (`iters`, `times`, or two lists before 0.3.3), `raw.csv`, or the
    /// messages of cargo-criterion.
    Criterion,
    /// Google Benchmark: `--benchmark_format=json`.
    GoogleBenchmark,
    /// nanobench: its JSON template.
    Nanobench,
    /// BenchmarkDotNet: its full JSON.
    BenchmarkDotNet,
    /// `go test -bench`, as text or with `-json`.
    Go,
}

impl Tool {
    /// All tools.
    pub const ALL: [Tool; 5] =
        [Tool::Criterion, Tool::GoogleBenchmark, Tool::Nanobench, Tool::BenchmarkDotNet, Tool::Go];
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Its observations, in nanoseconds or in the unit of the tool's own measurement, a series for
    /// each benchmark.
    pub table: Observations,
    /// The tool that wrote it.
    pub tool: Tool,
    /// Messages about what was left out.
    pub remarks: Vec<String>,
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

/// The error of a file that has times only, with what takes it.
pub fn only_times(tool: &str) -> Error {
    Error::BadTable(format!(
        "is a result of {tool}, which has times and not how often the code ran in each: no line \
         can be fitted to it; `hairspring compare` and `hairspring report` take such files"
    ))
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
    let text = text::read(stream)?;
    match tool {
        Tool::Criterion => criterion::read(&text),
        Tool::GoogleBenchmark => google_benchmark::read(&text),
        Tool::Nanobench => nanobench::read(&text),
        Tool::BenchmarkDotNet => dotnet::read(&text),
        Tool::Go => go::read(&text),
    }
}

#[cfg(test)]
mod tests;
