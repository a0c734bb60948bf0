//! The report of `blocks`: a listing with a line for each block, the combinations that can be told apart, what is missing.

use super::cells::Cell;
use super::environment;
use super::page::{Page, Style, Tone};
use crate::clean::{clean, cut, pad};
use crate::document::Environment;
use crate::format::{count, fixed, significant};
use hairspring_blocks::Measured;
use hairspring_blocks::analysis::{Place, Unknowns};
use hairspring_blocks::graph::{Block, block_name};
use hairspring_engine::judge::{Severity, Time};

/// Widths of the columns: name, line, runs, time, share.
const NAME: usize = 8;
const LINE: usize = 9;
const RUNS: usize = 9;
const TIME: usize = 25;
const SHARE: usize = 7;

/// Lines about what is missing; more are in the JSON document.
const MOST_MISSING: usize = 8;

/// The report.
pub fn blocks(measured: &Measured, circumstances: &Environment, style: &Style) -> String {
    let mut page = Page::new(*style);
    head(&mut page, measured);
    listing(&mut page, measured);
    combinations(&mut page, measured);
    loops(&mut page, measured);
    page.gap();
    summary(&mut page, measured);
    missing(&mut page, measured);
    doubts(&mut page, measured);
    page.gap();
    environment::environment(&mut page, circumstances, measured.analysis.assessment.core_hz.as_ref());
    page.finish()
}

fn head(page: &mut Page, measured: &Measured) {
    let (function, graph) = (&measured.function, &measured.graph);
    let object = function.object.display();
    page.line(&format!("hairspring blocks: {}", clean(&function.name)), Tone::Strong);
    page.gap();
    page.item("object", &format!("{object}, entry at {:#x}, {} bytes", function.entry, function.bytes), Tone::Quiet);
    let files = files(measured);
    if let [file] = &files[..] {
        page.item("source", file, Tone::Quiet);
    }
    let partial = measured.rows.iter().filter(|row| row.until.is_some()).count();
    let ended_early = if partial > 0 { format!(", {} ended early", count(partial)) } else { String::new() };
    page.item(
        "rows",
        &format!(
            "{} whole calls of {} inputs{ended_early}; {} blocks, {} edges; {} rounds in {} ms",
            count(measured.analysis.calls),
            count(measured.inputs),
            graph.blocks.len(),
            graph.edges.len(),
            measured.rounds,
            significant(measured.measured.as_secs_f64() * 1e3, 3)
        ),
        Tone::Quiet,
    );
    page.gap();
}

fn files(measured: &Measured) -> Vec<String> {
    let mut files: Vec<String> = measured.graph.blocks.iter().filter_map(|block| Some(block.source.as_ref()?.file.clone())).collect();
    files.sort();
    files.dedup();
    files
}

/// One line for each unknown, in the order of the code.
fn listing(page: &mut Page, measured: &Measured) {
    let analysis = &measured.analysis;
    let title = if analysis.unknowns == Unknowns::Blocks { "block" } else { "edge" };
    let at = if measured.graph.blocks.iter().any(|block| block.source.is_some()) { "line" } else { "address" };
    let head = row([title, at, "runs/call", "  time each", "of total"], if at == "line" { "source" } else { "" });
    page.line(&head, Tone::Quiet);
    for (index, name) in analysis.names.iter().enumerate() {
        let block = match analysis.unknowns {
            Unknowns::Blocks => index,
            Unknowns::Edges => measured.graph.edges[index].from,
        };
        let runs = runs(analysis.totals[index] / analysis.calls.max(1) as f64);
        let (time, share) = time_of(measured, index);
        let block = &measured.graph.blocks[block];
        let (place, text) = place_of(block);
        let tone = if share.is_empty() { Tone::Plain } else { Tone::Strong };
        page.line(&row([name, &place, &runs, &time, &share], &text), tone);
    }
    if analysis.quality.carried && (0..analysis.series().components.len()).any(|at| holds_overhead(measured, at)) {
        page.line("* with the overhead of the timing, which every call has", Tone::Quiet);
    }
}

fn row([name, line, runs, time, share]: [&str; 5], text: &str) -> String {
    let runs = format!("{runs:>RUNS$}");
    let share = format!("{share:>SHARE$}");
    format!("{}{}{runs} {}{share}  {}", pad(name, NAME), pad(line, LINE), pad(time, TIME), text)
}

fn runs(per_call: f64) -> String {
    match per_call {
        0.0 => "never".to_owned(),
        exact if exact.fract() == 0.0 && exact < 1e6 => format!("{exact}"),
        other => significant(other, 4),
    }
}

fn place_of(block: &Block) -> (String, String) {
    let calls = if block.calls.is_empty() { String::new() } else { format!("calls {} ", block.calls.join(", ")) };
    match &block.source {
        Some(source) if source.last_line > source.line => (format!("{}-{}", source.line, source.last_line), calls + &source.text),
        Some(source) => (format!("{}", source.line), calls + &source.text),
        None => (format!("{:#x}", block.start), calls),
    }
}

/// The time of an unknown and its share, or where to find it.
fn time_of(measured: &Measured, index: usize) -> (String, String) {
    let analysis = &measured.analysis;
    if !analysis.quality.carried {
        return (if analysis.places[index] == Place::NeverRan { "-".into() } else { "?".into() }, String::new());
    }
    let leads = |component: usize| analysis.series().solution.components[component].parts[0].0 == analysis.names[index];
    match analysis.places[index] {
        Place::NeverRan => ("-".into(), String::new()),
        Place::Common => ("in the overhead".into(), String::new()),
        Place::Alone(component) => timed(measured, component),
        Place::With(component) if leads(component) => timed(measured, component),
        Place::With(component) => (format!("with {}", analysis.series().solution.components[component].parts[0].0), String::new()),
        Place::Combined(component) => (format!("in [{}]", number(measured, component)), String::new()),
    }
}

fn timed(measured: &Measured, component: usize) -> (String, String) {
    let analysis = &measured.analysis;
    let time = &analysis.series().components[component].time;
    let mark = if holds_overhead(measured, component) { " *" } else { "" };
    let share = if time.bound.is_some() { String::new() } else { share(measured, component) };
    (shown(time) + mark, share)
}

fn holds_overhead(measured: &Measured, component: usize) -> bool {
    measured.analysis.series().solution.components[component].parts.iter().any(|(name, _)| name == "overhead")
}

fn share(measured: &Measured, component: usize) -> String {
    format!("{} %", fixed(100.0 * measured.analysis.share(component), 1))
}

/// A time in core cycles, where there are any.
fn shown(time: &Time) -> String {
    let level = time.ticks.level;
    if let Some(bound) = &time.bound {
        return match bound.cycles {
            Some(cycles) => Cell::cycles_below(cycles).text(),
            None => Cell::below(bound.shown, time.ns.is_some()).text(),
        };
    }
    let (estimate, unit) = match (&time.cycles, &time.ns) {
        (Some(cycles), _) => (cycles.estimate(level), "cycles"),
        (None, Some(ns)) => (ns.estimate(level), "ns"),
        (None, None) => (time.ticks, "ticks"),
    };
    // A difference may be negative.
    let digits = crate::format::digits(&estimate);
    format!("{} {unit} +- {}", digits.value, digits.half)
}

/// Sums and differences that can be told apart, where no single block can.
fn combinations(page: &mut Page, measured: &Measured) {
    let combined = combined(measured);
    if combined.is_empty() || !measured.analysis.quality.carried {
        return;
    }
    page.gap();
    page.line("what can be told apart, where no single time can:", Tone::Quiet);
    for component in combined {
        let name = grouped(measured, component);
        let (time, share) = timed(measured, component);
        page.item(&format!("[{}]", number(measured, component)), &name, Tone::Plain);
        let share = if share.is_empty() { String::new() } else { format!(", {share} of the total") };
        page.marked("", &format!("{time}{share}"));
    }
}

/// Components that are no time of a single block or of blocks that always run together.
fn combined(measured: &Measured) -> Vec<usize> {
    let places = &measured.analysis.places;
    let listed = |at: &usize| places.contains(&Place::Combined(*at)) || is_sum(measured, *at);
    (0..measured.analysis.series().components.len()).filter(listed).collect()
}

/// The number that a combination has in the report.
fn number(measured: &Measured, component: usize) -> usize {
    combined(measured).iter().position(|at| *at == component).map_or(0, |at| at + 1)
}

fn is_sum(measured: &Measured, component: usize) -> bool {
    let analysis = &measured.analysis;
    let shown = |place: &Place| matches!(place, Place::Alone(at) | Place::With(at) if *at == component);
    !analysis.places.iter().any(shown)
}

/// The combination with equal counts in one bracket: `(B1 B4 overhead) + 2 B3`.
fn grouped(measured: &Measured, component: usize) -> String {
    let analysis = &measured.analysis;
    let parts = &analysis.series().solution.components[component].parts;
    let mut terms: Vec<(Vec<String>, f64)> = Vec::new();
    let group = |name: &str| analysis.groups.iter().position(|group| group.iter().any(|at| analysis.names[*at] == name));
    for (name, coefficient) in parts {
        let same = |known: &&mut (Vec<String>, f64)| known.1 == *coefficient && group(name).is_some() && group(&known.0[0]) == group(name);
        match terms.iter_mut().find(same) {
            Some(known) => known.0.push(name.clone()),
            None => terms.push((vec![name.clone()], *coefficient)),
        }
    }
    let spelled: Vec<(String, f64)> = terms
        .into_iter()
        .map(|(names, coefficient)| (if names.len() > 1 { format!("({})", names.join(" ")) } else { names[0].clone() }, coefficient))
        .collect();
    hairspring_engine::estimate::solution::spell(&spelled)
}

fn loops(page: &mut Page, measured: &Measured) {
    let analysis = &measured.analysis;
    if analysis.regions.is_empty() {
        return;
    }
    page.gap();
    page.line("loops, by the trip (inner loops apart):", Tone::Quiet);
    for region in &analysis.regions {
        let calls = analysis.calls.max(1) as f64;
        let line = measured.graph.blocks[region.header].source.as_ref().map(|source| format!(" line {}", source.line)).unwrap_or_default();
        let blocks = region.blocks.len();
        page.item(
            &block_name(region.header),
            &format!("{} a trip{line}, {} trips/call, {blocks} blocks", shown(&region.time.time), runs(region.trips / calls)),
            Tone::Strong,
        );
    }
}

fn summary(page: &mut Page, measured: &Measured) {
    let analysis = &measured.analysis;
    let quality = &analysis.quality;
    let solution = &analysis.series().solution;
    let factor = measured.table.origin.ns_per_unit();
    let mean = factor.map_or_else(
        || format!("{} ticks", significant(analysis.mean_call, 4)),
        |factor| {
            let (scale, unit) = crate::format::time_unit(analysis.mean_call * factor);
            format!("{} {unit}", significant(analysis.mean_call * factor * scale, 4))
        },
    );
    let overhead = analysis.series().overhead.as_ref().map_or_else(
        || "the overhead of the timing cannot be told from what runs once in every call".to_owned(),
        |time| format!("overhead of the timing {}", shown(time)),
    );
    page.item("call", &format!("{mean} on average; {overhead}"), Tone::Plain);
    let carried = if quality.carried { "the parts add up" } else { "THE PARTS DO NOT ADD UP" };
    let tone = if quality.carried { Tone::Plain } else { Tone::Alarm };
    page.item(
        "model",
        &format!(
            "{carried}: their sum explains {} % of the variation between rows and departs from them by {} %; {} of {} unknowns can be told apart",
            significant(100.0 * quality.explained, 4),
            significant(100.0 * quality.departure, 2),
            solution.rank.pivots.len(),
            solution.columns.len()
        ),
        tone,
    );
    let needs = &analysis.undetermined;
    if !needs.is_empty() {
        let what = if analysis.unknowns == Unknowns::Edges { "so edges are the unknowns" } else { "--unknowns edges tells them apart" };
        let named = cut(&needs.join(", "), 60).to_owned();
        page.item("edges", &format!("counts of blocks do not tell how often these were taken: {named}; {what}"), Tone::Plain);
    }
    let traced = &measured.traced;
    let speed = traced.instructions as f64 / traced.seconds.max(1e-9);
    page.item(
        "followed",
        &format!(
            "{} instructions in {} ms: {} a second",
            count(traced.instructions as usize),
            significant(traced.seconds * 1e3, 3),
            count(speed as usize)
        ),
        Tone::Quiet,
    );
}

fn missing(page: &mut Page, measured: &Measured) {
    let all = &measured.analysis.missing;
    for (at, missing) in all.iter().take(MOST_MISSING).enumerate() {
        page.item(if at == 0 { "missing" } else { "" }, &missing.message(), Tone::Warning);
        if !missing.remedy().is_empty() {
            page.marked("-> ", &missing.remedy());
        }
    }
    if all.len() > MOST_MISSING {
        page.marked("", &format!("and {} more, in the JSON document", all.len() - MOST_MISSING));
    }
    for skipped in &measured.skipped {
        page.item("left out", &format!("input {} ({}): {}", skipped.input, skipped.text, skipped.reason), Tone::Warning);
    }
}

fn doubts(page: &mut Page, measured: &Measured) {
    let all: Vec<_> = measured.analysis.findings.iter().collect();
    for severity in [Severity::Untrusted, Severity::Warning, Severity::Note] {
        super::findings::findings(page, &all, severity);
    }
}
