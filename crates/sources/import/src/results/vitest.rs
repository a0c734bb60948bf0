//! vitest: `vitest bench --outputJson`.

use super::javascript::{LACKS, Statistics, VALUE};
use super::model::Results;
use super::{Format, Shape, parsed};
use serde::Deserialize;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "vitest",
    file: "JSON of bench --outputJson",
    detects: |shape: &Shape| shape.has(&["files.[].groups"]),
    read,
};

#[derive(Deserialize)]
struct Document {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    full_name: String,
    benchmarks: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    name: String,
    #[serde(flatten)]
    statistics: Statistics,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    for group in document.files.iter().flat_map(|file| &file.groups) {
        for benchmark in &group.benchmarks {
            let name = format!("{} > {}", group.full_name, benchmark.name);
            match benchmark.statistics.times() {
                Some(times) => results.push(&name, VALUE, times)?,
                None => results.left_out(&name, "it has no time: it failed, or did not run"),
            }
        }
    }
    results.finish()
}
