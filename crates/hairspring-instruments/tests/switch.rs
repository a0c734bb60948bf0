//! Reports of context switches from made-up results: golden texts, and JSON against its schema.
//! `UPDATE_EXPECT=1` rewrites both.

#[path = "../../hairspring-view/tests/samples/mod.rs"]
mod samples;

use expect_test::expect_file;
use hairspring_core::Estimate;
use hairspring_core::estimate::{Contribution, Source, Uncertain};
use hairspring_core::judge::{Finding, Severity};
use hairspring_core::load::RATES;
use hairspring_instruments::switch::document::{Asked, Sides, SwitchDocument, switch};
use hairspring_instruments::switch::mechanism::Mechanism;
use hairspring_instruments::switch::result::{Cache, Check, Cost, Part, Placed, Scatter, Switched};
use hairspring_instruments::switch::{SwitchFinding, text};
use hairspring_result::json;
use hairspring_view::Style;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

type Results = Vec<(Mechanism, Result<Switched, String>)>;

fn ns(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half, level: 0.95 }
}

fn part(name: &str, value: f64, half: f64) -> Part {
    let bound_ns = (value - half <= 0.0).then_some(value.max(0.0) + half);
    Part {
        name: name.into(),
        ns: ns(value, half),
        cycles: Some(ns(2.5 * value, 2.5 * half)),
        bound_ns,
    }
}

fn cost(cache: Cache, value: f64, half: f64) -> Cost {
    let budget = vec![Contribution::bound(Source::Placement, half)];
    Cost { cache, ns: ns(value, half), cycles: Some(ns(2.5 * value, 2.5 * half)), budget }
}

fn bounded(value: f64, half: f64) -> Uncertain {
    Uncertain { value, budget: vec![Contribution::bound(Source::Noise, half)] }
}

fn asked(bytes: usize, sides: Sides) -> Asked {
    Asked { cpu: 1, sides, bytes, rates: RATES.to_vec() }
}

fn steady(mechanism: Mechanism) -> Switched {
    Switched {
        mechanism,
        parts: vec![
            part("switch", 1_180.0, 12.0),
            part("calls", 521.0, 3.0),
            part("work", 108.9, 0.4),
        ],
        costs: vec![cost(Cache::Warm, 1_701.0, 11.0)],
        placed: Some(Placed { placements: 14, range_ns: (1_690.0, 1_722.0), spread_percent: 1.88 }),
        scatter: None,
        check: Ok(Check::new(
            &bounded(1_718.0, 21.0),
            &bounded(1_722.0, 9.0),
            ns(1_701.0, 21.0),
            332_000.0,
            41,
        )),
        rounds: 552,
        elapsed: Duration::from_millis(3_004),
        core_hz: Some(ns(2.5e9, 1e5)),
        findings: Vec::new(),
    }
}

/// A working set, placements and methods that differ, and a refill that is clearly negative.
fn unsteady() -> Switched {
    let parts = vec![
        part("switch", 1_180.0, 150.0),
        part("calls", 521.0, 8.0),
        part("touch", 25_100.0, 60.0),
        part("refill", -740.0, 90.0),
        part("flush", 733_000.0, 1_800.0),
        part("refill after flush", -600.0, 7_100.0),
    ];
    let spread = SwitchFinding::PlacementsDiffer {
        spread_percent: 21.0,
        limit_percent: 5.0,
        lowest_ns: 1_640.0,
        highest_ns: 2_001.0,
        placements: 9,
    };
    let negative = SwitchFinding::NegativePart { component: "refill".into(), ns: -740.0 };
    let switched = Switched {
        parts,
        costs: vec![
            cost(Cache::Warm, 1_701.0, 140.0),
            cost(Cache::Refilled, 961.0, 170.0),
            cost(Cache::Flushed, 734_000.0, 7_000.0),
        ],
        scatter: Some(Scatter { earlier: 12, sd: 0.083 }),
        placed: Some(Placed { placements: 9, range_ns: (1_640.0, 2_001.0), spread_percent: 21.0 }),
        findings: vec![
            Finding::new(Severity::Warning, spread),
            Finding::new(Severity::Warning, negative),
        ],
        ..steady(Mechanism::Pipe)
    };
    switched.checked(Ok(Check::new(
        &bounded(2_400.0, 60.0),
        &bounded(2_200.0, 30.0),
        ns(1_701.0, 140.0),
        250_000.0,
        22,
    )))
}

fn all() -> Vec<(&'static str, Results, Asked)> {
    let compared: Results = vec![
        (Mechanism::Futex, Ok(steady(Mechanism::Futex))),
        (
            Mechanism::Yield,
            Ok(steady(Mechanism::Yield)
                .checked(Err("only in 3 of 80 windows nothing else ran".into()))),
        ),
        (
            Mechanism::Signal,
            Err("the partner process ended (signal: 9 (SIGKILL)) during the measurement".into()),
        ),
    ];
    vec![
        ("switch", compared, asked(0, Sides::Processes)),
        (
            "switch-unsteady",
            vec![(Mechanism::Pipe, Ok(unsteady()))],
            asked(262_144, Sides::Threads),
        ),
    ]
}

fn file(path: &str, text: &str) {
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join(path)].assert_eq(text);
}

#[test]
fn reports_match_the_golden_files_and_fit_the_page() {
    for (name, results, asked_settings) in all() {
        let text =
            text::switch(&results, &asked_settings, &samples::environment(), &Style::default());
        for line in text.lines() {
            assert!(line.chars().count() <= 80 && !line.ends_with(' '), "{line:?}");
        }
        file(&format!("tests/golden/{name}.txt"), &text);
    }
}

#[test]
fn rates_of_the_table_keep_all_their_digits() {
    let results: Results = vec![(
        Mechanism::Futex,
        Ok(Switched { costs: vec![cost(Cache::Warm, 0.5, 0.01)], ..steady(Mechanism::Futex) }),
    )];
    let asked_settings =
        Asked { rates: vec![1e9, 123_456_789.0, 500.0], ..asked(0, Sides::Processes) };
    let text = text::switch(&results, &asked_settings, &samples::environment(), &Style::default());
    for line in [
        "     switches/s  warm\n",
        "  1,000,000,000  50.0 +- 1.0 %\n",
        "    123,456,789  6.17 +- 0.12 %\n",
        "            500  0.0000",
    ] {
        assert!(text.contains(line), "{line:?}\n{text}");
    }
}

#[test]
fn the_published_schema_is_the_generated_one() {
    file("../../spec/switch.schema.json", &json::print(&json::schema::<SwitchDocument>()));
}

#[test]
fn every_document_keeps_to_its_schema() {
    for (_, results, asked_settings) in all() {
        let document: Value = serde_json::from_str(&json::print(&switch(
            &results,
            &asked_settings,
            &samples::environment(),
        )))
        .unwrap();
        let schema = json::schema::<SwitchDocument>();
        let errors: Vec<String> = jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(&document)
            .map(|e| e.to_string())
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert_eq!(document["schema"], "hairspring/switch/2");
        for (result, (_, outcome)) in document["results"].as_array().unwrap().iter().zip(&results) {
            assert_eq!(result["reason"].is_string(), outcome.is_err(), "{result:#}");
            let rows = outcome.as_ref().map_or(0, |found| 3 * found.costs.len());
            assert_eq!(result["overhead"].as_array().unwrap().len(), rows, "{result:#}");
        }
    }
}

#[test]
fn non_finite_numbers_are_null() {
    let mut switched = steady(Mechanism::Futex);
    switched.costs[0].ns = Estimate { value: f64::NAN, low: f64::NAN, high: f64::NAN, level: 0.95 };
    let results = vec![(Mechanism::Futex, Ok(switched))];
    let (asked_settings, here) = (asked(0, Sides::Processes), samples::environment());
    let document: Value =
        serde_json::from_str(&json::print(&switch(&results, &asked_settings, &here))).unwrap();
    assert_eq!(document["results"][0]["costs"][0]["time_ns"], Value::Null);
    assert!(text::switch(&results, &asked_settings, &here, &Style::default()).contains("unknown"));
}
