use super::*;

const RESULT: &str = r#"{"schema": "hairspring/result/2", "command": "run", "environment": {
    "identity": {"created": "2026-01-02T03:04:05Z", "host": "h", "version": "0.1.0",
        "commit": "0123456789abcdef0123456789abcdef01234567"},
    "cpu": {"model": "m", "family": "6-207", "cpus": 2, "architecture": "x86_64",
        "hypervisor": true},
    "core_clock_hz": {"value": 2e9, "low": 1.9e9, "high": 2.1e9, "level": 0.95}},
    "results": [{"name": "<script>alert(1)</script>", "components": {"body": {"time_ns":
    {"value": 10.0, "low": 9.0, "high": 11.0, "level": 0.95}, "cycles":
    {"value": 20.0, "low": 19.0, "high": 21.0, "level": 0.95}}, "init": {"serves": true,
    "time_ns": {"value": 10.0, "low": 9.0, "high": 11.0, "level": 0.95}}}}]}"#;

#[test]
fn a_result_has_its_times_in_all_units_and_the_core_cycle() {
    let found = take(RESULT).unwrap();
    let figures: Vec<(&str, &str, f64)> = found
        .figures
        .iter()
        .map(|one| (&*one.series.component, &*one.series.unit, one.value))
        .collect();
    assert_eq!(figures, [("body", "cycles", 20.0), ("body", "ns", 10.0), ("host", "ns", 0.5)]);
    assert_eq!((found.run.made, found.run.machine.guest), (1_767_323_045, Some(true)));
    assert_eq!(found.run.commit.as_deref(), Some("0123456789abcdef0123456789abcdef01234567"));
    assert_eq!(take(RESULT).unwrap(), found);
}

#[test]
fn any_other_document_has_its_numbers_with_intervals() {
    let text = r#"{"schema": "hairspring/mhz/2", "command": "mhz", "results": [{"cpu": 1,
        "core_hz": {"value": 2.99e9, "low": 2.98e9, "high": 3e9, "level": 0.95}},
        {"cpu": 2, "core_hz": null, "odd": {"value": 1, "low": null, "high": 2, "level": 0.95}}]}"#;
    let found = take(text).unwrap().figures;
    assert_eq!(found.len(), 2);
    assert_eq!((&*found[0].series.name, &*found[0].series.unit), ("1", "hz"));
    assert_eq!(found[0].series.component, "results/1/core_hz");
    assert_eq!(found[1].low, f64::NEG_INFINITY);
}

#[test]
fn what_has_no_figure_is_refused() {
    for (text, part) in [
        ("", "is not a JSON document"),
        ("[1", "is not a JSON document"),
        ("[]", "no `schema`"),
        ("{\"schema\": 3}", "no `schema`"),
        ("{\"schema\": \"other\"}", "no `schema`"),
        ("{\"schema\": \"hairspring/mhz/2\"}", "holds no figure"),
        ("{\"schema\": \"hairspring/result/9\"}", "is a document of"),
        (&RESULT[..RESULT.len() - 40], "is not a JSON document"),
    ] {
        assert!(take(text).is_err_and(|error| error.contains(part)), "{text}");
    }
    let deep = format!(
        "{{\"schema\": \"hairspring/x/1\", \"a\": {}{}}}",
        "[".repeat(100),
        "]".repeat(100)
    );
    assert!(take(&deep).is_err());
}

#[test]
fn long_names_are_cut_and_stay_apart() {
    let (one, other) = ("x".repeat(10_000), "x".repeat(10_001));
    assert!(shortened(&one).len() <= LONGEST_NAME && shortened(&one) != shortened(&other));
}
