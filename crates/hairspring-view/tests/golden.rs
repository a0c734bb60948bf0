//! Whole reports against the texts in `golden/`. `UPDATE_EXPECT=1` writes them anew.

mod samples;

use expect_test::expect_file;
use hairspring_core::judge::{Expected, Reach, Verdict, disturbed_finding};
use hairspring_result::document::Wanted;
use hairspring_result::{Finding, ResultDocument, Unit, json};
use hairspring_view::{Style, text};
use serde_json::Value;
use std::path::Path;

/// Compares a text with the file of that name below this package.
fn matches(path: &str, text: &str) {
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join(path)].assert_eq(text);
}

/// Rounds to nine significant digits: the last digits depend on the processor's instructions.
fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            *value = format!("{:.8e}", number.as_f64().unwrap()).parse::<f64>().unwrap().into()
        }
        Value::Array(all) => all.iter_mut().for_each(round),
        Value::Object(map) => map.values_mut().for_each(round),
        _ => {}
    }
}

fn sound(text: &str, columns: usize) {
    for line in text.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= columns, "too wide: {line}");
        assert!(!line.chars().any(char::is_control), "control character: {line:?}");
        assert!(!line.ends_with(' '), "blanks at the end: {line:?}");
    }
}

#[test]
fn reports_match_the_golden_files() {
    for (name, measurement) in samples::all() {
        let text = text::report(&ResultDocument::new(&measurement), &Style::default());
        sound(&text, 80);
        matches(&format!("tests/golden/{name}.txt"), &text);
    }
}

#[test]
fn braille_plots_match_the_golden_file() {
    let text = text::report(
        &ResultDocument::new(&samples::line()),
        &Style { ascii: false, ..Style::default() },
    );
    sound(&text, 80);
    matches("tests/golden/braille.txt", &text);
}

#[test]
fn narrow_pages_are_respected() {
    for (_, measurement) in samples::all() {
        sound(
            &text::report(
                &ResultDocument::new(&measurement),
                &Style { width: 60, ..Style::default() },
            ),
            60,
        );
    }
}

#[test]
fn colour_is_only_there_when_asked_for() {
    let document = ResultDocument::new(&samples::bent());
    let plain = text::report(&document, &Style::default());
    let painted = text::report(&document, &Style { color: true, ..Style::default() });
    assert!(!plain.contains('\u{1b}') && painted.contains("\u{1b}[1;31m"));
    let stripped: String = painted
        .split('\u{1b}')
        .map(|part| {
            part.strip_prefix('[').map_or(part, |rest| &rest[rest.find('m').unwrap() + 1..])
        })
        .collect();
    assert_eq!(stripped, plain);
}

#[test]
fn expectation_follows_the_number_that_it_is_about() {
    let first_order = Reach { stochastic: 8.0, systematic: 0.0 };
    let expected = Expected::symmetric(80.0, first_order);
    let expression = || "(10+50+20) * 1 ns".to_owned();
    let wanted = |unit, is_stated| Wanted {
        expression: expression(),
        expected,
        first_order,
        is_stated,
        is_straight: true,
        unit,
    };
    let above = Reach { stochastic: 70.0, systematic: 0.0 };
    let bent = Wanted {
        expected: Expected { above, ..expected },
        is_straight: false,
        ..wanted(Unit::Nanoseconds, true)
    };
    let several = ResultDocument::new(&samples::alternatives()).beside(&wanted(Unit::Cycles, true));
    for (name, document) in [
        (
            "expected",
            ResultDocument::new(&samples::line()).beside(&wanted(Unit::Nanoseconds, false)),
        ),
        ("expected-bent", ResultDocument::new(&samples::line()).beside(&bent)),
        ("expected-of-alternatives", several.clone()),
        (
            "expected-of-init-and-body",
            ResultDocument::new(&samples::init_and_body()).beside(&wanted(Unit::Ticks, true)),
        ),
    ] {
        let text = text::report(&document, &Style::default());
        sound(&text, 80);
        matches(&format!("tests/golden/{name}.txt"), &text);
        assert!(text.find("  verdict").unwrap() < text.find("intervals of").unwrap(), "{text}");
    }
    let text = text::table(&several, &Style::default());
    sound(&text, 80);
    matches("tests/golden/expected-table.txt", &text);
}

#[test]
fn sample_of_the_specification_matches() {
    let mut example = serde_json::to_value(ResultDocument::new(&samples::line())).unwrap();
    round(&mut example);
    matches("../../spec/result.example.json", &json::print(&example));
}

#[test]
fn an_untrusted_result_says_so_before_any_number() {
    let text = text::report(&ResultDocument::new(&samples::bent()), &Style::default());
    let (warning, body) = (text.find("NOT TO BE TRUSTED").unwrap(), text.find("\n! body").unwrap());
    assert!(warning < body);
}

#[test]
fn what_is_not_to_be_trusted_is_not_faster() {
    let verdicts = |finding: Option<Finding>, factor: f64| {
        let mut measurement = samples::alternatives();
        let ratio = &mut measurement.assessment.comparisons[0].ratio;
        *ratio = ratio.scaled(factor / ratio.value);
        finding.into_iter().for_each(|finding| measurement.assessment.series[1].add(finding));
        let document = ResultDocument::new(&measurement);
        let text = text::report(&document, &Style::default());
        (document.comparisons.iter().map(|one| one.verdict).collect::<Vec<Verdict>>(), text)
    };
    let (trusted, text) = verdicts(None, 0.8);
    assert!(trusted[0] != Verdict::Undecided && !text.contains("undecided"), "{trusted:?} {text}");
    let doubt = || disturbed_finding(0.99, 0.0, false, None);
    let (untrusted, text) = verdicts(doubt(), 0.8);
    assert!(untrusted[0] == Verdict::Undecided && untrusted[1..] == trusted[1..], "{untrusted:?}");
    assert!(text.contains("undecided: a time is not to be trusted"), "{text}");
    let (certain, text) = verdicts(doubt(), 0.2);
    assert!(certain == trusted && text.contains("by more than the doubt"), "{certain:?} {text}");
}

#[test]
fn below_resolution_is_neither_zero_nor_negative() {
    let text = text::report(&ResultDocument::new(&samples::below_resolution()), &Style::default());
    let body = text.lines().find(|line| line.starts_with("  body")).unwrap();
    assert!(body.contains("below 0.") && !body.contains('-'), "{body}");
}

#[test]
fn every_component_is_listed() {
    let text = text::report(&ResultDocument::new(&samples::many()), &Style::default());
    for block in 0..200 {
        assert!(
            text.split_whitespace().any(|word| word == format!("B{block}")),
            "B{block} is missing"
        );
    }
}

#[test]
fn parts_of_a_report_are_available_alone() {
    let measurement = samples::bent();
    let findings: Vec<Finding> = measurement.assessment.series[0].findings.clone();
    assert!(text::findings_alone(&findings, &Style::default()).starts_with("  distrust"));
    assert!(text::findings_alone(&[], &Style::default()).is_empty());
    assert!(text::circumstances(&measurement.environment, &Style::default()).contains("  core"));
}

#[test]
fn a_document_that_was_written_and_read_gives_the_same_report() {
    for (name, measurement) in samples::all() {
        let document = ResultDocument::new(&measurement);
        let read = hairspring_result::read::read(&json::print(&document)).unwrap();
        assert_eq!(
            text::report(&read, &Style::default()),
            text::report(&document, &Style::default()),
            "{name}"
        );
    }
}
