//! The report of a measurement from its heading to its circumstances.

use super::cells::{Cell, align};
use super::environment::environment;
use super::findings::findings;
use super::fit::{fit, plots, run as run_text};
use super::methods::methods;
use super::page::{INDENT, Page, Style, Tone};
use crate::clean::{clean, cut, pad, width};
use crate::document::{Document, Entry, NO_RATIO, Standing, bound, in_unit, standing};
use crate::format::plus_minus;
use hairspring_engine::judge::{ComponentResult, Severity, Time, Verdict};

/// More components than this are laid out in as many columns as the page holds.
const MANY: usize = 20;

/// The report as text. It ends with a newline, and without `Style::color` it holds no control character but newlines.
pub fn report(document: &Document, style: &Style) -> String {
    let mut page = Page::new(*style);
    let entries = document.entries();
    heading(&mut page, document, &entries);
    distrust(&mut page, &entries);
    page.gap();
    times(&mut page, &entries, document.level());
    ratios(&mut page, document, &entries);
    page.marked(
        "",
        &format!("intervals of {} % confidence; the overhead is not in the times", crate::format::significant(100.0 * document.level(), 4)),
    );
    for (entry, key) in entries.iter().zip(keys(&entries)) {
        details(&mut page, entry, key.as_deref(), document);
    }
    for table in &document.methods {
        page.gap();
        if document.methods.len() > 1 {
            page.line(&format!("  {}", clean(&table.subject)), Tone::Strong);
        }
        methods(&mut page, table, document.ns_per_unit);
    }
    page.gap();
    if let Some(run) = &document.run {
        page.item("run", &run_text(run), Tone::Quiet);
    }
    environment(&mut page, &document.environment, document.assessment.core_hz.as_ref());
    page.finish()
}

/// What stands in front of the lines of each series: nothing where there is one, else its name or, where that is long, a number.
fn keys(entries: &[Entry]) -> Vec<Option<String>> {
    let names: Vec<String> = entries.iter().map(|entry| clean(&entry.result.name)).collect();
    let short = names.iter().all(|name| !name.is_empty() && width(name) <= INDENT - 4);
    let key = |(at, name): (usize, &String)| if short { name.clone() } else { (at + 1).to_string() };
    names.iter().enumerate().map(|named| (entries.len() > 1).then(|| key(named))).collect()
}

fn heading(page: &mut Page, document: &Document, entries: &[Entry]) {
    let command = clean(&document.command);
    if let [entry] = entries {
        page.line(&format!("hairspring {command}: {}", clean(entry.title())), Tone::Strong);
        if let Some(text) = meaning(entry) {
            page.marked("", &text);
        }
        return;
    }
    page.line(&format!("hairspring {command}: {} alternatives", entries.len()), Tone::Strong);
    page.gap();
    for (entry, key) in entries.iter().zip(keys(entries)) {
        let title = cut(&clean(entry.title()), page.width() - INDENT);
        page.item(key.as_deref().unwrap_or_default(), &title, Tone::Strong);
        if let Some(text) = meaning(entry) {
            page.marked("", &text);
        }
    }
}

/// `latency, chained through x; 4 bytes for each copy`.
fn meaning(entry: &Entry) -> Option<String> {
    let subject = entry.subject?;
    let mode = subject.mode.map(|mode| mode.word().to_owned());
    let reason = Some(subject.mode_reason.clone()).filter(|reason| !reason.is_empty());
    let mode: Vec<String> = mode.into_iter().chain(reason).collect();
    let bytes = subject.bytes_per_copy.filter(|bytes| bytes.is_finite());
    let bytes = bytes.map(|bytes| format!("{} bytes for each copy", crate::format::significant(bytes, 3)));
    let parts: Vec<String> = Some(mode.join(", ")).filter(|text| !text.is_empty()).into_iter().chain(bytes).collect();
    Some(parts.join("; ")).filter(|text| !text.is_empty())
}

/// What takes the trust away comes before any number.
fn distrust(page: &mut Page, entries: &[Entry]) {
    for (entry, key) in entries.iter().zip(keys(entries)).filter(|(entry, _)| entry.untrusted()) {
        page.gap();
        let which = key.map(|key| format!("{key}: ")).unwrap_or_default();
        page.line(&format!("  {which}NOT TO BE TRUSTED"), Tone::Alarm);
        findings(page, &entry.findings, Severity::Untrusted);
    }
}

/// One line for each component of each series; of a single series, one for the overhead.
fn times(page: &mut Page, entries: &[Entry], level: f64) {
    let mut lines: Vec<(String, &Time)> = Vec::new();
    for (entry, key) in entries.iter().zip(keys(entries)) {
        let components = &entry.result.components;
        let label = |part: &ComponentResult| match (&key, components.len()) {
            (Some(key), 1) => key.clone(),
            (Some(key), _) => format!("{key}: {}", clean(&part.name)),
            (None, _) => clean(&part.name),
        };
        lines.extend(components.iter().map(|part| (label(part), &part.time)));
    }
    let many = lines.len() > MANY;
    let [entry] = entries else { return table(page, &lines, level, many) };
    let overhead = entry.result.overhead.as_ref();
    let in_table = overhead.filter(|time| !many && standing(&in_unit(time, level)) != Standing::Negative);
    lines.extend(in_table.map(|time| ("overhead".to_owned(), time)));
    table(page, &lines, level, many);
    match overhead {
        Some(time) if in_table.is_none() => page.item("overhead", &intercept(time, level), Tone::Plain),
        Some(_) => {}
        None => page.item("overhead", "merged with a component: the counts do not tell them apart", Tone::Plain),
    }
}

/// An overhead by itself; a negative one is where the line meets the axis, and not a time.
fn intercept(time: &Time, level: f64) -> String {
    let shown = in_unit(time, level);
    let unit = if time.ns.is_some() { "ns" } else { "ticks" };
    match standing(&shown) {
        Standing::Negative => format!("none: the line meets the axis at {} {unit}", plus_minus(&shown)),
        _ => time_cell(time, level).text(),
    }
}

/// A time, or the most that it can be where it is below resolution.
fn time_cell(time: &Time, level: f64) -> Cell {
    let in_ns = time.ns.is_some();
    bound(time, level).map_or_else(|| Cell::time(&in_unit(time, level), in_ns), |most| Cell::below(most, in_ns))
}

fn cycles_cell(time: &Time, level: f64) -> Cell {
    let below = time.bound.and_then(|bound| bound.cycles);
    let cycles = || time.cycles.as_ref().map_or_else(Cell::default, |cycles| Cell::cycles(&cycles.estimate(level)));
    below.map_or_else(cycles, Cell::cycles_below)
}

fn table(page: &mut Page, lines: &[(String, &Time)], level: f64, many: bool) {
    let times = align(&lines.iter().map(|(_, time)| time_cell(time, level)).collect::<Vec<_>>());
    let cycles = align(&lines.iter().map(|(_, time)| cycles_cell(time, level)).collect::<Vec<_>>());
    let numbers: Vec<String> = times.iter().zip(&cycles).map(|(time, cycles)| format!("{time}   {cycles}")).collect();
    let numbers: Vec<&str> = numbers.iter().map(|text| text.trim_end()).collect();
    let widest = numbers.iter().map(|text| width(text)).max().unwrap_or(0);
    let wanted = lines.iter().map(|(label, _)| width(label)).max().unwrap_or(0).max(if many { 1 } else { INDENT - 4 });
    let label = wanted.min(page.width().saturating_sub(widest + 4).max(8));
    let rows: Vec<String> = lines.iter().zip(&numbers).map(|((name, _), text)| format!("  {}  {text}", pad(name, label))).collect();
    if many { in_columns(page, &rows) } else { rows.iter().for_each(|row| page.line(row, Tone::Plain)) }
}

/// Lays short lines out in as many columns as fit, going down the columns.
fn in_columns(page: &mut Page, rows: &[String]) {
    let widest = rows.iter().map(|row| width(row)).max().unwrap_or(1) + 2;
    let columns = (page.width() / widest).max(1);
    let height = rows.len().div_ceil(columns);
    for at in 0..height {
        let line: String = rows.iter().skip(at).step_by(height).map(|row| pad(row, widest)).collect();
        page.line(&line, Tone::Plain);
    }
}

/// Every further series against the first, by the first component.
fn ratios(page: &mut Page, document: &Document, entries: &[Entry]) {
    let keys: Vec<String> = keys(entries).into_iter().flatten().collect();
    let Some((first, others)) = keys.split_first() else { return };
    page.gap();
    let found: Vec<_> = entries[1..].iter().map(|entry| document.comparison(&entry.result.name)).collect();
    let cells = align(&found.iter().map(|found| found.map_or_else(Cell::default, |found| Cell::ratio(&found.ratio))).collect::<Vec<_>>());
    let widest = others.iter().map(|key| width(key)).max().unwrap_or(0);
    for ((key, found), cell) in others.iter().zip(found).zip(cells) {
        let says =
            found.map_or_else(|| format!("no ratio: {NO_RATIO}"), |found| format!("{cell}   {}", verdict(found.verdict, key, first)));
        page.line(&format!("  {} / {first}  {says}", pad(key, widest)), Tone::Strong);
    }
}

fn verdict(verdict: Verdict, a: &str, b: &str) -> String {
    match verdict {
        Verdict::Faster => format!("{a} is faster than {b}"),
        Verdict::Slower => format!("{a} is slower than {b}"),
        Verdict::NoDifference => "no difference".into(),
        Verdict::Undecided => "undecided: the interval contains 1 and is wide".into(),
    }
}

/// Fit, plots and the lighter findings of one series.
/// The instructions of one copy, where they are to be shown.
fn disassembly(page: &mut Page, entry: &Entry) {
    let lines = entry.subject.map_or(&[][..], |subject| &subject.disassembly[..]);
    for (at, line) in lines.iter().enumerate() {
        let label = if at == 0 { "one copy" } else { "" };
        page.line(&format!("  {}{}", pad(label, INDENT - 2), clean(line)), Tone::Plain);
    }
    if !lines.is_empty() {
        page.gap();
    }
}

fn details(page: &mut Page, entry: &Entry, key: Option<&str>, document: &Document) {
    page.gap();
    if let Some(key) = key {
        page.line(&format!("  {key}"), Tone::Strong);
        if let Some(time) = &entry.result.overhead {
            page.item("overhead", &intercept(time, document.level()), Tone::Quiet);
        }
    }
    disassembly(page, entry);
    fit(page, entry, document);
    if key.is_none() {
        plots(page, entry, document);
        page.gap();
    }
    findings(page, &entry.findings, Severity::Warning);
    findings(page, &entry.findings, Severity::Note);
}
