//! BenchmarkDotNet: the JSON exporters. Full ones have the measurements of each launch, brief ones
//! the values of all of them. The overhead is subtracted, and upper outliers are removed.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed, words};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "BenchmarkDotNet",
    file: "JSON of an exporter",
    detects: |shape: &Shape| shape.has(&["HostEnvironmentInfo", "Benchmarks"]),
    read,
};

const VALUE: &str = "one operation, averaged over an iteration";
const LACKS: &str = "outliers above, which BenchmarkDotNet removes, the error of the overhead that \
                     it subtracts, nor how launches differ where there is one";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    host_environment_info: Host,
    benchmarks: Vec<One>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Host {
    benchmark_dot_net_version: Option<String>,
    os_version: Option<String>,
    processor_name: Option<String>,
    runtime_version: Option<String>,
    architecture: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct One {
    full_name: Option<String>,
    display_info: Option<String>,
    method: Option<String>,
    statistics: Option<Statistics>,
    #[serde(default)]
    measurements: Option<Vec<Measurement>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Statistics {
    original_values: Option<Vec<Number>>,
    n: Number,
    mean: Number,
    standard_deviation: Number,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "PascalCase")]
struct Measurement {
    iteration_mode: Option<String>,
    iteration_stage: Option<String>,
    launch_index: Number,
    operations: Number,
    nanoseconds: Number,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    let host = &document.host_environment_info;
    results.origin.version = host.benchmark_dot_net_version.clone();
    results.origin.machine = words([
        host.processor_name.as_deref(),
        host.architecture.as_deref(),
        host.os_version.as_deref(),
    ]);
    results.origin.runtime = words([host.runtime_version.as_deref()]);
    for (at, entry) in document.benchmarks.iter().enumerate() {
        let unnamed = format!("benchmark {}", at + 1);
        let names = [&entry.full_name, &entry.method, &entry.display_info];
        let name = names.into_iter().flatten().next().unwrap_or(&unnamed);
        match times(entry) {
            Some(times) => results.push(name, VALUE, times)?,
            None => results.left_out(name, "it has no result: it failed"),
        }
    }
    results.finish()
}

fn times(benchmark: &One) -> Option<Times> {
    let launches = benchmark.measurements.as_deref().map(launches).unwrap_or_default();
    if !launches.is_empty() {
        return Some(Times::Processes(launches));
    }
    let statistics = benchmark.statistics.as_ref()?;
    match &statistics.original_values {
        Some(values) if !values.is_empty() => all(values).map(Times::of),
        _ => Some(Times::Summary {
            mean: statistics.mean.finite()?,
            sd: statistics.standard_deviation.finite()?,
            count: statistics.n.finite()?,
            step: 0.0,
        }),
    }
}

/// The results of each launch, in nanoseconds of an operation. Before version 0.11 the stage was in
/// the mode.
fn launches(measurements: &[Measurement]) -> Vec<Vec<f64>> {
    let mut launches: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for measurement in measurements {
        let stage =
            measurement.iteration_stage.as_deref().or(measurement.iteration_mode.as_deref());
        let time = measurement.nanoseconds.0 / measurement.operations.0;
        if stage == Some("Result") && time.is_finite() {
            // A number of any size; as an integer it is one of the nearest.
            let launch = measurement.launch_index.finite().unwrap_or(0.0) as i64;
            launches.entry(launch).or_default().push(time);
        }
    }
    launches.into_values().collect()
}
