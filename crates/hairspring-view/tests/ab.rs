//! The text and the Markdown of two builds, also for hostile names and for many benchmarks.

use hairspring_core::pairs::{Pair, level_of_each};
use hairspring_result::ab::{AbDocument, AbSchema, Builds, How, Source, Stopped, Threshold};
use hairspring_result::{Unit, json};
use hairspring_view::{Style, markdown, text};
use unicode_width::UnicodeWidthStr;

/// A document of benchmarks of these names, of which the head takes so much longer.
fn document(names: &[String], factor: f64, pairs: u32) -> AbDocument {
    let mut builds = Builds::default();
    for name in names {
        for number in 0..pairs {
            let noise = 1.0 + 1e-4 * f64::from(number % 5);
            let pair = Pair::of(1e3 * factor * noise, 1e3, 1e3 / noise);
            builds.add_times(name, Unit::Nanoseconds, pair.unwrap());
        }
    }
    let threshold = Threshold { percent: Some(5.0), ..Threshold::default() };
    let source = |named: &str| Source { named: named.into(), ..Source::default() };
    AbDocument {
        schema: AbSchema::V1,
        command: "ab".into(),
        identity: None,
        environment: None,
        base: source(names.first().map_or("", |name| name)),
        head: source("head"),
        how: How::Rounds,
        pairs,
        pairs_asked: 30,
        stopped: Stopped::Interrupted,
        took_s: 1.5,
        level: level_of_each(1),
        level_of_each: builds.level(),
        results: builds.changes(&|_| threshold),
        start: None,
        missing: names.to_vec(),
        added: Vec::new(),
        past_threshold: 0,
        findings: Vec::new(),
    }
}

fn shown(document: &AbDocument) -> String {
    let text = text::ab(document, &Style::default());
    for line in text.lines() {
        assert!(line.width() <= 80 && !line.chars().any(char::is_control), "{line:?}");
    }
    text
}

#[test]
fn verdicts_and_thresholds_are_said() {
    let names = ["copy/64".to_owned()];
    let slower = shown(&document(&names, 1.2, 8));
    assert!(slower.contains("head is slower, past the threshold of 5 %"), "{slower}");
    assert!(slower.contains("stopped by a signal"), "{slower}");
    let equal = shown(&document(&names, 1.0, 8));
    assert!(equal.contains("no difference within"), "{equal}");
    let few = shown(&document(&names, 3.0, 2));
    assert!(few.contains("2 pairs are too few") && few.contains("in any interval"), "{few}");
    assert!(shown(&document(&[], 1.0, 0)).contains("no benchmark was measured"));
}

#[test]
fn names_from_users_are_harmless() {
    let names = ["<script>alert(1)</script>\u{1b}[2J\r\n", "", "\u{202e}\u{4f60}", "| @all `x`"];
    let mut names: Vec<String> = names.map(str::to_owned).into();
    names.push("x".repeat(5_000));
    for factor in [1e-30, 1.0, 1e30] {
        let document = document(&names, factor, 6);
        shown(&document);
        let page = markdown::of_json(&json::print(&document)).unwrap();
        // Between backticks nothing is markup.
        let others = page.replace("`<script>alert(1)</script>?[2J`", "");
        assert!(!others.contains("<script>") && !page.contains('\u{1b}'), "{page}");
    }
}

#[test]
fn a_comment_has_verdicts_and_thresholds() {
    let page = |factor| {
        let document = document(&["copy/64".to_owned()], factor, 8);
        markdown::of_json(&json::print(&document)).unwrap()
    };
    let slower = page(1.2);
    assert!(slower.contains("| **slower**, **past the threshold** |"), "{slower}");
    assert!(slower.contains("stopped by a signal") && slower.contains("Only in the base"));
    assert!(page(1.0).contains("no difference within"), "{}", page(1.0));
}

#[test]
fn ten_thousand_benchmarks_have_a_short_text() {
    let names: Vec<String> = (0..10_000).map(|number| format!("family/{number}")).collect();
    let document = document(&names, 1.1, 8);
    assert_eq!(document.results.len(), 10_000);
    let text = shown(&document);
    assert!(text.contains("and 9,800 more") && text.lines().count() < 1_500);
}
