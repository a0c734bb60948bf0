//! pyperf: `-o FILE`. Values are seconds of one iteration (the loops and inner loops are divided
//! out), grouped by process; warm-ups and runs that calibrate are apart, and not used.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed, words};
use serde::Deserialize;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "pyperf",
    file: "JSON of -o",
    detects: |shape: &Shape| shape.has(&["benchmarks.[].runs"]) && !shape.has(&["layout"]),
    read,
};

const VALUE: &str = "one iteration, averaged over the loops of a value";
const LACKS: &str = "what every value has in common: the loop around the code, and what all \
                     processes share on the machine";
const SECONDS: f64 = 1e9;

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<One>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct One {
    runs: Vec<Run>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    values: Vec<Number>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    name: Option<String>,
    unit: Option<String>,
    cpu_model_name: Option<String>,
    hostname: Option<String>,
    python_implementation: Option<String>,
    python_version: Option<String>,
    perf_version: Option<String>,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    let first = document.benchmarks.first();
    let of_all = |pick: fn(&Metadata) -> Option<&str>| {
        let of_run = || pick(&first?.runs.first()?.metadata);
        pick(&document.metadata).or_else(|| pick(&first?.metadata)).or_else(of_run)
    };
    results.origin.version = of_all(|of| of.perf_version.as_deref()).map(str::to_owned);
    results.origin.machine = words([of_all(|of| of.cpu_model_name.as_deref())])
        .or_else(|| words([of_all(|of| of.hostname.as_deref())]));
    results.origin.runtime = words([
        of_all(|of| of.python_implementation.as_deref()),
        of_all(|of| of.python_version.as_deref())
            .map(|text| text.split('(').next().unwrap_or(text)),
    ]);
    for (at, one) in document.benchmarks.iter().enumerate() {
        add(&mut results, &document.metadata, one, at)?;
    }
    results.finish()
}

fn add(results: &mut Results, all_of: &Metadata, entry: &One, at: usize) -> Result<(), String> {
    let of = |pick: fn(&Metadata) -> Option<&str>| {
        let of_run = || entry.runs.iter().find_map(|run| pick(&run.metadata));
        pick(&entry.metadata).or_else(of_run).or_else(|| pick(all_of))
    };
    let unnamed = format!("benchmark {}", at + 1);
    let name = of(|metadata| metadata.name.as_deref()).unwrap_or(&unnamed);
    let unit = of(|metadata| metadata.unit.as_deref()).unwrap_or("second");
    if unit != "second" {
        results.left_out(name, &format!("its unit is `{}`, not a time", super::model::shown(unit)));
        return Ok(());
    }
    let processes: Option<Vec<Vec<f64>>> = entry
        .runs
        .iter()
        .filter(|run| !run.values.is_empty())
        .map(|run| all(&run.values))
        .collect();
    match processes {
        Some(processes) if !processes.is_empty() => {
            results.push(name, VALUE, Times::Processes(processes).scaled(SECONDS))
        }
        Some(_) => {
            results.left_out(name, "it has runs that calibrate only, without values");
            Ok(())
        }
        None => {
            results.left_out(name, "one of its values is not a number");
            Ok(())
        }
    }
}
