//! Criterion.rs: `sample.json` of one benchmark, and `raw.csv` (its stable format) of any number.

use crate::collect::{Collected, nanoseconds};
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::Deserialize;
use std::io::Read;

const ADVICE: &str = "Criterion's sampling mode was Flat; ask for SamplingMode::Linear, and for a \
                      longer measurement time if it still chooses Flat";

/// `sample.json`: the n-th sample ran `iters[n]` times in `times[n]` nanoseconds.
#[derive(Deserialize)]
struct Sample {
    iters: Vec<Option<f64>>,
    times: Vec<Option<f64>>,
}

/// Reads `sample.json`. The file does not say what its benchmark is called: its series is `main`.
pub fn read_sample(stream: impl Read) -> Result<Imported> {
    let sample: Sample = json::read(stream, "sample.json of Criterion (`iters` and `times`)")?;
    if sample.iters.len() != sample.times.len() {
        let (iters, times) = (sample.iters.len(), sample.times.len());
        return Err(Error::BadTable(format!(
            "has {iters} `iters` and {times} `times`: there must be one time for each"
        )));
    }
    let mut collected = Collected::default();
    for (at, (iterations, ns)) in sample.iters.iter().zip(&sample.times).enumerate() {
        let number = |value: &Option<f64>| value.unwrap_or(f64::NAN);
        let pushed = collected.push("main", number(iterations), number(ns));
        pushed.map_err(|reason| Error::BadTable(format!("sample {}: {reason}", at + 1)))?;
    }
    collected.finish(Tool::Criterion, "sample.json of Criterion.rs", ADVICE)
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

/// Reads `raw.csv` as a stream.
pub fn read_raw(stream: impl Read) -> Result<Imported> {
    let mut collected = Collected::default();
    let mut limited = stream.take(crate::MOST_BYTES);
    let mut lines = csv::Reader::from_reader(&mut limited);
    for (at, line) in lines.deserialize::<Line>().enumerate() {
        let line = line.map_err(|error| bad(&error, at))?;
        let number = at as u64 + 2;
        let refused = |reason: String| Error::BadObservation { line: number, reason };
        let factor = nanoseconds(&line.unit).ok_or_else(|| {
            refused(format!(
                "the unit `{}` is not supported: expected ps, ns, us, ms or s",
                line.unit
            ))
        })?;
        let parts = [Some(&line.group), line.function.as_ref(), line.value.as_ref()];
        let name = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("/");
        collected
            .push(&name, line.iteration_count, line.sample_measured_value * factor)
            .map_err(refused)?;
    }
    if limited.limit() == 0 {
        return Err(Error::BadTable(format!("is larger than {} MiB", crate::MOST_BYTES >> 20)));
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
        csv::ErrorKind::Utf8 { .. } => "is not UTF-8 text".to_owned(),
        other => format!("{other:?}"),
    };
    Error::BadObservation { line, reason }
}
