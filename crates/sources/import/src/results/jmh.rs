//! JMH: `-rf json`. Scores are of iterations, grouped by fork, in units such as `us/op` and
//! `ops/s`; `sample` has histograms instead. Numbers that JSON lacks are quoted.

use super::model::{Results, Times, shown};
use super::number::{Number, all};
use super::{Format, Shape, parsed, words};
use crate::collect::nanoseconds;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "JMH",
    file: "JSON of -rf json",
    detects: |shape: &Shape| shape.has(&["[].benchmark", "[].primaryMetric"]),
    read,
};

const LACKS: &str = "the loop around the code, nor what all forks have in common on the machine";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct One {
    benchmark: String,
    mode: String,
    #[serde(default)]
    threads: Number,
    jmh_version: Option<String>,
    jdk_version: Option<String>,
    vm_name: Option<String>,
    #[serde(default)]
    measurement_batch_size: Number,
    #[serde(default)]
    params: Option<BTreeMap<String, String>>,
    primary_metric: Metric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metric {
    #[serde(default)]
    score: Number,
    score_unit: String,
    #[serde(default)]
    raw_data: Vec<Vec<Number>>,
    /// By fork and iteration: times, and how often each was seen.
    #[serde(default)]
    raw_data_histogram: Vec<Vec<Vec<(Number, Number)>>>,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let all_benchmarks: Vec<One> = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    if let Some(first) = all_benchmarks.first() {
        results.origin.version = first.jmh_version.clone();
        results.origin.runtime = words([first.vm_name.as_deref(), first.jdk_version.as_deref()]);
    }
    for benchmark in &all_benchmarks {
        let name = name(benchmark);
        match times(benchmark) {
            Ok(times) => results.push(&name, &value(benchmark), times)?,
            Err(reason) => results.left_out(&name, &reason),
        }
    }
    results.finish()
}

/// The benchmark with its parameters.
fn name(benchmark: &One) -> String {
    let parameters: Vec<String> =
        benchmark.params.iter().flatten().map(|(key, value)| format!("{key}={value}")).collect();
    if parameters.is_empty() {
        benchmark.benchmark.clone()
    } else {
        format!("{} ({})", benchmark.benchmark, parameters.join(", "))
    }
}

/// What one value is the time of, by the mode.
fn value(benchmark: &One) -> String {
    let batch = benchmark.measurement_batch_size.finite().filter(|size| *size > 1.0);
    let operation = match batch {
        Some(size) => format!("one batch of {size} calls"),
        None => "one operation".to_owned(),
    };
    let threads = match benchmark.threads.finite().filter(|threads| *threads > 1.0) {
        Some(threads) => format!(" in {threads} threads"),
        None => String::new(),
    };
    match benchmark.mode.as_str() {
        "avgt" => format!("{operation}{threads}, averaged over an iteration"),
        "thrpt" => format!("{operation}{threads}, by the throughput of an iteration"),
        "sample" => {
            format!("{operation}{threads}, averaged over the sampled calls of an iteration")
        }
        "ss" => format!("{operation}{threads}, a single shot"),
        other => format!("{operation}{threads} in mode {}", shown(other)),
    }
}

fn times(benchmark: &One) -> Result<Times, String> {
    let metric = &benchmark.primary_metric;
    let unit = scale(&metric.score_unit)?;
    let forks = if metric.raw_data.iter().any(|fork| !fork.is_empty()) {
        metric.raw_data.iter().map(|fork| all(fork)).collect::<Option<Vec<Vec<f64>>>>()
    } else {
        metric
            .raw_data_histogram
            .iter()
            .map(|fork| fork.iter().map(|iteration| mean(iteration)).collect())
            .collect()
    };
    let forks = forks.ok_or("one of its scores is not a number")?;
    if forks.iter().all(Vec::is_empty) {
        let reason = "the file has no scores of iterations".to_owned();
        let value = metric.score.finite().ok_or("its score is not a number")?;
        return Ok(Times::Alone { value: unit.ns(value), statistic: "mean", reason });
    }
    let in_ns = |fork: Vec<f64>| fork.into_iter().map(|score| unit.ns(score)).collect();
    Ok(Times::Processes(forks.into_iter().map(in_ns).collect()))
}

/// The mean of a histogram.
fn mean(histogram: &[(Number, Number)]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for (time, number) in histogram {
        sum += time.finite()? * number.finite()?;
        count += number.finite()?;
    }
    Some(sum / count).filter(|mean| mean.is_finite())
}

/// How a score becomes a time.
enum Scale {
    /// A time for an operation: nanoseconds in its unit.
    Time(f64),
    /// Operations in a time of so many nanoseconds.
    Rate(f64),
}

impl Scale {
    fn ns(&self, score: f64) -> f64 {
        match self {
            Scale::Time(ns) => score * ns,
            Scale::Rate(ns) => ns / score,
        }
    }
}

fn scale(unit: &str) -> Result<Scale, String> {
    let named = |name: &str| match name {
        "min" => Some(60e9),
        "hr" => Some(3_600e9),
        "day" => Some(86_400e9),
        other => nanoseconds(other),
    };
    let scale = match unit.split_once('/') {
        Some(("ops", time)) => named(time).map(Scale::Rate),
        Some((time, "op")) => named(time).map(Scale::Time),
        _ => None,
    };
    scale.ok_or_else(|| format!("its unit is `{}`, not a time of an operation", shown(unit)))
}
