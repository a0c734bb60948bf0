//! Go: the output of `go test -bench` as text, and with `-json` (test2json), which has the same
//! text in pieces. A line has the name, the number of iterations and the mean of one in `ns/op`,
//! with about four digits.

use crate::collect::Collected;
use crate::{Imported, Tool, json};
use hairspring_core::Result;
use hairspring_core::error::Error;
use serde::Deserialize;
use std::collections::BTreeMap;

const ADVICE: &str = "go test chooses one number; run it with -benchtime=100x, -benchtime=200x, \
                      -benchtime=400x and so on, each with -count=5, and put the output into one \
                      file";

/// Reads the output.
pub fn read(text: &str) -> Result<Imported> {
    let mut collected = Collected::default();
    let texts =
        if text.trim_start().starts_with('{') { pieces(text)? } else { vec![text.to_owned()] };
    let packages = packages(&texts);
    for text in &texts {
        add_text(&mut collected, text, packages > 1)?;
    }
    collected.finish(Tool::Go, "output of go test -bench", ADVICE)
}

/// An event of test2json.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "Package")]
    package: Option<String>,
    #[serde(rename = "Output")]
    output: Option<String>,
}

/// The output of each package: those of several are mixed, and a line may be in two events.
fn pieces(text: &str) -> Result<Vec<String>> {
    let mut packages: BTreeMap<String, String> = BTreeMap::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| line.trim().starts_with('{')) {
        let event: Event = json::read_line(line, number)?;
        let package = packages.entry(event.package.unwrap_or_default()).or_default();
        package.push_str(event.output.as_deref().unwrap_or_default());
    }
    Ok(packages.into_values().collect())
}

/// Number of packages that the texts name.
fn packages(texts: &[String]) -> usize {
    let named = texts.iter().flat_map(|text| text.lines()).filter_map(|line| package(line));
    named.collect::<std::collections::BTreeSet<_>>().len()
}

fn package(line: &str) -> Option<&str> {
    line.strip_prefix("pkg: ").map(str::trim)
}

/// Adds all results of a text; names have their package where there are several.
fn add_text(collected: &mut Collected, text: &str, with_package: bool) -> Result<()> {
    let mut of = String::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some(package) = package(line).filter(|_| with_package) {
            of = format!("{package}.");
        }
        let Some((name, rest)) = result(line) else { continue };
        add(collected, &format!("{of}{name}"), rest)
            .map_err(|reason| Error::BadObservation { line: number, reason })?;
    }
    Ok(())
}

/// The name of a line of results, and what follows it.
fn result(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_end().split_once([' ', '\t'])?;
    let is_result = name.starts_with("Benchmark") && rest.contains("/op");
    is_result.then_some((name, rest))
}

fn add(collected: &mut Collected, name: &str, rest: &str) -> std::result::Result<(), String> {
    let mut fields = rest.split_whitespace();
    let number = |field: &str| field.parse::<f64>().map_err(|_| format!("`{field}` is no number"));
    let iterations = number(fields.next().unwrap_or_default())?;
    let values: Vec<&str> = fields.collect();
    let of_unit =
        |unit: &str| values.chunks_exact(2).find(|pair| pair[1] == unit).map(|pair| pair[0]);
    let Some(shown_time) = of_unit("ns/op") else {
        collected.remark(format!("a run of `{name}` is left out: it has no ns/op"));
        return Ok(());
    };
    collected.push(name, iterations, iterations * number(shown_time)?)?;
    collected.doubt_digit(iterations * half_digit(shown_time));
    Ok(())
}

/// Half of the last digit of a number.
fn half_digit(shown_time: &str) -> f64 {
    let digits = shown_time.split_once('.').map_or(0, |(_, digits)| digits.len());
    0.5 * 10_f64.powi(-i32::try_from(digits).unwrap_or(i32::MAX))
}
