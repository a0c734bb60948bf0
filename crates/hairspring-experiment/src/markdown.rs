//! The record as a Markdown document.

use crate::record::{Comparison, MeasurementRecord, Record};
use hairspring_core::judge::Agreement;
use hairspring_view::clean::clean;
use hairspring_view::format::{plus_minus, significant, with_interval};
use hairspring_view::text::distance;
use std::fmt::Write;

/// The record as a Markdown document: the seven steps with their results.
pub fn markdown(record: &Record) -> String {
    let mut page = String::new();
    let definition = &record.definition;
    section(&mut page, &format!("# Experiment: {}", inline(&definition.name)), &summary(record));
    section(&mut page, "## 1. What do we need?", &inline(&definition.need));
    section(&mut page, "## 2. The quantity", &inline(&definition.quantity));
    section(&mut page, "## 3. Required accuracy", &accuracy(record));
    section(&mut page, "## 4A. Circumstances", &circumstances(record));
    section(&mut page, "## 4B. Expectation", &expectation(record));
    section(&mut page, "## 4C. Set-up", &setup(&record.measurement));
    section(&mut page, "## 5. Actual accuracy", &budget(&record.measurement, &record.unit));
    section(&mut page, "## 6. Measurement", &measurement(&record.measurement, &record.unit));
    section(&mut page, "## 7. Sanity check", &sanity(record));
    let fence = fence(&record.text);
    section(
        &mut page,
        "## To run it again",
        &format!(
            "Save this as `FILE` in the folder that has what it runs, and run `hairspring \
             experiment FILE`.\n\n{fence}toml\n{}\n{fence}",
            record.text.trim_end()
        ),
    );
    page
}

/// A line of backticks that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn section(page: &mut String, heading: &str, text: &str) {
    let gap = if page.is_empty() { "" } else { "\n" };
    // Writing to a string cannot fail.
    let _ = write!(page, "{gap}{heading}\n\n{}\n", text.trim_end());
}

/// Text of a file in one line, without what Markdown would take for markup.
fn inline(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '#' | '|' | '&') {
            out.push('\\');
        }
        out.push(c);
        // A zero-width space: GitHub calls those whose names stand behind the sign.
        if c == '@' {
            out += "&#8203;";
        }
    }
    out
}

/// Text as a code span.
fn code(text: &str) -> String {
    let text = clean(text);
    let fence = if text.contains('`') { "``" } else { "`" };
    let gap = if text.contains('`') { " " } else { "" };
    format!("{fence}{gap}{text}{gap}{fence}")
}

/// A unit as it stands behind a number; a plain number has none.
fn behind(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

fn summary(record: &Record) -> String {
    let (unit, measured) = (behind(&record.unit), &record.measurement.value);
    let identity = record.environment.identity.as_ref();
    let made_by = identity.map_or_else(String::new, |identity| {
        format!(" Made {} by hairspring {}.", identity.created, identity.version)
    });
    let second = record.check.as_ref().map(|check| {
        let second_value = plus_minus(&check.measurement.value);
        format!(
            " The second method gives {second_value}{unit}; the first one against it: {}.",
            verdict(&check.comparison)
        )
    });
    let none = record.no_check.as_ref().map(|_| " The second method gave no figure.".to_owned());
    format!(
        "**Measured {}{unit}, expected {}{unit}: {}.{} The required accuracy was {}.**{made_by}",
        plus_minus(measured),
        with_interval(&record.expectation.value),
        verdict(&record.sanity),
        second.or(none).unwrap_or_default(),
        if record.accuracy.met { "reached" } else { "not reached" },
    )
}

/// The verdict in words, with the factor and the sigmas.
pub fn verdict(comparison: &Comparison) -> String {
    let word = match comparison.verdict {
        Agreement::Agrees => "agrees".to_owned(),
        Agreement::Deviates => "deviates".to_owned(),
        Agreement::Undecided => format!(
            "undecided: {}",
            comparison.verdict_reason.as_deref().unwrap_or("not precise enough to say")
        ),
    };
    match distance(comparison.factor, comparison.sigmas) {
        Some(distance) => format!("{word} ({distance})"),
        None => word,
    }
}

fn accuracy(record: &Record) -> String {
    let (accuracy, unit) = (&record.accuracy, behind(&record.unit));
    format!(
        "{}: +- {}{unit} at {} % confidence. Reached: +- {}{unit}, {}.",
        inline(&record.definition.accuracy.required),
        significant(accuracy.required, 3),
        significant(100.0 * record.measurement.value.level, 4),
        significant(accuracy.reached, 2),
        match (accuracy.met, record.measurement.trusted) {
            (true, _) => "which is enough",
            (_, true) => "which is not enough",
            (_, false) => "by a measurement that is not to be trusted",
        }
    )
}

fn circumstances(record: &Record) -> String {
    let stated_lines = record
        .definition
        .circumstances
        .iter()
        .map(|(name, text)| format!("- {}: {}", inline(name), inline(text)));
    let environment = &record.environment;
    let machine = environment.cpu.as_ref().map(|cpu| {
        format!("- machine: {}, {} CPUs, {}", inline(&cpu.model), cpu.cpus, cpu.architecture)
    });
    let system = environment.system.as_ref().map(|system| format!("- system: {}", inline(system)));
    let own_environment = &record.measurement.environment;
    let measured_places = [
        ("/clock/name", "clock"),
        ("/compiler", "compiler"),
        ("/compiler_flags", "flags of the compiler"),
        ("/pinned_cpu", "CPU"),
    ];
    let measured_lines = measured_places.iter().filter_map(|(place, name)| {
        let value = own_environment.pointer(place).filter(|value| !value.is_null())?;
        Some(format!(
            "- {name}: {}",
            inline(value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str())
        ))
    });
    let host = environment
        .identity
        .as_ref()
        .and_then(|identity| identity.host.as_ref())
        .map(|host| format!("- host: {host}"));
    let commit = environment
        .identity
        .as_ref()
        .and_then(|identity| identity.commit.as_ref())
        .map(|commit| format!("- commit: {commit}"));
    stated_lines
        .chain(machine)
        .chain(system)
        .chain(measured_lines)
        .chain(host)
        .chain(commit)
        .collect::<Vec<_>>()
        .join("\n")
}

fn expectation(record: &Record) -> String {
    let (expected, unit) = (&record.expectation, behind(&record.unit));
    let mut text = format!(
        "{} = {}{unit}",
        code(&record.definition.expectation.model),
        with_interval(&expected.value)
    );
    let part = |half: Option<f64>| {
        half.map_or_else(
            || "without bounds".to_owned(),
            |half| format!("{}{unit}", significant(half, 2)),
        )
    };
    let parts = match (expected.is_stated, expected.propagations_agree) {
        (true, true) => format!(
            ": stochastic {}, systematic {}",
            part(expected.stochastic),
            part(expected.systematic)
        ),
        (true, false) => format!(
            " (to first order stochastic {}, systematic {})",
            part(expected.stochastic),
            part(expected.systematic)
        ),
        (false, _) => ": 2 % are assumed, because the model states no `+-`".to_owned(),
    };
    text += &parts;
    text.push_str(".\n");
    for (name, value) in &expected.inputs {
        text += &format!("\n- {} = {}", code(name), code(value));
        text += &expected
            .measured_by
            .get(name)
            .map_or_else(String::new, |command| format!(", measured by {}", code(command)));
    }
    for finding in &expected.findings {
        text += &format!("\n- doubt: {}", inline(finding));
    }
    if let (Some(low), Some(high)) = (expected.monte_carlo_low, expected.monte_carlo_high) {
        let agree = match expected.propagations_agree {
            true => "which agrees",
            false => {
                "which does not agree: the model is not straight within its uncertainties, so \
                 these ends count, each on its side"
            }
        };
        text += &format!(
            "\n\nBy Monte Carlo: {} to {}{unit}, {agree}.",
            significant(low, 5),
            significant(high, 5)
        );
    }
    let because = record
        .definition
        .expectation
        .because
        .as_ref()
        .map_or_else(String::new, |because| format!("\n\nFrom: {}", inline(because)));
    text + &because
}

fn setup(measurement: &MeasurementRecord) -> String {
    let fence = fence(&measurement.commands.join("\n"));
    let times = if measurement.runs == 1 {
        String::new()
    } else {
        format!("Run {} times:\n\n", measurement.runs)
    };
    let commands: Vec<String> = measurement.commands.iter().map(|command| clean(command)).collect();
    format!("{times}{fence}sh\n{}\n{fence}", commands.join("\n"))
}

fn budget(measurement: &MeasurementRecord, unit: &str) -> String {
    let of_unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let mut table =
        format!("| source | kind | half-width{of_unit} | share | note |\n|---|---|---|---|---|\n");
    for entry in &measurement.budget {
        let note = entry.note.as_deref().map_or_else(String::new, inline);
        table += &format!(
            "| {} | {} | {} | {} % | {note} |\n",
            inline(&entry.source),
            entry.kind.word(),
            significant(entry.half_width, 2),
            significant(100.0 * entry.share, 2)
        );
    }
    table += &format!(
        "| **total** | | {} | | stochastic ones in quadrature, plus systematic ones |\n",
        significant(measurement.total, 2)
    );
    table
}

fn measurement(measurement: &MeasurementRecord, unit: &str) -> String {
    let mut text = format!("{}{}", plus_minus(&measurement.value), behind(unit));
    text += if measurement.trusted { "." } else { ", **not to be trusted**." };
    for finding in &measurement.findings {
        text += &format!("\n\n- {}", inline(finding));
    }
    text
}

fn sanity(record: &Record) -> String {
    let mut text = format!("Measurement against expectation: **{}**.", verdict(&record.sanity));
    if let Some(check) = &record.check {
        text += &format!(
            "\n\nThe second method gives {}{}{}The first method against it: **{}**.\n\n{}",
            plus_minus(&check.measurement.value),
            behind(&record.unit),
            if check.same_runs {
                ", from the same runs.\n\n".to_owned()
            } else {
                format!(":\n\n{}\n\n", setup(&check.measurement))
            },
            verdict(&check.comparison),
            budget(&check.measurement, &record.unit),
        );
    }
    if let Some(reason) = &record.no_check {
        text += &format!("\n\nThe second method gave no figure: {}.", inline(reason));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_file_is_no_markup() {
        assert_eq!(inline("a | b\n# c `d` \u{1b}[31m <x>"), r"a \| b \# c \`d\` ?\[31m \<x\>");
        assert_eq!(inline("ask @all"), "ask @&#8203;all");
        assert_eq!((code("a"), code("a`b")), ("`a`".to_owned(), "`` a`b ``".to_owned()));
        assert_eq!((fence("x"), fence("````\n``")), ("```".to_owned(), "`````".to_owned()));
    }
}
