//! hyperfine: `--export-json`. Times are seconds of whole runs of a command. Without `-N` the mean
//! time of an empty shell is subtracted, and what would be below zero is written as exactly 0.

use super::model::{Results, Times};
use super::number::{Number, all};
use super::{Format, Shape, parsed};
use hairspring_core::Estimate;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "hyperfine",
    file: "JSON of --export-json",
    detects: |shape: &Shape| shape.has(&["results.[].command"]),
    read,
};

const VALUE: &str = "one run of the command";
const LACKS: &str = "the error of the time of a shell that is subtracted (none with -N), nor what \
                     all runs have in common: the state of caches and files, the machine's load";
const CLAMPED: &str = "hyperfine writes exactly 0 where the time of the shell is longer than the \
                       run; use -N";
const FAILED: &str = "the command failed";
const SECONDS: f64 = 1e9;

#[derive(Deserialize)]
struct Document {
    results: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    command: String,
    #[serde(default)]
    mean: Number,
    #[serde(default)]
    stddev: Number,
    #[serde(default)]
    times: Option<Vec<Number>>,
    #[serde(default)]
    exit_codes: Option<Vec<Number>>,
    #[serde(default)]
    parameters: Option<BTreeMap<String, String>>,
    /// The interval of an export of Hairspring.
    mean_interval: Option<Ends>,
}

#[derive(Deserialize)]
struct Ends {
    low: f64,
    high: f64,
    level: f64,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    for one in &document.results {
        add(&mut results, one)?;
    }
    results.finish()
}

fn add(results: &mut Results, command: &One) -> Result<(), String> {
    let name = name(command);
    if let Some(interval) = exported(command) {
        let times = Times::Given { interval, statistic: "mean" }.scaled(SECONDS);
        return results.push(&name, "one execution, exported by Hairspring", times);
    }
    let Some(times) = times(command) else {
        results.left_out(&name, "one of its times is not a number");
        return Ok(());
    };
    results.push(&name, VALUE, times.scaled(SECONDS))?;
    let zeros = command.times.iter().flatten().filter(|time| time.0 == 0.0).count();
    let failed = command.exit_codes.iter().flatten().filter(|code| code.0 != 0.0).count();
    if zeros > 0 {
        results.doubted(zeros, CLAMPED)
    } else {
        results.doubted(failed, FAILED)
    }
    Ok(())
}

/// The interval that Hairspring wrote.
fn exported(command: &One) -> Option<Estimate> {
    let Ends { low, high, level } = *command.mean_interval.as_ref()?;
    let value = command.mean.finite()?;
    let holds = low <= value && value <= high && 0.0 < level && level < 1.0;
    holds.then_some(Estimate { value, low, high, level })
}

/// The single times, or mean and standard deviation.
fn times(command: &One) -> Option<Times> {
    match &command.times {
        Some(times) if !times.is_empty() => all(times).map(Times::of),
        _ => {
            let (mean, sd) = (command.mean.finite()?, command.stddev.finite());
            let reason = "the file has no single times, nor their number".to_owned();
            Some(match sd {
                // Two is the least number that has a standard deviation.
                Some(sd) => Times::Summary { mean, sd, count: 2.0, step: 0.0 },
                None => Times::Alone { value: mean, statistic: "mean", reason },
            })
        }
    }
}

/// The command with the parameters that it does not contain: a name that a user gave is the same
/// for all of them.
fn name(command: &One) -> String {
    let missing =
        command.parameters.iter().flatten().filter(|(_, value)| !command.command.contains(*value));
    let parts: Vec<String> = missing.map(|(key, value)| format!("{key}={value}")).collect();
    if parts.is_empty() {
        command.command.clone()
    } else {
        format!("{} ({})", command.command, parts.join(", "))
    }
}
