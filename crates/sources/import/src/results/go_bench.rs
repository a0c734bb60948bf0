//! Go: the text of `go test -bench`, with `-count` several lines for a benchmark, also as the
//! events of `go test -json`. `ns/op` is the mean over the `b.N` iterations of a line, in four
//! digits.

use super::model::{Results, Times};
use super::{Format, Shape, words};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    tool: "go test",
    file: "text of -bench",
    detects: |shape: &Shape| matches!(shape, Shape::Text(text) if is_text(text)),
    read,
};

const VALUE: &str = "one iteration, averaged over the b.N of a line";
const LACKS: &str = "the loop around the code, nor how processes and builds differ: all lines of \
                     a file are of one process unless it was joined from several";
const ONE_LINE: &str = "it has one line: -count=10 shows how it varies";

/// Lines at the beginning that are looked at.
const HEAD: usize = 10_000;

fn is_text(text: &str) -> bool {
    let (mut benchmarks, mut events) = (false, false);
    for line in text.lines().take(HEAD) {
        benchmarks |= line.starts_with("Benchmark") && line.contains("ns/op");
        events |= line.starts_with('{') && line.contains("\"Action\"") && line.contains("ns/op");
    }
    benchmarks || events
}

/// The lines of one benchmark.
#[derive(Default)]
struct Lines {
    name: String,
    values: Vec<f64>,
    /// Distance of two numbers that are written differently.
    step: f64,
}

fn read(format: &Format, text: &str) -> Result<Results, String> {
    let text = output(text);
    let mut results = format.results(&[LACKS]);
    let (mut all_benchmarks, mut known_names): (Vec<Lines>, HashMap<String, usize>) =
        Default::default();
    let (mut package, mut system, mut cpu) = (None, [None, None], None);
    for line in text.lines() {
        match line.split_once(": ") {
            Some(("pkg", name)) => package = Some(name.trim()),
            Some(("goos", name)) => system[0] = Some(name),
            Some(("goarch", name)) => system[1] = Some(name),
            Some(("cpu", name)) => cpu = Some(name),
            _ => {}
        }
        let Some((name, value, step)) = measurement(line) else { continue };
        let name = package.map_or_else(|| name.to_owned(), |package| format!("{package}.{name}"));
        let at = *known_names.entry(name).or_insert_with_key(|name| {
            all_benchmarks.push(Lines { name: name.clone(), ..Lines::default() });
            all_benchmarks.len() - 1
        });
        if let Some(lines) = all_benchmarks.get_mut(at) {
            lines.values.push(value);
            lines.step = lines.step.max(step);
        }
    }
    results.origin.machine = words([cpu, system[0], system[1]]);
    for Lines { name, values, step } in all_benchmarks {
        let times = match values[..] {
            [value] => Times::Alone { value, statistic: "mean", reason: ONE_LINE.to_owned() },
            _ => Times::Rounded { values, step },
        };
        results.push(&name, VALUE, times)?;
    }
    results.finish()
}

/// Name, nanoseconds and the step of their last digit.
fn measurement(line: &str) -> Option<(&str, f64, f64)> {
    let mut fields = line.split_whitespace();
    let name = fields.next().filter(|name| name.starts_with("Benchmark"))?;
    fields.next()?.parse::<u64>().ok()?;
    let rest: Vec<&str> = fields.take(100).collect();
    let number = rest.chunks_exact(2).find_map(|pair| match pair {
        [number, "ns/op"] => Some(*number),
        _ => None,
    })?;
    let value: f64 = number.parse().ok()?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let step = 10f64.powi(-i32::try_from(decimals.min(30)).unwrap_or(0));
    Some((name, value, step))
}

/// An event of `go test -json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event {
    #[serde(default)]
    output: String,
}

/// The text, from events if it consists of them.
fn output(text: &str) -> Cow<'_, str> {
    if !text.starts_with('{') {
        return Cow::Borrowed(text);
    }
    let events = text.lines().filter_map(|line| serde_json::from_str::<Event>(line).ok());
    Cow::Owned(events.map(|event| event.output).collect())
}
