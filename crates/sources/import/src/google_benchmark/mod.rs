//! Google Benchmark: the JSON of `--benchmark_format=json` or `--benchmark_out`. It keeps the mean
//! of each run and its number of iterations; their product is the reading of the clock.

mod name;
pub(crate) mod threads;

use crate::collect::{Collected, nanoseconds};
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::Deserialize;
use std::collections::BTreeSet;
use threads::{Means, Run, Stated};

const ADVICE: &str = "Google Benchmark repeats the number it has chosen; register the same \
                      function with ->Iterations(100), ->Iterations(200), ->Iterations(400) and \
                      so on, or run it with --benchmark_min_time=100x, 200x, ... and put the \
                      `benchmarks` of these files into one";

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    context: Context,
    benchmarks: Vec<Entry>,
}

/// What the library says of itself. Before 1.8.4 it did not name its version.
#[derive(Deserialize, Default)]
struct Context {
    library_version: Option<String>,
    library_build_type: Option<String>,
}

impl Context {
    fn stated(&self) -> Stated<'_> {
        Stated {
            version: self.library_version.as_deref(),
            has_build_type: self.library_build_type.is_some(),
        }
    }
}

/// One entry: a run, or a number made from several.
#[derive(Deserialize)]
struct Entry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    iterations: Option<f64>,
    repetitions: Option<f64>,
    threads: Option<f64>,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: bool,
    skip_message: Option<String>,
}

/// Reads the document: every run of one function with the same arguments is a reading of one
/// series.
pub fn read(text: &str) -> Result<Imported> {
    let document: Document =
        json::read(text, "JSON of Google Benchmark (a list `benchmarks` of runs)")?;
    let names: BTreeSet<&str> = document.benchmarks.iter().map(|run| run.name.as_str()).collect();
    let mut collected = Collected::default();
    for (at, run) in document.benchmarks.iter().enumerate() {
        if run.run_type.as_deref() == Some("aggregate") {
            continue;
        }
        if let Some(why) = run.is_no_run(&names) {
            collected.remark(format!("`{}` is left out: {why}", run.name));
            continue;
        }
        let times = Run { name: &run.name, real: run.real_time, cpu: run.cpu_time };
        let means = Means::of(document.context.stated(), times);
        add(&mut collected, run, means).map_err(|reason| {
            Error::BadTable(format!("benchmark {} (`{}`): {reason}", at + 1, run.name))
        })?;
    }
    collected.finish(Tool::GoogleBenchmark, "JSON of Google Benchmark", ADVICE)
}

impl Entry {
    /// Why an entry is no run that counts; `None` if it is one.
    fn is_no_run(&self, names: &BTreeSet<&str>) -> Option<String> {
        if self.error_occurred || self.skipped {
            let why = self.error_message.as_deref().or(self.skip_message.as_deref());
            let why = why.filter(|why| !why.is_empty()).unwrap_or("no reason given");
            return Some(format!("a run failed or was skipped ({why})"));
        }
        // Before 1.5 aggregates were not marked.
        let of_runs = ["_mean", "_median", "_stddev"]
            .iter()
            .filter(|_| self.run_type.is_none())
            .filter_map(|word| self.name.strip_suffix(word))
            .any(|name| names.contains(name));
        if of_runs {
            return Some("it is made from several runs".into());
        }
        self.iterations.is_none().then(|| "it has no `iterations`, and is no run".into())
    }
}

fn add(collected: &mut Collected, run: &Entry, means: Means) -> std::result::Result<(), String> {
    let unit = run.time_unit.as_deref().unwrap_or("ns");
    let factor = nanoseconds(unit).ok_or_else(|| {
        format!("the unit `{unit}` is not supported: expected ps, ns, us, ms or s")
    })?;
    let iterations = run.iterations.unwrap_or(f64::NAN);
    let Some(time) = run.real_time else {
        collected.remark(format!(
            "a run of `{}` is left out: its `real_time` is not a number",
            run.name
        ));
        return Ok(());
    };
    let Some((count, elapsed)) = means.reading(iterations, time * factor, run.threads()) else {
        collected.remark(format!(
            "a run of `{}` is left out: whether its time is divided by its {} threads depends on \
             the version of the library (up to 1.8 it is), which the file does not state; keep \
             `context` in it",
            run.name,
            run.threads()
        ));
        return Ok(());
    };
    collected.push(&name::family(run), count, elapsed)
}
