//! Comparison of saved results: which series are matched, and verdicts that depend only on
//! intervals.

mod samples;

use expect_test::expect_file;
use hairspring_core::judge::Verdict;
use hairspring_result::compare::{CompareDocument, Compared, Limit, Places, compare};
use hairspring_result::read::read;
use hairspring_result::{ResultDocument, Unit, json};
use hairspring_view::{Style, text};
use serde_json::{Value, json};
use std::path::Path;

/// A result with these series: name, code, and body in ns with its half-width.
fn result(series: &[(&str, Option<&str>, f64, f64)]) -> Value {
    let e = |value: f64, half: f64| {
        json!({ "value": value, "low": value - half,
        "high": value + half, "level": 0.95 })
    };
    let entries = series.iter().map(|(name, code, ns, half)| {
        json!({
            "name": name,
            "code": code,
            "components": { "body": { "time_ns": e(*ns, *half), "cycles": e(3.0 * ns, 3.0 * half),
            "below_resolution": ns <= half,
                "bound_ns": if ns <= half { Some(ns.max(0.0) + half) } else { None },
                    "mode": "latency" } },
            "overhead": null,
            "fit": { "readings_used": 10, "rows_detail": [] },
            "findings": [],
        })
    });
    json!({
        "schema": "hairspring/result/2",
        "command": "time",
        "environment": {
            "cpu": { "model": "Invented 9000", "cpus": 2, "architecture": "x86_64",
                "hypervisor": true },
            "system": "Linux 6.18",
            "clock": { "name": "tsc" },
            "core_clock_hz": e(3e9, 1e6),
            "compiler": "gcc 12.2.0",
            "compiler_flags": "-O2",
            "pinned_cpu": 1,
        },
        "results": entries.collect::<Vec<_>>(),
    })
}

/// The document with another value at a path.
fn edited(document: &Value, path: &str, value: Value) -> Value {
    let (parent, name) = path.rsplit_once('/').unwrap();
    let mut document = document.clone();
    document.pointer_mut(parent).unwrap()[name] = value;
    document
}

fn saved(document: &Value) -> ResultDocument {
    read(&document.to_string()).unwrap()
}

fn compared(old: &Value, new: &Value, threshold: Option<f64>) -> Compared {
    compare(&saved(old), &saved(new), threshold, Places::Same)
}

fn verdicts(comparison: &Compared) -> Vec<Verdict> {
    comparison.pairs.iter().map(|pair| pair.change.as_ref().unwrap().verdict).collect()
}

#[test]
fn series_are_matched_by_name_and_code() {
    let old = result(&[
        ("a", Some("f"), 10.0, 0.1),
        ("b", Some("g"), 20.0, 0.1),
        ("c", None, 5.0, 0.01),
        ("d", Some("h"), 1.0, 0.1),
    ]);
    let new = result(&[
        ("c", None, 5.0, 0.01),
        ("a", Some("g"), 10.0, 0.1),
        ("d", Some("i"), 1.0, 0.1),
        ("a", Some("f"), 20.0, 0.1),
    ]);
    let comparison = compared(&old, &new, None);
    let names: Vec<&str> =
        comparison.pairs.iter().map(|pair| pair.code.as_deref().unwrap_or(&pair.name)).collect();
    assert_eq!(names, ["c", "g", "f"]);
    assert_eq!(verdicts(&comparison), [Verdict::NoDifference, Verdict::Faster, Verdict::Slower]);
    assert_eq!((comparison.missing[0].title(), comparison.missing.len()), ("h", 1));
    assert_eq!((comparison.added[0].title(), comparison.added.len()), ("i", 1));
    assert!(comparison.pairs.iter().all(|pair| pair.change.as_ref().unwrap().unit == Unit::Cycles));
}

#[test]
fn a_result_does_not_differ_from_itself() {
    let document = serde_json::to_value(ResultDocument::new(&samples::init_and_body())).unwrap();
    let found = compared(&document, &document, Some(0.01));
    assert_eq!((found.findings.len(), found.missing.len(), found.added.len()), (0, 0, 0));
    assert_eq!(verdicts(&found), [Verdict::NoDifference]);
}

#[test]
fn only_a_whole_interval_past_the_threshold_is_past_it() {
    let old = result(&[("code", Some("f"), 10.0, 0.1)]);
    for (ns, half, limit, verdict) in [
        (12.0, 0.1, Limit::Past, Verdict::Slower),
        // The value is past 5 %, the interval is not.
        (10.7, 0.2, Limit::Undecided, Verdict::Slower),
        (12.0, 3.0, Limit::Undecided, Verdict::Undecided),
        (10.2, 0.1, Limit::Within, Verdict::NoDifference),
        (5.0, 0.1, Limit::Within, Verdict::Faster),
        (10.0, 0.04, Limit::Within, Verdict::NoDifference),
    ] {
        let found = compared(&old, &result(&[("code", Some("f"), ns, half)]), Some(0.05));
        assert_eq!(
            (found.limit(&found.pairs[0]), verdicts(&found)[0]),
            (Some(limit), verdict),
            "{ns} +- {half}"
        );
        assert_eq!(found.past(), usize::from(limit == Limit::Past));
    }
}

#[test]
fn a_small_difference_may_be_that_of_layouts_that_were_not_tried() {
    let without = result(&[("code", Some("f"), 10.0, 0.1)]);
    for (ns, limit, verdict) in [
        (9.0, Limit::Within, Verdict::Undecided),
        (11.0, Limit::Undecided, Verdict::Undecided),
        (16.5, Limit::Undecided, Verdict::Slower),
        (20.0, Limit::Past, Verdict::Slower),
    ] {
        let mut new = result(&[("code", Some("f"), ns, 0.1)]);
        let untried = json!([{ "kind": "layouts_untried", "severity": "warning", "message": "m",
            "remedy": "r" }]);
        *new.pointer_mut("/results/0/findings").unwrap() = untried;
        let found = compared(&without, &new, Some(0.05));
        assert_eq!(
            (found.limit(&found.pairs[0]), verdicts(&found)[0]),
            (Some(limit), verdict),
            "{ns}"
        );
        let report = text::compare(&found, "old.json", "new.json", &Style::default());
        assert_eq!(
            report.contains("undecided: one of the results lacks layouts"),
            verdict == Verdict::Undecided,
            "{report}"
        );
        let back = compared(&new, &without, None);
        assert_eq!(
            verdicts(&back)[0],
            if ns > 15.0 { Verdict::Faster } else { Verdict::Undecided }
        );
    }
}

#[test]
fn what_was_below_resolution_is_judged_by_its_bound() {
    for was in [0.01, -0.01] {
        let old = result(&[("code", Some("f"), was, 0.05)]);
        let found = compared(&old, &result(&[("code", Some("f"), 3.0, 0.05)]), Some(0.05));
        assert_eq!((verdicts(&found)[0], found.past()), (Verdict::Slower, 1));
        let both = compared(&old, &old, Some(0.05));
        assert_eq!((verdicts(&both)[0], both.past()), (Verdict::Undecided, 0));
    }
    // The compiler may have removed it: the sign of its noise must not decide.
    let (old, new) =
        (result(&[("code", Some("f"), 3.0, 0.05)]), result(&[("code", Some("f"), 0.01, 0.05)]));
    let found = compared(&old, &new, None);
    let report = text::compare(&found, "old.json", "new.json", &Style::default());
    assert_eq!(verdicts(&found), [Verdict::Undecided], "{report}");
    assert!(report.contains("undecided: the new time is indistinguishable"), "{report}");
}

#[test]
fn a_time_that_is_not_above_zero_decides_nothing() {
    let old = result(&[("code", Some("f"), 3.0, 0.05)]);
    for (ns, half) in [(0.0, 0.0), (-3.0, 1.0), (-0.01, 0.05)] {
        let mut new = result(&[("code", Some("f"), ns, half)]);
        let body = new.pointer_mut("/results/0/components/body").unwrap();
        // Whoever wrote the first two by hand did not call them below resolution.
        body["below_resolution"] = json!(ns + half > 0.0);
        let comparison = compared(&old, &new, Some(0.05));
        let report = text::compare(&comparison, "old.json", "new.json", &Style::default());
        assert_eq!(verdicts(&comparison), [Verdict::Undecided], "{report}");
        assert!(
            report.contains("undecided: the new time is not above zero")
                && report.contains("1 undecided"),
            "{report}"
        );
        let limit = if ns + half > 0.0 { Limit::Within } else { Limit::Undecided };
        assert_eq!(
            comparison.limit(&comparison.pairs[0]),
            Some(limit),
            "a bound above zero can be below the threshold: {report}"
        );
        let document =
            CompareDocument::new(&comparison, (None, &saved(&old)), (None, &saved(&new)));
        assert_eq!(
            document.comparisons[0].verdict_reason.as_deref(),
            Some("the new time is not above zero: the compiler may have removed the code")
        );
    }
}

#[test]
fn circumstances_that_differ_are_findings() {
    let old = result(&[("code", Some("f"), 10.0, 0.1)]);
    let changes: [(&str, &str, Value); 8] = [
        ("/environment/cpu/model", "machine", json!("Other")),
        ("/environment/system", "system", json!("Linux 7")),
        ("/environment/clock/name", "clock", json!("monotonic")),
        ("/environment/compiler", "compiler", json!("clang 19")),
        ("/environment/compiler_flags", "compiler flags", Value::Null),
        ("/environment/pinned_cpu", "CPU bound to", json!(0)),
        ("/results/0/components/body/mode", "mode of f", json!("throughput")),
        ("/results/0/components/body/time_ns/level", "confidence level", json!(0.99)),
    ];
    for (path, what, value) in changes {
        let mut new = old.clone();
        *new.pointer_mut(path).unwrap() = value;
        let found = compared(&old, &new, None);
        let said: Vec<&str> = found
            .findings
            .iter()
            .map(|finding| {
                finding
                    .text("what")
                    .filter(|_| finding.is("circumstances_differ"))
                    .unwrap_or("another")
            })
            .collect();
        assert_eq!(said, [what]);
    }
    let mut new = old.clone();
    new["environment"]["core_clock_hz"] =
        json!({ "value": 2e9, "low": 2e9, "high": 2e9, "level": 0.95 });
    assert!(
        compared(&old, &new, None).findings.is_empty(),
        "core cycles do not change with the core clock"
    );
    new["results"][0]["components"]["body"]["cycles"] = Value::Null;
    let found = compared(&old, &new, None);
    assert!(
        found.findings[0].message.starts_with("different core clock: `3000 MHz`"),
        "{}",
        found.findings[0].message
    );
    assert_eq!(found.pairs[0].change.as_ref().unwrap().unit, Unit::Nanoseconds);
}

#[test]
fn results_of_different_places_have_no_verdict() {
    let old = edited(
        &result(&[("code", Some("f"), 10.0, 0.1)]),
        "/environment/identity",
        json!({ "created": "", "host": "a", "version": "" }),
    );
    let new = edited(&old, "/results", result(&[("code", Some("f"), 20.0, 0.1)])["results"].take());
    let of = |new: &Value, places| {
        let found = compare(&saved(&old), &saved(new), Some(0.05), places);
        let reason = CompareDocument::new(&found, (None, &saved(&old)), (None, &saved(new)))
            .comparisons[0]
            .verdict_reason
            .clone();
        (verdicts(&found)[0], found.limit(&found.pairs[0]), reason.unwrap_or_default())
    };
    assert_eq!(of(&new, Places::Same), (Verdict::Slower, Some(Limit::Past), String::new()));
    for (path, value, word) in [
        ("/environment/pinned_cpu", json!(0), "different CPUs"),
        ("/environment/identity/host", json!("b"), "different machines"),
        ("/environment/cpu/model", json!("Other"), "different machines"),
    ] {
        let elsewhere = edited(&new, path, value);
        let (verdict, limit, reason) = of(&elsewhere, Places::Same);
        assert!(
            (verdict, limit) == (Verdict::Undecided, Some(Limit::Undecided))
                && reason.contains(word),
            "{path}: {reason}"
        );
        assert_eq!(of(&elsewhere, Places::Any).1, Some(Limit::Past), "{path}");
    }
    for path in ["/environment/pinned_cpu", "/environment/identity/host", "/environment/cpu"] {
        assert_eq!(
            of(&edited(&new, path, Value::Null), Places::Same).0,
            Verdict::Slower,
            "what is not known is no difference: {path}"
        );
    }
}

#[test]
fn times_without_a_common_unit_have_no_ratio() {
    let old = result(&[("code", Some("f"), 10.0, 0.1)]);
    let ticks = |clock: &str| {
        let mut new = old.clone();
        let body = new.pointer_mut("/results/0/components/body").unwrap();
        *body = json!({ "ticks": body["time_ns"], "cycles": null });
        new["environment"]["clock"]["name"] = json!(clock);
        new
    };
    assert!(compared(&old, &ticks("tsc"), None).pairs[0].change.is_err());
    assert!(compared(&ticks("other"), &ticks("tsc"), Some(0.05)).pairs[0].change.is_err());
    let found = compared(&ticks("tsc"), &ticks("tsc"), None);
    assert_eq!(found.pairs[0].change.as_ref().unwrap().unit, Unit::Ticks);
}

#[test]
fn untrusted_results_make_the_verdict_undecided() {
    let old = result(&[("a", Some("f"), 10.0, 0.1), ("b", Some("g"), 10.0, 0.1)]);
    let mut new = old.clone();
    for at in 0..2 {
        new["results"][at]["findings"] = json!([{ "kind": "core_shared", "severity": "untrusted",
            "message": "shared", "remedy": "" }]);
    }
    new["results"][0]["components"]["body"]["cycles"] =
        json!({ "value": 90.0, "low": 89.0, "high": 91.0, "level": 0.95 });
    let comparison = compared(&old, &new, Some(0.05));
    assert_eq!(comparison.findings.len(), 1);
    assert_eq!(
        (verdicts(&comparison)[0], comparison.limit(&comparison.pairs[0]), comparison.past()),
        (Verdict::Undecided, Some(Limit::Undecided), 0)
    );
    assert!(
        comparison.findings[0]
            .message
            .contains("the new result of f; g is not to be trusted: shared"),
        "{:?}",
        comparison.findings
    );
}

/// One of everything: slower, faster, undecided, below resolution, no unit in common, missing, new,
/// findings.
fn one_of_everything() -> (Value, Value) {
    let old = result(&[
        ("a", Some("x = x * c"), 0.81, 0.0004),
        ("b", Some("sort(a, 16)"), 120.0, 2.0),
        ("c", Some("noisy()"), 10.0, 4.0),
        ("d", Some("was_optimised_away()"), 0.001, 0.01),
        ("e", Some("gone()"), 10.0, 0.1),
        ("f", None, 10.0, 0.1),
    ]);
    let mut new = result(&[
        ("a", Some("x = x * c"), 1.08, 0.0005),
        ("b", Some("sort(a, 16)"), 100.0, 2.0),
        ("c", Some("noisy()"), 11.0, 4.0),
        ("d", Some("was_optimised_away()"), 3.0, 0.01),
        ("f", None, 10.0, 0.1),
        ("g", Some("newcomer()"), 10.0, 0.1),
    ]);
    new["environment"]["compiler_flags"] = json!("-O3 -march=native");
    new["results"][4]["components"]["body"] =
        json!({ "ticks": null, "cycles": null, "time_ns": null });
    (old, new)
}

#[test]
fn report_matches_the_golden_file_and_document_its_schema() {
    let (old, new) = one_of_everything();
    let comparison = compared(&old, &new, Some(0.05));
    let report = text::compare(&comparison, "old.json", "new.json", &Style::default());
    assert!(
        report.lines().all(|line| line.chars().count() <= 80 && !line.ends_with(' ')),
        "{report}"
    );
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/compare.txt")]
        .assert_eq(&report);

    let document = CompareDocument::new(
        &comparison,
        (Some("old.json"), &saved(&old)),
        (Some("new.json"), &saved(&new)),
    );
    let value: Value = serde_json::from_str(&json::print(&document)).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&json::schema::<CompareDocument>())
        .unwrap()
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(value["past_threshold"], 2);
    let below = &value["comparisons"][3];
    assert!(below["ratio"]["high"].is_null() && below["verdict"] == "slower", "{below:#}");
    assert_eq!(value["comparisons"][4]["verdict"], "undecided");
    assert!(value["comparisons"][4]["ratio_reason"].is_string());
}

#[test]
fn every_sample_is_read_back_and_compared_with_another() {
    let all: Vec<Value> = samples::all()
        .iter()
        .map(|(_, document)| serde_json::to_value(ResultDocument::new(document)).unwrap())
        .collect();
    for (old, new) in all.iter().zip(all.iter().cycle().skip(1)) {
        let found = compared(old, new, Some(0.05));
        text::against_baseline(&found, "main", &Style::default());
        assert_eq!(found.pairs.len() + found.added.len(), new["results"].as_array().unwrap().len());
    }
}
