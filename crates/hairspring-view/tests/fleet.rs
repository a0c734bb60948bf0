//! Many machines as text and as a document.

use expect_test::expect_file;
use hairspring_result::fleet::{Fleet, MergeDocument, Options};
use hairspring_result::json;
use hairspring_view::{Style, text};
use serde_json::{Value, json};
use std::path::Path;

/// A document of a machine of a family: cycles of its two series and its core clock in GHz.
fn document(host: &str, family: &str, cycles: [f64; 2], ghz: f64) -> Value {
    let e = |value: f64| {
        let half = 0.001 * value.abs();
        json!({ "value": value, "low": value - half, "high": value + half, "level": 0.95 })
    };
    let series = |(name, cycles): (&str, f64)| {
        json!({ "name": name, "code": null, "bytes_per_copy": null, "overhead": null,
            "components": { "body": { "time_ns": e(cycles / ghz), "cycles": e(cycles),
                "below_resolution": cycles < 0.01, "mode": null } },
            "budget": { "body": [{ "source": "noise", "half_width_ns": 0.001 * cycles / ghz }] } })
    };
    let results: Vec<Value> = ["sum", "sort(a, 16)"].into_iter().zip(cycles).map(series).collect();
    json!({ "schema": "hairspring/result/2", "command": "run", "run": null, "results": results,
        "environment": {
            "identity": { "created": "2026-11-30T12:00:00Z", "host": host, "version": "0.1.0",
                "commit": null },
            "cpu": { "model": "Invented 9000", "family": family, "cpus": 2,
                "architecture": "x86_64", "hypervisor": false },
            "compiler": "gcc 12.2.0", "compiler_flags": "-O2", "program": "0011223344556677" } })
}

/// Two families, one with an odd machine, and files that are no results.
fn fleet() -> Fleet {
    let mut fleet = Fleet::default();
    for at in 0..20 {
        let factor = 1.0 + 0.0004 * f64::from(at * 7 % 20);
        let ghz = if at == 11 { 3.6 } else { 4.0 + 0.002 * f64::from(at % 5) };
        let text = document(&format!("{at:016x}"), "6-207", [3.0, 500.0].map(|c| c * factor), ghz);
        fleet.add(&format!("node{at}.json"), &text.to_string());
    }
    for at in 0..2 {
        let mut other = document(&format!("b{at}"), "25-1", [4.0, 0.001], 3.0);
        other["environment"]["compiler"] = format!("gcc {at}").into();
        fleet.add(&format!("amd{at}.json"), &other.to_string());
        fleet.add(&format!("copy{at}.json"), &other.to_string());
    }
    fleet.add("cut.json", "{\"schema\": \"hairspring/result/2\", \"comm");
    fleet
}

fn text_of(merged: &MergeDocument) -> String {
    let text = text::fleet(merged, &Style::default());
    for line in text.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "too wide: {line}");
        assert!(!line.chars().any(char::is_control) && !line.ends_with(' '), "{line:?}");
    }
    text
}

#[test]
fn the_text_matches_the_golden_file_and_the_document_its_schema() {
    let options = Options { across_families: true, unread: 2, ..Options::default() };
    let merged = fleet().merge(&options);
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/merge.txt")]
        .assert_eq(&text_of(&merged));
    let value: Value = serde_json::from_str(&json::print(&merged)).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&json::schema::<MergeDocument>())
        .unwrap()
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(value["schema"], "hairspring/merge/1");
    assert_eq!(value["families"][0]["odd"][0]["odd_in_cycles"], false);
}

#[test]
fn without_odd_machines_the_text_says_what_the_mean_was() {
    let merged = fleet().merge(&Options { without_odd: true, ..Options::default() });
    let text = text_of(&merged);
    assert!(text.contains("mean of 19 machines") && text.contains("with the odd machines: 3.0"));
    assert!(text.contains("families are not averaged"), "{text}");
}

#[test]
fn hostile_names_and_many_series_give_a_page() {
    let mut fleet = Fleet::default();
    let odd = "<script>\u{1b}[31m\u{202e}\u{9b}\n";
    for at in 0..3 {
        let mut one = document(&format!("{odd}{at}"), odd, [1e30, 3.0], 1e-30);
        for series in 0..150 {
            let mut copy = one["results"][0].clone();
            copy["name"] = format!("{odd}{series}").repeat(40).into();
            one["results"].as_array_mut().unwrap().push(copy);
        }
        one["environment"]["compiler_flags"] = odd.into();
        fleet.add(&format!("{odd}{at}"), &one.to_string());
    }
    fleet.refuse(odd, odd);
    let text = text_of(&fleet.merge(&Options { across_families: true, ..Options::default() }));
    assert!(text.contains("and 52 more times") && !text.contains('\u{202e}'), "{text}");
    text_of(&Fleet::default().merge(&Options::default()));
}
