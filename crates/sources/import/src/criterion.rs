//! Criterion.rs: `sample.json` of one benchmark, `raw.csv` (its stable format) of any number, and
//! the messages of cargo-criterion.

use crate::collect::Collected;
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use hairspring_core::judge::{Description, Finding, Kind, Numbers, Severity};
use serde::Deserialize;

const ADVICE: &str = "Criterion's sampling mode was Flat; ask for SamplingMode::Linear, and for a \
                      longer measurement time if it still chooses Flat";

/// Reads any file of Criterion.
pub fn read(text: &str) -> Result<Imported> {
    let start = text.trim_start();
    if start.starts_with('[') {
        return read_pair(text);
    }
    if !start.starts_with('{') {
        return read_raw(text);
    }
    if start.lines().next().is_some_and(|line| line.contains("\"reason\"")) {
        return read_messages(text);
    }
    read_sample(text)
}

/// `sample.json`: the n-th sample ran `iters[n]` times in `times[n]` nanoseconds.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<Option<f64>>,
    times: Vec<Option<f64>>,
}

/// Reads `sample.json`. The file does not say what its benchmark is called: its series is `main`.
fn read_sample(text: &str) -> Result<Imported> {
    let sample: Sample = json::read(text, "sample.json of Criterion (`iters` and `times`)")?;
    finish_sample(&sample)
}

/// The same before Criterion 0.3.3: two lists.
fn read_pair(text: &str) -> Result<Imported> {
    let format_name = "sample.json of Criterion before 0.3.3 (two lists: iterations, and times)";
    let (iters, times) = json::read(text, format_name)?;
    finish_sample(&Sample { iters, times })
}

fn finish_sample(sample: &Sample) -> Result<Imported> {
    let mut collected = Collected::default();
    add_all(&mut collected, "main", sample, "ns").map_err(Error::BadTable)?;
    collected.doubt(Finding::new(Severity::Note, UnitAssumed));
    collected.finish(Tool::Criterion, "sample.json of Criterion.rs", ADVICE)
}

/// `sample.json` has no unit, and a `Measurement` of the user's own may count anything.
struct UnitAssumed;

impl Kind for UnitAssumed {
    fn describe(self) -> Description {
        Description {
            code: "unit_assumed",
            numbers: Numbers::default(),
            message: "sample.json of Criterion does not name its unit: nanoseconds of wall time \
                      are assumed"
                .into(),
            remedy: "nothing to do, unless the benchmark has a Measurement of its own: then solve \
                     raw.csv beside the file, which names the unit",
        }
    }
}

fn add_all(
    collected: &mut Collected,
    name: &str,
    sample: &Sample,
    unit: &str,
) -> std::result::Result<(), String> {
    let (iters, times) = (sample.iters.len(), sample.times.len());
    if iters != times {
        return Err(format!(
            "has {iters} `iters` and {times} `times`: there must be one time for each"
        ));
    }
    for (at, (iterations, time)) in sample.iters.iter().zip(&sample.times).enumerate() {
        let number = |value: &Option<f64>| value.unwrap_or(f64::NAN);
        collected
            .push_in(name, number(iterations), number(time), unit)
            .map_err(|reason| format!("sample {}: {reason}", at + 1))?;
    }
    Ok(())
}

/// A message of cargo-criterion. Only those of finished benchmarks have all of this.
#[derive(Deserialize)]
struct Message {
    reason: Option<String>,
    id: Option<String>,
    #[serde(default)]
    iteration_count: Vec<Option<f64>>,
    #[serde(default)]
    measured_values: Vec<Option<f64>>,
    unit: Option<String>,
}

/// Reads the messages of `cargo criterion --message-format=json`, one a line.
fn read_messages(text: &str) -> Result<Imported> {
    let mut collected = Collected::default();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| line.trim().starts_with('{')) {
        let message: Message = json::read_line(line, number)?;
        if message.reason.as_deref() != Some("benchmark-complete") {
            continue;
        }
        let refused = |reason: String| Error::BadObservation { line: number, reason };
        let name = message.id.ok_or_else(|| refused("the message has no `id`".into()))?;
        let unit = message.unit.as_deref().unwrap_or("ns");
        let sample = Sample { iters: message.iteration_count, times: message.measured_values };
        add_all(&mut collected, &name, &sample, unit).map_err(refused)?;
    }
    collected.finish(Tool::Criterion, "messages of cargo-criterion", ADVICE)
}

/// A line of `raw.csv`: `sample_measured_value` is the time of all iterations of the sample.
#[derive(Deserialize)]
struct Line {
    group: String,
    function: Option<String>,
    value: Option<String>,
    sample_measured_value: f64,
    unit: String,
    iteration_count: f64,
}

impl Line {
    fn name(&self) -> String {
        let parts = [Some(&self.group), self.function.as_ref(), self.value.as_ref()];
        let named = parts.into_iter().flatten().filter(|part| !part.is_empty());
        named.map(String::as_str).collect::<Vec<_>>().join("/")
    }
}

/// Reads `raw.csv`.
fn read_raw(text: &str) -> Result<Imported> {
    let mut collected = Collected::default();
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    for (at, line) in lines.deserialize::<Line>().enumerate() {
        let line = line.map_err(|error| bad(&error, at))?;
        collected
            .push_in(&line.name(), line.iteration_count, line.sample_measured_value, &line.unit)
            .map_err(|reason| Error::BadObservation { line: at as u64 + 2, reason })?;
    }
    collected.finish(Tool::Criterion, "raw.csv of Criterion.rs", ADVICE)
}

/// The CSV reader's error with the line number.
fn bad(error: &csv::Error, at: usize) -> Error {
    let line = error.position().map_or(at as u64 + 2, csv::Position::line);
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("has {len} fields, the header has {expected_len}")
        }
        csv::ErrorKind::Deserialize { err, .. } => err.to_string(),
        other => format!("{other:?}"),
    };
    Error::BadObservation { line, reason }
}
