//! Files of other tools that hold times only, as results for `compare` and `report`.
//!
//! Each format is a file of this folder, registered in [`FORMATS`]. It is detected by its content.
//! What a reader gives are the times in nanoseconds, what one value is the time of, and what the
//! tool did to the values; the interval is computed from the values here ([`Times::timed`]), in the
//! same way for all tools.

mod document;
mod folder;
mod interval;
mod model;
mod number;
mod outline;
mod text;

pub use folder::read_folder;
pub use interval::Timed;
pub use model::{Benchmark, Results, Times};
pub use text::decode;

use crate::{Form, json};
use outline::Outline;
use std::io::Read;

mod asv;
mod benchmark_dotnet;
mod catch2;
mod criterion;
mod go_bench;
mod google_benchmark;
mod hyperfine;
mod javascript;
mod jmh;
mod mitata;
mod nanobench;
mod pyperf;
mod pytest_benchmark;
mod rt_tests;
mod vitest;

/// All formats. The first one that detects a file reads it.
pub const FORMATS: &[Format] = &[
    hyperfine::FORMAT,
    pyperf::FORMAT,
    pytest_benchmark::FORMAT,
    mitata::FORMAT,
    google_benchmark::FORMAT,
    jmh::FORMAT,
    criterion::FORMAT,
    criterion::MESSAGES,
    asv::FORMAT,
    vitest::FORMAT,
    javascript::FORMAT,
    benchmark_dotnet::FORMAT,
    nanobench::FORMAT,
    rt_tests::OSLAT,
    rt_tests::FORMAT,
    catch2::FORMAT,
    go_bench::FORMAT,
];

/// A format of another tool.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The tool, as its users write it.
    pub tool: &'static str,
    /// The file, and the option that writes it.
    pub file: &'static str,
    /// Whether a file is of this format.
    detects: fn(&Shape) -> bool,
    /// Reads the text of a file.
    read: fn(&Format, &str) -> Result<Results, String>,
}

impl Format {
    /// Results of this format without any benchmark.
    fn results(&self, lacks: &[&str]) -> Results {
        Results::of(self.tool, self.file, lacks)
    }
}

/// What a file looks like.
#[derive(Debug)]
enum Shape<'t> {
    /// One JSON document.
    Json(Outline),
    /// Any other text.
    Text(&'t str),
}

impl Shape<'_> {
    /// Whether it is a JSON document with values under all of these paths.
    fn has(&self, paths: &[&str]) -> bool {
        matches!(self, Shape::Json(outline) if outline.has(paths))
    }
}

/// Largest saved result that is read, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Reads a saved result as a whole, behind what `bytes` has.
///
/// # Errors
/// The system's error, or that it is too large.
pub fn read_bytes(stream: impl Read, bytes: &mut Vec<u8>) -> Result<(), String> {
    match stream.take(MOST_BYTES + 1).read_to_end(bytes) {
        Err(error) => Err(error.to_string()),
        Ok(length) if length as u64 > MOST_BYTES => {
            Err(format!("is larger than {} MiB, the limit for a saved result", MOST_BYTES >> 20))
        }
        Ok(_) => Ok(()),
    }
}

/// Reads a file of another tool; `None` if it is of none that is known, or a document of
/// Hairspring.
///
/// # Errors
/// Why a file that is of a known tool cannot be used, and what to do.
///
/// ```
/// use hairspring_import::results::read;
/// let text = r#"{"results": [{"command": "ls", "times": [0.011, 0.012, 0.014]}]}"#;
/// let document = read(text).unwrap().unwrap().into_document();
/// assert_eq!(document.origin.unwrap().tool, "hyperfine");
/// assert!(read("{}").is_none());
/// ```
pub fn read(text: &str) -> Option<Result<Results, String>> {
    let shape = match json::read::<Outline>(text, "JSON") {
        Ok(outline) if is_own(&outline) => return None,
        Ok(outline) => Shape::Json(outline),
        Err(_) => Shape::Text(text),
    };
    match FORMATS.iter().find(|format| (format.detects)(&shape)) {
        Some(format) => Some((format.read)(format, text)),
        None => Form::of(text).map(|form| Err(form.refusal())),
    }
}

/// Whether it is a document of Hairspring.
fn is_own(outline: &Outline) -> bool {
    outline.text("schema").is_some_and(|schema| schema.starts_with("hairspring/"))
}

/// A JSON document of a format.
fn parsed<T: serde::de::DeserializeOwned>(format: &Format, text: &str) -> Result<T, String> {
    json::read(text, &format!("{} of {}", format.file, format.tool))
        .map_err(|error| error.to_string())
}

/// The parts of a text that are there, joined by blanks; `None` without any.
fn words<'t>(parts: impl IntoIterator<Item = Option<&'t str>>) -> Option<String> {
    let there: Vec<&str> =
        parts.into_iter().flatten().map(str::trim).filter(|part| !part.is_empty()).collect();
    (!there.is_empty()).then(|| there.join(" "))
}
