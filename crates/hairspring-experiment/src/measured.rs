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

/// Name of the line about the core clock.
const CORE_CLOCK: &str = "core clock";

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
    let document = between(documents, None).ok_or("nothing was run")?;
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
    let budget = budget(entries, component, unit);
    let mut budget = if unit == Unit::Cycles { without_clock_steps(budget, &estimate) } else { budget };
    let is_listed = budget.iter().any(|entry| entry.source == CORE_CLOCK);
    if unit == Unit::Nanoseconds && component.figure.cycles.is_some() && runs == 1 && !is_listed {
        let note = "unknown from one run: the core clock differs from run to run; expect core cycles, or `repeat` the set-up";
        budget.push(Entry::new(CORE_CLOCK, ErrorKind::Systematic, 0.0, Some(note.into())));
    }
    Ok(Measured {
        budget: explained(budget, &estimate),
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
    let others = entries.iter().filter(|entry| KNOWN.iter().all(|known| known.source != entry.source));
    let other = |entry: &BudgetEntry| Entry::new(name_of(entry.source), ErrorKind::Systematic, half(entry.source), None);
    // Core cycles do not change with the core clock.
    let is_counted = |entry: &Entry| unit != Unit::Cycles || entry.source != CORE_CLOCK;
    KNOWN.iter().filter_map(line).chain(others.map(other).filter(is_counted)).collect()
}

/// The name of a source that has no line of its own: `core clock`.
fn name_of(source: Source) -> String {
    let name = serde_json::to_value(source).ok().and_then(|value| value.as_str().map(|name| name.replace('_', " ")));
    name.unwrap_or_else(|| "another source".to_owned())
}

/// The budget in core cycles: steps of the core clock are in the noise of nanoseconds and cancel in cycles, so of the stochastic
/// entries only what the interval of the cycles leaves is kept.
fn without_clock_steps(mut budget: Vec<Entry>, estimate: &Estimate) -> Vec<Entry> {
    let of = |kind| budget.iter().filter(move |entry| entry.kind == kind).map(|entry| entry.half_width);
    let quadrature = of(ErrorKind::Stochastic).map(|half| half * half).sum::<f64>().sqrt();
    let left = (estimate.half_width() - of(ErrorKind::Systematic).sum::<f64>()).max(0.0);
    if quadrature > left {
        for entry in budget.iter_mut().filter(|entry| entry.kind == ErrorKind::Stochastic) {
            entry.half_width *= left / quadrature;
            entry.note = Some("steps of the core clock cancel in cycles".to_owned());
        }
    }
    budget
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
    let is_bare = all.len() == 1 && documents.iter().any(|document| document.pointer(figure).is_some_and(Value::is_number));
    let unknown = format!("{figure} is a number without an interval, and one run shows none: its accuracy is not known (set `repeat`)");
    let doubts: Vec<&Value> = documents.iter().flat_map(findings).collect();
    let message = |finding: &&Value| finding["message"].as_str().unwrap_or_default().to_owned();
    let doubted = doubts.iter().filter(|finding| finding["severity"] != "note").map(message);
    Ok(Measured {
        estimate: Estimate { value: mean * size, low: mean * size - half, high: mean * size + half, level },
        budget,
        trusted: !is_bare && doubts.iter().all(|finding| finding["severity"] != "untrusted"),
        findings: is_bare.then_some(unknown).into_iter().chain(doubted).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(figure: Option<&str>) -> Setup {
        let figure = figure.map(str::to_owned);
        Setup { verb: None, program: None, series: None, component: None, figure, unit: None, repeat: None, timeout: None }
    }

    #[test]
    fn figures_have_their_unit_and_the_spread_of_runs() {
        let document = |value: f64| {
            format!(r#"{{"x": {{"core_hz": {{"value": {value}, "low": 1.0, "high": 1e10, "level": 0.95}}, "n_ns": {value}}}}}"#)
        };
        let texts = [document(3e9), document(3.2e9)];
        let found = measured(&texts, &setup(Some("/x/n_ns")), Dimension::TIME, 0.95).unwrap();
        assert_eq!((found.estimate.value, found.runs, found.trusted), (3.1e9, 2, true));
        // Two runs: Student's quantile for one degree of freedom is 12.7.
        assert!((found.estimate.half_width() / (12.706 * 0.1e9) - 1.0).abs() < 1e-3, "{found:?}");
        let found = measured(&texts[..1], &setup(Some("/x/core_hz")), Dimension::FREQUENCY, 0.95).unwrap();
        assert!((found.estimate.value - 3.0).abs() < 1e-12, "{found:?}");
        assert!(measured(&texts, &setup(Some("/x/none_ns")), Dimension::TIME, 0.95).unwrap_err().contains("nothing at /x/none_ns"));
        assert!(measured(&["{".into()], &setup(Some("/x_ns")), Dimension::TIME, 0.95).unwrap_err().contains("no JSON document"));
        assert!(measured(&[r#"{"a_ns": "5"}"#.into()], &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap_err().contains("no number"));
        let open = r#"{"a_ns": {"value": 1.0, "low": null, "high": 2.0, "level": 0.95}}"#;
        assert!(measured(&[open.into()], &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap_err().contains("without an end"));
    }

    #[test]
    fn sources_are_named_as_in_the_documents() {
        assert_eq!((name_of(Source::LackOfFit).as_str(), name_of(Source::Runs).as_str()), ("lack of fit", "runs"));
    }

    #[test]
    fn untrusted_documents_are_not_trusted() {
        let text = r#"{"a_ns": {"value": 1.0, "low": 0.5, "high": 1.5, "level": 0.95}, "results": [{"findings": [{"severity": "untrusted", "message": "shared"}]}]}"#;
        let found = measured(&[text.to_owned()], &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap();
        assert_eq!((found.trusted, found.findings), (false, vec!["shared".to_owned()]));
    }

    #[test]
    fn accuracy_of_a_bare_number_is_known_from_several_runs_only() {
        let of = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            measured(&texts, &setup(Some("/a_ns")), Dimension::TIME, 0.95).unwrap()
        };
        let one = of(&[r#"{"a_ns": 5.0}"#]);
        assert!(!one.trusted && one.findings[0].contains("without an interval"), "{:?}", one.findings);
        assert!(of(&[r#"{"a_ns": 5.0}"#, r#"{"a_ns": 5.1}"#, r#"{"a_ns": 4.9}"#]).trusted);
    }

    #[test]
    fn noise_of_the_core_clock_is_no_noise_of_cycles() {
        let entry = |kind, half| Entry::new("x", kind, half, None);
        let budget = vec![entry(ErrorKind::Stochastic, 3.0), entry(ErrorKind::Stochastic, 4.0), entry(ErrorKind::Systematic, 1.0)];
        let estimate = Estimate { value: 100.0, low: 98.0, high: 102.0, level: 0.95 };
        assert!((total(&without_clock_steps(budget.clone(), &estimate)) - 2.0).abs() < 1e-12);
        let wide = Estimate { low: 50.0, high: 150.0, ..estimate };
        assert_eq!(without_clock_steps(budget.clone(), &wide), budget);
        let explained = explained(budget, &wide);
        assert!((total(&explained) - 50.0).abs() < 1e-12 && explained[3].source == "remainder");
    }
}
