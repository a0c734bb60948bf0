//! Markdown of documents: golden files, and what a parser of GitHub's Markdown makes of them.

mod samples;

use expect_test::expect_file;
use hairspring_core::Estimate;
use hairspring_core::judge::{Finding, Severity};
use hairspring_result::compare::{CompareDocument, Places, compare};
use hairspring_result::document::Fit;
use hairspring_result::{Mode, Named, ResultDocument, json};
use hairspring_view::markdown::{MOST, of, of_json};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::path::Path;
use std::sync::OnceLock;

/// What a reader sees of a page of Markdown.
#[derive(Debug, Default)]
struct Seen {
    /// Cells of each row of each table, without the markup in them.
    rows: Vec<Vec<String>>,
    /// Tags of HTML.
    tags: Vec<String>,
    /// Links and pictures.
    links: usize,
    /// All text outside of code.
    text: String,
}

fn seen(markdown: &str) -> Seen {
    let (mut seen, mut in_code) = (Seen::default(), false);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
        match event {
            Event::Start(Tag::TableHead | Tag::TableRow) => seen.rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => seen.rows.last_mut().unwrap().push(String::new()),
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => seen.links += 1,
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::End(TagEnd::Table) => seen.rows.push(Vec::new()),
            Event::InlineHtml(tag) | Event::Html(tag) => {
                in_code = tag.as_ref() == "<code>" || in_code && tag.as_ref() != "</code>";
                seen.tags.push(tag.trim().to_owned());
            }
            Event::Code(text) => cell(&mut seen, &text),
            Event::Text(text) => {
                seen.text += if in_code { "" } else { &text };
                cell(&mut seen, &text);
            }
            _ => {}
        }
    }
    seen
}

fn cell(seen: &mut Seen, text: &str) {
    if let Some(cell) = seen.rows.last_mut().and_then(|row| row.last_mut()) {
        cell.push_str(text);
    }
}

/// Tags that the pages have of their own.
const OWN: [&str; 10] = [
    "<details>",
    "</details>",
    "<br>",
    "<code>",
    "</code>",
    "<span>",
    "</span>",
    "<summary>Machine and compiler</summary>",
    "<summary>The file of the experiment</summary>",
    "<details>\n<summary>",
];

/// Whether a page is harmless: own tags, no link, nobody is mentioned, it fits into a comment.
fn check(markdown: &str) -> Result<Seen, String> {
    let seen = seen(markdown);
    let is_own = |tag: &&String| {
        OWN.contains(&tag.as_str()) || tag.starts_with("<summary>Findings: ") || tag.is_empty()
    };
    if let Some(tag) = seen.tags.iter().find(|tag| !is_own(tag)) {
        return Err(format!("the tag {tag}"));
    }
    let mentions = |c: char, next: char| c == '@' && (next.is_alphanumeric() || next == '_');
    let mentioned = seen.text.chars().zip(seen.text.chars().skip(1)).any(|(c, d)| mentions(c, d));
    if seen.links > 0 || mentioned || markdown.chars().count() > MOST {
        return Err(format!("{} links, mentions: {mentioned}", seen.links));
    }
    for rows in seen.rows.split(Vec::is_empty) {
        if let Some(row) = rows.iter().find(|row| row.len() != rows[0].len()) {
            return Err(format!("{} cells below {}", row.len(), rows[0].len()));
        }
    }
    Ok(seen)
}

#[test]
fn pages_match_the_golden_files() {
    for (name, measurement) in samples::all() {
        let text = of(&ResultDocument::new(&measurement));
        check(&text).unwrap();
        let path = format!("tests/golden/markdown/{name}.markdown");
        expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join(path)].assert_eq(&text);
    }
}

#[test]
fn a_comparison_and_a_baseline_have_their_tables() {
    let (old, new) =
        (ResultDocument::new(&samples::line()), ResultDocument::new(&samples::alternatives()));
    let compared = compare(&old, &new, Some(0.05), Places::Same);
    let document = CompareDocument::new(&compared, (Some("old.json"), &old), (None, &new));
    let text = of(&document);
    check(&text).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/markdown/compare.markdown");
    expect_file![path].assert_eq(&text);
    let with_baseline = ResultDocument { baseline: Some(Box::new(document)), ..new };
    let both = of(&with_baseline);
    check(&both).unwrap();
    assert!(both.contains("#### Against the baseline `old.json`"), "{both}");
    assert!(both.contains("| compared | ratio |") && both.contains("| new / old |"), "{both}");
}

#[test]
fn ten_thousand_series_fit_into_a_comment() {
    let mut document = alternatives().clone();
    let (series, one) = (document.results[1].clone(), document.comparisons[0].clone());
    for at in 0..10_000 {
        document.results.push(hairspring_result::Series {
            name: format!("f{at}"),
            code: None,
            fit: Fit::default(),
            budget: Named::new(),
            stages: Vec::new(),
            ..series.clone()
        });
        document
            .comparisons
            .push(hairspring_result::Comparison { a: format!("f{at}"), ..one.clone() });
    }
    let text = of(&document);
    let seen = check(&text).unwrap();
    assert!(text.len() > MOST / 10 * 9, "{}", text.len());
    assert!(text.contains("of 10,003 lines are left out") && text.contains("</details>"), "{text}");
    assert!(seen.rows.iter().any(|row| row.first().is_some_and(|name| name == "f0 / a")));
}

#[test]
fn other_documents_show_every_interval() {
    let text = of_json(
        r#"{"schema": "hairspring/clocks/2", "command": "clocks", "environment": {}, "clocks": [
        {"name": "tsc", "measured": {"read_cost_ns": {"value": 26.79, "low": 26.6, "high": 26.98, "level": 0.95},
         "read_cost_ns_budget": [{"source": "noise", "half_width": 0.19}],
         "rate_hz": {"value": 2.3e9, "low": 2.2999e9, "high": 2.3001e9, "level": 0.95}}},
        {"name": "a|b", "measured": {"read_cost_ns": {"value": 1e30, "low": null, "high": 1e31, "level": 0.95}}}],
        "findings": [{"kind": "costly_read", "severity": "warning", "message": "<script>@all", "remedy": "use [tsc](x)"}],
        "passed": false, "verdict": "no"}"#,
    )
    .unwrap();
    let seen = check(&text).unwrap();
    let cells = |at: usize| seen.rows[at].iter().map(|cell| cell.trim()).collect::<Vec<_>>();
    assert_eq!(cells(0), ["quantity", "value", "95 % interval", "unit"]);
    assert_eq!(cells(1), ["clocks tsc, read cost", "26.79", "26.60 to 26.98", "ns"]);
    assert_eq!(cells(2), ["clocks tsc, rate", "2.300000", "2.299900 to 2.300100", "GHz"]);
    assert_eq!(cells(3)[0], "clocks a|b, read cost");
    assert!(text.contains("**Not passed**: no") && text.contains("Findings: 1 warning"), "{text}");
}

#[test]
fn documents_of_verbs_match_the_golden_files() {
    for name in ["experiment", "instructions", "doctor", "certificate"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let document = folder.join(format!("../hairspring-page/tests/documents/{name}.json"));
        let text = of_json(&std::fs::read_to_string(document).unwrap()).unwrap();
        check(&text).unwrap();
        let path = format!("tests/golden/markdown/{name}.markdown");
        expect_file![folder.join(path)].assert_eq(&text);
    }
}

#[test]
fn the_file_of_an_experiment_ends_no_fence_and_is_cut() {
    let evil = "```\n</details><script>@all\n````\n".to_owned() + &"# long\n".repeat(9000);
    let value = r#"{"value": 1, "low": 0, "high": 2, "level": 0.95}"#;
    let text = format!(
        r#"{{"schema": "hairspring/experiment/2", "command": "experiment", "text": {},
            "definition": {{"name": "<script>@all", "need": "| a | [b](c)"}}, "unit": "<b>",
            "measurement": {{"value": {value}, "budget": [{{"source": "<i>", "share": 1e30}}]}}}}"#,
        serde_json::to_string(&evil).unwrap()
    );
    let found = of_json(&text).unwrap();
    assert!(found.len() < 12_000 && found.contains("`````toml\n```\n"), "{found}");
    check(&found).unwrap();
}

#[test]
fn thousands_of_forms_fit_into_a_comment() {
    let form = r#"{"name": "a | b", "set": "s", "latencies": [{"from": "1", "to": "1", "at_most": 5}],
        "throughput": {"value": 1, "low": 0.9, "high": 1.1, "level": 0.95}, "findings": []}"#;
    let text = format!(
        r#"{{"schema": "hairspring/instructions/1", "command": "instructions", "forms": [{}]}}"#,
        vec![form; 5000].join(",")
    );
    let found = of_json(&text).unwrap();
    let seen = check(&found).unwrap();
    assert!(found.contains("lines are left out") && seen.rows.len() > 500, "{}", seen.rows.len());
}

#[test]
fn other_files_are_refused_with_a_reason() {
    for (text, reason) in [
        ("", "is not a JSON document of hairspring: EOF"),
        ("{\"schema\": \"hairspring/res", "is not a JSON document"),
        ("[]", "has no key `schema`"),
        ("{\"schema\": \"other/1\"}", "is a document of `other/1`"),
        ("{\"schema\": \"hairspring/result/2\"}", "is not a valid hairspring/result/2 document"),
    ] {
        assert!(of_json(text).is_err_and(|found| found.contains(reason)), "{text}");
    }
}

/// The document of three alternatives, solved once.
fn alternatives() -> &'static ResultDocument {
    static DOCUMENT: OnceLock<ResultDocument> = OnceLock::new();
    DOCUMENT.get_or_init(|| ResultDocument::new(&samples::alternatives()))
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("</code></details><script>alert(1)</script> @all #1 `|`\\| [a](b) $x$".to_owned()),
        Just("www.x.y http://x.y <http://x.y> ~~a~~ ![x](y) a@b.example".to_owned()),
        Just("|".repeat(5_000)),
        Just("`".repeat(300)),
        proptest::collection::vec(any::<char>(), 0..120)
            .prop_map(|chars| chars.into_iter().collect::<String>()),
        "[\\\\`|<>&@#*_$ a-c\\[\\]]{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn texts_of_users_are_harmless(a in hostile(), b in hostile()) {
        let mut document = alternatives().clone();
        document.command.clone_from(&a);
        document.environment.compiler = Some(b.clone());
        document.environment.cpu.as_mut().unwrap().model.clone_from(&a);
        document.results[0].name.clone_from(&a);
        document.results[0].code = Some(b.clone());
        document.results[1].code = Some(a.clone());
        document.comparisons[0].a.clone_from(&b);
        for series in &mut document.results {
            series.findings.push(Finding {
                code: a.clone().into(),
                severity: Severity::Untrusted,
                message: b.clone(),
                remedy: a.clone().into(),
                keeps_remedy: false,
                numbers: Named::new(),
            });
        }
        let text = of(&document);
        let seen = check(&text).map_err(|reason| TestCaseError::fail(format!("{reason}: {text}")))?;
        prop_assert_eq!(seen.rows.iter().filter(|row| !row.is_empty()).count(), 1 + 3 + 1 + 2);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json::print(&document)).is_ok());
    }

    #[test]
    fn numbers_are_harmless(value in any::<f64>(), half in any::<f64>()) {
        let mut document = alternatives().clone();
        let odd = Estimate { value, low: value - half.abs(), high: value + half.abs(), level: 0.9 };
        let body = document.results[0].components.get_mut("body").unwrap();
        body.figure.time_ns = Some(Some(odd));
        body.figure.cycles = Some(odd);
        document.comparisons[0].ratio = Some(odd);
        document.environment.core_clock_hz = Some(odd);
        let text = of(&document);
        prop_assert!(check(&text).is_ok(), "{}", text);
    }
}

#[test]
fn code_in_a_table_is_the_code() {
    for name in ["a | b", "x = `y`", "a \\| b", "<b>&amp;", "@all", "*p = &q[1]"] {
        let measurement = samples::timed(
            &samples::table(&["body"], &[("main", samples::rows(2.0, 50.0))], 1.0),
            vec![samples::subject("main", name, Mode::Latency)],
        );
        let seen = check(&of(&ResultDocument::new(&measurement))).unwrap();
        assert_eq!(seen.rows[1][0], name);
    }
}
