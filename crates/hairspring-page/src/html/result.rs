//! The page of a measurement: of `time`, `run`, `fit` and `capture`, and of results of other tools.

use super::block::{Block, Doubt, Fact, Number, Table, name, shown};
use super::stages::stages;
use super::{Sheet, Solved};
use crate::Extras;
use crate::svg::{Bar, Interval, Plot, budget, intervals, line, residuals};
use hairspring_core::judge::Verdict;
use hairspring_result::document::{BudgetEntry, MethodTable, Row};
use hairspring_result::{Component, Finding, ResultDocument, Series};
use hairspring_view::clean::{clean, cut};
use hairspring_view::format::{count, significant};
use hairspring_view::page::Page;
use hairspring_view::plot::{line_plot, residual_plot};
use hairspring_view::{source_name, text};

/// Series with details of their own; the table has all.
const MOST_DETAILS: usize = 16;
/// Series of which the readings are drawn.
const MOST_DRAWN: usize = 4;
/// Numbers of a series that are shown large; of more there is a table.
const MOST_NUMBERS: usize = 6;
/// Components with a plot of their budget.
const MOST_BUDGETS: usize = 3;
/// Rows that are listed.
const MOST_ROWS: usize = 200;
/// Longest name of a series in a heading, in columns.
const LONGEST_TITLE: usize = 120;

/// The page of a document.
///
/// # Errors
/// The table of the observations cannot be solved, or is of another measurement.
pub fn document(document: &ResultDocument, extras: &Extras) -> Result<Sheet, String> {
    let solved = solved(document, extras)?;
    let all = &document.results;
    let mut blocks = doubts_of_all(document);
    if let [series] = &all[..] {
        blocks.extend(numbers(series));
        blocks.push(Block::Findings(Doubt::all(&series.findings)));
    }
    if all.len() > 1 || all.iter().any(|series| series.components.len() > MOST_NUMBERS) {
        blocks.push(Block::Table(times(document)));
    }
    blocks.push(Block::Text(confidence(document)));
    blocks.extend(alternatives(document));
    blocks.push(Block::facts(&Page::pieces(|page| text::expectation(page, document))));
    blocks.extend(details(document, solved.as_ref()));
    blocks.extend(document.methods.iter().map(methods));
    let plots: Vec<Plot> = extras.plots.clone();
    blocks.push(Block::Group("Recording".into(), vec![Block::Plots(plots)]));
    blocks.push(circumstances(document));
    blocks.push(Block::Text(left_out(solved.is_some(), document)));
    Ok(Sheet { title: title(document), about: about(document), blocks, origin: origin(document) })
}

/// The observations, solved again.
fn solved<'e>(
    document: &ResultDocument,
    extras: &Extras<'e>,
) -> Result<Option<Solved<'e>>, String> {
    let Some(table) = extras.table else { return Ok(None) };
    let solved = Solved::solve(table, document)?;
    let has_one = document.results.iter().any(|series| solved.has(&series.name));
    if has_one || document.results.is_empty() {
        return Ok(Some(solved));
    }
    let short = |names: &[String]| cut(&clean(&names.join(", ")), 80);
    let wanted: Vec<String> =
        document.results.iter().take(9).map(|series| series.name.clone()).collect();
    Err(format!(
        "has none of the series of the document ({}), but {}: give the observations that --save \
         wrote beside this document",
        short(&wanted),
        short(solved.names())
    ))
}

fn title(document: &ResultDocument) -> String {
    let command = shown(&document.command);
    match &document.results[..] {
        [series] => format!("hairspring {command}: {}", heading(series)),
        [] => format!("hairspring {command}: no result"),
        all => format!("hairspring {command}: {} alternatives", count(all.len())),
    }
}

fn heading(series: &Series) -> String {
    cut(&shown(series.title()), LONGEST_TITLE)
}

fn about(document: &ResultDocument) -> String {
    match &document.results[..] {
        [series] => text::meaning(series).map(|text| shown(&text)).unwrap_or_default(),
        _ => String::new(),
    }
}

fn origin(document: &ResultDocument) -> String {
    let tool = document.origin.as_ref().map(|origin| format!("Measured by {}. ", origin.title()));
    let identity = document.environment.identity.as_ref();
    let made = identity.map(|one| {
        let commit = one.commit.as_ref().map(|commit| format!(", commit {commit}"));
        let host = one.host.as_ref().map(|host| format!(", machine {host}"));
        format!(
            "{}{}{}, hairspring {}",
            one.created,
            host.unwrap_or_default(),
            commit.unwrap_or_default(),
            one.version
        )
    });
    shown(&format!("{}{}", tool.unwrap_or_default(), made.unwrap_or_default()))
}

/// That a result is not to be trusted, before any number.
fn doubts_of_all(document: &ResultDocument) -> Vec<Block> {
    let all = &document.results;
    let doubted: Vec<String> =
        all.iter().filter(|series| !series.is_trusted()).take(9).map(heading).collect();
    let number = all.iter().filter(|series| !series.is_trusted()).count();
    match (number, all.len()) {
        (0, _) => Vec::new(),
        (_, 1) => vec![Block::Alarm("Not to be trusted".into())],
        (number, of) => vec![Block::Alarm(format!(
            "Not to be trusted: {} of {}: {}{}",
            count(number),
            count(of),
            doubted.join(", "),
            if number > doubted.len() { " ..." } else { "" }
        ))],
    }
}

/// The numbers of a series: its components, then what all rows have in common.
fn numbers(series: &Series) -> Vec<Block> {
    let number = |(label, part): (&String, &Component)| {
        let [time, cycles] = text::figure(&part.figure).map(|text| shown(&text));
        let known = if time.is_empty() { "unknown".to_owned() } else { time };
        Number { label: name(label), value: known, also: cycles, distrusted: !part.trusted }
    };
    let all: Vec<Number> = series.components.iter().take(MOST_NUMBERS).map(number).collect();
    let overhead = series.overhead.as_ref().map_or_else(
        || "merged with a component: the counts cannot separate them".to_owned(),
        text::intercept,
    );
    let mut facts = vec![Fact::new("overhead", &overhead)];
    let stated = series.components.iter().filter_map(|(name, part)| {
        let time = part.figure.stated_clock_ns?;
        Some(Fact::new(
            &format!("{name}, at the stated core clock"),
            &hairspring_view::cells::Cell::time(&time, true).text(),
        ))
    });
    facts.extend(stated.take(MOST_NUMBERS));
    if series.fit == hairspring_result::document::Fit::default() && series.overhead.is_none() {
        facts.clear();
    }
    vec![Block::Numbers(all), Block::Facts(facts)]
}

/// A line for each time of each series.
fn times(document: &ResultDocument) -> Table {
    let line = |series: &Series, label: &str, part: &Component| {
        let [time, cycles] = text::figure(&part.figure).map(|text| shown(&text));
        let several = series.components.len() > 1;
        let title = cut(&shown(series.title()), LONGEST_TITLE);
        let first = if several { format!("{title}: {}", shown(label)) } else { title };
        vec![first, time, cycles, standing(series, label, part)]
    };
    let rows = document.results.iter().flat_map(|series| {
        series.components.iter().map(move |(label, part)| line(series, label, part))
    });
    Table {
        caption: "All times".into(),
        heads: ["Code", "Time", "Core cycles", "Findings"].map(str::to_owned).into(),
        rows: rows.collect(),
    }
}

/// The most severe finding about a time, in a few words.
fn standing(series: &Series, label: &str, part: &Component) -> String {
    let of_it = |finding: &&Finding| finding.component().is_none_or(|about| about == label);
    let worst = series.findings.iter().filter(of_it).max_by_key(|finding| finding.severity);
    let words = worst.map(|finding| cut(&clean(&finding.message), 100)).unwrap_or_default();
    if part.trusted { words } else { format!("Not to be trusted: {words}") }
}

fn confidence(document: &ResultDocument) -> String {
    if document.results.is_empty() {
        return "The document has no result.".into();
    }
    let level = significant(100.0 * document.level(), 4);
    let clock = text::at_core_clock(document);
    shown(&format!("Intervals of {level} % confidence{clock}; the overhead is not in the times."))
}

/// The ratios of the alternatives to the first one.
fn alternatives(document: &ResultDocument) -> Option<Block> {
    let first = document.results.first().filter(|_| !document.comparisons.is_empty())?;
    let shown_ones = &document.comparisons[..document.comparisons.len().min(MOST_ROWS)];
    let rows = shown_ones.iter().map(|one| {
        let ratio = one.ratio.map_or_else(
            || format!("none: {}", one.ratio_reason.as_deref().unwrap_or("not compared")),
            |ratio| hairspring_view::format::with_interval(&ratio),
        );
        let verdict = if one.ratio.is_some() || one.verdict != Verdict::Undecided {
            text::verdict(document, one, &title_of(document, &one.a), &title_of(document, &one.b))
        } else {
            String::new()
        };
        vec![title_of(document, &one.a), shown(&ratio), shown(&verdict)]
    });
    let table = Table {
        caption: format!("Ratios to {}", heading(first)),
        heads: ["Alternative", "Ratio", "Verdict"].map(str::to_owned).into(),
        rows: rows.collect(),
    };
    let of = |one: &hairspring_result::Comparison| {
        Some(Interval { name: title_of(document, &one.a), estimate: one.ratio? })
    };
    let ratios: Vec<Interval> = shown_ones.iter().filter_map(of).collect();
    let plot = intervals(
        ("ratios", &format!("Ratios to {}", heading(first))),
        "time over that of the first",
        &ratios,
        Some((1.0, "equal")),
    );
    let blocks = vec![Block::Table(table), Block::Plots(plot.into_iter().collect())];
    Some(Block::Group("Alternatives".into(), blocks))
}

/// The title of a series by its name.
fn title_of(document: &ResultDocument, name: &str) -> String {
    let series = document.results.iter().find(|series| series.name == name);
    cut(&series.map_or_else(|| shown(name), heading), LONGEST_TITLE / 2)
}

/// The details of the first series.
fn details(document: &ResultDocument, solved: Option<&Solved>) -> Vec<Block> {
    let all = &document.results;
    let of = |(at, series): (usize, &Series)| detail(at, series, all.len(), solved);
    let mut blocks: Vec<Block> = all.iter().take(MOST_DETAILS).enumerate().map(of).collect();
    if all.len() > MOST_DETAILS {
        blocks.push(Block::Text(format!(
            "Details of the first {MOST_DETAILS} of {} results are shown; the table has all, and \
             the JSON document has the details of all.",
            count(all.len())
        )));
    }
    blocks
}

fn detail(at: usize, series: &Series, of: usize, solved: Option<&Solved>) -> Block {
    let mut blocks = Vec::new();
    if of > 1 {
        let meaning = text::meaning(series).map(|text| shown(&text)).unwrap_or_default();
        blocks.push(Block::Text(meaning));
        blocks.extend(numbers(series));
        blocks.push(Block::Findings(Doubt::all(&series.findings)));
    }
    if let Some(measures) = &series.measures {
        blocks.push(Block::Facts(vec![Fact::new("times", &measures.words())]));
    }
    blocks.push(Block::Plots(plots(at, series, solved)));
    let fit = Page::pieces(|page| text::fit(page, series));
    let solved_here = series.fit.readings > 0 || !series.stages.is_empty();
    blocks.push(Block::facts(if solved_here { &fit } else { &[] }));
    blocks.extend(runs(series));
    let code: Vec<String> = series.disassembly.iter().flatten().map(|line| clean(line)).collect();
    blocks.push(Block::Details("Instructions of one copy".into(), vec![Block::Code(code)]));
    blocks.push(Block::Details("All rows".into(), vec![Block::Table(rows(series))]));
    blocks.extend(stages(&series.stages, series.fit.readings));
    Block::Group(if of > 1 { heading(series) } else { "Details".into() }, blocks)
}

/// The plots of a series. Their names have its number behind the first one.
fn plots(at: usize, series: &Series, solved: Option<&Solved>) -> Vec<Plot> {
    let file = |kind: &str| {
        if at == 0 { kind.to_owned() } else { format!("{kind}-{}", at + 1) }
    };
    let rows = &series.fit.rows_detail;
    let mut all: Vec<Plot> = row_plots(series, rows, &file);
    for (part, (component, entries)) in series.budget.iter().take(MOST_BUDGETS).enumerate() {
        let kind = if part == 0 { "budget".to_owned() } else { format!("budget-part{}", part + 1) };
        let title = format!("Error budget of {}", cut(&shown(component), 60));
        all.extend(budget(&file(&kind), &title, &bars(entries)));
    }
    let drawn = solved.filter(|_| at < MOST_DRAWN);
    let title = heading(series);
    let readings = |table: &Solved| table.readings(&file("readings"), &series.name, &title);
    all.extend(drawn.and_then(readings));
    all.extend(drawn.filter(|_| at == 0).and_then(Solved::core_clock));
    all
}

fn row_plots(series: &Series, rows: &[Row], file: &dyn Fn(&str) -> String) -> Vec<Plot> {
    let in_ns = series.fit.residual_ns.is_some();
    let largest = |of: fn(&Row) -> f64| rows.iter().map(|row| of(row).abs()).fold(0.0, f64::max);
    let (factor, unit) = text::axis_unit(largest(Row::location), in_ns);
    let used = rows.iter().filter(|row| row.left_out.is_none());
    let reach = used.map(|row| row.residual().abs()).fold(0.0, f64::max);
    let (small, small_unit) = text::axis_unit(reach, in_ns);
    let one = !rows.is_empty() && rows.iter().all(|row| row.counts.len() == 1);
    let body = series.body().filter(|_| one && series.components.len() == 1);
    let slope = body.and_then(|(_, body)| body.figure.time());
    let overhead = series.overhead.as_ref().and_then(|overhead| overhead.time());
    let title = heading(series);
    let fitted = slope
        .zip(overhead)
        .and_then(|(slope, overhead)| line_plot(rows, slope.value, overhead.value, factor));
    let across = if one { "copies".to_owned() } else { format!("fitted time ({unit})") };
    let departing = residual_plot(rows, factor, small);
    fitted
        .map(|points| line(&file("line"), &title, &points, unit))
        .into_iter()
        .chain(
            departing
                .map(|points| residuals(&file("residuals"), &title, &points, &across, small_unit)),
        )
        .collect()
}

/// The entries of a budget by their sources.
pub fn bars(entries: &[BudgetEntry]) -> Vec<Bar> {
    let mut bars: Vec<Bar> = Vec::new();
    let mut in_ns = false;
    for entry in entries {
        in_ns |= entry.half_width_ns.is_some();
        let half = entry.half_width_ns.or(entry.half_width_ticks).flatten();
        let (label, size) = (source_name(entry.source), half.unwrap_or(f64::INFINITY));
        match bars.iter_mut().find(|bar| bar.name == label) {
            Some(bar) => bar.size += size,
            None => bars.push(Bar { name: label.into(), size, text: String::new() }),
        }
    }
    let whole: f64 = bars.iter().map(|bar| bar.size).sum();
    for bar in &mut bars {
        let (factor, unit) = text::axis_unit(bar.size, in_ns);
        bar.text = if bar.size < 0.01 * whole {
            "< 1 %".into()
        } else {
            format!("{} {unit}", significant(bar.size * factor, 2))
        };
    }
    bars.retain(|bar| bar.size != 0.0);
    bars
}

/// The results of several processes.
fn runs(series: &Series) -> Option<Block> {
    let (label, part) = series.components.first()?;
    let runs = part.runs.as_ref().filter(|runs| runs.len() > 1)?;
    let cycles = runs.iter().all(|run| run.cycles.is_some());
    let of = |run: &hairspring_result::document::RunValue| {
        if cycles { run.cycles } else { run.time_ns.or(run.ticks) }
    };
    let unit = if cycles {
        "core cycles"
    } else if part.figure.in_ns() {
        "ns"
    } else {
        "ticks"
    };
    let all: Vec<Interval> = runs
        .iter()
        .enumerate()
        .filter_map(|(at, run)| {
            let out = if run.left_out { ", left out" } else { "" };
            Some(Interval { name: format!("process {}{out}", at + 1), estimate: of(run)? })
        })
        .collect();
    let title = format!("{} of each process", name(label));
    let plot = intervals(("processes", &title), &format!("time ({unit})"), &all, None);
    Some(Block::Details("Each process".into(), vec![Block::Plots(plot.into_iter().collect())]))
}

/// The rows of a series.
fn rows(series: &Series) -> Table {
    let fit = &series.fit;
    let in_ns = fit.residual_ns.is_some();
    let number = |number: f64| {
        let (factor, unit) = text::axis_unit(number, in_ns);
        format!("{} {unit}", significant(number * factor, 4))
    };
    let row = |row: &Row| {
        let counts: Vec<String> = row.counts.iter().map(|count| significant(*count, 9)).collect();
        vec![
            counts.join(", "),
            number(row.location()),
            number(row.residual()),
            format!("{} of {}", count(row.used), count(row.readings)),
            row.left_out.map(|why| format!("{why:?}")).unwrap_or_default(),
        ]
    };
    let more = fit.rows_detail.len().saturating_sub(MOST_ROWS);
    let more =
        if more > 0 { format!("; {} more are left out", count(more)) } else { String::new() };
    Table {
        caption: format!("Counts of {}, and their times{more}", shown(&fit.columns.join(", "))),
        heads: ["Counts", "Location", "Residual", "Readings used", "Left out"]
            .map(str::to_owned)
            .into(),
        rows: fit.rows_detail.iter().take(MOST_ROWS).map(row).collect(),
    }
}

fn methods(table: &MethodTable) -> Block {
    let row = |row: &hairspring_result::document::Method| {
        let [time, sd, distance] = text::method(row).map(|text| shown(&text));
        vec![shown(&row.technique), time, sd, distance]
    };
    let heads = ["Method", "Time", "Single deviation", "Distance from the line"];
    let blocks = vec![Block::Table(Table {
        caption: format!("Methods beside the line fit: {}", shown(&table.name)),
        heads: heads.map(str::to_owned).into(),
        rows: table.rows.iter().map(row).collect(),
    })];
    Block::Group(format!("Other methods: {}", cut(&shown(&table.name), 60)), blocks)
}

fn circumstances(document: &ResultDocument) -> Block {
    let mut facts: Vec<Fact> = document
        .run
        .iter()
        .map(|run| Fact::new("run", &text::run(run)))
        .chain(Fact::of(&Page::pieces(|page| text::environment(page, &document.environment))))
        .collect();
    let lacks = document.origin.iter().flat_map(|origin| &origin.lacks);
    facts.extend(lacks.map(|lack| Fact::new("intervals lack", lack)));
    Block::Group("Circumstances".into(), vec![Block::Facts(facts)])
}

/// What a page made of a document alone cannot have.
fn left_out(has_table: bool, document: &ResultDocument) -> String {
    if has_table || document.results.iter().all(|series| series.fit.readings == 0) {
        return String::new();
    }
    "Single readings over time and the steps of the core clock are left out, because this page was \
     made from the document alone: hairspring report DOCUMENT --html FILE --table OBSERVATIONS \
     draws them."
        .into()
}
