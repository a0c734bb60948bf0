//! The figures in a document, as those of a run.

use crate::store::{Figure, Machine, NewRun, Run, SeriesKey};
use hairspring_core::Estimate;
use hairspring_core::hash::fingerprint;
use hairspring_result::document::{Component, Cpu};
use hairspring_result::identity::{code_hash, seconds};
use hairspring_result::read::read;
use hairspring_result::{Environment, Identity, ResultDocument, Series, Unit};
use serde::Deserialize;
use serde_json::Value;

/// Most figures of one document.
const MOST_FIGURES: usize = 20_000;
/// Longest name of a series; a longer one is cut, and ends in its hash.
const LONGEST_NAME: usize = 200;
/// The name of the series of the core clock, which says what the machine did: the time of a core
/// cycle.
pub const CORE_CYCLE: &str = "core cycle";
/// Its component.
pub const HOST: &str = "host";

/// What all documents have.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Head {
    schema: String,
    command: String,
    identity: Option<Identity>,
    environment: Option<Environment>,
}

/// Takes the figures out of a document.
///
/// # Errors
/// It is no document of Hairspring, or holds no figure.
pub fn take(text: &str) -> Result<NewRun, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| format!("is not a JSON document of hairspring: {error}"))?;
    let head: Head = Head::deserialize(&value).unwrap_or_else(|_| Head {
        schema: value.get("schema").and_then(Value::as_str).unwrap_or_default().to_owned(),
        ..Head::default()
    });
    if !head.schema.starts_with("hairspring/") {
        return Err("is not a document of hairspring: it has no `schema` of one".into());
    }
    let mut new = if head.schema.starts_with("hairspring/result/") {
        of_result(&read(text)?)
    } else {
        of_other(&value, &head)
    };
    new.figures.truncate(MOST_FIGURES);
    if new.figures.is_empty() {
        return Err(format!("holds no figure with a value ({})", head.schema.escape_debug()));
    }
    new.document = text.to_owned();
    new.run.hash = format!("{}-{}", fingerprint(text.bytes()), text.len());
    Ok(new)
}

fn of_result(document: &ResultDocument) -> NewRun {
    let environment = &document.environment;
    let mut run = of_environment(environment, environment.identity.as_ref());
    run.command.clone_from(&document.command);
    if let Some(origin) = &document.origin {
        run.command = origin.title();
        run.machine.model = origin.machine.clone().unwrap_or_default();
    }
    let mut figures: Vec<Figure> = document.results.iter().flat_map(of_series).collect();
    figures.extend(core_cycle(environment));
    NewRun { run, figures, document: String::new() }
}

fn of_environment(environment: &Environment, identity: Option<&Identity>) -> Run {
    let identity = identity.or(environment.identity.as_ref());
    Run {
        machine: environment.cpu.as_ref().map(machine).unwrap_or_default(),
        commit: identity.and_then(|one| one.commit.clone()),
        made: identity.and_then(|one| seconds(&one.created)).unwrap_or(0),
        version: identity.map(|one| one.version.clone()).unwrap_or_default(),
        host: identity.and_then(|one| one.host.clone()).unwrap_or_default(),
        ..Run::default()
    }
}

fn machine(cpu: &Cpu) -> Machine {
    Machine {
        family: cpu.family.clone().unwrap_or_default(),
        model: cpu.model.clone(),
        architecture: cpu.architecture.clone(),
        guest: Some(cpu.hypervisor),
    }
}

fn of_series(series: &Series) -> Vec<Figure> {
    let name = match &series.code {
        Some(code) if series.name == "code" => code,
        _ => &series.name,
    };
    let hash = series.code_hash.clone().or_else(|| series.code.as_deref().map(code_hash));
    let components = series.components.iter().filter(|(_, component)| !component.serves);
    let one = |(label, component): (&String, &Component)| {
        let key = |unit: Unit| SeriesKey {
            name: shortened(name),
            component: shortened(label),
            unit: unit.word().to_owned(),
            code: hash.clone().unwrap_or_default(),
        };
        let units = [Unit::Cycles, Unit::Nanoseconds, Unit::Ticks];
        let known = units.into_iter().filter_map(|unit| {
            let bare = || component.figure.time().filter(|_| unit_of(component) == unit);
            Some((unit, component.figure.interval(unit).or_else(bare)?))
        });
        let codes = codes(series);
        known
            .map(|(unit, time)| figure(key(unit), &time, component.trusted, &codes))
            .collect::<Vec<_>>()
    };
    components.flat_map(one).collect()
}

fn unit_of(component: &Component) -> Unit {
    if component.figure.in_ns() { Unit::Nanoseconds } else { Unit::Ticks }
}

fn codes(series: &Series) -> String {
    let codes: Vec<&str> = series.findings.iter().map(|finding| finding.code.as_ref()).collect();
    codes.join(" ")
}

fn figure(series: SeriesKey, time: &Estimate, trusted: bool, findings: &str) -> Figure {
    Figure {
        series,
        value: time.value,
        low: time.low,
        high: time.high,
        level: time.level,
        trusted,
        findings: findings.to_owned(),
    }
}

/// The time of a core cycle, by the reference chain.
fn core_cycle(environment: &Environment) -> Option<Figure> {
    let hz = environment.core_clock_hz.filter(|hz| hz.low > 0.0)?;
    let key = SeriesKey {
        name: CORE_CYCLE.into(),
        component: HOST.into(),
        unit: Unit::Nanoseconds.word().into(),
        code: String::new(),
    };
    let time =
        Estimate { value: 1e9 / hz.value, low: 1e9 / hz.high, high: 1e9 / hz.low, level: hz.level };
    Some(figure(key, &time, true, ""))
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LONGEST_NAME {
        return name.to_owned();
    }
    let cut: String = name.chars().take(LONGEST_NAME - 20).collect();
    format!("{cut}... {}", fingerprint(name.bytes()))
}

/// The figures of a document of another verb: each number with an interval, named by the way to it.
fn of_other(document: &Value, head: &Head) -> NewRun {
    let environment = head.environment.clone().unwrap_or_default();
    let mut run = of_environment(&environment, head.identity.as_ref());
    run.command.clone_from(&head.command);
    let mut figures = Vec::new();
    walk(document, &[], 0, &mut figures);
    NewRun { run, figures, document: String::new() }
}

/// Parts of a document that say how it was made, not what was measured.
const ASIDE: &[&str] =
    &["environment", "identity", "findings", "budget", "fit", "stages", "expectation", "runs"];
/// Depth of the parts below each other.
const DEEPEST: usize = 8;

fn walk(value: &Value, way: &[String], depth: usize, figures: &mut Vec<Figure>) {
    if depth > DEEPEST || figures.len() >= MOST_FIGURES {
        return;
    }
    if let Some(estimate) = estimate(value) {
        figures.extend(named(way, &estimate));
        return;
    }
    let with = |part: String| -> Vec<String> { way.iter().cloned().chain([part]).collect() };
    match value {
        Value::Object(map) => {
            let parts = map.iter().filter(|(key, _)| !ASIDE.contains(&key.as_str()));
            parts.for_each(|(key, one)| walk(one, &with(key.clone()), depth + 1, figures));
        }
        Value::Array(list) => {
            for (at, one) in list.iter().enumerate() {
                walk(
                    one,
                    &with(title(one).unwrap_or_else(|| (at + 1).to_string())),
                    depth + 1,
                    figures,
                );
            }
        }
        _ => {}
    }
}

/// A number with its interval.
fn estimate(value: &Value) -> Option<Estimate> {
    value.get("level").and(value.get("value")).and(value.get("low"))?;
    Estimate::deserialize(value).ok()
}

/// What names a part of a list: its first key of these.
fn title(value: &Value) -> Option<String> {
    let keys = ["name", "title", "form", "clock", "role", "cpu", "code", "method"];
    let found = keys.iter().find_map(|key| value.get(*key))?;
    match found {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The figure at the end of a way. The unit is that in the last key.
fn named(way: &[String], estimate: &Estimate) -> Option<Figure> {
    let (last, before) = way.split_last()?;
    let unit = ["cycles", "ns", "us", "ms", "s", "hz", "ticks", "ppm", "percent"]
        .into_iter()
        .find(|unit| last == unit || last.ends_with(&format!("_{unit}")));
    let key = SeriesKey {
        name: shortened(if before.is_empty() { last } else { &before[before.len() - 1] }),
        component: shortened(&way[before.len().saturating_sub(2)..].join("/")),
        unit: unit.unwrap_or_default().to_owned(),
        code: String::new(),
    };
    Some(figure(key, estimate, true, ""))
}

#[cfg(test)]
mod tests;
