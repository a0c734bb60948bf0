//! One table for many benchmarks: a line for each component, ratios of those that ran together, doubts below.

use super::cells::{Cell, align};
use super::page::{Page, Style, Tone};
use crate::clean::{clean, cut, pad, width, wrap};
use crate::json::{self, ResultDocument};
use crate::saved::{self, SavedFigure, SavedFinding, SavedResult, SavedSeries};

/// Columns of a name; a longer one has a line of its own.
const NAME: usize = 20;
/// Findings that are written out; more are counted.
const MOST_FINDINGS: usize = 40;

/// The table of a document, made from its JSON, so that both say the same.
///
/// # Errors
/// If the document would not be read back.
pub fn table_of(document: &ResultDocument, style: &Style) -> Result<String, String> {
    Ok(table(&saved::read(&json::print(document))?, style))
}

/// The table of a result. Notes are left to the JSON and to the detailed report.
pub fn table(result: &SavedResult, style: &Style) -> String {
    let mut page = Page::new(*style);
    let lines: Vec<Line> = result.results.iter().flat_map(lines).collect();
    let times = align(&lines.iter().map(|line| line.time.clone()).collect::<Vec<_>>());
    let cycles = align(&lines.iter().map(|line| line.cycles.clone()).collect::<Vec<_>>());
    let widest = times.iter().zip(&cycles).map(|(time, cycles)| 2 + NAME + 4 + width(time) + width(cycles.trim_end())).max();
    let apart = widest.is_some_and(|widest| widest > page.width());
    for ((line, time), cycles) in lines.iter().zip(times).zip(cycles) {
        let name = named(&mut page, line);
        let (mark, tone) = if line.untrusted { ('!', Tone::Alarm) } else { (' ', Tone::Strong) };
        let joint = if apart { format!("\n  {}  ", " ".repeat(NAME)) } else { "  ".to_owned() };
        let text = format!("{mark} {name}  {time}{joint}{cycles}");
        text.lines().filter(|text| !text.trim().is_empty()).for_each(|text| page.line(text, tone));
    }
    no_cycles(&mut page, result);
    ratios(&mut page, result);
    level(&mut page, result);
    doubts(&mut page, result);
    page.finish()
}

/// Why some have no core cycles: a time alone may be that of another core clock.
fn no_cycles(page: &mut Page, result: &SavedResult) {
    let figures = result.results.iter().flat_map(|series| series.components.values());
    let without = figures.filter(|figure| figure.cycles.is_none() && !figure.below_resolution);
    let mut reasons: Vec<&String> = without.filter_map(|figure| figure.cycles_reason.as_ref()).collect();
    reasons.sort();
    reasons.dedup();
    if !reasons.is_empty() {
        page.gap();
    }
    for reason in reasons {
        page.item("cycles", &format!("not known: {reason}"), Tone::Quiet);
    }
}

struct Line {
    name: String,
    time: Cell,
    cycles: Cell,
    untrusted: bool,
}

fn lines(series: &SavedSeries) -> Vec<Line> {
    let untrusted = series.findings.iter().any(|finding| finding.severity == "untrusted");
    let several = series.components.len() > 1;
    let line = |(component, figure): (&String, &SavedFigure)| {
        let name = if several { format!("{}: {component}", series.name) } else { series.name.clone() };
        Line { name: clean(&name), time: time(figure), cycles: cycles(figure), untrusted }
    };
    series.components.iter().map(line).collect()
}

fn time(figure: &SavedFigure) -> Cell {
    let (estimate, in_ns, bound) = match (figure.time_ns, figure.ticks) {
        (Some(ns), _) => (Some(ns), true, figure.bound_ns),
        (None, ticks) => (ticks, false, figure.bound_ticks),
    };
    match (bound.filter(|_| figure.below_resolution), estimate) {
        (Some(bound), _) => Cell::below(bound, in_ns),
        (None, Some(estimate)) => Cell::time(&estimate.0, in_ns),
        (None, None) => Cell::default(),
    }
}

fn cycles(figure: &SavedFigure) -> Cell {
    figure.cycles.filter(|_| !figure.below_resolution).map_or_else(Cell::default, |cycles| Cell::cycles(&cycles.0))
}

/// The name as wide as its column; one that is too long goes on a line before.
fn named(page: &mut Page, line: &Line) -> String {
    if width(&line.name) <= NAME {
        return pad(&line.name, NAME);
    }
    page.line(&format!("  {}", cut(&line.name, page.width() - 2)), Tone::Plain);
    " ".repeat(NAME)
}

fn ratios(page: &mut Page, result: &SavedResult) {
    if !result.comparisons.is_empty() {
        page.gap();
    }
    for comparison in &result.comparisons {
        let (a, b) = (clean(&comparison.a), clean(&comparison.b));
        let says = match comparison.verdict.as_str() {
            "faster" => format!("{a} is faster than {b}"),
            "slower" => format!("{a} is slower than {b}"),
            "no_difference" => format!("{a} and {b}: no difference"),
            _ => format!("{a} and {b}: undecided"),
        };
        let ratio = comparison.ratio.map_or_else(|| "no ratio".to_owned(), |ratio| Cell::ratio(&ratio.0).text());
        let (one, room) = (format!("  {says}: {ratio} times the time"), page.width());
        if width(&one) <= room {
            page.line(&one, Tone::Plain);
        } else {
            wrap(&format!("{says}:"), room - 2).iter().for_each(|line| page.line(&format!("  {line}"), Tone::Plain));
            page.line(&format!("      {ratio} times the time"), Tone::Plain);
        }
    }
}

fn level(page: &mut Page, result: &SavedResult) {
    let figure = result.results.iter().flat_map(|series| series.components.values()).next();
    if let Some(level) = figure.and_then(|figure| figure.time_ns.or(figure.ticks)).map(|estimate| estimate.0.level) {
        page.gap();
        let level = crate::format::significant(100.0 * level, 4);
        page.line(&format!("  intervals of {level} % confidence; the overhead is not in the times"), Tone::Quiet);
    }
}

/// What is doubted, by series; a doubt that several have in the same words is told once.
fn doubts(page: &mut Page, result: &SavedResult) {
    let all = result.results.iter().flat_map(|series| series.findings.iter().map(move |finding| (series, finding)));
    let doubts: Vec<(&SavedSeries, &SavedFinding)> = all.filter(|(_, finding)| finding.severity != "note").collect();
    if !doubts.is_empty() {
        page.gap();
    }
    if doubts.iter().any(|(_, finding)| finding.severity == "untrusted") {
        page.line("! NOT TO BE TRUSTED", Tone::Alarm);
    }
    for (series, finding) in doubts.iter().take(MOST_FINDINGS) {
        let (label, tone) = if finding.severity == "untrusted" { ("distrust", Tone::Alarm) } else { ("warning", Tone::Warning) };
        page.item(label, &format!("{}: {}", series.name, finding.message), tone);
        if !finding.remedy.is_empty() {
            page.marked("-> ", &finding.remedy);
        }
    }
    if doubts.len() > MOST_FINDINGS {
        page.marked("", &format!("and {} more, in the JSON document", doubts.len() - MOST_FINDINGS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved::read;

    const SAVED: &str = r#"{"schema": "hairspring/result/1", "command": "run", "environment": {}, "results": [
        {"name": "multiply", "components": {"body": {"time_ns": {"value": 0.812, "low": 0.811, "high": 0.813, "level": 0.95},
         "cycles": {"value": 3.0, "low": 2.99, "high": 3.01, "level": 0.95}}}, "fit": {}},
        {"name": "a name that is far too long for its column\u001b[31m", "components": {"body": {"below_resolution": true,
         "bound_ns": 0.2, "time_ns": {"value": 0.1, "low": -0.1, "high": 0.2, "level": 0.95}}, "init": {}}, "fit": {},
         "findings": [{"severity": "untrusted", "message": "it was disturbed", "remedy": "try again"}, {"severity": "note", "message": "n"}]}],
        "comparisons": [{"a": "multiply", "b": "x", "ratio": {"value": 0.5, "low": 0.4, "high": 0.6, "level": 0.95}, "verdict": "faster"}]}"#;

    #[test]
    fn components_ratios_and_doubts_have_their_lines() {
        let text = table(&read(SAVED).unwrap(), &Style::default());
        assert!(text.contains("  multiply                    0.81200 ns +- 0.00100  3.0000 cycles +- 0.0100\n"), "{text}");
        assert!(text.contains("!                       below 0.2") && text.contains("! NOT TO BE TRUSTED"), "{text}");
        assert!(text.contains("multiply is faster than x: 0.50 +- 0.10 times the time") && text.contains("-> try again"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80) && !text.contains('\u{1b}'), "{text}");
    }
}
