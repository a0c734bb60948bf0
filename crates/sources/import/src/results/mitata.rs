//! mitata: `run({ format: 'json' })`. Samples are nanoseconds of one call, sorted; of more than
//! twelve the two longest and the two shortest are dropped.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed, words};
use hairspring_core::named::Named;
use serde::Deserialize;
use serde_json::Value;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "mitata",
    file: "JSON of run({ format: 'json' })",
    detects: |shape: &Shape| shape.has(&["layout", "benchmarks.[].runs"]),
    read,
};

const VALUE: &str = "one call, averaged over a sample";
const LACKS: &str = "the two longest and the two shortest samples, which mitata drops, nor how \
                     processes differ: all samples are of one";

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<Benchmark>,
    context: Option<Context>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Context {
    arch: Option<String>,
    runtime: Option<String>,
    version: Option<String>,
    cpu: Option<Cpu>,
}

#[derive(Deserialize)]
struct Cpu {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Benchmark {
    alias: Option<String>,
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    name: Option<String>,
    #[serde(default)]
    args: Named<Value>,
    stats: Option<Statistics>,
}

#[derive(Deserialize)]
struct Statistics {
    samples: Option<Vec<Number>>,
    #[serde(default)]
    avg: Number,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    if let Some(context) = &document.context {
        let cpu = context.cpu.as_ref().and_then(|cpu| cpu.name.as_deref());
        results.origin.machine = words([cpu, context.arch.as_deref()]);
        results.origin.runtime = words([context.runtime.as_deref(), context.version.as_deref()]);
    }
    for benchmark in &document.benchmarks {
        for run in &benchmark.runs {
            let name = name(benchmark, run);
            match run.stats.as_ref().and_then(times) {
                Some(times) => results.push(&name, VALUE, times)?,
                None => results.left_out(&name, "it has no time: it failed"),
            }
        }
    }
    results.finish()
}

/// The name with the arguments that it does not contain.
fn name(benchmark: &Benchmark, run: &Run) -> String {
    let name = run.name.as_deref().or(benchmark.alias.as_deref()).unwrap_or("unnamed");
    let arguments: Vec<String> = run
        .args
        .iter()
        .map(|(key, value)| (key, value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .filter(|(_, value)| !name.contains(value.as_str()))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if arguments.is_empty() {
        name.to_owned()
    } else {
        format!("{name} ({})", arguments.join(", "))
    }
}

fn times(statistics: &Statistics) -> Option<Times> {
    match &statistics.samples {
        Some(samples) if samples.len() > 1 => all(samples).map(Times::Sorted),
        _ => Some(Times::Alone {
            value: statistics.avg.finite()?,
            statistic: "mean",
            reason: "the file has no samples".to_owned(),
        }),
    }
}
