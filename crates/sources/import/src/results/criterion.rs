//! Criterion.rs: `sample.json` and `estimates.json` of a benchmark, and the messages of
//! `cargo criterion --message-format=json`. Numbers are nanoseconds unless the benchmark has a
//! `Measurement` of its own, which only the messages name.

use super::model::{Results, Times, shown};
use super::number::{Number, all};
use super::{Format, Shape, parsed};
use crate::collect::nanoseconds;
use hairspring_core::Estimate;
use serde::Deserialize;

/// The format of `sample.json` and `estimates.json`.
pub(super) const FORMAT: Format = Format {
    tool: "Criterion.rs",
    file: "sample.json or estimates.json",
    detects: |shape: &Shape| {
        shape.has(&["iters", "times"])
            || shape.has(&["mean.point_estimate", "mean.confidence_interval"])
    },
    read,
};

/// The format of the messages.
pub(super) const MESSAGES: Format = Format {
    tool: "Criterion.rs",
    file: "messages of cargo criterion",
    detects: |shape: &Shape| match shape {
        Shape::Json(outline) => outline.text("reason") == Some("benchmark-complete"),
        Shape::Text(text) => {
            text.lines().take(HEAD).any(|line| line.contains("\"benchmark-complete\""))
        }
    },
    read: read_messages,
};

/// Lines at the beginning that are looked at.
const HEAD: usize = 10_000;
const VALUE: &str = "one iteration, averaged over a sample";
const LACKS: &str = "the constant part of a sample (`hairspring fit` of sample.json parts it), nor \
                     how processes and builds differ: all samples are of one process";
const UNIT: &str = "that the unit may be another one: the file has none, and nanoseconds are \
                    assumed, which a Measurement of its own need not have";
const OWN_INTERVAL: &str = "how samples in a row are correlated: the interval is Criterion's own, \
                            by resampling";

/// Both kinds of files.
#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Sample { iters: Vec<Number>, times: Vec<Number> },
    Estimates { mean: Mean },
}

#[derive(Deserialize)]
struct Mean {
    #[serde(default)]
    point_estimate: Number,
    confidence_interval: Option<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    #[serde(default)]
    confidence_level: Number,
    #[serde(default)]
    lower_bound: Number,
    #[serde(default)]
    upper_bound: Number,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let mut results = results(format.file);
    // The file does not say what its benchmark is called.
    add(&mut results, "main", text)?;
    results.finish()
}

/// Results of Criterion.rs without any benchmark.
pub(super) fn results(file: &str) -> Results {
    Results::of(FORMAT.tool, file, &[LACKS, UNIT])
}

/// Adds the benchmark of a file.
pub(super) fn add(results: &mut Results, name: &str, text: &str) -> Result<(), String> {
    match parsed(&FORMAT, text)? {
        Document::Sample { iters, times } => {
            results.push(name, VALUE, Times::of(per_iteration(&iters, &times)?))
        }
        Document::Estimates { mean } => {
            let interval = given(&mean).ok_or("has no mean within its interval: write it again")?;
            results.origin.lacks.push(OWN_INTERVAL.to_owned());
            results.push(name, VALUE, Times::Given { interval, statistic: "mean" })
        }
    }
}

fn given(mean: &Mean) -> Option<Estimate> {
    let interval = mean.confidence_interval.as_ref()?;
    let (value, level) = (mean.point_estimate.finite()?, interval.confidence_level.finite()?);
    let (low, high) = (interval.lower_bound.finite()?, interval.upper_bound.finite()?);
    let holds = low <= value && value <= high && 0.0 < level && level < 1.0;
    holds.then_some(Estimate { value, low, high, level })
}

/// The time of an iteration in each sample, in the order of the samples.
fn per_iteration(iterations: &[Number], times: &[Number]) -> Result<Vec<f64>, String> {
    if iterations.len() != times.len() {
        return Err(format!(
            "has {} `iters` and {} `times`: there must be one time for each",
            iterations.len(),
            times.len()
        ));
    }
    let (iterations, times) =
        all(iterations).zip(all(times)).ok_or("a sample is not a number: write the file again")?;
    if let Some(bad) = iterations.iter().find(|number| **number <= 0.0) {
        return Err(format!("a sample has {bad} iterations: there must be more than 0"));
    }
    Ok(times.iter().zip(&iterations).map(|(time, number)| time / number).collect())
}

/// A message; those of other reasons have none of the other keys.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    iteration_count: Vec<Number>,
    #[serde(default)]
    measured_values: Vec<Number>,
    unit: Option<String>,
}

fn read_messages(format: &Format, text: &str) -> Result<Results, String> {
    let mut results = format.results(&[LACKS]);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    for message in messages.filter(|message| message.reason == "benchmark-complete") {
        let unit = message.unit.as_deref().unwrap_or("ns");
        let Some(factor) = nanoseconds(unit) else {
            results.left_out(&message.id, &format!("its unit is `{}`, not a time", shown(unit)));
            continue;
        };
        let values = per_iteration(&message.iteration_count, &message.measured_values)
            .map_err(|reason| format!("benchmark `{}`: {reason}", shown(&message.id)))?;
        results.push(&message.id, VALUE, Times::of(values).scaled(factor))?;
    }
    results.finish()
}
