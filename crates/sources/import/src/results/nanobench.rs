//! nanobench: the JSON template. `elapsed` is seconds of one iteration; it is not divided by the
//! batch.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed};
use serde::Deserialize;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "nanobench",
    file: "JSON of templates::json()",
    detects: |shape: &Shape| shape.has(&["results.[].epochs", "results.[].name"]),
    read,
};

const LACKS: &str = "the loop around the code, nor how processes and builds differ: all epochs \
                     are of one process";
const SECONDS: f64 = 1e9;

#[derive(Deserialize)]
struct Document {
    results: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    title: Option<String>,
    name: String,
    unit: Option<String>,
    #[serde(default)]
    batch: Number,
    #[serde(rename = "median(elapsed)", default)]
    median: Number,
    #[serde(default)]
    measurements: Vec<Epoch>,
}

#[derive(Deserialize)]
struct Epoch {
    #[serde(default)]
    elapsed: Number,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    for result in &document.results {
        let title =
            result.title.as_deref().filter(|title| !title.is_empty() && *title != "benchmark");
        let name = match title {
            Some(title) => format!("{title}: {}", result.name),
            None => result.name.clone(),
        };
        match times(result) {
            Some(times) => results.push(&name, &value(result), times.scaled(SECONDS))?,
            None => results.left_out(&name, "one of its epochs has no time"),
        }
    }
    results.finish()
}

/// What a value is: an iteration of so many units of work.
fn value(result: &One) -> String {
    match result.batch.finite().filter(|batch| *batch != 1.0) {
        Some(batch) => {
            let unit = super::model::shown(result.unit.as_deref().unwrap_or("op"));
            format!("one iteration (a batch of {batch} {unit}), averaged over an epoch")
        }
        None => "one iteration, averaged over an epoch".to_owned(),
    }
}

fn times(result: &One) -> Option<Times> {
    let elapsed: Vec<Number> = result.measurements.iter().map(|epoch| epoch.elapsed).collect();
    if elapsed.is_empty() {
        return Some(Times::Alone {
            value: result.median.finite()?,
            statistic: "median",
            reason: "the file has no epochs".to_owned(),
        });
    }
    all(&elapsed).map(Times::of)
}
