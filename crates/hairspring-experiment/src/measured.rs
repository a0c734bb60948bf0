//! The measured value and its error budget, from the documents that the runs of a set-up printed.

use crate::budget::{Entry, total};
use crate::definition::{ErrorKind, Setup};
use crate::plan::unit_of;
use crate::sources::{SHARED_CORE, figure_lines, lines, of_shared_core, untold};
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source};
use hairspring_core::judge::Severity;
use hairspring_expect::Dimension;
use hairspring_expect::unit::Unit;
use hairspring_result::document::{BudgetEntry, FigureEntry};
use hairspring_result::runs::between;
use hairspring_result::{Component, ResultDocument, Series, Unit as Kind, read::read};
use hairspring_view::source_name;
use serde_json::Value;

/// Share of the interval that the entries of the budget may leave unexplained without a line of its
/// own.
const UNEXPLAINED_SHARE: f64 = 0.01;

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
pub fn measured(
    texts: &[String],
    setup: &Setup,
    dimension: Dimension,
    level: f64,
) -> Result<Measured, String> {
    match &setup.figure {
        Some(figure) => of_figure(texts, setup, figure, level),
        None => of_series(texts, setup, dimension),
    }
}

/// The documents of all runs as one, which includes what differs between them.
fn document_of(texts: &[String]) -> Result<ResultDocument, String> {
    let documents: Vec<ResultDocument> =
        texts.iter().map(|text| read(text)).collect::<Result<_, _>>().map_err(|error| {
            format!("what it printed {error}; of other documents name the `figure` and its `unit`")
        })?;
    between(documents, None).ok_or_else(|| "nothing was run".to_owned())
}

fn of_series(texts: &[String], setup: &Setup, dimension: Dimension) -> Result<Measured, String> {
    let runs = texts.len();
    let document = document_of(texts)?;
    let series = find_series(&document, setup)?;
    let (name, component) = find_component(series, setup)?;
    let unit = match dimension {
        Dimension::CYCLES => Kind::Cycles,
        Dimension::TICKS => Kind::Ticks,
        _ => Kind::Nanoseconds,
    };
    let estimate = interval(name, component, unit)?;
    let entries = series.budget.get(name).map_or(&[][..], Vec::as_slice);
    let environment = serde_json::to_value(&document.environment).unwrap_or(Value::Null);
    let budget = budget(entries, component, dimension, &environment);
    let is_shared = series.findings.iter().any(|finding| finding.is(SHARED_CORE));
    let budget = if is_shared { of_shared_core(budget) } else { budget };
    let mut budget =
        if unit == Kind::Cycles { without_clock_steps(budget, &estimate) } else { budget };
    let is_listed = budget.iter().any(|entry| entry.source == source_name(Source::CoreClock));
    if unit == Kind::Nanoseconds && component.figure.cycles.is_some() && runs == 1 && !is_listed {
        let note = "unknown from one run: the core clock differs from run to run; expect core \
                    cycles, or `repeat` the set-up";
        budget.push(Entry::new(
            source_name(Source::CoreClock),
            ErrorKind::Systematic,
            0.0,
            Some(note.into()),
        ));
    }
    let findings = doubts(series);
    Ok(Measured {
        budget: explained(budget, &estimate),
        estimate,
        trusted: component.trusted,
        findings,
        runs,
        environment,
    })
}

/// The interval of a component in a unit.
fn interval(name: &str, component: &Component, unit: Kind) -> Result<Estimate, String> {
    let reason = || {
        component
            .figure
            .cycles_reason
            .clone()
            .or_else(|| component.figure.time_reason.clone())
            .unwrap_or_default()
    };
    let none = || {
        format!(
            "there is no time in {} of `{name}` (or it is below resolution): {}",
            unit.word(),
            reason()
        )
    };
    component.figure.interval(unit).ok_or_else(none)
}

/// What the findings of a series say, without notes.
fn doubts(series: &Series) -> Vec<String> {
    series
        .findings
        .iter()
        .filter(|finding| finding.severity != Severity::Note)
        .map(|one| one.message.clone())
        .collect()
}

fn find_series<'d>(document: &'d ResultDocument, setup: &Setup) -> Result<&'d Series, String> {
    let names = || {
        document
            .results
            .iter()
            .map(|series| format!("`{}`", series.name))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match &setup.series {
        Some(name) => {
            let found_series = document
                .results
                .iter()
                .find(|series| series.name == *name || series.code.as_ref() == Some(name));
            found_series
                .ok_or_else(|| format!("there is no series `{name}`: there are {}", names()))
        }
        None => document.results.first().ok_or_else(|| "the document has no results".to_owned()),
    }
}

fn find_component<'s>(
    series: &'s Series,
    setup: &Setup,
) -> Result<(&'s str, &'s Component), String> {
    let Some(name) = &setup.component else {
        return series.body().ok_or_else(|| "the series has no components".to_owned());
    };
    let found_component = series
        .components
        .iter()
        .find(|(own, _)| *own == name)
        .map(|(own, component)| (own.as_str(), component));
    let names =
        || series.components.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    found_component.ok_or_else(|| format!("there is no component `{name}`: there are {}", names()))
}

/// The entries of a series as lines of the budget. The document's budget is that of the time; in
/// cycles it has the same shares.
fn budget(
    entries: &[BudgetEntry],
    component: &Component,
    dimension: Dimension,
    environment: &Value,
) -> Vec<Entry> {
    let time = component.figure.time().map(|time| time.value);
    let factor = match dimension {
        Dimension::CYCLES => {
            component.figure.cycles.zip(time).map_or(1.0, |(cycles, time)| cycles.value / time)
        }
        _ => 1.0,
    };
    lines(entries, factor, dimension, environment)
}

/// The budget in core cycles: steps of the core clock are in the noise of nanoseconds and cancel in
/// cycles, so of the stochastic entries only what the interval of the cycles leaves is kept.
fn without_clock_steps(mut budget: Vec<Entry>, estimate: &Estimate) -> Vec<Entry> {
    let of =
        |kind| budget.iter().filter(move |entry| entry.kind == kind).map(|entry| entry.half_width);
    let quadrature = of(ErrorKind::Stochastic).map(|half| half * half).sum::<f64>().sqrt();
    let width_left = (estimate.half_width() - of(ErrorKind::Systematic).sum::<f64>()).max(0.0);
    if quadrature > width_left {
        for entry in budget.iter_mut().filter(|entry| entry.kind == ErrorKind::Stochastic) {
            entry.half_width *= width_left / quadrature;
            entry.note = Some("steps of the core clock cancel in cycles".to_owned());
        }
    }
    budget
}

/// The budget with a line for what the interval has beyond the total.
fn explained(mut budget: Vec<Entry>, estimate: &Estimate) -> Vec<Entry> {
    let (sum, half) = (total(&budget), estimate.half_width());
    if half.is_finite() && half - sum > UNEXPLAINED_SHARE * half {
        let note = "what the interval has beyond the lines above: the reference chain of core \
                    cycles, and few rounds";
        budget.push(Entry::new("remainder", ErrorKind::Systematic, half - sum, Some(note.into())));
    }
    budget
}

fn json_documents(texts: &[String]) -> Result<Vec<Value>, String> {
    let documents: Result<_, _> = texts.iter().map(|text| serde_json::from_str(text)).collect();
    documents.map_err(|error| format!("what it printed is no JSON document: {error}"))
}

/// How much the runs differ, as an entry of the budget of their mean.
fn between_runs(estimates: &[Estimate], mean: f64, unit: Unit, level: f64) -> Entry {
    let runs = estimates.len() as f64;
    let sd =
        (estimates.iter().map(|one| (one.value - mean).powi(2)).sum::<f64>() / (runs - 1.0)).sqrt();
    let between =
        Contribution::standard(Source::Runs, sd / runs.sqrt(), runs - 1.0).half_width(level);
    Entry::new(source_name(Source::Runs), ErrorKind::Stochastic, between * unit.size, None)
}

fn of_figure(
    texts: &[String],
    setup: &Setup,
    figure: &str,
    level: f64,
) -> Result<Measured, String> {
    let unit = unit_of(setup, figure)?;
    let documents = json_documents(texts)?;
    let estimates: Vec<Estimate> = documents
        .iter()
        .map(|document| number(document, figure, level))
        .collect::<Result<_, _>>()?;
    if let Some(part) =
        documents.first().and_then(|document| component_at(document, figure, unit.dimension))
    {
        return of_series(
            texts,
            &Setup { figure: None, unit: None, ..setup.named(part) },
            unit.dimension,
        );
    }
    let mean =
        estimates.iter().map(|one| one.value).sum::<f64>() / (estimates.len() as f64).max(1.0);
    let mut budget = mean_budget(&documents, &estimates, figure, unit);
    if estimates.len() > 1 {
        budget.push(between_runs(&estimates, mean, unit, level));
    }
    let half = total(&budget);
    let is_bare = estimates.len() == 1
        && documents.iter().any(|document| document.pointer(figure).is_some_and(Value::is_number));
    let unknown = format!(
        "{figure} is a number without an interval, and one run shows none: its accuracy is not \
         known (set `repeat`)"
    );
    let doubts: Vec<&Value> = documents.iter().flat_map(findings).collect();
    if doubts.iter().any(|finding| finding["kind"] == SHARED_CORE) {
        budget = of_shared_core(budget);
    }
    let message = |finding: &&Value| finding["message"].as_str().unwrap_or_default().to_owned();
    let doubt_messages = doubts.iter().filter(|finding| finding["severity"] != "note").map(message);
    let value = mean * unit.size;
    Ok(Measured {
        estimate: Estimate { value, low: value - half, high: value + half, level },
        budget,
        trusted: !is_bare && doubts.iter().all(|finding| finding["severity"] != "untrusted"),
        findings: is_bare.then_some(unknown).into_iter().chain(doubt_messages).collect(),
        runs: estimates.len(),
        environment: documents
            .first()
            .map_or(Value::Null, |document| document["environment"].clone()),
    })
}

/// The names of the series and component that a figure of a result is the time of.
fn component_at(document: &Value, figure: &str, dimension: Dimension) -> Option<(String, String)> {
    let is_result = document["schema"].as_str()?.starts_with("hairspring/result/");
    let parts: Vec<&str> = figure.split('/').collect();
    let ["", "results", at, "components", name, field] = parts[..] else { return None };
    let is_time = matches!(
        (field, dimension),
        ("time_ns", Dimension::TIME) | ("cycles", Dimension::CYCLES) | ("ticks", Dimension::TICKS)
    );
    let series = document.pointer(&format!("/results/{at}/name"))?.as_str()?.to_owned();
    (is_result && is_time).then(|| (series, name.replace("~1", "/").replace("~0", "~")))
}

/// The lines of the budget: the mean of each over the documents.
fn mean_budget(
    documents: &[Value],
    estimates: &[Estimate],
    figure: &str,
    unit: Unit,
) -> Vec<Entry> {
    let runs = documents.len().max(1) as f64;
    let mut mean: Vec<Entry> = Vec::new();
    for entry in documents
        .iter()
        .zip(estimates)
        .flat_map(|(document, own)| one_budget(document, own, figure, unit))
    {
        let Entry { source, kind, half_width, note, .. } = entry;
        match mean.iter_mut().find(|known| known.source == source) {
            Some(known) => {
                known.half_width += half_width / runs;
                known.note = known.note.take().filter(|_| known.half_width == 0.0);
            }
            None => mean.push(Entry::new(source, kind, half_width / runs, note)),
        }
    }
    mean
}

/// The budget of a figure: the one that its document has beside it, or its interval as a whole.
fn one_budget(document: &Value, interval: &Estimate, figure: &str, unit: Unit) -> Vec<Entry> {
    let estimate = interval.scaled(unit.size);
    if let Some((entries, factor)) = budget_beside(document, figure) {
        let budget = lines(&entries, factor, unit.dimension, &document["environment"]);
        let budget = if unit.dimension == Dimension::CYCLES {
            without_clock_steps(budget, &estimate)
        } else {
            budget
        };
        return explained(budget, &estimate);
    }
    if let Some(entries) = entries_beside(document, figure) {
        return explained(figure_lines(&entries, unit.size), &estimate);
    }
    let half = estimate.half_width();
    let note = (half == 0.0).then(|| "the document gives no interval".to_owned());
    let whole = Entry::new("interval of the document", ErrorKind::Stochastic, half, note);
    std::iter::once(whole).chain(untold().into_iter().filter(|_| half > 0.0)).collect()
}

/// The budget in the unit of a figure that stands beside it: `core_hz_budget` is that of `core_hz`.
fn entries_beside(document: &Value, figure: &str) -> Option<Vec<FigureEntry>> {
    let entries = document.pointer(&format!("{figure}_budget"))?;
    serde_json::from_value(entries.clone())
        .ok()
        .filter(|entries: &Vec<FigureEntry>| !entries.is_empty())
}

/// The budget of a figure and the factor that brings it into the unit of the figure: `time_budget`
/// beside `time_ns` is that of `time_ns` and, in the same shares, of `cycles`; `budget` beside an
/// object with both, such as the `time` of a block, is that of the object.
fn budget_beside(document: &Value, figure: &str) -> Option<(Vec<BudgetEntry>, f64)> {
    let (place, name) = figure.rsplit_once('/')?;
    let object = document.pointer(place)?;
    let value = |name: &str| object.get(name)?.get("value")?.as_f64();
    let (stem, factor) = match name {
        "cycles" => ("time", value("cycles")? / value("time_ns")?),
        name => (name.strip_suffix("_ns")?, 1.0),
    };
    let of_object = || {
        place.strip_suffix("/time").and_then(|outer| document.pointer(&format!("{outer}/budget")))
    };
    let entries = object.get(format!("{stem}_budget")).or_else(of_object)?;
    let entries = serde_json::from_value(entries.clone()).ok()?;
    Some((entries, factor)).filter(|_| factor.is_finite())
}

/// The number at this place of a document: with its interval, or alone.
fn number(document: &Value, figure: &str, level: f64) -> Result<Estimate, String> {
    let found_number = document
        .pointer(figure)
        .filter(|found| !found.is_null())
        .ok_or_else(|| nothing(document, figure))?;
    if let Some(value) = found_number.as_f64().filter(|value| value.is_finite()) {
        return Ok(Estimate { value, low: value, high: value, level });
    }
    let estimate: Estimate = serde_json::from_value(found_number.clone())
        .map_err(|error| format!("{figure}: expected a number or {{value, low, high}}: {error}"))?;
    if estimate.half_width().is_finite() {
        Ok(estimate)
    } else {
        Err(format!("{figure} has an interval without an end"))
    }
}

/// Findings that a message about a missing figure quotes.
const QUOTED_FINDINGS: usize = 3;

/// The reason that a document gives for what is `null` on the way to a figure: `check_reason`
/// stands beside `check`.
fn reason_for(document: &Value, figure: &str) -> Option<String> {
    let mut object = document;
    for name in figure.split('/').skip(1) {
        match object.pointer(&format!("/{name}")).filter(|found| !found.is_null()) {
            Some(found) => object = found,
            None => return object.get(format!("{name}_reason"))?.as_str().map(str::to_owned),
        }
    }
    None
}

/// The message about a figure that a document does not have: the document has the reason, or its
/// findings may say why.
fn nothing(document: &Value, figure: &str) -> String {
    if let Some(reason) = reason_for(document, figure) {
        return format!("the document has nothing at {figure}: {reason}");
    }
    let messages: Vec<&str> = findings(document)
        .filter_map(|finding| finding["message"].as_str())
        .take(QUOTED_FINDINGS)
        .collect();
    let findings_text = if messages.is_empty() {
        String::new()
    } else {
        format!("; its findings: {}", messages.join("; "))
    };
    format!("the document has nothing at {figure}{findings_text}")
}

/// Why a document has no result: the first reason that its results give.
pub fn reason(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let results = document.get("results")?.as_array()?;
    let of = |result: &Value| {
        let reasons = result
            .as_object()?
            .iter()
            .filter(|(name, _)| name.as_str() == "reason" || name.ends_with("_reason"));
        reasons.filter_map(|(_, reason)| reason.as_str()).next().map(str::to_owned)
    };
    results.iter().find_map(of)
}

/// The findings of a document, at its top and of its results.
fn findings(document: &Value) -> impl Iterator<Item = &Value> {
    let own = document.get("findings").and_then(Value::as_array).into_iter().flatten();
    let results = document.get("results").and_then(Value::as_array).into_iter().flatten();
    own.chain(results.filter_map(|one| one.get("findings").and_then(Value::as_array)).flatten())
}

#[cfg(test)]
mod tests;
