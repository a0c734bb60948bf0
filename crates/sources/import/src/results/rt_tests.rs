//! cyclictest and oslat of rt-tests: `--json`. A histogram of latencies in microseconds (of
//! cyclictest with `-N` in nanoseconds), cut to whole ones. What is longer than the histogram is in
//! none of its bins (cyclictest) or in the last one (oslat), and in `avg` and `max`.

use super::model::{Results, Times};
use super::number::Number;
use super::{Format, Shape, parsed, words};
use hairspring_core::named::Named;
use serde::Deserialize;

/// The format of cyclictest.
pub(super) const FORMAT: Format = Format {
    tool: "cyclictest",
    file: "JSON of --json",
    detects: |shape: &Shape| {
        is_of(shape, "cyclictest") || shape.has(&["thread.*.cycles", "file_version"])
    },
    read,
};

/// The format of oslat.
pub(super) const OSLAT: Format = Format {
    tool: "oslat",
    file: "JSON of --json",
    detects: |shape: &Shape| is_of(shape, "oslat") || shape.has(&["thread.*.freq", "file_version"]),
    read,
};

const LACKS: &str = "how latencies change with the load of the machine, nor what is longer than \
                     any that was seen: a mean says nothing of the longest one";

fn is_of(shape: &Shape, program: &str) -> bool {
    let Shape::Json(outline) = shape else { return false };
    let command = outline.text("cmdline:").or(outline.text("cmdline")).unwrap_or_default();
    let first = command.split_whitespace().next().unwrap_or_default();
    outline.has(&["thread"]) && first.rsplit('/').next() == Some(program)
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "rt_test_version:", alias = "rt_test_version")]
    version: Option<String>,
    #[serde(default)]
    sysinfo: System,
    #[serde(default)]
    resolution_in_ns: Number,
    thread: Named<Thread>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct System {
    nodename: Option<String>,
    machine: Option<String>,
    release: Option<String>,
}

#[derive(Deserialize)]
struct Thread {
    cpu: Option<Number>,
    cycles: Option<Number>,
    #[serde(default)]
    avg: Number,
    #[serde(default)]
    max: Number,
    histogram: Option<Named<Number>>,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let document: Document = parsed(format, text)?;
    let mut results = format.results(&[LACKS]);
    results.origin.version = document.version;
    let system = &document.sysinfo;
    results.origin.machine = words([system.nodename.as_deref(), system.machine.as_deref()]);
    results.origin.runtime = words([system.release.as_deref()]);
    let unit = if document.resolution_in_ns.0 == 1.0 { 1.0 } else { 1e3 };
    for (number, thread) in &document.thread {
        let cpu = thread.cpu.and_then(Number::finite).map(|cpu| format!(" on CPU {cpu}"));
        let name = format!("thread {number}{}", cpu.unwrap_or_default());
        match times(thread) {
            Some(times) => results.push(&name, "one latency", times.scaled(unit))?,
            None => results.left_out(&name, "it has no latency"),
        }
    }
    results.finish()
}

fn times(thread: &Thread) -> Option<Times> {
    let average = thread.avg.finite()?;
    let alone = |reason: String| Some(Times::Alone { value: average, statistic: "mean", reason });
    let Some(bins) = thread.histogram.as_ref().map(bins) else {
        return alone("the file has no histogram: -h writes one".to_owned());
    };
    let Some(bins) = bins.filter(|bins| !bins.is_empty()) else {
        return alone("no latency is in the histogram: give it a longer one".to_owned());
    };
    let count: f64 = bins.iter().map(|(_, seen)| seen).sum();
    let last = bins.iter().map(|(latency, _)| *latency).fold(0.0, f64::max);
    let beyond = thread.cycles.and_then(Number::finite).map_or(0.0, |cycles| cycles - count);
    if beyond > 0.0 {
        return alone(format!(
            "{beyond} latencies are longer than the histogram: give it a longer one"
        ));
    }
    if thread.max.finite().is_some_and(|max| max > last) {
        return alone(
            "the last bin has all longer latencies: give it a longer histogram".to_owned(),
        );
    }
    let mean = bins.iter().map(|(latency, seen)| latency * seen).sum::<f64>() / count;
    let squares = bins.iter().map(|(latency, seen)| (latency - mean).powi(2) * seen).sum::<f64>();
    let sd = (squares / (count - 1.0).max(1.0)).sqrt();
    // A latency is cut to a whole number: half of one is lost in the mean.
    Some(Times::Summary { mean: mean + 0.5, sd, count, step: 1.0 })
}

/// Latencies, and how often each was seen; `None` if one is not a number.
fn bins(histogram: &Named<Number>) -> Option<Vec<(f64, f64)>> {
    let bin = |(latency, number): (&String, &Number)| {
        Some((
            latency.trim().parse::<f64>().ok().filter(|latency| latency.is_finite())?,
            number.finite()?,
        ))
    };
    histogram.iter().map(|(latency, seen)| bin((latency, seen))).collect()
}
