//! What is told of real documents, whatever is wrong with them.

use super::{Fleet, MergeDocument, Options};
use crate::Finding;
use crate::document::Unit;
use serde_json::{Value, json};

/// A document of a machine with the cycles of its series, at a core clock of 4 GHz.
pub fn document(host: &str, series: &[(&str, f64)]) -> Value {
    let e = |value: f64| {
        let half = 0.001 * value.abs();
        json!({ "value": value, "low": value - half, "high": value + half, "level": 0.95 })
    };
    let results = series.iter().map(|(name, cycles)| {
        json!({ "name": name, "code": null, "bytes_per_copy": null, "overhead": null,
            "components": { "body": { "time_ns": e(cycles / 4.0), "cycles": e(*cycles),
                "below_resolution": false, "mode": null } } })
    });
    json!({ "schema": "hairspring/result/2", "command": "run", "run": null,
        "environment": {
            "identity": { "created": "2026-11-30T12:00:00Z", "host": host, "version": "0.1.0",
                "commit": null },
            "cpu": { "model": "Invented 9000", "family": "6-207", "cpus": 2,
                "architecture": "x86_64", "hypervisor": false },
            "system": "Linux 6.18", "compiler": "gcc 12.2.0", "compiler_flags": "-O2",
            "program": "0011223344556677" },
        "results": results.collect::<Vec<_>>() })
}

/// The document with another value at a path.
fn edited(mut document: Value, path: &str, value: Value) -> Value {
    *document.pointer_mut(path).unwrap() = value;
    document
}

/// Eight machines that differ by a percent and have two series.
fn eight() -> Vec<Value> {
    let of = |at: u32| {
        let factor = 1.0 + 0.002 * f64::from(at);
        document(&format!("h{at}"), &[("sum", 100.0 * factor), ("sort", 5000.0 * factor)])
    };
    (0..8).map(of).collect()
}

fn merged_with(documents: &[Value], options: &Options) -> MergeDocument {
    let mut fleet = Fleet::default();
    for (at, document) in documents.iter().enumerate() {
        fleet.add(&format!("{at}.json"), &document.to_string());
    }
    fleet.merge(options)
}

fn merged(documents: &[Value]) -> MergeDocument {
    merged_with(documents, &Options::default())
}

fn codes(merged: &MergeDocument) -> Vec<&str> {
    merged.findings.iter().map(|finding| finding.code.as_ref()).collect()
}

fn finding<'m>(merged: &'m MergeDocument, code: &str) -> &'m Finding {
    let found = merged.findings.iter().find(|finding| finding.is(code));
    found.unwrap_or_else(|| panic!("no {code}: {:?}", codes(merged)))
}

#[test]
fn a_sound_fleet_has_means_a_floor_and_no_finding() {
    let found = merged(&eight());
    assert_eq!((codes(&found), found.machines, found.documents.merged), (vec![], 8, 8));
    let family = &found.families[0];
    assert_eq!((family.name.as_str(), family.same_build), ("6-207", Some(true)));
    let sum = &family.results[0];
    assert_eq!((sum.name.as_str(), sum.unit, sum.machines), ("sum", Some(Unit::Cycles), 8));
    assert!((sum.time.unwrap().value - 100.7).abs() < 1e-3, "{sum:?}");
    // 0.4899 % between the machines, 2.365 for 7 degrees of freedom, the root of 2.
    let floor = family.floor_percent.unwrap();
    assert!((floor - 0.489_9 / 1.007 * 2.364_6 * 2.0_f64.sqrt()).abs() < 1e-3, "{floor}");
    assert!((sum.floor_percent.unwrap() - floor).abs() < 1e-6 && family.odd.is_empty());
}

#[test]
fn repeats_of_a_machine_are_one_value_of_it() {
    let mut all = eight();
    for at in 0..20 {
        let again = document("h0", &[("sum", 100.0 + 0.001 * f64::from(at)), ("sort", 5000.0)]);
        all.push(edited(again, "/environment/identity/created", json!("2026-11-30T12:30:00Z")));
    }
    let found = merged(&all);
    let sum = &found.families[0].results[0];
    assert_eq!((found.machines, sum.machines), (8, 8));
    assert!((sum.time.unwrap().value - 100.7).abs() < 0.01);
}

#[test]
fn families_are_averaged_only_if_asked() {
    let mut all = eight();
    for document in &mut all[4..] {
        *document = edited(document.clone(), "/environment/cpu/family", json!("25-1"));
    }
    let apart = merged(&all);
    let machines: Vec<usize> = apart.families.iter().map(|family| family.machines).collect();
    assert_eq!((machines, apart.across), (vec![4, 4], None));
    let options = Options { across_families: true, ..Options::default() };
    let across = merged_with(&all, &options).across.unwrap();
    let time = across[0].time.unwrap();
    assert_eq!((across[0].machines, across[0].name.as_str()), (2, "sum"));
    assert!((time.value - 100.7).abs() < 1e-3 && time.half_width() > 4.0, "{time:?}");
}

#[test]
fn builds_that_differ_have_no_floor_and_are_listed() {
    let mut all = eight();
    all[3] = edited(all[3].clone(), "/environment/program", json!("ffff"));
    let family = &merged(&all).families[0];
    assert_eq!((family.same_build, family.floor_percent), (Some(false), None));
    let builds: Vec<usize> = family.builds.iter().map(|build| build.documents).collect();
    assert_eq!((builds, family.floor_reason.as_deref()), (vec![7, 1], Some("the builds differ")));
    for document in &mut all {
        document["environment"]["program"] = Value::Null;
    }
    assert_eq!(merged(&all).families[0].same_build, None);
}

#[test]
fn an_odd_machine_is_named_with_its_reason_and_stays_unless_left_out() {
    let mut all: Vec<Value> = (0..20)
        .map(|at| {
            let factor = 1.0 + 0.0005 * f64::from(at * 7 % 20);
            document(&format!("h{at}"), &[("sum", 100.0 * factor), ("sort", 5000.0 * factor)])
        })
        .collect();
    for series in 0..2 {
        let path = format!("/results/{series}/components/body/time_ns");
        let ns = all[5].pointer(&format!("{path}/value")).unwrap().as_f64().unwrap() * 1.06;
        let e = json!({ "value": ns, "low": 0.999 * ns, "high": 1.001 * ns, "level": 0.95 });
        all[5] = edited(all[5].clone(), &path, e);
    }
    let found = merged(&all);
    let odd = &found.families[0].odd[0];
    assert_eq!((odd.host.as_deref(), odd.file.as_str()), (Some("h5"), "5.json"));
    assert!(odd.reason.ends_with("slower in ns, equal in cycles: its clock"), "{}", odd.reason);
    assert!(odd.odd_in_ns && !odd.odd_in_cycles && odd.series.len() == 2, "{odd:?}");
    assert!(finding(&found, "odd_machine").message.contains("5.json"));
    let sum = &found.families[0].results[0];
    assert!(sum.machines == 20 && sum.without_odd.is_some() && sum.with_odd.is_none());
    let without = merged_with(&all, &Options { without_odd: true, ..Options::default() });
    let left = &without.families[0].results[0];
    assert_eq!((left.machines, left.time), (19, sum.without_odd));
    assert_eq!(left.with_odd, sum.time);
}

#[test]
fn the_same_document_counts_once_however_it_is_written() {
    let mut fleet = Fleet::default();
    let one = document("a", &[("sum", 100.0)]);
    fleet.add("a.json", &one.to_string());
    fleet.add("copy.json", &serde_json::to_string_pretty(&one).unwrap());
    let found = fleet.merge(&Options::default());
    assert_eq!((found.documents.merged, found.documents.repeated), (1, 1));
    assert!(finding(&found, "merged_twice").message.contains("copy.json (as a.json)"));
}

#[test]
fn files_that_are_no_results_are_told_with_their_reason() {
    let mut fleet = Fleet::default();
    let text = document("a", &[("sum", 100.0)]).to_string();
    fleet.add("cut.json", &text[..text.len() / 2]);
    fleet.add("mhz.json", r#"{"schema": "hairspring/mhz/2"}"#);
    fleet.add("later.json", r#"{"schema": "hairspring/result/9"}"#);
    fleet.add("empty.json", "");
    fleet.add("list.json", "[1]");
    fleet.add("a.json", &text);
    (0..40).for_each(|at| fleet.refuse(&format!("{at}"), "no such file"));
    assert_eq!((fleet.merged(), fleet.refused()), (1, 45));
    let found = fleet.merge(&Options { unread: 3, ..Options::default() });
    assert_eq!((found.documents.given, found.documents.unread), (49, 3));
    let messages: Vec<&str> =
        found.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(messages[0].contains("46 of 49 files"), "{messages:?}");
    assert!(messages[1].starts_with("cut.json: is not a JSON document"), "{messages:?}");
    assert!(messages[2].contains("`hairspring/mhz/2`") && messages[3].contains("result/9"));
    assert!(messages.iter().any(|message| message.starts_with("25 files are not merged")));
}

#[test]
fn circumstances_that_are_mixed_are_told() {
    let mut all = eight();
    all[0] = edited(all[0].clone(), "/environment/identity/version", json!("0.0.9"));
    all[1] = edited(all[1].clone(), "/environment/compiler", json!("clang 19"));
    all[2] = edited(all[2].clone(), "/environment/compiler_flags", json!("-O3"));
    all[3] = edited(all[3].clone(), "/schema", json!("hairspring/result/1"));
    let wide = json!({ "value": 100.6, "low": 100.4, "high": 100.8, "level": 0.99 });
    all[4] = edited(all[4].clone(), "/results/0/components/body/time_ns", wide);
    all[5] = edited(all[5].clone(), "/environment/identity/created", json!("2026-12-01T02:00:00Z"));
    let found = merged(&all);
    let what: Vec<&str> = found
        .findings
        .iter()
        .filter(|finding| finding.is("fleet_mixed"))
        .filter_map(|finding| finding.text("what"))
        .collect();
    for name in ["the version of Hairspring", "compiler", "compiler flags", "the format", "level"] {
        assert!(what.contains(&name), "{name}: {what:?}");
    }
    assert!(finding(&found, "created_apart").message.contains("14 hours: 5.json"));
}

#[test]
fn shards_lack_nothing_and_a_cut_document_is_told() {
    let shard = |host: &str, names: [&str; 2]| document(host, &names.map(|name| (name, 100.0)));
    let mut all: Vec<Value> = (0..4)
        .map(|at| {
            let names = if at % 2 == 0 { ["a", "b"] } else { ["c", "d"] };
            shard(&format!("h{at}"), names)
        })
        .collect();
    assert_eq!(codes(&merged(&all)), [] as [&str; 0]);
    all[3] = document("h3", &[("c", 100.0)]);
    let found = merged(&all);
    let missing = finding(&found, "series_missing");
    assert!(missing.message.contains("3.json lacks: d (body)"), "{}", missing.message);
}

#[test]
fn parts_of_time_have_their_code_in_common_and_lack_nothing() {
    let part = |host: &str, names: &[&str]| {
        let times: Vec<(&str, f64)> = names.iter().map(|name| (*name, 100.0)).collect();
        edited(document(host, &times), "/command", json!("time"))
    };
    let mut all =
        [part("h0", &["x / 7", "x / 8", "x / 9"]), part("h1", &["x / 7", "x / 10"])].to_vec();
    assert_eq!(codes(&merged(&all)), [] as [&str; 0]);
    all.push(part("h2", &["x / 7", "x / 8"]));
    let found = merged(&all);
    let missing = finding(&found, "series_missing");
    assert!(missing.message.contains("2.json lacks: x / 9 (body)"), "{}", missing.message);
    assert_eq!(found.families[0].results[0].machines, 3);
}

#[test]
fn other_code_under_one_name_is_not_averaged() {
    let mut all = eight();
    all[0]["results"][0]["code_hash"] = json!("aa");
    all[1]["results"][0]["code_hash"] = json!("bb");
    let found = merged(&all);
    assert_eq!(finding(&found, "code_differs").list("series").unwrap(), ["sum"]);
    let machines: Vec<usize> =
        found.families[0].results.iter().map(|result| result.machines).collect();
    assert_eq!(machines, [1, 8, 1, 6]);
}

#[test]
fn documents_without_a_machine_count_each_and_are_told() {
    let mut all = eight();
    for document in &mut all[..2] {
        document["environment"]["identity"] = Value::Null;
    }
    all[2]["environment"]["cpu"] = Value::Null;
    for document in &mut all[3..] {
        document["environment"]["cpu"].as_object_mut().unwrap().remove("family");
    }
    let found = merged(&all);
    assert_eq!(found.machines, 8);
    assert!(finding(&found, "machine_unknown").message.starts_with("3 documents do not say"));
    assert!(finding(&found, "family_by_name").message.starts_with("5 machines are grouped"));
    let names: Vec<&str> = found.families.iter().map(|family| family.name.as_str()).collect();
    assert_eq!(names, ["6-207", "unknown", "Invented 9000"]);
}

#[test]
fn untrusted_times_are_left_out_if_enough_are_trusted() {
    let mut all = eight();
    all[0]["results"][0]["findings"] =
        json!([{ "kind": "disturbed", "severity": "untrusted", "message": "m" }]);
    let found = merged(&all);
    let sum = &found.families[0].results[0];
    assert_eq!((sum.machines, sum.untrusted), (7, 1));
    assert!(finding(&found, "untrusted_left_out").message.starts_with("1 of 16 times"));
}

#[test]
fn hostile_documents_give_no_panic() {
    let script = "<script>alert(1)</script>\u{1b}[31m";
    let values = [1e30, 1e300, -1e30, 0.0, 5e-324];
    let mut all: Vec<Value> = values
        .iter()
        .map(|value| document(script, &[(script, *value), ("", 1.0), ("", 2.0)]))
        .collect();
    let open = json!({ "value": 1.0, "low": null, "high": null, "level": 0.95 });
    for path in ["cycles", "time_ns"] {
        let path = format!("/results/1/components/body/{path}");
        all[1] = edited(all[1].clone(), &path, open.clone());
    }
    all.push(json!({ "schema": "hairspring/result/2", "command": "", "results": [], "run": null }));
    let found = merged_with(&all, &Options { across_families: true, ..Options::default() });
    assert_eq!(found.documents.merged, 6);
    assert!(serde_json::to_string(&found).unwrap().contains("merge/1"));
    let empty = Fleet::default().merge(&Options::default());
    assert_eq!((empty.machines, empty.families.len(), empty.documents.given), (0, 0, 0));
}

#[test]
fn ten_thousand_series_are_merged() {
    let names: Vec<String> = (0..10_000).map(|at| format!("series {at}")).collect();
    let series: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 100.0)).collect();
    let all: Vec<Value> = (0..3).map(|at| document(&format!("h{at}"), &series)).collect();
    let found = merged(&all);
    assert_eq!(found.families[0].results.len(), 10_000);
    assert!(found.families[0].results.iter().all(|result| result.machines == 3));
}
