//! A result: a row for each component of each piece of code, and the comparisons.

use super::Parts;
use super::escape::{code, prose};
use super::parts::{Findings, circumstances};
use super::quantity::Quantity;
use super::table::{Side, Table};
use crate::format::{frequency_unit, significant};
use crate::text::fit::run as run_text;
use crate::text::report::no_difference;
use crate::text::{distance, growth, rates};
use hairspring_core::judge::{Agreement, Verdict};
use hairspring_result::document::{Comparison, Expectation};
use hairspring_result::{Component, Figure, Finding, ResultDocument, Series};
use std::collections::HashMap;

/// The parts of a result.
pub fn parts(document: &ResultDocument) -> Parts {
    let findings = Findings::new(named(document));
    let run = document.run.as_ref().map(|run| ("run", run_text(run)));
    let level = format!("{} %", significant(100.0 * document.level(), 4));
    Parts {
        title: title(document),
        lead: findings.alarm() + &expected(document.expectation.as_deref()),
        tables: vec![
            times(document, &findings, &level),
            ratios(document, &level),
            growths(document),
            throughputs(document),
        ],
        tail: findings.folded()
            + &circumstances(&document.environment, &run.into_iter().collect::<Vec<_>>()),
    }
}

/// How the times grow with an argument, if that was asked for.
fn growths(document: &ResultDocument) -> Table {
    let columns = [("code and argument", Side::Left), ("growth", Side::Left)];
    let mut table = Table::new("Growth", &columns);
    for curve in &document.complexity {
        let told = growth(curve);
        table.row(vec![prose(&told.heading), prose(&told.details.join("; "))]);
    }
    table
}

/// Work in a second, if the work was stated.
fn throughputs(document: &ResultDocument) -> Table {
    let columns = [("code", Side::Left), ("throughput", Side::Left)];
    let mut table = Table::new("Throughput", &columns);
    for one in &document.throughput {
        table.row(vec![code(&one.name), prose(&rates(one))]);
    }
    table
}

/// Findings with the names of their series; without names where there is only one.
fn named(document: &ResultDocument) -> impl Iterator<Item = (&str, &Finding)> {
    let several = document.results.len() > 1;
    document.results.iter().flat_map(move |series| {
        let name = if several { series.name.as_str() } else { "" };
        series.findings.iter().map(move |finding| (name, finding))
    })
}

fn title(document: &ResultDocument) -> String {
    let command = prose(&document.command);
    let tool = document.origin.as_ref().map(|origin| format!(" of {}", prose(&origin.tool)));
    let of = match &document.results[..] {
        [series] => format!(": {}", code(series.title())),
        all => format!(": {} results", crate::format::count(all.len())),
    };
    format!("hairspring {command}{}{of}", tool.unwrap_or_default())
}

/// By the name of a series, as findings have it: the numbers of its findings, and the component
/// that each is about.
type Marks<'f> = HashMap<&'f str, Vec<(usize, Option<&'f str>)>>;

fn times(document: &ResultDocument, findings: &Findings, level: &str) -> Table {
    let interval = format!("{level} interval");
    let stated = document.environment.stated_clock_hz.map(|hz| {
        let (factor, unit) = frequency_unit(hz);
        format!("ns at {} {unit}", significant(hz * factor, 4))
    });
    let mut columns = vec![
        ("code", Side::Left),
        ("time", Side::Right),
        (interval.as_str(), Side::Right),
        ("unit", Side::Left),
        ("core cycles", Side::Right),
        (interval.as_str(), Side::Right),
        ("findings", Side::Left),
    ];
    columns.extend(stated.as_deref().map(|title| (title, Side::Right)));
    let (mut table, marks) = (Table::new("", &columns), findings.marks());
    let several = document.results.len() > 1;
    let mut row = |name: String, figure: &Figure, doubts: String| {
        let stated = stated.is_some().then(|| stated_time(figure));
        table.row(cells(name, figure, doubts).into_iter().chain(stated).collect());
    };
    for series in &document.results {
        let key = if several { series.name.as_str() } else { "" };
        for (name, part) in &series.components {
            row(label(series, name, several), &part.figure, doubts(&marks, key, name, part));
        }
        if let Some(figure) = series.overhead.as_ref().filter(|_| !several) {
            row("overhead".into(), figure, String::new());
        }
    }
    table
}

/// The code, its series where there are several, and the component where it is not the only one.
fn label(series: &Series, component: &str, several: bool) -> String {
    let name = match &series.code {
        Some(text) if several && *text != series.name => {
            format!("{}: {}", code(&series.name), code(text))
        }
        _ => code(series.title()),
    };
    if series.components.len() > 1 { format!("{name}, {}", code(component)) } else { name }
}

fn cells(name: String, figure: &Figure, doubts: String) -> Vec<String> {
    let unit = if figure.in_ns() { "ns" } else { "ticks" };
    let time = match (figure.bound(), figure.time()) {
        (Some(most), _) => Quantity::below(most, unit),
        (None, Some(time)) => Quantity::time(&time, unit),
        (None, None) => Quantity::default(),
    };
    let cycles = match (figure.bound_cycles, figure.cycles) {
        (Some(most), _) => Quantity::below(most, "cycles"),
        (None, Some(cycles)) => Quantity::time(&cycles, "cycles"),
        (None, None) => Quantity::default(),
    };
    vec![name, time.value, time.interval, time.unit, cycles.value, cycles.interval, doubts]
}

fn stated_time(figure: &Figure) -> String {
    let time = figure.stated_clock_ns.map(|time| Quantity::time(&time, "ns"));
    time.map_or_else(String::new, |time| format!("{} ({})", time.value, time.interval))
}

/// `**not trusted** 1, 3`: the numbers are those of the list below.
fn doubts(marks: &Marks, series: &str, component: &str, part: &Component) -> String {
    let numbers: Vec<String> = marks
        .get(series)
        .into_iter()
        .flatten()
        .filter(|(_, about)| about.is_none_or(|about| about == component))
        .map(|(number, _)| number.to_string())
        .collect();
    let trust = if part.trusted { "" } else { "**not trusted** " };
    format!("{trust}{}", numbers.join(", ")).trim_end().to_owned()
}

fn ratios(document: &ResultDocument, level: &str) -> Table {
    let interval = format!("{level} interval");
    let columns = [
        ("compared", Side::Left),
        ("ratio", Side::Right),
        (interval.as_str(), Side::Right),
        ("verdict", Side::Left),
    ];
    let mut table = Table::new("", &columns);
    for one in &document.comparisons {
        let ratio = one.ratio.map(|ratio| Quantity::new(&ratio, "")).unwrap_or_default();
        let pair = format!("{} / {}", code(&one.a), code(&one.b));
        table.row(vec![pair, ratio.value, ratio.interval, verdict(one)]);
    }
    table
}

fn verdict(one: &Comparison) -> String {
    match one.verdict {
        Verdict::Faster => "**faster**".into(),
        Verdict::Slower => "**slower**".into(),
        Verdict::NoDifference => no_difference(one.excludes()),
        Verdict::Undecided => {
            let reason = one.ratio_reason.as_deref().map(|reason| format!(": {}", prose(reason)));
            format!("undecided{}", reason.unwrap_or_default())
        }
    }
}

fn expected(expectation: Option<&Expectation>) -> String {
    let Some(found) = expectation else { return String::new() };
    let unit = found.unit.word();
    let shown = |quantity: Quantity| match quantity.interval.as_str() {
        "" => format!("{} {}", quantity.value, quantity.unit),
        interval => format!("{} {} ({interval})", quantity.value, quantity.unit),
    };
    let measured = found.measured.map_or_else(
        || "nothing in this unit".to_owned(),
        |measured| shown(Quantity::time(&measured, unit)),
    );
    let verdict = match found.verdict {
        Agreement::Agrees => "**agrees**",
        Agreement::Deviates => "**deviates**",
        Agreement::Undecided => "undecided",
    };
    let reason = found.verdict_reason.clone().or_else(|| distance(found.factor, found.sigmas));
    format!(
        "Expected of {}: {} by {}; measured: {measured}: {verdict}{}\n\n",
        code(&found.series),
        shown(Quantity::new(&found.expected, unit)),
        code(&found.expression),
        reason.map_or_else(String::new, |reason| format!(", {}", prose(&reason)))
    )
}
