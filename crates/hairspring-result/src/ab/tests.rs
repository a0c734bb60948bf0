use super::*;
use crate::compare::Limit;
use crate::read::read;
use hairspring_core::judge::Verdict;
use serde_json::{Value, json};

/// A document of these benchmarks in cycles, and in nanoseconds.
fn document(times: &[(&str, Option<f64>, f64)]) -> ResultDocument {
    let e = |time: f64| json!({"value": time, "low": time, "high": time, "level": 0.95});
    let series = |(name, cycles, ns): &(&str, Option<f64>, f64)| {
        json!({"name": name, "code": null, "bytes_per_copy": null, "overhead": null,
            "components": {"body": {"time_ns": e(*ns), "cycles": cycles.map(e), "mode": null,
                "below_resolution": *ns <= 0.0, "bound_ns": 1.0}},
            "findings": [{"kind": "disturbed", "severity": "untrusted", "message": "a <b>",
                "remedy": "r"}]})
    };
    let results: Vec<Value> = times.iter().map(series).collect();
    let text = json!({"schema": "hairspring/result/2", "command": "run", "run": null,
        "environment": {}, "results": results});
    read(&text.to_string()).unwrap()
}

/// The changes of `sum` in so many pairs, of which the head takes so much longer.
fn builds(pairs: u32, factor: f64, with_cycles: bool) -> Builds {
    let mut all = Builds::default();
    for number in 0..pairs {
        let noise = 1.0 + 0.001 * f64::from(number % 3);
        let of = |ns: f64| document(&[("sum", with_cycles.then_some(4.0 * ns), ns)]);
        all.add(&of(100.0), &of(100.0 * factor * noise), &of(100.0 / noise));
    }
    all
}

fn changed(builds: &Builds, threshold: Threshold) -> Change {
    builds.changes(&|_| threshold).remove(0)
}

#[test]
fn a_change_is_in_cycles_where_there_are_cycles() {
    let found = changed(&builds(8, 1.05, true), Threshold::default());
    assert_eq!((found.verdict, found.unit, found.pairs), (Verdict::Slower, Some(Unit::Cycles), 8));
    assert!((found.base.unwrap().value - 400.0).abs() < 1.0, "{:?}", found.base);
    assert!((found.ratio.unwrap().value - 1.05).abs() < 0.003 && found.limit.is_none());
    let found = changed(&builds(8, 1.05, false), Threshold::default());
    assert_eq!(found.unit, Some(Unit::Nanoseconds));
}

#[test]
fn a_threshold_is_relative_or_absolute_and_each_must_hold() {
    let limit = |threshold| changed(&builds(8, 1.05, true), threshold).limit;
    let percent = |most: f64| Threshold { percent: Some(most), ..Threshold::default() };
    assert_eq!(
        [1.0, 5.0, 20.0].map(|most| limit(percent(most))),
        [Limit::Past, Limit::Undecided, Limit::Within].map(Some)
    );
    let cycles = |most: f64| Threshold { cycles: Some(most), ..percent(50.0) };
    assert_eq!(
        [5.0, 100.0].map(|most| limit(cycles(most))),
        [Limit::Past, Limit::Within].map(Some)
    );
    // Nanoseconds cannot be told from cycles.
    let ns = Threshold { ns: Some(50.0), ..Threshold::default() };
    assert_eq!(limit(ns), Some(Limit::Undecided));
}

#[test]
fn few_pairs_and_times_below_resolution_have_a_reason() {
    let found = changed(&builds(2, 3.0, true), Threshold::default());
    assert_eq!(found.verdict, Verdict::Undecided);
    assert!(found.verdict_reason.unwrap().contains("2 pairs are too few"));
    let mut all = Builds::default();
    (0..9).for_each(|_| {
        let nothing = document(&[("nothing", None, -0.1)]);
        all.add(&nothing, &nothing, &nothing);
    });
    let found = changed(&all, Threshold::default());
    assert!(found.ratio.is_none() && found.verdict_reason.unwrap().contains("clock"));
}

#[test]
fn names_that_differ_have_no_pair_and_many_benchmarks_share_the_level() {
    let mut all = Builds::default();
    let names: Vec<String> = (0..100).map(|number| format!("<script>{number}")).collect();
    let times: Vec<(&str, Option<f64>, f64)> =
        names.iter().map(|name| (name.as_str(), None, 7.0)).collect();
    for _ in 0..8 {
        all.add(&document(&times), &document(&times[1..]), &document(&times));
    }
    assert_eq!(all.changes(&|_| Threshold::default()).len(), 99);
    assert!((all.level() - (1.0 - 0.01 / 99.0)).abs() < 1e-12);
    let text = crate::json::print(&all.changes(&|_| Threshold::default()));
    assert!(!text.contains("NaN") && text.contains("\"processes\": 24"), "{text}");
}
