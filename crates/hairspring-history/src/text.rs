//! A history as text of at most 80 columns.

use crate::document::{Counts, HistoryDocument, LevelEntry, PointEntry, SeriesEntry, StepEntry};
use hairspring_core::Estimate;
use hairspring_view::clean::{clean, cut};
use hairspring_view::format::{count, plus_minus, significant};
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::plot::{Plot, Point};
use hairspring_view::text::all_findings;

/// Series that are listed; any more are counted.
const MOST_SERIES: usize = 30;
/// Steps of a series that are listed, from the last one.
const MOST_STEPS: usize = 10;
/// Digits of a commit.
const COMMIT: usize = 10;
/// Size of a plot in characters.
const PLOT: (usize, usize) = (64, 9);

/// The report of `check`: what is new.
pub fn check(document: &HistoryDocument, style: &Style) -> String {
    let mut page = Page::new(*style);
    head(&mut page, document);
    let is_told = |one: &&SeriesEntry| is_outside(one) || one.steps.iter().any(|step| step.new);
    let told: Vec<&SeriesEntry> = document.series.iter().filter(is_told).collect();
    for one in told.iter().take(MOST_SERIES) {
        page.gap();
        title(&mut page, one);
        let new: Vec<&StepEntry> = one.steps.iter().filter(|step| step.new).collect();
        new.iter().for_each(|step| self::step(&mut page, one, step));
        last(&mut page, one);
    }
    rest(&mut page, told.len());
    tail(&mut page, document);
    let tone = if document.counts.past > 0 { Tone::Alarm } else { Tone::Strong };
    page.item("result", &summary(document), tone);
    page.finish()
}

/// The report of `show`: series with their plots and all their steps.
pub fn show(document: &HistoryDocument, style: &Style) -> String {
    let mut page = Page::new(*style);
    head(&mut page, document);
    for one in document.series.iter().take(MOST_SERIES) {
        page.gap();
        series(&mut page, one);
    }
    rest(&mut page, document.series.len());
    tail(&mut page, document);
    page.finish()
}

fn head(page: &mut Page, document: &HistoryDocument) {
    page.line(&format!("hairspring {}", document.command), Tone::Strong);
    page.item("database", &document.database, Tone::Quiet);
    let of = format!(
        "{} runs of {} commits, {} series",
        count(document.runs),
        count(document.commits),
        count(document.counts.series)
    );
    page.item("holds", &of, Tone::Quiet);
}

fn rest(page: &mut Page, all: usize) {
    if all > MOST_SERIES {
        page.gap();
        let text = format!("and {} more series; --json has all", count(all - MOST_SERIES));
        page.marked("", &text);
    }
}

fn tail(page: &mut Page, document: &HistoryDocument) {
    page.gap();
    all_findings(page, &document.findings);
    page.gap();
}

fn title(page: &mut Page, one: &SeriesEntry) {
    let component =
        if one.component == "body" { String::new() } else { format!(" ({})", one.component) };
    let title = format!("  {}{component}", clean(&one.name));
    page.line(&cut(&title, page.width()), Tone::Strong);
    page.item("machine", &one.machine, Tone::Quiet);
}

fn series(page: &mut Page, one: &SeriesEntry) {
    title(page, one);
    let now = one.now.map(|now| format!("{} {}", plus_minus(&now), one.unit));
    let now = now.unwrap_or_else(|| "unknown: no point can be used".into());
    page.item("now", &format!("{now}, {} points", count(one.count)), Tone::Plain);
    plot(page, one);
    let hidden = one.steps.len().saturating_sub(MOST_STEPS);
    if hidden > 0 {
        page.marked("", &format!("{hidden} earlier steps; --json has all"));
    }
    one.steps[hidden..].iter().for_each(|each| step(page, one, each));
    if one.steps.is_empty() && one.now.is_some() {
        page.item("steps", "none", Tone::Plain);
    }
    noise(page, one);
    last(page, one);
}

fn noise(page: &mut Page, one: &SeriesEntry) {
    let (Some(noise), Some(between)) = (one.noise_percent, one.between_runs_percent) else {
        return;
    };
    let size = |size: f64| size_in_words(one, size);
    let text = format!("{} a point, {} of it between runs", size(noise), size(between));
    page.item("noise", &text, Tone::Quiet);
    if let Some(smallest) = one.smallest_step_percent {
        let text = format!("a step of {} would have been seen in 9 of 10", size(smallest));
        page.item("smallest", &text, Tone::Quiet);
    }
}

fn size_in_words(one: &SeriesEntry, size: f64) -> String {
    let unit = if one.steps_are_shares { "%" } else { &one.unit };
    format!("{} {unit}", significant(size, 2))
}

/// A step in words: its size, its place, and what it is.
fn step(page: &mut Page, one: &SeriesEntry, step: &StepEntry) {
    let unit = if one.steps_are_shares { "%" } else { &one.unit };
    let sign = if step.rise_percent.value > 0.0 { "+" } else { "" };
    let what = format!("{sign}{} {unit}", plus_minus(&step.rise_percent));
    let kind = match (step.past, step.of_host, step.new) {
        (true, ..) => "; past the threshold",
        (_, true, _) => "; the core clock of the machine steps by as much: of the host",
        (_, _, true) if step.worse => "; new, not past the threshold",
        (_, _, true) => "; new, for the better",
        _ => "",
    };
    let tone = if step.past { Tone::Alarm } else { Tone::Plain };
    page.item("step", &format!("{what} {}{kind}", place(step)), tone);
}

/// Where a step lies.
fn place(step: &StepEntry) -> String {
    let short = |commit: &Option<String>| match commit {
        Some(commit) => commit.chars().take(COMMIT).collect(),
        None => "a run without commit".to_owned(),
    };
    let points = step.place[1] - step.place[0] + 1;
    if points == 1 {
        return format!("between {} and {}", short(&step.after_commit), short(&step.at_commit));
    }
    format!(
        "near {}: behind {}, not behind {} ({points} places)",
        short(&step.at_commit),
        short(&step.after_commit),
        short(&step.up_to_commit)
    )
}

fn is_outside(one: &SeriesEntry) -> bool {
    one.last.as_ref().is_some_and(|last| last.outside)
}

fn last(page: &mut Page, one: &SeriesEntry) {
    let Some(last) = one.last.as_ref().filter(|last| last.outside) else { return };
    let text = format!(
        "{} {unit}, expected within {} to {} {unit}: measure again, one point is no step",
        significant(last.value, 4),
        significant(last.expected.low, 4),
        significant(last.expected.high, 4),
        unit = one.unit
    );
    page.item("last point", &text, Tone::Warning);
}

fn summary(document: &HistoryDocument) -> String {
    let Counts { series, steps, past, of_host, outside } = document.counts;
    let mut parts = vec![format!(
        "{past} new {} for the worse past {} %",
        if past == 1 { "step" } else { "steps" },
        significant(document.threshold_percent, 3)
    )];
    if of_host > 0 {
        parts.push(format!("{of_host} of the host"));
    }
    if outside > 0 {
        parts.push(format!("{outside} last points where they were not expected"));
    }
    format!("{}; {steps} steps in all of {} series", parts.join(", "), count(series))
}

/// The points as marks over their levels.
fn plot(page: &mut Page, one: &SeriesEntry) {
    let points: Vec<Point> = one.points.iter().enumerate().filter_map(mark).collect();
    let Some(y) = range(&points).filter(|_| points.len() > 1) else { return };
    let mut lines = one.levels.iter().map(line);
    let Some(first) = lines.next() else { return };
    let plot = Plot { points, line: first, x: (0.0, (one.points.len() - 1) as f64), y };
    let drawn = plot.draw_with(&lines.collect::<Vec<_>>(), PLOT.0, PLOT.1, page.ascii());
    for (at, row) in drawn.iter().enumerate() {
        let label = match at {
            0 => significant(y.1, 3),
            _ if at + 1 == PLOT.1 => significant(y.0, 3),
            _ => String::new(),
        };
        page.line(&format!("  {label:>8} {row}"), Tone::Plain);
    }
    let ends = [one.points.first(), one.points.last()].map(|point| commit_of(point, COMMIT));
    let blank = (PLOT.0).saturating_sub(ends[0].len() + ends[1].len());
    page.line(&format!("{:11}{}{}{}", "", ends[0], " ".repeat(blank), ends[1]), Tone::Quiet);
}

fn mark((at, point): (usize, &PointEntry)) -> Option<Point> {
    let y = point.value.filter(|value| value.abs() < 1e100)?;
    Some(Point { x: at as f64, y, used: point.used })
}

/// The values that are drawn: those in use, with a margin.
fn range(points: &[Point]) -> Option<(f64, f64)> {
    let used = || points.iter().filter(|point| point.used).map(|point| point.y);
    let (low, high) =
        (used().fold(f64::INFINITY, f64::min), used().fold(f64::NEG_INFINITY, f64::max));
    let margin =
        if high > low { 0.1 * (high - low) } else { 0.01 * high.abs().max(f64::MIN_POSITIVE) };
    (low <= high).then_some((low - margin, high + margin))
}

fn line(level: &LevelEntry) -> [(f64, f64); 2] {
    let Estimate { value, .. } = level.mean;
    [(level.from as f64, value), (level.to as f64, value)]
}

fn commit_of(point: Option<&PointEntry>, digits: usize) -> String {
    let commit = point.and_then(|point| point.commit.as_deref()).unwrap_or("");
    clean(&commit.chars().take(digits).collect::<String>())
}
