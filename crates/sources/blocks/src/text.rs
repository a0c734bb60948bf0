//! The report of `blocks`: a listing with a line for each block, the combinations that can be told
//! apart, what is missing.

mod annotate;
mod listing;

use crate::analysis::{Analysis, Missing, Quality, Unknowns};
use crate::graph::block_name;
use crate::{MeasuredFunction, Traced};
use hairspring_core::judge::Severity;
use hairspring_result::Environment;
use hairspring_result::Finding;
use hairspring_result::document::Stage;
use hairspring_view::clean::{clean, cut};
use hairspring_view::format::{count, fixed, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::{Staged, environment, explain_all, findings};
use listing::{Listing, base, percent, runs};
pub use listing::{beside, shown};
use std::collections::HashMap;

/// Lines about what is missing, inputs left out, combinations and loops; more are in the JSON
/// document.
const MOST_MISSING: usize = 8;
const MOST_SKIPPED: usize = 20;
const MOST_COMBINATIONS: usize = 60;
const MOST_LOOPS: usize = 40;
const MOST_PATHS: usize = 8;
/// Width of a text that names blocks, in columns.
const MOST_NAMES: usize = 300;

/// The report; with source and assembly side by side if asked.
pub fn blocks(
    measured: &MeasuredFunction,
    circumstances: &Environment,
    style: &Style,
    annotate: bool,
) -> String {
    let mut page = Page::new(*style);
    let listing = Listing::new(measured);
    head(&mut page, &listing);
    distrust(&mut page, measured);
    listing.write(&mut page);
    combinations(&mut page, &listing);
    loops(&mut page, measured);
    paths(&mut page, measured);
    if annotate {
        annotate::write(&mut page, &listing);
    }
    page.gap();
    summary(&mut page, measured);
    missing(&mut page, measured);
    doubts(&mut page, measured);
    page.gap();
    let core_hz = measured.analysis.assessment.core_hz.as_ref();
    environment(&mut page, &circumstances.clone().with_core_clock(core_hz));
    page.finish()
}

/// What each stage of the estimator did, behind an empty line.
pub fn explain(measured: &MeasuredFunction, style: &Style) -> String {
    let series = measured.analysis.series();
    let stages: Vec<Stage> = series.stages.iter().map(Stage::from).collect();
    let time = series.components.first().map(|first| first.name.as_str());
    explain_all(
        &[Staged {
            name: None,
            time,
            readings: series.solution.readings,
            processes: 1,
            stages: &stages,
        }],
        style,
    )
}

/// What is said of the source files but the first.
fn other_files(other_names: &[&str]) -> String {
    const NAMED_BLOCKS: usize = 5;
    let names: Vec<&str> = other_names.iter().take(NAMED_BLOCKS).map(|file| base(file)).collect();
    let more = if other_names.len() > NAMED_BLOCKS {
        format!(" and {} more", other_names.len() - NAMED_BLOCKS)
    } else {
        String::new()
    };
    if names.is_empty() {
        String::new()
    } else {
        format!("; lines of other files are shown with the file name: {}{more}", names.join(", "))
    }
}

fn head(page: &mut Page, listing: &Listing) {
    let measured = listing.measured;
    let (function, graph) = (&measured.function, &measured.graph);
    let object = function.object.display();
    page.line(&format!("hairspring blocks: {}", clean(&function.name)), Tone::Strong);
    page.gap();
    page.item(
        "object",
        &format!(
            "{object}, entry at {:#x}, {}",
            function.entry,
            many(function.bytes as usize, "byte")
        ),
        Tone::Quiet,
    );
    if let Some((main, others)) = listing.files().split_first() {
        page.item("source", &format!("{main}{}", other_files(others)), Tone::Quiet);
    }
    if let Some(from) = &measured.from {
        let procedure = match measured.parts {
            true => {
                "parts of calls begin at this place, evenly over the calls; whole calls are timed \
                 beside them"
            }
            false => "each call is begun at this place, and what comes before is not timed",
        };
        page.item("from", &format!("{}: {procedure}", clean(from)), Tone::Quiet);
    }
    let partial = measured.rows.iter().filter(|row| !row.is_whole()).count();
    let ended_early =
        if partial > 0 { format!(", {} ended early", count(partial)) } else { String::new() };
    page.item(
        "rows",
        &format!(
            "{} of {}{ended_early}; {}, {}; {} in {} ms",
            many(measured.analysis.calls, "whole call"),
            many(measured.inputs, "input"),
            many(graph.blocks.len(), "block"),
            many(graph.edges.len(), "edge"),
            many(measured.run.rounds as usize, "round"),
            significant(measured.run.measuring.as_secs_f64() * 1e3, 3)
        ),
        Tone::Quiet,
    );
    page.gap();
}

/// A number of things.
fn many(number: usize, thing: &str) -> String {
    format!("{} {thing}{}", count(number), if number == 1 { "" } else { "s" })
}

/// Findings that make the numbers untrusted come before any number.
fn distrust(page: &mut Page, measured: &MeasuredFunction) {
    let all_findings: Vec<Finding> = measured.analysis.findings.clone();
    if all_findings.iter().any(|finding| finding.severity == Severity::Untrusted) {
        page.line("  NOT TO BE TRUSTED", Tone::Alarm);
        findings(page, &all_findings, Severity::Untrusted);
        page.gap();
    }
}

/// Sums and differences that can be determined although single blocks cannot.
fn combinations(page: &mut Page, listing: &Listing) {
    let combined = &listing.combined;
    if combined.is_empty() || !listing.measured.analysis.quality.is_carried() {
        return;
    }
    page.gap();
    page.line("combinations that can be separated where single times cannot:", Tone::Quiet);
    let groups = groups(listing.measured);
    for component in combined.iter().take(MOST_COMBINATIONS) {
        let (time, share) = listing.timed(*component);
        let parts = &listing.measured.analysis.series().solution.components[*component].parts;
        let name = cut(&grouped(parts, &groups), MOST_NAMES);
        page.item(&format!("[{}]", listing.number(*component)), &name, Tone::Plain);
        let share =
            share.map_or_else(String::new, |share| format!(", {} of the total", percent(share)));
        page.marked("", &format!("{time}{share}"));
    }
    if combined.len() > MOST_COMBINATIONS {
        page.marked(
            "",
            &format!(
                "and {} more, in the JSON document",
                count(combined.len() - MOST_COMBINATIONS)
            ),
        );
    }
}

/// The group of each unknown that runs equally often as others, by name.
fn groups(measured: &MeasuredFunction) -> HashMap<&str, usize> {
    let analysis = &measured.analysis;
    let of_group = |(number, group): (usize, &'_ Vec<usize>)| {
        group.iter().map(|at| (*at, number)).collect::<Vec<_>>()
    };
    analysis
        .groups
        .iter()
        .enumerate()
        .flat_map(of_group)
        .map(|(at, number)| (analysis.names[at].as_str(), number))
        .collect()
}

/// The combination with equal counts in one bracket: `(B1 B4 overhead) + 2 B3`.
fn grouped(parts: &[(String, f64)], groups: &HashMap<&str, usize>) -> String {
    let mut terms: Vec<(Vec<&str>, f64)> = Vec::new();
    let mut known_groups: HashMap<(usize, u64), usize> = HashMap::new();
    for (name, coefficient) in parts {
        let coefficient = rounded(*coefficient);
        let key = groups.get(name.as_str()).map(|group| (*group, coefficient.to_bits()));
        match key.and_then(|key| known_groups.get(&key)) {
            Some(at) => terms[*at].0.push(name),
            None => {
                key.map(|key| known_groups.insert(key, terms.len()));
                terms.push((vec![name], coefficient));
            }
        }
    }
    let spelled: Vec<(String, f64)> = terms
        .into_iter()
        .map(|(names, coefficient)| {
            (
                if names.len() > 1 {
                    format!("({})", names.join(" "))
                } else {
                    names[0].to_owned()
                },
                coefficient,
            )
        })
        .collect();
    hairspring_core::estimate::solution::spell(&spelled)
}

/// A coefficient with three significant digits: it is a mean over calls, and its other digits are
/// noise. Whole numbers are counts, and stay exact.
pub fn rounded(coefficient: f64) -> f64 {
    if coefficient.fract() == 0.0 {
        coefficient
    } else {
        format!("{coefficient:.2e}").parse().unwrap_or(coefficient)
    }
}

fn loops(page: &mut Page, measured: &MeasuredFunction) {
    let analysis = &measured.analysis;
    if analysis.regions.is_empty() {
        if !analysis.quality.is_carried() && !measured.graph.loops().is_empty() {
            page.gap();
            page.item(
                "loops",
                "sums of their trips do not describe the calls either, so no times are shown",
                Tone::Alarm,
            );
        }
        return;
    }
    page.gap();
    page.line("time of one trip through each loop (without inner loops):", Tone::Quiet);
    let most_time = analysis
        .regions
        .iter()
        .map(|region| region.time.time.ticks.value * region.trips)
        .fold(0.0, f64::max);
    for region in analysis.regions.iter().take(MOST_LOOPS) {
        let calls = analysis.calls.max(1) as f64;
        let line = measured.graph.blocks[region.header]
            .source
            .as_ref()
            .map(|source| format!(", line {}", source.line))
            .unwrap_or_default();
        let tone = if region.time.time.ticks.value * region.trips == most_time {
            Tone::Strong
        } else {
            Tone::Plain
        };
        let blocks = many(region.blocks.len(), "block");
        page.item(
            &block_name(region.header),
            &format!(
                "{} a trip{line}, {} trips/call, {blocks}",
                shown(&region.time.time),
                runs(region.trips / calls)
            ),
            tone,
        );
    }
    if analysis.regions.len() > MOST_LOOPS {
        page.marked(
            "",
            &format!(
                "and {} more, in the JSON document",
                count(analysis.regions.len() - MOST_LOOPS)
            ),
        );
    }
}

/// Times of whole calls by their path, where times of parts cannot be told.
fn paths(page: &mut Page, measured: &MeasuredFunction) {
    let analysis = &measured.analysis;
    let are_few = (1..=MOST_PATHS).contains(&analysis.paths.len());
    if (analysis.quality.is_carried() && !are_few) || analysis.paths.is_empty() {
        return;
    }
    page.gap();
    page.line(
        "time of whole calls by their path (calls with the same counts), most time first:",
        Tone::Quiet,
    );
    let (factor, unit) =
        measured.cycles_per_tick().map_or((1.0, "ticks"), |factor| (factor, "cycles"));
    for path in analysis.paths.iter().take(MOST_PATHS) {
        let time = |ticks: f64| significant(ticks * factor, 4);
        let range = if path.calls > 1 {
            format!(" ({} to {})", time(path.low), time(path.high))
        } else {
            String::new()
        };
        page.item(
            &many(path.calls, "call"),
            &format!("{} {unit}{range}: {}", time(path.mean), cut(&ran(&path.blocks), MOST_NAMES)),
            Tone::Plain,
        );
    }
    if analysis.paths.len() > MOST_PATHS {
        page.marked(
            "",
            &format!(
                "and {} more paths, in the JSON document",
                count(analysis.paths.len() - MOST_PATHS)
            ),
        );
    }
}

/// `B1 3 B2 B4`: the blocks that ran, with their counts.
fn ran(blocks: &[u64]) -> String {
    let block = |(at, times): (usize, &u64)| {
        if *times == 1 { block_name(at) } else { format!("{times} {}", block_name(at)) }
    };
    blocks
        .iter()
        .enumerate()
        .filter(|(_, times)| **times > 0)
        .map(block)
        .collect::<Vec<_>>()
        .join(" ")
}

fn summary(page: &mut Page, measured: &MeasuredFunction) {
    let analysis = &measured.analysis;
    let quality = &analysis.quality;
    page.item("call", &call(analysis, measured.run.table.origin.ns_per_unit()), Tone::Plain);
    let (text, tone) = model(quality);
    let (rank, unknowns) = (analysis.told_apart, analysis.unknown_count);
    page.item("model", &format!("{text}; {rank} of {unknowns} unknowns can be separated"), tone);
    let needs = &analysis.undetermined;
    if !needs.is_empty() {
        let advice = if analysis.unknowns == Unknowns::Edges {
            "so edges are the unknowns"
        } else {
            "--unknowns edges tells them apart"
        };
        let named = cut(&needs.join(", "), 60).to_owned();
        page.item(
            "edges",
            &format!("counts of blocks do not tell how often these were taken: {named}; {advice}"),
            Tone::Plain,
        );
    }
    page.item("followed", &followed(&measured.traced), Tone::Quiet);
}

/// The mean time of a call: the function's own where the overhead is known, else with it. `factor`
/// is the nanoseconds of a tick.
fn call(analysis: &Analysis, factor: Option<f64>) -> String {
    let time = |ticks: f64| {
        let Some(ns) = factor.map(|factor| ticks * factor) else {
            return format!("{} ticks", significant(ticks, 4));
        };
        let (scale, unit) = hairspring_view::format::time_unit(ns);
        format!("{} {unit}", significant(ns * scale, 4))
    };
    match (analysis.series().overhead.as_ref().map(shown), analysis.own_call()) {
        (Some(overhead), Some(own)) => {
            format!("{} on average; timing overhead left out: {overhead}", time(own))
        }
        (Some(overhead), None) => format!("no longer than the timing overhead: {overhead}"),
        (None, _) => format!(
            "{} on average with the timing overhead, which cannot be separated from what runs \
             once in every call",
            time(analysis.mean_call)
        ),
    }
}

/// How fast calls were followed, and which of them without a copy of the function.
fn followed(traced: &Traced) -> String {
    let speed = traced.instructions as f64 / traced.seconds.max(1e-9);
    let time = significant(traced.seconds * 1e3, 3);
    let text = format!(
        "{} instructions in {time} ms: {} a second",
        count(traced.instructions as usize),
        count(speed as usize)
    );
    match (traced.stepped, traced.why_stepped) {
        (0, _) | (_, None) => text,
        (1, Some(why)) => format!("{text}; 1 call from breakpoint to breakpoint: {why}"),
        (many, Some(why)) => {
            format!("{text}; {} calls from breakpoint to breakpoint: {why}", count(many))
        }
    }
}

/// How well the sum of the parts describes the calls.
fn model(quality: &Quality) -> (String, Tone) {
    if quality.is_carried() && quality.spare == 0 {
        let differ = quality.departure.map_or_else(String::new, |share| {
            format!("; calls differ by {} %", significant(100.0 * share, 2))
        });
        return (
            format!(
                "all calls ran the same parts equally often, and their time is the sum{differ}"
            ),
            Tone::Plain,
        );
    }
    let Some(departure) = quality.departure else {
        let unchecked = "NOTHING CHECKS THE SUM: there are as many unknowns as rows with \
                         different counts, so some times always fit";
        let negative = if quality.negative { "; one came out negative" } else { "" };
        return (format!("{unchecked}{negative}"), Tone::Alarm);
    };
    let departs = match 100.0 * departure {
        small if small < 0.01 => "below 0.01 %".to_owned(),
        other => format!("{} %", significant(other, 2)),
    };
    if quality.is_carried() && quality.explained.is_none() {
        return (
            format!(
                "rows hardly differ in time, so they hardly check the sum of the parts, which \
                 departs from them by {departs}"
            ),
            Tone::Plain,
        );
    }
    let (verdict, tone) = match (quality.is_carried(), quality.is_rough()) {
        (true, false) => ("the parts add up: their sum", Tone::Plain),
        (true, true) => ("the parts add up, roughly: their sum", Tone::Warning),
        (false, _) if quality.negative => {
            ("THE PARTS DO NOT ADD UP: a time came out negative, though their sum", Tone::Alarm)
        }
        (false, _) => ("THE PARTS DO NOT ADD UP: their sum", Tone::Alarm),
    };
    let explains = match quality.explained {
        // Rounded down, so that 100 % means all of it.
        Some(share) if share > 0.0 => format!(
            "explains {} % of the variation between rows and",
            fixed((1e4 * share).floor() / 100.0, 2)
        ),
        Some(_) => "explains nothing of the variation between rows and".to_owned(),
        None => "has hardly any variation between rows to explain and".to_owned(),
    };
    (format!("{verdict} {explains} departs from them by {departs}"), tone)
}

/// What is missing; blocks that always run together are one item.
fn missing(page: &mut Page, measured: &MeasuredFunction) {
    let messages = messages_and_remedies(&measured.missing);
    for (at, (message, remedy)) in messages.iter().take(MOST_MISSING).enumerate() {
        page.item(if at == 0 { "missing" } else { "" }, &cut(message, MOST_NAMES), Tone::Warning);
        if !remedy.is_empty() {
            page.marked("-> ", &cut(remedy, MOST_NAMES));
        }
    }
    if messages.len() > MOST_MISSING {
        page.marked(
            "",
            &format!("and {} more, in the JSON document", messages.len() - MOST_MISSING),
        );
    }
    for skipped in measured.skipped.iter().take(MOST_SKIPPED) {
        page.item(
            "left out",
            &format!("input {} ({}): {}", skipped.input, skipped.text, skipped.reason),
            Tone::Warning,
        );
    }
    if measured.skipped.len() > MOST_SKIPPED {
        page.marked(
            "",
            &format!(
                "and {} more inputs, in the JSON document",
                count(measured.skipped.len() - MOST_SKIPPED)
            ),
        );
    }
}

/// Messages and remedies: all groups of blocks that run equally often are one.
fn messages_and_remedies(all_missing: &[Missing]) -> Vec<(String, String)> {
    let together: Vec<&Vec<usize>> = all_missing
        .iter()
        .filter_map(|missing| {
            if let Missing::Inseparable { blocks, once: false } = missing {
                Some(blocks)
            } else {
                None
            }
        })
        .collect();
    let mut said = Vec::new();
    let mut is_first = true;
    for missing in all_missing {
        if !matches!(missing, Missing::Inseparable { once: false, .. }) {
            said.push((missing.message(), missing.remedy()));
        } else if std::mem::take(&mut is_first) {
            let names = |blocks: &&Vec<usize>| {
                blocks.iter().map(|at| block_name(*at)).collect::<Vec<_>>().join(" ")
            };
            let groups: Vec<String> = together.iter().map(names).collect();
            let message = format!("run equally often in every whole call: {}", groups.join("; "));
            said.push((
                message,
                "--until with the last of these blocks (a run that stops before it), or --until \
                 merged"
                    .to_owned(),
            ));
        }
    }
    said
}

fn doubts(page: &mut Page, measured: &MeasuredFunction) {
    let all_findings: Vec<Finding> = measured.analysis.findings.clone();
    for severity in [Severity::Warning, Severity::Note] {
        findings(page, &all_findings, severity);
    }
}

#[cfg(test)]
mod tests;
