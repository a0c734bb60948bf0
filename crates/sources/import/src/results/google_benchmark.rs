//! Google Benchmark: `--benchmark_format=json` or `--benchmark_out`. `real_time` is the mean of a
//! repetition. Up to version 1.8 it is divided by the number of threads, since 1.9.0 it is not
//! (pull request 1836); here it is that of one thread.

use super::model::{Results, Times, shown};
use super::number::Number;
use super::{Format, Shape, parsed, words};
use crate::collect::nanoseconds;
use crate::google_benchmark::threads::{Means, Run, Stated};
use serde::Deserialize;
use std::collections::HashMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "Google Benchmark",
    file: "JSON of --benchmark_out",
    detects: |shape: &Shape| {
        shape.has(&["benchmarks.[].name", "benchmarks.[].iterations"])
            || shape.has(&["context.library_build_type", "benchmarks"])
    },
    read,
};

const VALUE: &str = "one iteration in real time, averaged over a repetition";
const LACKS: &str = "the loop around the code, nor how processes and builds differ: all \
                     repetitions ran in one process";
const ONE_RUN: &str = "it ran once: --benchmark_repetitions=10 shows how it varies";

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    context: Context,
    benchmarks: Vec<Entry>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Context {
    host_name: Option<String>,
    num_cpus: Option<u64>,
    mhz_per_cpu: Option<f64>,
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

#[derive(Deserialize)]
struct Entry {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    threads: Option<u32>,
    repetitions: Option<Number>,
    #[serde(default)]
    iterations: Number,
    #[serde(default)]
    real_time: Number,
    #[serde(default)]
    cpu_time: Number,
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: serde_json::Value,
    skip_message: Option<String>,
}

/// What the entries of one benchmark give.
#[derive(Default)]
struct Family {
    name: String,
    values: Vec<f64>,
    mean: Option<f64>,
    sd: Option<f64>,
    count: f64,
    /// Threads, if there are several and the version does not say whether they are divided out.
    unclear: Option<u32>,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    let context = &document.context;
    results.origin.version = context.library_version.clone();
    let cpus = context.num_cpus.map(|cpus| format!("{cpus} CPUs"));
    let rate = context.mhz_per_cpu.map(|mhz| format!("{mhz} MHz"));
    results.origin.machine =
        words([context.host_name.as_deref(), cpus.as_deref(), rate.as_deref()]);
    for family in families(&document, &mut results)? {
        add(&mut results, family)?;
    }
    results.finish()
}

/// The entries by the name of their benchmark, in the order of the file.
fn families(document: &Document, results: &mut Results) -> Result<Vec<Family>, String> {
    let (mut all_families, mut known_names): (Vec<Family>, HashMap<&str, usize>) =
        (Vec::new(), HashMap::new());
    for entry in &document.benchmarks {
        if let Some(why) = failure(entry) {
            results.left_out(&entry.name, &format!("it failed or was skipped ({})", shown(&why)));
            continue;
        }
        let (name, aggregate) = parts(entry);
        let at = *known_names.entry(name).or_insert_with(|| {
            all_families.push(Family { name: name.to_owned(), ..Family::default() });
            all_families.len() - 1
        });
        if let Some(family) = all_families.get_mut(at) {
            collect(family, entry, aggregate, document.context.stated())
                .map_err(|reason| format!("benchmark `{}`: {reason}", shown(name)))?;
        }
    }
    Ok(all_families)
}

/// Why a run has no time, if so.
fn failure(entry: &Entry) -> Option<String> {
    let skipped =
        !matches!(entry.skipped, serde_json::Value::Null | serde_json::Value::Bool(false));
    (entry.error_occurred || skipped).then(|| {
        let message = entry.error_message.clone().or_else(|| entry.skip_message.clone());
        message.unwrap_or_else(|| "no reason given".to_owned())
    })
}

const AGGREGATES: [&str; 6] = ["mean", "median", "stddev", "cv", "BigO", "RMS"];

/// The name of the benchmark, and of the aggregate if it is one. Versions before 1.5 have it in the
/// name only.
fn parts(entry: &Entry) -> (&str, Option<&str>) {
    let of_name = || {
        let (name, last) = entry.name.rsplit_once('_')?;
        AGGREGATES.contains(&last).then_some((name, last))
    };
    match entry.run_type.as_deref() {
        Some("aggregate") => {
            let (name, last) = of_name().unwrap_or((&entry.name, ""));
            let aggregate = entry.aggregate_name.as_deref().unwrap_or(last);
            (entry.run_name.as_deref().unwrap_or(name), Some(aggregate))
        }
        Some(_) => (entry.run_name.as_deref().unwrap_or(&entry.name), None),
        None => of_name().map_or((&entry.name, None), |(name, last)| (name, Some(last))),
    }
}

fn collect(
    family: &mut Family,
    entry: &Entry,
    aggregate: Option<&str>,
    stated: Stated<'_>,
) -> Result<(), String> {
    let is_wanted = matches!(aggregate, None | Some("mean" | "stddev"));
    let Some(time) = entry.real_time.finite().filter(|_| is_wanted) else { return Ok(()) };
    let unit = entry.time_unit.as_deref().unwrap_or("ns");
    let factor = nanoseconds(unit).ok_or_else(|| {
        format!("the unit `{}` is not supported: expected ps, ns, us, ms or s", shown(unit))
    })?;
    let threads = threads(entry);
    let means = Means::of(stated, run(entry, aggregate.is_some()));
    // Aggregates follow their runs, and count only where there are none.
    let counts = aggregate.is_none() || family.values.is_empty();
    if threads > 1 && counts && means == Means::Unknown {
        family.unclear = Some(threads);
    }
    let ns = time * factor * if means == Means::OfAll { f64::from(threads) } else { 1.0 };
    match aggregate {
        Some("mean") => {
            family.mean = Some(ns);
            let count = entry.repetitions.unwrap_or(entry.iterations);
            family.count = count.finite().unwrap_or(0.0);
        }
        Some(_) => family.sd = Some(ns),
        None => family.values.push(ns),
    }
    Ok(())
}

/// The number of threads, from its key or from the name.
fn threads(entry: &Entry) -> u32 {
    let of_name = || {
        let part = entry.name.split('/').find_map(|part| part.strip_prefix("threads:"))?;
        part.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    entry.threads.or_else(of_name).unwrap_or(1).max(1)
}

/// The times that tell what a run's time is divided by; those of an aggregate tell nothing.
fn run(entry: &Entry, is_aggregate: bool) -> Run<'_> {
    let cpu = entry.cpu_time.finite().filter(|_| !is_aggregate);
    Run { name: &entry.name, real: entry.real_time.finite(), cpu }
}

fn add(results: &mut Results, family: Family) -> Result<(), String> {
    let Family { name, values, mean, sd, count, unclear } = family;
    let times = match (values.len(), mean, sd) {
        (2.., _, _) => Times::of(values),
        (_, Some(mean), Some(sd)) => Times::Summary { mean, sd, count, step: 0.0 },
        (_, Some(value), None) => {
            Times::Alone { value, statistic: "mean", reason: ONE_RUN.to_owned() }
        }
        _ => match values.first() {
            Some(value) => {
                Times::Alone { value: *value, statistic: "mean", reason: ONE_RUN.to_owned() }
            }
            None => return Ok(()),
        },
    };
    let count = times.count();
    results.push(&name, VALUE, times)?;
    if let Some(threads) = unclear {
        let reason = format!(
            "whether they are divided by the {threads} threads depends on the version of the \
             library (up to 1.8 they are), which the file does not state; keep `context` in it"
        );
        results.doubted(count, &reason);
    }
    Ok(())
}
