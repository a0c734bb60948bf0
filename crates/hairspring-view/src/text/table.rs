//! One table for many benchmarks: a line for each component, ratios of benchmarks that ran
//! together, then the findings.

use super::expectation::expectation;
use super::findings::{Shared, shared};
use super::report::{at_core_clock, looks, no_difference, stated_clock};
use crate::cells::{Cell, align};
use crate::clean::{clean, cut, pad, width, wrap};
use crate::page::{Page, Style, Tone};
use hairspring_core::judge::{Severity, Verdict};
use hairspring_result::{Component, Figure, ResultDocument, Series};

/// Columns of a name; a longer name gets its own line.
const NAME: usize = 20;
/// Findings that are listed; any more are counted.
const MOST_FINDINGS: usize = 40;

/// The table of a result. Notes are only in the JSON document and in the detailed report. A line is
/// marked with the numbers of the findings about it, which are told once below the table.
pub fn table(result: &ResultDocument, style: &Style) -> String {
    let mut page = Page::new(*style);
    let told = told(result);
    let lines: Vec<Line> = result.results.iter().flat_map(|series| lines(series, &told)).collect();
    let times = align(&lines.iter().map(|line| line.time.clone()).collect::<Vec<_>>());
    let cycles = align(&lines.iter().map(|line| line.cycles.clone()).collect::<Vec<_>>());
    let mark = |line: &Line| if line.mark.is_empty() { 0 } else { 2 + width(&line.mark) };
    let marked = lines.iter().zip(&times).zip(&cycles);
    let widest = marked
        .map(|((line, time), cycles)| {
            2 + NAME + 4 + width(time) + width(cycles.trim_end()) + mark(line)
        })
        .max();
    let apart = widest.is_some_and(|widest| widest > page.width());
    for ((line, time), cycles) in lines.iter().zip(times).zip(cycles) {
        let tone = if line.untrusted { Tone::Alarm } else { Tone::Strong };
        let name = named(&mut page, line, tone);
        let joint = if apart { format!("\n  {}  ", " ".repeat(NAME)) } else { "  ".to_owned() };
        let text = format!("{name}  {time}{joint}{cycles}  {}", line.mark);
        text.lines().filter(|text| !text.trim().is_empty()).for_each(|text| page.line(text, tone));
    }
    expectation(&mut page, result);
    no_cycles(&mut page, result);
    ratios(&mut page, result);
    level(&mut page, result);
    doubts(&mut page, result, &told);
    page.finish()
}

/// The warnings and untrusted findings, each kind once.
fn told(result: &ResultDocument) -> Vec<Shared<'_>> {
    let all = result.results.iter().flat_map(|series| {
        series.findings.iter().map(move |finding| (series.name.as_str(), finding))
    });
    shared(all.filter(|(_, finding)| finding.severity != Severity::Note))
}

/// The numbers of the findings about a component, such as `[1,3]`.
fn mark(told: &[Shared], series: &str, component: &str) -> String {
    let is_about = |one: &Shared| {
        one.names.contains(&series)
            && one.finding.component().is_none_or(|about| about == component)
    };
    let numbers: Vec<String> = told
        .iter()
        .take(MOST_FINDINGS)
        .enumerate()
        .filter(|(_, one)| is_about(one))
        .map(|(at, _)| (at + 1).to_string())
        .collect();
    if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(",")) }
}

/// Why some times have no core cycles: a time in nanoseconds depends on the core clock.
fn no_cycles(page: &mut Page, result: &ResultDocument) {
    let parts = result.results.iter().flat_map(|series| series.components.values());
    let without = parts
        .map(|part| &part.figure)
        .filter(|figure| figure.cycles.is_none() && !figure.below_resolution);
    let mut reasons: Vec<&String> =
        without.filter_map(|figure| figure.cycles_reason.as_ref()).collect();
    reasons.sort();
    reasons.dedup();
    if !reasons.is_empty() {
        page.gap();
    }
    for reason in reasons {
        page.item("cycles", &format!("unknown: {reason}"), Tone::Quiet);
    }
}

struct Line {
    name: String,
    time: Cell,
    cycles: Cell,
    mark: String,
    untrusted: bool,
}

fn lines(series: &Series, told: &[Shared]) -> Vec<Line> {
    let several = series.components.len() > 1;
    let line = |(component, part): (&String, &Component)| {
        let name =
            if several { format!("{}: {component}", series.name) } else { series.name.clone() };
        Line {
            name: clean(&name),
            time: time(&part.figure),
            cycles: cycles(&part.figure),
            mark: mark(told, &series.name, component),
            untrusted: !part.trusted,
        }
    };
    series.components.iter().map(line).collect()
}

fn time(figure: &Figure) -> Cell {
    match (figure.bound(), figure.time()) {
        (Some(bound), _) => Cell::below(bound, figure.in_ns()),
        (None, Some(time)) => Cell::time(&time, figure.in_ns()),
        (None, None) => Cell::default(),
    }
}

fn cycles(figure: &Figure) -> Cell {
    figure
        .cycles
        .as_ref()
        .filter(|_| !figure.below_resolution)
        .map_or_else(Cell::default, Cell::cycles)
}

/// The name behind the sign of a time that is not to be trusted, padded to its column; a longer
/// name is written on a line of its own before.
fn named(page: &mut Page, line: &Line, tone: Tone) -> String {
    let sign = if line.untrusted { '!' } else { ' ' };
    if width(&line.name) <= NAME {
        return format!("{sign} {}", pad(&line.name, NAME));
    }
    page.line(&format!("{sign} {}", cut(&line.name, page.width() - 2)), tone);
    " ".repeat(2 + NAME)
}

fn ratios(page: &mut Page, result: &ResultDocument) {
    if !result.comparisons.is_empty() {
        page.gap();
    }
    for comparison in &result.comparisons {
        let (a, b) = (clean(&comparison.a), clean(&comparison.b));
        let says = match comparison.verdict {
            Verdict::Faster => format!("{a} is faster than {b}"),
            Verdict::Slower => format!("{a} is slower than {b}"),
            Verdict::NoDifference => {
                format!("{a} and {b}: {}", no_difference(comparison.excludes()))
            }
            Verdict::Undecided => format!("{a} and {b}: undecided"),
        };
        let ratio = comparison
            .ratio
            .map_or_else(|| "no ratio".to_owned(), |ratio| Cell::ratio(&ratio).text());
        let (one, room) = (format!("  {says}: {ratio} times the time"), page.width());
        if width(&one) <= room {
            page.line(&one, Tone::Plain);
        } else {
            wrap(&format!("{says}:"), room - 2)
                .iter()
                .for_each(|line| page.line(&format!("  {line}"), Tone::Plain));
            page.line(&format!("      {ratio} times the time"), Tone::Plain);
        }
    }
    looks(page, result);
}

fn level(page: &mut Page, result: &ResultDocument) {
    let mut parts = result.results.iter().flat_map(|series| series.components.values());
    if let Some(level) = parts.find_map(|part| part.figure.time()).map(|time| time.level) {
        page.gap();
        let level = crate::format::significant(100.0 * level, 4);
        let clock = at_core_clock(result);
        let process = if is_of_one_process(result) {
            "; what differs between processes is not in them (`hairspring run` starts several)"
        } else {
            ""
        };
        wrap(
            &format!(
                "intervals of {level} % confidence{clock}; the overhead is not in the \
                 times{process}"
            ),
            page.width() - 2,
        )
        .iter()
        .for_each(|line| page.line(&format!("  {line}"), Tone::Quiet));
        let names: Vec<Option<String>> =
            result.results.iter().map(|series| Some(clean(&series.name))).collect();
        stated_clock(page, result, &names);
    }
}

/// Whether a program ran by itself: what differs from one of its processes to the next, such as the
/// seeds of its hashes, is not known.
fn is_of_one_process(result: &ResultDocument) -> bool {
    result.run.as_ref().is_some_and(|run| run.processes.unwrap_or(1) < 2)
}

/// The warnings and untrusted findings, with the names of the benchmarks that they are about.
fn doubts(page: &mut Page, result: &ResultDocument, told: &[Shared]) {
    if !told.is_empty() {
        page.gap();
    }
    if result.results.iter().any(|series| !series.is_trusted()) {
        page.line("! NOT TO BE TRUSTED", Tone::Alarm);
    }
    for (at, one) in told.iter().take(MOST_FINDINGS).enumerate() {
        one.tell(page, &format!("[{}] ", at + 1));
    }
    if told.len() > MOST_FINDINGS {
        page.marked("", &format!("and {} more, in the JSON document", told.len() - MOST_FINDINGS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_result::read::read;

    const SAVED_RESULT: &str = r#"{"schema": "hairspring/result/2", "command": "run", "environment": {}, "results": [
        {"name": "multiply", "components": {"body": {"time_ns": {"value": 0.812, "low": 0.811, "high": 0.813, "level": 0.95},
         "cycles": {"value": 3.0, "low": 2.99, "high": 3.01, "level": 0.95}}}, "fit": {}},
        {"name": "a name that is far too long for its column\u001b[31m", "components": {"body": {"below_resolution": true,
         "bound_ns": 0.2, "time_ns": {"value": 0.1, "low": -0.1, "high": 0.2, "level": 0.95}}, "init": {}}, "fit": {},
         "findings": [{"kind": "k", "severity": "untrusted", "message": "it was disturbed", "remedy": "try again"}, {"kind": "l", "severity": "note", "message": "n"}]}],
        "comparisons": [{"a": "multiply", "b": "x", "ratio": {"value": 0.5, "low": 0.4, "high": 0.6, "level": 0.95}, "verdict": "faster"}]}"#;

    #[test]
    fn table_shows_components_ratios_and_findings() {
        let text = table(&read(SAVED_RESULT).unwrap(), &Style::default());
        assert!(
            text.contains(
                "  multiply                    0.81200 ns +- 0.00100  3.0000 cycles +- 0.0100\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("\n! a name that is far too long")
                && text.contains("\n                        below 0.2"),
            "{text}"
        );
        assert!(text.contains("! NOT TO BE TRUSTED"), "{text}");
        assert!(
            text.contains("multiply is faster than x: 0.50 +- 0.10 times the time")
                && text.contains("-> try again"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 80) && !text.contains('\u{1b}'),
            "{text}"
        );
    }

    #[test]
    fn a_program_by_itself_says_what_its_intervals_lack() {
        for (processes, lacks) in [("null", true), ("1", true), ("5", false)] {
            let run = format!(
                r#"{{"rounds": 9, "measured_ms": 1, "elapsed_ms": 1, "stop": "s", "stolen_ms": 0, "processes": {processes}}}, "results""#
            );
            let text = table(
                &read(&SAVED_RESULT.replace(r#""results""#, &format!(r#""run": {run}"#))).unwrap(),
                &Style::default(),
            );
            assert_eq!(
                text.split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ")
                    .contains("processes is not in them"),
                lacks,
                "{text}"
            );
        }
    }

    #[test]
    fn the_same_finding_of_twenty_benchmarks_is_told_once_and_marks_their_lines() {
        let component =
            r#"{"body": {"time_ns": {"value": 2.0, "low": 1.9, "high": 2.1, "level": 0.95}}}"#;
        let finding = r#"{"kind": "core_shared", "severity": "untrusted", "message": "somebody else", "remedy": "try again"}"#;
        let series = |at: usize| {
            format!(
                r#"{{"name": "b{at}", "components": {component}, "fit": {{}}, "findings": [{finding}]}}"#
            )
        };
        let all: Vec<String> = (0..20).map(series).collect();
        let saved = format!(
            r#"{{"schema": "hairspring/result/2", "command": "run", "environment": {{}}, "results": [{}]}}"#,
            all.join(",")
        );
        let text = table(&read(&saved).unwrap(), &Style::default());
        assert_eq!(
            (text.matches("somebody else").count(), text.matches("try again").count()),
            (1, 1),
            "{text}"
        );
        assert_eq!(
            text.lines().filter(|line| line.starts_with("! b") && line.ends_with(" [1]")).count(),
            20,
            "{text}"
        );
        assert!(text.contains("distrust  [1] b0, b1, b2") && text.contains("b19:"), "{text}");
    }

    #[test]
    fn a_doubt_about_an_init_marks_its_line_only() {
        let time = r#""time_ns": {"value": 2.0, "low": 1.9, "high": 2.1, "level": 0.95}"#;
        let saved = format!(
            r#"{{"schema": "hairspring/result/2", "command": "run", "environment": {{}}, "results": [{{"name": "sort", "fit": {{}},
            "components": {{"body": {{{time}}}, "init": {{{time}, "serves": true}}}},
            "findings": [{{"kind": "wide_interval", "severity": "untrusted", "component": "init", "message": "wide", "remedy": ""}}]}}]}}"#
        );
        let text = table(&read(&saved).unwrap(), &Style::default());
        assert!(
            text.contains("\n! sort: init")
                && text.contains("  sort: body")
                && !text.contains("NOT TO BE TRUSTED"),
            "{text}"
        );
        assert!(text.contains("distrust  [1] sort: wide"), "{text}");
    }
}
