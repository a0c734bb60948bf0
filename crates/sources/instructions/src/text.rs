//! The table as text, and the list of forms.

use crate::Arrangement;
use crate::against::{Comparison, Quantity};
use crate::form::Form;
use crate::kinds::code;
use crate::result::{Cycles, FormResult, Latency, Table};
use hairspring_core::Estimate;
use hairspring_core::judge::words::counted;
use hairspring_core::judge::{Finding, Severity};
use hairspring_result::Environment;
use hairspring_view::clean::{clean, cut, pad};
use hairspring_view::format::count;
use hairspring_view::page::{Page, Style, Tone};
use hairspring_view::text::{all_findings, machine_line};

/// Columns of the names.
const NAME: usize = 32;

/// The report.
pub fn instructions(
    table: &Table,
    environment: &Environment,
    against: &[Comparison],
    pairs: bool,
    style: &Style,
) -> String {
    let mut page = Page::new(*style);
    page.line("hairspring instructions: core cycles of each form", Tone::Strong);
    page.gap();
    page.line(
        &format!(
            "  {} {:>8} {:>6} {:>7} {:>8} {:>6} notes",
            pad("form", NAME),
            "latency",
            "+-",
            "flags",
            "per copy",
            "+-"
        ),
        Tone::Strong,
    );
    for row in &table.forms {
        page.line(&line(row), if row.is_doubtful() { Tone::Alarm } else { Tone::Plain });
        if pairs {
            for latency in &row.latencies {
                page.line(&pair(latency), Tone::Quiet);
                values(latency, page.width()).iter().for_each(|line| page.line(line, Tone::Quiet));
                for (arrangement, cycles) in &latency.arrangements {
                    page.line(&arranged(*arrangement, cycles, latency.chain.as_ref()), Tone::Quiet);
                }
            }
            row.throughput
                .one_line
                .iter()
                .for_each(|cycles| page.line(&one_line(cycles), Tone::Quiet));
        }
    }
    page.gap();
    page.marked(
        "",
        "latency: of the slowest pair of operands; <= with helpers that carry the value back; \
         flags: through the flags; per copy: of many independent ones (reciprocal throughput)",
    );
    page.marked(
        "",
        "notes: ? in doubt, r renamed and not run, f front end, n no whole number, v depends on \
         values, a depends on addresses, s sum of a store and a load, + with further instructions",
    );
    page.gap();
    summary(&mut page, table);
    against.iter().for_each(|one| compared(&mut page, one));
    machine_line(&mut page, environment);
    all_findings(&mut page, &doubts(table));
    page.finish()
}

fn line(row: &FormResult) -> String {
    let latency = row.latency();
    let throughput = row.throughput.cycles.as_ref().ok();
    let text = format!(
        "  {} {:>8} {:>6} {:>7} {:>8} {:>6} {}",
        pad(&row.name, NAME),
        latency.map_or_else(|| "-".to_owned(), cycles),
        half(latency.and_then(|latency| latency.cycles.measured())),
        row.latencies
            .iter()
            .filter(|one| one.is_of_flags())
            .max_by(|a, b| at_most(a).total_cmp(&at_most(b)))
            .map_or_else(String::new, cycles),
        throughput.map_or_else(|| "-".to_owned(), |cycles| number(cycles.value, 3)),
        half(throughput),
        notes(row)
    );
    text.trim_end().to_owned()
}

fn at_most(latency: &Latency) -> f64 {
    latency.cycles.at_most().unwrap_or(f64::NEG_INFINITY)
}

/// `3.00`, or `<=5.00` where only a sum is known. A sum of a store and a load is not split.
fn cycles(latency: &Latency) -> String {
    match &latency.cycles {
        Cycles::Alone(cycles) => number(cycles.value, 2),
        Cycles::Sum(cycles, _) if is_store_and_load(latency) => number(cycles.value, 2),
        Cycles::Sum(..) => format!("<={}", number(at_most(latency), 2)),
        Cycles::Unknown(_) => "-".into(),
    }
}

fn is_store_and_load(latency: &Latency) -> bool {
    latency.is_of_memory() && matches!(latency.cycles, Cycles::Sum(..))
}

/// A number with so many digits behind the point; a negative zero is zero.
fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
}

fn half(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(String::new, |estimate| number(estimate.half_width(), 3))
}

fn notes(row: &FormResult) -> String {
    let has = |code: &str| row.findings.iter().any(|finding| finding.is(code));
    let marks = [
        (row.is_doubtful(), '?'),
        (has(code::ELIMINATED), 'r'),
        (has(code::FRONT_END), 'f'),
        (has(code::OFF_LATTICE), 'n'),
        (has(code::DEPENDS_ON_VALUES), 'v'),
        (has(code::DEPENDS_ON_ADDRESSES), 'a'),
        (row.latency().is_some_and(is_store_and_load), 's'),
        (!row.throughput.with.is_empty(), '+'),
    ];
    marks.into_iter().filter(|(applies, _)| *applies).map(|(_, mark)| mark).collect()
}

/// One pair of operands of a form.
fn pair(latency: &Latency) -> String {
    let name = format!("{} to {}", latency.from, latency.to);
    let text = match &latency.cycles {
        Cycles::Alone(alone) => format!("{} +- {}", number(alone.value, 2), half(Some(alone))),
        Cycles::Sum(sum, helpers) => {
            // Several names are too long for a line.
            let short = |form: &'_ str| {
                if helpers.len() > 1 {
                    form.split(' ').next().unwrap_or_default().to_owned()
                } else {
                    form.to_owned()
                }
            };
            let names: Vec<String> = helpers.iter().map(|helper| short(&helper.form)).collect();
            format!("{} +- {} with {}", number(sum.value, 2), half(Some(sum)), names.join(", "))
        }
        Cycles::Unknown(reason) => reason.clone(),
    };
    format!("      {} {text}{}", pad(&name, 14), if latency.is_doubtful { " ?" } else { "" })
}

/// The chain with special values, on lines of their own: as many on each as fit the columns of the
/// page.
fn values(latency: &Latency, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (values, cycles) in &latency.values {
        let text =
            format!("{} {} +- {}", values.name(), number(cycles.value, 2), half(Some(cycles)));
        match lines.last_mut().filter(|line| line.len() + 2 + text.len() < columns) {
            Some(line) => *line += &format!(", {text}"),
            None => {
                lines.last_mut().into_iter().for_each(|line| line.push(','));
                lines.push(format!("        {text}"));
            }
        }
    }
    lines
}

/// The chain with another use of memory, beside the usual one.
fn arranged(arrangement: Arrangement, cycles: &Estimate, usual: Option<&Estimate>) -> String {
    let usual =
        usual.map_or_else(String::new, |usual| format!(", usually {}", number(usual.value, 2)));
    format!(
        "        {} {} +- {} for the chain{usual}",
        pad(arrangement.name(), 12),
        number(cycles.value, 2),
        half(Some(cycles))
    )
}

/// Copies that store to one line of the cache.
fn one_line(cycles: &Estimate) -> String {
    format!(
        "      {} {} +- {}",
        pad("per copy, one line", 18),
        number(cycles.value, 3),
        half(Some(cycles))
    )
}

fn summary(page: &mut Page, table: &Table) {
    let run = &table.run;
    let doubtful = table.forms.iter().filter(|row| row.is_doubtful()).count();
    let text = format!(
        "{}, {} in doubt; {} series in {:.1} s, {} measured again",
        counted(table.forms.len() as u64, "form", "forms"),
        count(doubtful),
        count(run.series.len()),
        run.elapsed.as_secs_f64(),
        count(run.repeated)
    );
    page.item("run", &text, Tone::Quiet);
    if let Some(nothing) = &table.front_end {
        page.item(
            "nop",
            &format!(
                "{} cycles for an instruction that does nothing: the front end",
                number(nothing.value, 3)
            ),
            Tone::Quiet,
        );
    }
    page.item("cycles", &format!("on CPU {}: {}", run.cpu, run.provenance), Tone::Quiet);
    if !table.left_out.is_empty() {
        let names: Vec<String> =
            table.left_out.iter().map(|(name, reason)| format!("{name} ({reason})")).collect();
        page.item("left out", &names.join("; "), Tone::Quiet);
    }
}

/// Serious findings of all forms: the first of each kind, and the names of the other forms that
/// have one of the kind.
fn doubts(table: &Table) -> Vec<Finding> {
    let mut all_doubts: Vec<(Finding, Vec<&str>)> = Vec::new();
    for row in table.forms.iter().filter(|row| row.is_doubtful()) {
        for finding in row.findings.iter().filter(|finding| finding.severity > Severity::Note) {
            match all_doubts.iter_mut().find(|(known, _)| known.code == finding.code) {
                Some((_, names)) => names.push(&row.name),
                None => all_doubts.push((finding.clone(), vec![row.name.as_str()])),
            }
        }
    }
    let told = |finding: &Finding, names: &[&str]| match &names[1..] {
        [] => format!("{}: {}", names[0], finding.message),
        others => format!("{}: {}; likewise {}", names[0], finding.message, some_of(others)),
    };
    all_doubts
        .into_iter()
        .map(|(finding, names)| Finding { message: told(&finding, &names), ..finding })
        .collect()
}

/// Names that are shown; more are counted.
const SHOWN_NAMES: usize = 3;

fn some_of(names: &[&str]) -> String {
    and_more(&names[..names.len().min(SHOWN_NAMES)].join("; "), names.len())
}

fn and_more(shown_names: &str, number_of_all: usize) -> String {
    let more = number_of_all.saturating_sub(SHOWN_NAMES);
    if more > 0 {
        format!("{shown_names} and {} more", count(more))
    } else {
        shown_names.to_owned()
    }
}

/// The differences from another source.
fn compared(page: &mut Page, against: &Comparison) {
    let (text, tone) = if against.rows.is_empty() {
        (nothing_compared(against), Tone::Alarm)
    } else {
        (agreement(against), Tone::Strong)
    };
    page.item("against", &format!("{}: {text}", against.source), tone);
    if !against.unknown.is_empty() {
        page.marked("", &unknown(&against.unknown));
    }
    let mut differences: Vec<_> = against.rows.iter().filter(|row| !row.agrees).collect();
    differences.sort_by_key(|row| row.quantity != Quantity::Latency);
    for row in differences {
        let name = format!("{} {}", pad(&row.form, NAME), row.quantity.name());
        page.line(
            &format!(
                "    {} {:>8} here, {:>8} there",
                pad(&name, NAME + 11),
                number(row.here, 2),
                number(row.there, 2)
            ),
            Tone::Plain,
        );
    }
    page.gap();
}

fn agreement(against: &Comparison) -> String {
    format!(
        "latency: {} of {} within {:.0} %; per copy: {} of {} within {:.0} %; {} in doubt are not \
         compared",
        against.agreeing(Quantity::Latency),
        against.compared(Quantity::Latency),
        100.0 * Quantity::Latency.tolerance(),
        against.agreeing(Quantity::Throughput),
        against.compared(Quantity::Throughput),
        100.0 * Quantity::Throughput.tolerance(),
        against.doubtful
    )
}

/// Why no number was compared: "0 of 0 agree" would be overlooked.
fn nothing_compared(against: &Comparison) -> String {
    let why = match (against.doubtful, against.unknown.len()) {
        (0, 0) => "it has no latency and no throughput, or only those in doubt".to_owned(),
        (0, _) => "it has no form that was measured here".to_owned(),
        (doubtful, _) => {
            format!("{} of its numbers are in doubt here, or only known as a sum", count(doubtful))
        }
    };
    format!("NOTHING COULD BE COMPARED: {why}")
}

/// Names of the other source that were ignored. They come from a file, and may be of any length.
fn unknown(names: &[String]) -> String {
    const LONGEST_NAME: usize = 40;
    let short: Vec<String> =
        names.iter().take(SHOWN_NAMES).map(|name| cut(&clean(name), LONGEST_NAME)).collect();
    let forms = if names.len() == 1 { "form" } else { "forms" };
    format!(
        "{} unknown instruction {forms} in it: {}",
        count(names.len()),
        and_more(&short.join("; "), names.len())
    )
}

/// The forms with their sets and extensions, and what this CPU lacks.
pub fn list(forms: &[(Form, Vec<String>)], style: &Style) -> String {
    let mut page = Page::new(*style);
    page.line(&format!("  {} {:<9} {}", pad("form", NAME + 8), "set", "needs"), Tone::Strong);
    for (form, lacking) in forms {
        let lacks = if lacking.is_empty() { String::new() } else { " (not on this CPU)".into() };
        page.line(
            &format!("  {} {:<9} {}{lacks}", pad(&form.name, NAME + 8), form.set, form.extension()),
            Tone::Plain,
        );
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    #[test]
    fn all_special_values_of_a_pair_are_told_with_intervals_on_lines_that_fit_the_page() {
        let cycles = Estimate { value: 1234.5, low: 1234.0, high: 1235.0, level: 0.95 };
        let all_values = [Values::Zero, Values::One, Values::Random, Values::Denormal]
            .map(|values| (values, cycles));
        let (from, to) = ("1".to_owned(), "1".to_owned());
        let cycles = Cycles::Alone(cycles);
        let latency = Latency {
            from,
            to,
            cycles,
            values: all_values.into(),
            arrangements: Vec::new(),
            chain: None,
            delayed_by: None,
            is_doubtful: false,
        };
        let lines = values(&latency, 80);
        let first = "        zero 1234.50 +- 0.500, one 1234.50 +- 0.500, random 1234.50 +- 0.500,";
        assert_eq!(lines, [first, "        denormal 1234.50 +- 0.500"]);
        assert!(lines.iter().all(|line| line.len() <= 80), "{lines:?}");
        let short = Estimate { value: 10.034, low: 10.014, high: 10.054, level: 0.95 };
        let three = Latency {
            values: latency.values[..3].iter().map(|(values, _)| (*values, short)).collect(),
            ..latency.clone()
        };
        assert_eq!(
            values(&three, 80),
            ["        zero 10.03 +- 0.020, one 10.03 +- 0.020, random 10.03 +- 0.020"]
        );
        assert!(values(&Latency { values: Vec::new(), ..latency }, 80).is_empty());
    }

    #[test]
    fn names_that_no_form_has_are_told_and_so_is_that_nothing_was_compared() {
        let style = Style { width: 80, ascii: true, color: false };
        let told = |unknown: &[&str], doubtful: usize| {
            let mut page = Page::new(style);
            let unknown = unknown.iter().map(|name| (*name).to_owned()).collect();
            compared(
                &mut page,
                &Comparison {
                    source: "x\u{1b}[2J.csv".into(),
                    rows: Vec::new(),
                    doubtful,
                    unknown,
                },
            );
            page.finish().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let long = "long".repeat(1_000);
        let text = told(&["a\u{1b}[31m", "b\nc", &long, "d", "e"], 0);
        assert!(
            text.contains(
                "x?[2J.csv: NOTHING COULD BE COMPARED: it has no form that was measured here"
            ),
            "{text}"
        );
        assert!(
            text.contains("5 unknown instruction forms in it: a?[31m; b c; longlong"),
            "{text}"
        );
        assert!(
            text.ends_with("... and 2 more") && text.len() < 300 && !text.contains('\u{1b}'),
            "{text}"
        );
        assert!(
            told(&["a"], 2).contains("2 of its numbers are in doubt here")
                && told(&["a"], 2).ends_with("1 unknown instruction form in it: a")
        );
        assert!(told(&[], 0).ends_with(
            "NOTHING COULD BE COMPARED: it has no latency and no throughput, or only those in doubt"
        ));
    }
}
