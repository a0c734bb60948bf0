//! pytest-benchmark: `--benchmark-json` and the files of `--benchmark-save`. Times are seconds of
//! one iteration, a round has several; with `--benchmark-save-data` the rounds are in the file.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed, words};
use serde::Deserialize;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "pytest-benchmark",
    file: "JSON of --benchmark-json",
    detects: |shape: &Shape| {
        shape.has(&["machine_info", "benchmarks"]) || shape.has(&["benchmarks.[].stats.rounds"])
    },
    read,
};

const VALUE: &str = "one iteration, averaged over a round";
const LACKS: &str = "how processes differ: all rounds ran in one; nor the overhead of the call \
                     that is timed";
const SECONDS: f64 = 1e9;

#[derive(Deserialize)]
struct Document {
    benchmarks: Vec<One>,
    #[serde(default)]
    machine_info: Machine,
    version: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Machine {
    node: Option<String>,
    python_implementation: Option<String>,
    python_version: Option<String>,
    cpu: Option<Cpu>,
}

/// The processor; older versions have other things under this key.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cpu {
    Named { brand_raw: Option<String>, brand: Option<String> },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
struct One {
    name: String,
    fullname: Option<String>,
    stats: Stats,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Stats {
    mean: Number,
    stddev: Number,
    rounds: Number,
    data: Option<Vec<Number>>,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    let machine = &document.machine_info;
    let brand = match &machine.cpu {
        Some(Cpu::Named { brand_raw, brand }) => brand_raw.as_deref().or(brand.as_deref()),
        _ => None,
    };
    results.origin.version = document.version;
    results.origin.machine = words([brand]).or_else(|| words([machine.node.as_deref()]));
    results.origin.runtime =
        words([machine.python_implementation.as_deref(), machine.python_version.as_deref()]);
    for benchmark in &document.benchmarks {
        let name = benchmark.fullname.as_deref().unwrap_or(&benchmark.name);
        match times(&benchmark.stats) {
            Some(times) => {
                results.push(name, VALUE, times.scaled(SECONDS))?;
            }
            None => results.left_out(name, "its mean, or one of its rounds, is not a number"),
        }
    }
    results.finish()
}

fn times(stats: &Stats) -> Option<Times> {
    match &stats.data {
        Some(data) if !data.is_empty() => all(data).map(Times::of),
        _ => Some(Times::Summary {
            mean: stats.mean.finite()?,
            sd: stats.stddev.finite()?,
            count: stats.rounds.finite()?,
            step: 0.0,
        }),
    }
}
