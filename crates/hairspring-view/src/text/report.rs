//! The report of a measurement from its heading to its circumstances.

use super::environment::environment;
use super::expectation::expectation;
use super::findings::{chosen, shared};
use super::fit::{fit, plots, run as run_text};
use super::methods::methods;
use crate::cells::{Cell, align};
use crate::clean::{clean, cut, pad, width};
use crate::format::{frequency_unit, plus_minus, significant};
use crate::page::{INDENT, Page, Style, Tone};
use hairspring_core::estimate::Source;
use hairspring_core::judge::{Severity, Verdict, code};
use hairspring_result::document::{Comparison, Standing, standing};
use hairspring_result::{Component, Figure, Finding, ResultDocument, Series};

/// More components than this are laid out in as many columns as the page holds.
const MANY_COMPONENTS: usize = 20;

/// The core clock to which times in nanoseconds belong, with a semicolon before it: it is a
/// property of the run, not of the code. That of the next run is another one, which their intervals
/// hold as far as earlier runs show it.
pub fn at_core_clock(document: &ResultDocument) -> String {
    let mut components = document.results.iter().flat_map(|series| series.components.values());
    let is_in_both = components
        .any(|component| component.figure.time_ns.is_some() && component.figure.cycles.is_some());
    let clock = document.environment.core_clock_hz.filter(|_| is_in_both);
    let moves = document
        .results
        .iter()
        .flat_map(|series| series.budget.values().flatten())
        .any(|entry| entry.source == Source::CoreClock);
    let next = if moves {
        "; the ns intervals include the clock changes seen in this and earlier runs"
    } else {
        ""
    };
    clock.map_or_else(String::new, |hz| {
        format!("; ns at a core clock of {} GHz{next}", significant(hz.value / 1e9, 3))
    })
}

/// Times at the stated core clock, if one is stated: `sort 1.2570 ns +- 0.0014`. Each series has
/// its key, if there are several.
pub fn stated_clock(page: &mut Page, document: &ResultDocument, keys: &[Option<String>]) {
    let Some(hz) = document.environment.stated_clock_hz else { return };
    let time = |part: &Component| {
        part.figure
            .stated_clock_ns
            .map_or_else(|| "no core cycles".to_owned(), |ns| Cell::time(&ns, true).text())
    };
    let of_series = |(series, key): (&Series, &Option<String>)| -> Vec<String> {
        series
            .components
            .iter()
            .map(|(name, part)| format!("{} {}", label(key.as_deref(), series, name), time(part)))
            .collect()
    };
    let times: Vec<String> = document.results.iter().zip(keys).flat_map(of_series).collect();
    let (factor, unit) = frequency_unit(hz);
    page.item(
        "stated",
        &format!("at {} {unit}: {}", significant(hz * factor, 4), times.join("; ")),
        Tone::Plain,
    );
}

/// The report as text. It ends with a newline, and without `Style::color` it holds no control
/// character but newlines.
pub fn report(document: &ResultDocument, style: &Style) -> String {
    let mut page = Page::new(*style);
    let all = &document.results;
    heading(&mut page, document);
    distrust(&mut page, all);
    page.gap();
    times(&mut page, all);
    expectation(&mut page, document);
    ratios(&mut page, document);
    let level = significant(100.0 * document.level(), 4);
    let clock = at_core_clock(document);
    page.marked(
        "",
        &format!("intervals of {level} % confidence{clock}; the overhead is not in the times"),
    );
    stated_clock(&mut page, document, &keys(all));
    doubts(&mut page, all);
    for (series, key) in all.iter().zip(keys(all)) {
        details(&mut page, series, key.as_deref());
    }
    notes(&mut page, all);
    for table in &document.methods {
        page.gap();
        if document.methods.len() > 1 {
            page.line(&format!("  {}", clean(&table.name)), Tone::Strong);
        }
        methods(&mut page, table);
    }
    page.gap();
    if let Some(run) = &document.run {
        page.item("run", &run_text(run), Tone::Quiet);
    }
    environment(&mut page, &document.environment);
    page.finish()
}

/// The label of each series: none if there is only one series, else its name, or a number if a name
/// is too long.
fn keys(all: &[Series]) -> Vec<Option<String>> {
    let names: Vec<String> = all.iter().map(|series| clean(&series.name)).collect();
    let short = names.iter().all(|name| !name.is_empty() && width(name) <= INDENT - 4);
    let key =
        |(at, name): (usize, &String)| if short { name.clone() } else { (at + 1).to_string() };
    names.iter().enumerate().map(|named| (all.len() > 1).then(|| key(named))).collect()
}

fn heading(page: &mut Page, document: &ResultDocument) {
    let (command, all) = (clean(&document.command), &document.results);
    if let [series] = &all[..] {
        page.line(&format!("hairspring {command}: {}", clean(series.title())), Tone::Strong);
        if let Some(text) = meaning(series) {
            page.marked("", &text);
        }
        return;
    }
    page.line(&format!("hairspring {command}: {} alternatives", all.len()), Tone::Strong);
    page.gap();
    for (series, key) in all.iter().zip(keys(all)) {
        let title = cut(&clean(series.title()), page.width() - INDENT);
        page.item(key.as_deref().unwrap_or_default(), &title, Tone::Strong);
        if let Some(text) = meaning(series) {
            page.marked("", &text);
        }
    }
}

/// `latency, chained through x; 4 bytes for each copy`.
pub fn meaning(series: &Series) -> Option<String> {
    let body = series.body().map(|(_, body)| body);
    let mode = body.and_then(|body| body.mode).map(|mode| mode.word().to_owned());
    let mode: Vec<String> =
        mode.into_iter().chain(body.and_then(|body| body.mode_reason.clone())).collect();
    let bytes =
        series.bytes_per_copy.map(|bytes| format!("{} bytes for each copy", significant(bytes, 3)));
    let parts: Vec<String> =
        Some(mode.join(", ")).filter(|text| !text.is_empty()).into_iter().chain(bytes).collect();
    Some(parts.join("; ")).filter(|text| !text.is_empty())
}

/// Writes the findings that make the result untrusted, before any number.
fn distrust(page: &mut Page, all: &[Series]) {
    let untrusted: Vec<String> = all
        .iter()
        .zip(keys(all))
        .flat_map(|(series, key)| untrusted_parts(series, key.as_deref()))
        .collect();
    if all.iter().all(Series::is_trusted) {
        return;
    }
    page.gap();
    let which =
        if untrusted.is_empty() { String::new() } else { format!(": {}", untrusted.join(", ")) };
    page.line(&format!("  NOT TO BE TRUSTED{which}"), Tone::Alarm);
    tell(page, all, |series, finding| {
        finding.severity == Severity::Untrusted && !is_about_serving(series, finding)
    });
}

/// What of a series is not to be trusted, by name; nothing if this is all there is.
fn untrusted_parts(series: &Series, key: Option<&str>) -> Vec<String> {
    let asked = || series.components.iter().filter(|(_, component)| !component.serves);
    let untrusted: Vec<&String> =
        asked().filter(|(_, component)| !component.trusted).map(|(name, _)| name).collect();
    let all = untrusted.len() == asked().count();
    match key {
        _ if series.is_trusted() => Vec::new(),
        Some(key) if all => vec![key.to_owned()],
        None if all => Vec::new(),
        key => untrusted
            .into_iter()
            .map(|name| key.map_or_else(String::new, |key| format!("{key}: ")) + &clean(name))
            .collect(),
    }
}

/// Whether a finding is about a component that only serves.
fn is_about_serving(series: &Series, finding: &Finding) -> bool {
    finding
        .component()
        .and_then(|name| series.components.get(name))
        .is_some_and(|component| component.serves)
}

/// Writes the warnings, and what is untrusted of the components that only serve, beside the numbers
/// that they are about.
fn doubts(page: &mut Page, all: &[Series]) {
    let is_doubt = |series: &Series, finding: &Finding| match finding.severity {
        Severity::Untrusted => is_about_serving(series, finding),
        severity => severity == Severity::Warning,
    };
    if all.iter().any(|series| series.findings.iter().any(|finding| is_doubt(series, finding))) {
        page.gap();
    }
    tell(page, all, is_doubt);
}

fn notes(page: &mut Page, all: &[Series]) {
    if all.len() > 1 {
        page.gap();
    }
    tell(page, all, |_, finding| finding.severity == Severity::Note);
}

/// Writes findings: of several series, each kind once, with the names of the series.
fn tell(page: &mut Page, all: &[Series], is_chosen: impl Fn(&Series, &Finding) -> bool) {
    if let [series] = all {
        return chosen(
            page,
            &series
                .findings
                .iter()
                .filter(|finding| is_chosen(series, finding))
                .collect::<Vec<_>>(),
        );
    }
    let keys: Vec<String> = keys(all).into_iter().flatten().collect();
    let of = |(series, key)| {
        let (series, key): (&Series, &String) = (series, key);
        series
            .findings
            .iter()
            .filter(|finding| is_chosen(series, finding))
            .map(move |finding| (key.as_str(), finding))
            .collect::<Vec<_>>()
    };
    shared(all.iter().zip(&keys).flat_map(of)).iter().for_each(|one| one.tell(page, ""));
}

/// The label of a component: the key of its series, where there are several series, and its name,
/// where it is not the only one.
fn label(key: Option<&str>, series: &Series, component: &str) -> String {
    match (key, series.components.len()) {
        (Some(key), 1) => key.to_owned(),
        (Some(key), _) => format!("{key}: {}", clean(component)),
        (None, _) => clean(component),
    }
}

/// One line for each component of each series; of a single series, one for the overhead.
fn times(page: &mut Page, all: &[Series]) {
    let mut lines: Vec<Line> = Vec::new();
    for (series, key) in all.iter().zip(keys(all)) {
        lines.extend(series.components.iter().map(|(component, part)| Line {
            label: label(key.as_deref(), series, component),
            figure: &part.figure,
            trusted: part.trusted,
        }));
    }
    let many = lines.len() > MANY_COMPONENTS;
    let [series] = all else { return table(page, &lines, many) };
    let overhead = series.overhead.as_ref();
    let in_table =
        overhead.filter(|figure| !many && standing_of(figure) != Some(Standing::Negative));
    lines.extend(in_table.map(|figure| Line {
        label: "overhead".to_owned(),
        figure,
        trusted: true,
    }));
    table(page, &lines, many);
    match overhead {
        Some(figure) if in_table.is_none() => {
            page.item("overhead", &intercept(figure), Tone::Plain)
        }
        Some(_) => {}
        None => page.item(
            "overhead",
            "merged with a component: the counts cannot separate them",
            Tone::Plain,
        ),
    }
}

fn standing_of(figure: &Figure) -> Option<Standing> {
    figure.time().as_ref().map(standing)
}

/// The overhead as text; a negative one is not a time, but where the line meets the axis.
pub fn intercept(figure: &Figure) -> String {
    let unit = if figure.in_ns() { "ns" } else { "ticks" };
    match figure.time().filter(|time| standing(time) == Standing::Negative) {
        Some(time) => format!("none: the line meets the axis at {} {unit}", plus_minus(&time)),
        None => time_cell(figure).text(),
    }
}

/// A time, or its upper bound if it is below resolution.
fn time_cell(figure: &Figure) -> Cell {
    match (figure.bound(), figure.time()) {
        (Some(most), _) => Cell::below(most, figure.in_ns()),
        (None, Some(time)) => Cell::time(&time, figure.in_ns()),
        (None, None) => Cell::default(),
    }
}

/// A time and its core cycles as texts, or their upper bounds; empty where they are unknown.
pub fn figure(figure: &Figure) -> [String; 2] {
    [time_cell(figure).text(), cycles_cell(figure).text()]
}

fn cycles_cell(figure: &Figure) -> Cell {
    let cycles = || figure.cycles.as_ref().map_or_else(Cell::default, Cell::cycles);
    figure.bound_cycles.map_or_else(cycles, Cell::cycles_below)
}

/// A line of the table of times.
struct Line<'a> {
    label: String,
    figure: &'a Figure,
    trusted: bool,
}

fn table(page: &mut Page, lines: &[Line], many: bool) {
    let times = align(&lines.iter().map(|line| time_cell(line.figure)).collect::<Vec<_>>());
    let cycles = align(&lines.iter().map(|line| cycles_cell(line.figure)).collect::<Vec<_>>());
    let numbers: Vec<String> =
        times.iter().zip(&cycles).map(|(time, cycles)| format!("{time}   {cycles}")).collect();
    let numbers: Vec<&str> = numbers.iter().map(|text| text.trim_end()).collect();
    let widest = numbers.iter().map(|text| width(text)).max().unwrap_or(0);
    let wanted = lines.iter().map(|line| width(&line.label)).max().unwrap_or(0).max(if many {
        1
    } else {
        INDENT - 4
    });
    let label = wanted.min(page.width().saturating_sub(widest + 4).max(8));
    let mark = |line: &Line| if line.trusted { ' ' } else { '!' };
    let rows: Vec<String> = lines
        .iter()
        .zip(&numbers)
        .map(|(line, text)| format!("{} {}  {text}", mark(line), pad(&line.label, label)))
        .collect();
    if many {
        in_columns(page, &rows)
    } else {
        rows.iter().for_each(|row| page.line(row, Tone::Plain))
    }
}

/// Lays out short lines in as many columns as fit, column by column.
fn in_columns(page: &mut Page, rows: &[String]) {
    let widest = rows.iter().map(|row| width(row)).max().unwrap_or(1) + 2;
    let columns = (page.width() / widest).max(1);
    let height = rows.len().div_ceil(columns);
    for at in 0..height {
        let line: String =
            rows.iter().skip(at).step_by(height).map(|row| pad(row, widest)).collect();
        page.line(&line, Tone::Plain);
    }
}

/// Ratios of every further series to the first, by the first component.
fn ratios(page: &mut Page, document: &ResultDocument) {
    let keys: Vec<String> = keys(&document.results).into_iter().flatten().collect();
    let Some((first, others)) = keys.split_first() else { return };
    page.gap();
    let comparisons: Vec<_> =
        document.results[1..].iter().map(|series| document.comparison(&series.name)).collect();
    let ratio = |at: usize| comparisons[at].and_then(|comparisons| comparisons.ratio);
    let cells = align(
        &(0..comparisons.len())
            .map(|at| ratio(at).as_ref().map_or_else(Cell::default, Cell::ratio))
            .collect::<Vec<_>>(),
    );
    let widest = others.iter().map(|key| width(key)).max().unwrap_or(0);
    for (at, (key, cell)) in others.iter().zip(cells).enumerate() {
        let says = match comparisons[at] {
            Some(comparisons) if comparisons.ratio.is_some() => {
                format!("{cell}   {}", verdict(document, comparisons, key, first))
            }
            other => format!(
                "no ratio: {}",
                other
                    .and_then(|comparisons| comparisons.ratio_reason.as_deref())
                    .unwrap_or("the two were not compared")
            ),
        };
        page.line(&format!("  {} / {first}  {says}", pad(key, widest)), Tone::Strong);
    }
    looks(page, document);
}

/// How sure the verdicts are, if there is one.
pub(super) fn looks(page: &mut Page, document: &ResultDocument) {
    let decided = document.comparisons.iter().filter(|one| one.verdict != Verdict::Undecided);
    let levels = decided.filter_map(|one| Some(one.at_every_look?.level));
    if let Some(level) = levels.reduce(f64::min) {
        let sure = format!(
            "valid at every look: {} % sure, whenever the rounds end",
            significant(100.0 * level, 3)
        );
        page.item(
            if document.comparisons.len() > 1 { "verdicts" } else { "verdict" },
            &sure,
            Tone::Quiet,
        );
    }
}

/// The verdict of a comparison of two series, which are shown by these names.
pub fn verdict(document: &ResultDocument, comparison: &Comparison, a: &str, b: &str) -> String {
    match comparison.verdict {
        Verdict::Faster => format!("{a} is faster than {b}{}", in_doubt(document, comparison)),
        Verdict::Slower => format!("{a} is slower than {b}{}", in_doubt(document, comparison)),
        Verdict::NoDifference => no_difference(comparison.excludes()),
        Verdict::Undecided => format!("undecided: {}", undecided(document, comparison)),
    }
}

/// That there is no difference, and how large it is at most.
pub(super) fn no_difference(most: Option<f64>) -> String {
    most.map_or_else(
        || "no difference".to_owned(),
        |most| format!("no difference within {} %", significant(100.0 * most, 2)),
    )
}

/// What a verdict says although a time is not to be trusted.
fn in_doubt(document: &ResultDocument, comparison: &Comparison) -> &'static str {
    if document.is_trusted(comparison) { "" } else { ", by more than the doubt" }
}

/// Why a comparison has no verdict, in a few words, as the line is not wrapped.
fn undecided(document: &ResultDocument, comparison: &Comparison) -> &'static str {
    let has = |code: &'static str| {
        document
            .series_of(comparison)
            .any(|series| series.findings.iter().any(|finding| finding.is(code)))
    };
    match comparison.ratio {
        _ if !document.is_trusted(comparison) => "a time is not to be trusted",
        Some(ratio) if ratio.low <= 0.0 && ratio.high < 1.0 => {
            "a time is indistinguishable from zero"
        }
        _ if has(code::LAYOUTS_UNTRIED) => "not all layouts were tried",
        _ if has(code::LAYOUTS_DIFFER) => "it depends on the layout",
        _ => "the interval is wide",
    }
}

/// The instructions of one copy, if they were requested.
fn disassembly(page: &mut Page, series: &Series) {
    let Some(lines) = &series.disassembly else { return };
    for (at, line) in lines.iter().enumerate() {
        let label = if at == 0 { "one copy" } else { "" };
        page.line(&format!("  {}{}", pad(label, INDENT - 2), clean(line)), Tone::Plain);
    }
    page.gap();
}

/// Fit and plots of one series.
fn details(page: &mut Page, series: &Series, key: Option<&str>) {
    page.gap();
    if let Some(key) = key {
        page.line(&format!("  {key}"), Tone::Strong);
        if let Some(overhead) = &series.overhead {
            page.item("overhead", &intercept(overhead), Tone::Quiet);
        }
    }
    disassembly(page, series);
    fit(page, series);
    if key.is_none() {
        plots(page, series);
        page.gap();
    }
}
