//! Which tool wrote a file, by its beginning.

use crate::{Tool, text};

/// Detects by its beginning the tool that wrote a file; `None` for anything else, including
/// observations and files with times only.
pub fn detect(head: &[u8]) -> Option<Tool> {
    let text = text::beginning(head);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if only_times(text).is_some() {
        return None;
    }
    match text.chars().next()? {
        '{' => Some(of_object(text)),
        '[' => text[1..].trim_start().starts_with('[').then_some(Tool::Criterion),
        _ => of_lines(text),
    }
}

/// The name of the tool of a file that has the times of benchmarks, but not how often the code ran
/// in each.
pub fn has_only_times(head: &[u8]) -> Option<&'static str> {
    only_times(text::beginning(head).trim_start_matches('\u{feff}').trim_start())
}

/// Whether a text has one of these keys of JSON.
fn has(text: &str, key: &str) -> bool {
    text.contains(&format!("\"{key}\""))
}

/// A file of these tools has all of the keys, or begins with the text.
const ONLY_TIMES: [(&str, &[&str]); 15] = [
    ("hyperfine", &["results", "command", "mean"]),
    ("hyperfine", &["results", "command", "times"]),
    ("pytest-benchmark", &["machine_info"]),
    ("JMH", &["jmhVersion"]),
    ("JMH", &["primaryMetric"]),
    ("pyperf", &["benchmarks", "runs", "metadata"]),
    ("pyperf", &["benchmarks", "warmups", "values"]),
    ("asv", &["commit_hash", "results"]),
    ("mitata", &["layout", "benchmarks", "runs"]),
    ("vitest", &["files", "groups", "benchmarks"]),
    ("tinybench", &["latency", "throughput", "rme"]),
    ("tinybench", &["Task name", "Samples"]),
    ("tinybench", &["Task name", "Latency avg (ns)"]),
    ("oslat", &["histogram", "freq", "thread"]),
    ("cyclictest", &["histogram", "cycles"]),
];
const ONLY_TIMES_TEXT: [(&str, &str); 4] = [
    ("hyperfine", "command,mean,stddev,"),
    ("JMH", "\"Benchmark\",\"Mode\","),
    ("Catch2", "<Catch2TestRun"),
    ("Catch2", "<Catch name="),
];

fn only_times(text: &str) -> Option<&'static str> {
    let text = match text.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => rest.trim_start(),
        None => text,
    };
    if !text.starts_with(['{', '[']) {
        let known = ONLY_TIMES_TEXT.iter().find(|(_, beginning)| text.starts_with(beginning));
        return known.map(|(tool, _)| *tool);
    }
    let known = ONLY_TIMES.iter().find(|(_, keys)| keys.iter().all(|key| has(text, key)));
    known.map(|(tool, _)| *tool)
}

fn of_object(text: &str) -> Tool {
    let any = |keys: &[&str]| keys.iter().any(|key| has(text, key));
    if any(&["reason"]) && any(&["benchmark-complete", "group-complete", "compiler-artifact"]) {
        Tool::Criterion
    } else if any(&["Action"]) && any(&["Package", "Output", "Test"]) {
        Tool::Go
    } else if any(&["HostEnvironmentInfo", "IterationMode"]) {
        Tool::BenchmarkDotNet
    } else if any(&["median(elapsed)", "clockResolution", "epochIterations"]) {
        Tool::Nanobench
    } else if any(&["context", "benchmarks"]) || !any(&["iters", "sampling_mode", "times"]) {
        Tool::GoogleBenchmark
    } else {
        Tool::Criterion
    }
}

fn of_lines(text: &str) -> Option<Tool> {
    let first = text.lines().next().unwrap_or_default();
    if first.contains("sample_measured_value") && first.contains("iteration_count") {
        return Some(Tool::Criterion);
    }
    let of_go = |line: &str| {
        ["goos: ", "goarch: ", "pkg: "].iter().any(|word| line.starts_with(word))
            || line.starts_with("Benchmark") && line.contains("/op")
    };
    text.lines().any(of_go).then_some(Tool::Go)
}
