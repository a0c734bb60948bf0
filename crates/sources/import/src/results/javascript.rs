//! tinybench (what programs write of its tasks, results or table), and `vitest bench
//! --outputJson`, which has tinybench inside. Results are in milliseconds, the table in
//! nanoseconds. Samples are sorted where they are kept.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed};
use serde::Deserialize;

/// The format of tinybench.
pub(super) const FORMAT: Format = Format {
    tool: "tinybench",
    file: "JSON of the tasks, results or table",
    detects: |shape: &Shape| {
        shape.has(&["[].result.latency"])
            || shape.has(&["[].result.samples", "[].result.rme"])
            || shape.has(&["[].latency", "[].throughput"])
            || TABLE
                .iter()
                .any(|(name, _)| matches!(shape, Shape::Json(outline) if has(outline, name)))
    },
    read,
};

/// The columns of the table: name, and the time with its half-width in percent.
const TABLE: [(&str, &str); 3] = [
    ("Task name", "Latency avg (ns)"),
    ("Task name", "Latency average (ns)"),
    ("Task Name", "Average Time (ns)"),
];

fn has(outline: &super::outline::Outline, name: &str) -> bool {
    outline.at("[]").is_some_and(|first| first.at(name).is_some())
}

pub(super) const VALUE: &str = "one call";
/// What is said once of samples of tinybench.
pub(super) const LACKS: &str = "the call that is timed itself, nor how processes differ: all \
                                samples are of one";
const MILLISECONDS: f64 = 1e6;
/// Student's quantile at 95 % for many samples; that of few ones is larger, so that a standard
/// deviation from it is too large and not too small.
const QUANTILE: f64 = 1.96;

#[derive(Deserialize)]
struct Task {
    name: Option<String>,
    #[serde(rename = "Task name", alias = "Task Name")]
    task_name: Option<String>,
    result: Option<Outcome>,
    latency: Option<Statistics>,
    #[serde(rename = "Latency avg (ns)", alias = "Latency average (ns)")]
    latency_ns: Option<String>,
    #[serde(rename = "Average Time (ns)")]
    average_ns: Option<Number>,
    #[serde(rename = "Margin")]
    margin: Option<String>,
    #[serde(rename = "Samples")]
    samples: Option<Number>,
}

#[derive(Deserialize)]
struct Outcome {
    latency: Option<Statistics>,
    #[serde(flatten)]
    flat: Statistics,
}

/// The statistics of the samples, in milliseconds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Statistics {
    mean: Number,
    sd: Number,
    #[serde(alias = "sampleCount")]
    samples_count: Option<Number>,
    df: Option<Number>,
    samples: Option<Vec<Number>>,
}

impl Statistics {
    /// The times, in nanoseconds.
    pub(super) fn times(&self) -> Option<Times> {
        let times = match &self.samples {
            Some(samples) if samples.len() > 1 => Times::Sorted(all(samples)?),
            _ => {
                let degrees = || Some(self.df?.finite()? + 1.0);
                let count = self.samples_count.and_then(Number::finite).or_else(degrees);
                Times::Summary {
                    mean: self.mean.finite()?,
                    sd: self.sd.finite()?,
                    count: count.unwrap_or(1.0),
                    step: 0.0,
                }
            }
        };
        Some(times.scaled(MILLISECONDS))
    }
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let tasks: Vec<Task> = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    for (at, task) in tasks.iter().enumerate() {
        let unnamed = format!("task {}", at + 1);
        let name = task.name.as_deref().or(task.task_name.as_deref()).unwrap_or(&unnamed);
        match times(task) {
            Some(times) => results.push(name, VALUE, times)?,
            None => results.left_out(name, "it has no time: it failed, or did not run"),
        }
    }
    results.finish()
}

fn times(task: &Task) -> Option<Times> {
    if let Some(outcome) = &task.result {
        return outcome.latency.as_ref().unwrap_or(&outcome.flat).times();
    }
    if let Some(latency) = &task.latency {
        return latency.times();
    }
    let samples = task.samples.and_then(Number::finite)?;
    match (&task.latency_ns, task.average_ns.and_then(Number::finite)) {
        (Some(text), _) => {
            let (mean, share) = text.split_once('\u{b1}')?;
            Some(from_table(number(mean)?, share_of(share)?, samples))
        }
        (None, Some(mean)) => Some(from_table(mean, share_of(task.margin.as_deref()?)?, samples)),
        (None, None) => None,
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().replace(',', "").parse().ok()
}

/// A half-width such as `2.5%` as a share.
fn share_of(text: &str) -> Option<f64> {
    let percent = text.trim().trim_start_matches('\u{b1}').strip_suffix('%')?;
    Some(number(percent)? / 100.0)
}

/// The standard deviation follows from the half-width of the mean.
fn from_table(mean: f64, share: f64, count: f64) -> Times {
    Times::Summary { mean, sd: share * mean * count.sqrt() / QUANTILE, count, step: 0.0 }
}
