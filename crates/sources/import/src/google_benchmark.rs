//! Google Benchmark: the JSON of `--benchmark_format=json` or `--benchmark_out`. It keeps the mean
//! of each run and its number of iterations; their product is the reading of the clock.

use crate::collect::{Collected, nanoseconds};
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::Deserialize;
use std::io::Read;

const ADVICE: &str = "Google Benchmark repeats the number it has chosen; register the same \
                      function with ->Iterations(100), ->Iterations(200), ->Iterations(400) and \
                      so on, or run it with --benchmark_min_time=100x, 200x, ... and put the \
                      `benchmarks` of these files into one";

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<Entry>,
}

/// One entry; aggregates have no iterations.
#[derive(Deserialize)]
struct Entry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    iterations: Option<f64>,
    real_time: Option<f64>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: bool,
}

/// Reads the document: every run of one function with the same arguments is a reading of one
/// series.
pub fn read(stream: impl Read) -> Result<Imported> {
    let document: Document =
        json::read(stream, "JSON of Google Benchmark (a list `benchmarks` of runs)")?;
    let mut collected = Collected::default();
    for (at, run) in document.benchmarks.iter().enumerate() {
        if run.run_type.as_deref() == Some("aggregate") {
            continue;
        }
        if run.error_occurred || run.skipped {
            let why = run.error_message.as_deref().unwrap_or("no reason given");
            collected.remark(format!(
                "a run of `{}` is left out: it failed or was skipped ({why})",
                run.name
            ));
            continue;
        }
        add(&mut collected, run).map_err(|reason| {
            Error::BadTable(format!("benchmark {} (`{}`): {reason}", at + 1, run.name))
        })?;
    }
    collected.finish(Tool::GoogleBenchmark, "JSON of Google Benchmark", ADVICE)
}

fn add(collected: &mut Collected, run: &Entry) -> std::result::Result<(), String> {
    let unit = run.time_unit.as_deref().unwrap_or("ns");
    let factor = nanoseconds(unit).ok_or_else(|| {
        format!("the unit `{unit}` is not supported: expected ps, ns, us, ms or s")
    })?;
    let iterations = run.iterations.ok_or("the number `iterations` is missing")?;
    let Some(time) = run.real_time else {
        collected.remark(format!(
            "a run of `{}` is left out: its `real_time` is not a number",
            run.name
        ));
        return Ok(());
    };
    collected.push(
        &family(run.run_name.as_deref().unwrap_or(&run.name)),
        iterations,
        time * factor * iterations,
    )
}

/// The name without the parts that only state the length of the run.
fn family(name: &str) -> String {
    let about_the_run = |part: &&str| {
        ["iterations:", "repeats:", "min_time:", "min_warmup_time:"]
            .iter()
            .any(|word| part.starts_with(word))
    };
    name.split('/').filter(|part| !about_the_run(part)).collect::<Vec<_>>().join("/")
}
