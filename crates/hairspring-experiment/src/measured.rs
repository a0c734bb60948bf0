//! The measured value and its error budget, from the documents that the runs of a set-up printed.

use crate::budget::{Entry, KNOWN, total};
use crate::definition::{ErrorKind, Setup};
use crate::plan::unit_of;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source};
use hairspring_core::judge::Severity;
use hairspring_expect::Dimension;
use hairspring_result::document::BudgetEntry;
use hairspring_result::runs::between;
use hairspring_result::{Component, ResultDocument, Series, Unit, read::read};
use serde_json::Value;

/// Share of the interval that the entries of the budget may leave unexplained without a line of its own.
const UNEXPLAINED: f64 = 0.01;

/// What a set-up measured, in nanoseconds, cycles, ticks or bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The value with the interval that the documents give.
    pub estimate: Estimate,
    /// The error budget, without shares.
    pub budget: Vec<Entry>,
    /// Whether the measurement can be trusted.
    pub trusted: bool,
    /// Its doubts, most severe first.
    pub findings: Vec<String>,
    /// How many runs there were.
    pub runs: usize,
    /// The circumstances as the first document describes them.
    pub environment: Value,
}

/// Reads the figure of a set-up from the JSON documents of its runs.
///
/// # Errors
/// A text is no such document, or it does not have the figure.
pub fn measured(texts: &[String], setup: &Setup, dimension: Dimension, level: f64) -> Result<Measured, String> {
    match &setup.figure {
        Some(figure) => of_figure(texts, setup, figure, level),
        None => of_series(texts, setup, dimension),
    }
}

fn of_series(texts: &[String], setup: &Setup, dimension: Dimension) -> Result<Measured, String> {
    let documents: Vec<ResultDocument> = texts
        .iter()
        .map(|text| read(text))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("what it printed {error}; of other documents name the `figure` and its `unit`"))?;
    let runs = documents.len();
    let document = between(documents).ok_or("nothing was run")?;
    let series = find_series(&document, setup)?;
    let (name, component) = find_component(series, setup)?;
    let unit = match dimension {
        Dimension::CYCLES => Unit::Cycles,
        Dimension::TICKS => Unit::Ticks,
        _ => Unit::Nanoseconds,
    };
    let reason = || component.figure.cycles_reason.clone().or_else(|| component.figure.time_reason.clone()).unwrap_or_default();
    let estimate = component
        .figure
        .interval(unit)
        .ok_or_else(|| format!("there is no time in {} of `{name}` (or it is below resolution): {}", unit.word(), reason()))?;
    let findings: Vec<String> =
        series.findings.iter().filter(|finding| finding.severity != Severity::Note).map(|one| one.message.clone()).collect();
    let entries = series.budget.get(name).map_or(&[][..], Vec::as_slice);
    Ok(Measured {
        budget: explained(budget(entries, component, unit), &estimate),
        estimate,
        trusted: component.trusted,
        findings,
        runs,
        environment: serde_json::to_value(&document.environment).unwrap_or(Value::Null),
    })
}

fn find_series<'d>(document: &'d ResultDocument, setup: &Setup) -> Result<&'d Series, String> {
    let names = || document.results.iter().map(|series| format!("`{}`", series.name)).collect::<Vec<_>>().join(", ");
    match &setup.series {
        Some(name) => {
            let found = document.results.iter().find(|series| series.name == *name || series.code.as_ref() == Some(name));
            found.ok_or_else(|| format!("there is no series `{name}`: there are {}", names()))
        }
        None => document.results.first().ok_or_else(|| "the document has no results".to_owned()),
    }
}

fn find_component<'s>(series: &'s Series, setup: &Setup) -> Result<(&'s str, &'s Component), String> {
    let Some(name) = &setup.component else { return series.body().ok_or_else(|| "the series has no components".to_owned()) };
    let found = series.components.iter().find(|(own, _)| *own == name).map(|(own, component)| (own.as_str(), component));
    let names = || series.components.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("there is no component `{name}`: there are {}", names()))
}

/// The entries of a document as lines of the budget; every known source has its line.
fn budget(entries: &[BudgetEntry], component: &Component, unit: Unit) -> Vec<Entry> {
    let time = component.figure.time().map(|time| time.value);
    // The document's budget is that of the time; in cycles it has the same shares.
    let factor = match unit {
        Unit::Cycles => component.figure.cycles.zip(time).map_or(1.0, |(cycles, time)| cycles.value / time),
        _ => 1.0,
    };
    let half = |source: Source| -> f64 {
        let of = entries.iter().filter(|entry| entry.source == source);
        of.filter_map(|entry| entry.half_width_ns.or(entry.half_width_ticks).flatten()).sum::<f64>() * factor.abs()
    };
    let line = |known: &crate::budget::Known| {
        let counted = unit == Unit::Cycles && known.source == Source::Rate;
        let size = if counted { 0.0 } else { half(known.source) };
        let absent = known.absent.filter(|_| size == 0.0);
        (size > 0.0 || absent.is_some()).then(|| Entry::new(known.name, known.kind, size, absent.map(str::to_owned)))
    };
    KNOWN.iter().filter_map(line).collect()
}

/// The budget with a line for what the interval has beyond the total.
fn explained(mut budget: Vec<Entry>, estimate: &Estimate) -> Vec<Entry> {
    let (sum, half) = (total(&budget), estimate.half_width());
    if half.is_finite() && half - sum > UNEXPLAINED * half {
        let note = "the reference chain, few rounds, or the variation between runs: part of the interval without a line of its own";
        budget.push(Entry::new("remainder", ErrorKind::Systematic, half - sum, Some(note.into())));
    }
    budget
}

fn of_figure(texts: &[String], setup: &Setup, figure: &str, level: f64) -> Result<Measured, String> {
    let size = unit_of(setup, figure)?.size;
    let documents: Vec<Value> = texts
        .iter()
        .map(|text| serde_json::from_str(text))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("what it printed is no JSON document: {error}"))?;
    let all: Vec<Estimate> = documents.iter().map(|document| number(document, figure, level)).collect::<Result<_, _>>()?;
    let runs = all.len() as f64;
    let mean = all.iter().map(|one| one.value).sum::<f64>() / runs.max(1.0);
    let own = all.iter().map(Estimate::half_width).sum::<f64>() / runs.max(1.0);
    let note = (own == 0.0).then(|| "the document gives no interval".to_owned());
    let mut budget = vec![Entry::new("interval of the document", ErrorKind::Stochastic, own * size, note)];
    if all.len() > 1 {
        let sd = (all.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>() / (runs - 1.0)).sqrt();
        let between = Contribution::standard(Source::Runs, sd / runs.sqrt(), runs - 1.0).half_width(level);
        budget.push(Entry::new("runs", ErrorKind::Stochastic, between * size, None));
    }
    let half = total(&budget);
    let doubts: Vec<&Value> = documents.iter().flat_map(findings).collect();
    let message = |finding: &&Value| finding["message"].as_str().unwrap_or_default().to_owned();
    Ok(Measured {
        estimate: Estimate { value: mean * size, low: mean * size - half, high: mean * size + half, level },
        budget,
        trusted: doubts.iter().all(|finding| finding["severity"] != "untrusted"),
        findings: doubts.iter().filter(|finding| finding["severity"] != "note").map(message).collect(),
        runs: all.len(),
        environment: documents.first().map_or(Value::Null, |document| document["environment"].clone()),
    })
}

/// The number at this place of a document: with its interval, or alone.
fn number(document: &Value, figure: &str, level: f64) -> Result<Estimate, String> {
    let found = document.pointer(figure).ok_or_else(|| format!("the document has nothing at {figure}"))?;
    if let Some(value) = found.as_f64().filter(|value| value.is_finite()) {
        return Ok(Estimate { value, low: value, high: value, level });
    }
    let estimate: Estimate =
        serde_json::from_value(found.clone()).map_err(|error| format!("{figure} is no number and no value with its interval: {error}"))?;
    if estimate.half_width().is_finite() { Ok(estimate) } else { Err(format!("{figure} has an interval without an end")) }
}

/// The findings of a document, at its top and of its results.
fn findings(document: &Value) -> impl Iterator<Item = &Value> {
    let own = document.get("findings").and_then(Value::as_array).into_iter().flatten();
    let results = document.get("results").and_then(Value::as_array).into_iter().flatten();
    own.chain(results.filter_map(|one| one.get("findings").and_then(Value::as_array)).flatten())
}
