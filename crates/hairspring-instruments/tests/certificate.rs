//! Compares certificates with the texts in `golden/`, and checks them against the schema.

#[path = "../../hairspring-view/tests/samples/mod.rs"]
mod samples;

use expect_test::expect_file;
use hairspring_core::Estimate;
use hairspring_core::judge::stepped_finding;
use hairspring_core::observations::Rate;
use hairspring_host::clock::Reading;
use hairspring_instruments::verify::coverage::Coverage;
use hairspring_instruments::verify::{
    Certificate, ChainResult, PairResult, Standing, Verdict, document, text,
};
use hairspring_result::json;
use hairspring_view::Style;
use serde_json::Value;
use std::path::Path;

fn e(value: f64, half: f64) -> Estimate {
    Estimate { value, low: value - half, high: value + half, level: 0.95 }
}

fn chain(name: &str, cycles: Estimate, integer: u32, hits: Option<u32>) -> ChainResult {
    let coverage = hits.map(|hits| Coverage { hits, runs: 40 });
    let distance_percent = 100.0 * (cycles.value / f64::from(integer) - 1.0);
    let parts = (cycles.low, cycles.high);
    ChainResult {
        name: name.into(),
        cycles,
        parts,
        integer,
        distance_percent,
        standing: Standing::Whole,
        coverage,
    }
}

/// A certificate that passes, and one that fails.
pub fn certificates() -> Vec<(&'static str, Certificate)> {
    let good = Certificate {
        clock: "tsc".into(),
        reading: Reading {
            quantum: 2,
            back_to_back_min: 60,
            back_to_back_mean: 62.3,
            steps: 2_000,
            backward: 0,
        },
        rate: Rate {
            hz: 2.596_144e9,
            uncertainty_ppm: 0.1,
            provenance: "measured against a quartz over 211 ms".into(),
        },
        overhead_ticks: e(58.94, 0.12),
        core_hz: e(3.6941e9, 2.1e5),
        chains: vec![
            chain("imul", e(3.0, 0.0), 3, None),
            chain("xor", e(0.9996, 0.0011), 1, Some(39)),
            chain("divsd", e(13.996, 0.012), 14, Some(38)),
        ],
        pairs: vec![PairResult {
            name: "imul10/imul40".into(),
            body: (e(30.01, 0.06), 30.0),
            init: (e(119.99, 0.05), 120.0),
        }],
        refused: 0,
        made: 40,
        quiet_share: Some(0.99),
        widening: Some(0.96),
        findings: Vec::new(),
    };
    let mut bad = good.clone();
    bad.chains[1] = chain("xor", e(1.02, 0.01), 1, Some(28));
    bad.widening = Some(1.83);
    bad.findings.push(stepped_finding(0.92, 1.03));
    let mut beside = good.clone();
    beside.chains[1] = chain("xor", e(1.02, 0.01), 1, Some(28));
    let load = ChainResult {
        standing: Standing::Slowed,
        parts: (4.05, 4.5),
        ..chain("load", e(4.21, 0.1), 4, None)
    };
    beside.chains.push(load);
    (beside.refused, beside.quiet_share) = (130, Some(0.4));
    let mut fraction = good.clone();
    fraction.chains[2] =
        ChainResult { standing: Standing::None, ..chain("divsd", e(13.36, 0.01), 13, None) };
    vec![
        ("certificate", good),
        ("certificate-failed", bad),
        ("certificate-shared", beside),
        ("certificate-fraction", fraction),
    ]
}

fn verdict(name: &str) -> Verdict {
    let all = certificates();
    all.iter().find(|(known, _)| *known == name).unwrap().1.verdict()
}

#[test]
fn a_chain_of_a_fraction_fails_nothing_and_a_co_runner_leaves_it_open() {
    assert_eq!(verdict("certificate"), Verdict::Passed);
    assert_eq!(verdict("certificate-fraction"), Verdict::Passed);
    assert_eq!(verdict("certificate-shared"), Verdict::Open);
    assert_eq!(verdict("certificate-failed"), Verdict::Failed);
    let with = |change: &dyn Fn(&mut Certificate)| {
        let mut certificate = certificates().swap_remove(0).1;
        change(&mut certificate);
        certificate.verdict()
    };
    assert_eq!(with(&|one| one.reading.backward = 1), Verdict::Failed);
    assert_eq!(with(&|one| one.pairs[0].body.0 = e(30.6, 0.1)), Verdict::Failed);
    assert_eq!(with(&|one| one.pairs[0].body.0 = e(30.6, 0.9)), Verdict::Open, "too wide to tell");
    let slowed = |one: &mut Certificate| {
        one.chains.push(ChainResult {
            standing: Standing::Slowed,
            ..chain("load", e(4.2, 0.1), 4, None)
        });
    };
    assert_eq!(with(&slowed), Verdict::Passed, "the others are where they should be");
    let slow_and_backward = |one: &mut Certificate| {
        slowed(one);
        one.reading.backward = 1;
    };
    assert_eq!(with(&slow_and_backward), Verdict::Failed, "no co-runner turns a clock back");
}

#[test]
fn certificates_match_the_golden_files() {
    for (name, certificate) in certificates() {
        let text = text::certificate(&certificate, &samples::environment(), &Style::default());
        assert!(
            text.lines().all(|line| line.chars().count() <= 80 && !line.ends_with(' ')),
            "{text}"
        );
        expect_file![
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"))
        ]
        .assert_eq(&text);
    }
}

#[test]
fn the_numbers_of_the_trust_are_those_of_the_worst_chain_and_of_all_short_runs() {
    for (name, mut certificate) in certificates() {
        let trust = document::certificate(&certificate, &samples::environment()).trust;
        let (worst, hits, runs) = match name {
            "certificate" => (0.04, 77.0, 80),
            "certificate-fraction" => (0.04, 39.0, 40),
            _ => (2.0, 66.0, 80),
        };
        assert!((trust.chains_within_percent.unwrap() - worst).abs() < 1e-9, "{trust:?}");
        assert!(
            (trust.coverage.unwrap() - hits / f64::from(runs)).abs() < 1e-9
                && trust.intervals == runs,
            "{trust:?}"
        );
        assert!((trust.bodies_within_percent.unwrap() - 100.0 / 3000.0).abs() < 1e-9, "{trust:?}");
        certificate.widening = Some(f64::INFINITY);
        let text = text::certificate(&certificate, &samples::environment(), &Style::default());
        assert!(
            text.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains("too many runs gave none to reach 95 %"),
            "{text}"
        );
        certificate.chains.iter_mut().for_each(|chain| chain.coverage = None);
        (certificate.widening, certificate.refused, certificate.pairs) = (None, 0, Vec::new());
        let text = text::certificate(&certificate, &samples::environment(), &Style::default());
        assert!(
            text.contains("trust")
                && !text.contains("bodies behind")
                && !text.contains("short runs"),
            "{text}"
        );
    }
}

#[test]
fn every_certificate_matches_the_schema() {
    let schema = json::schema::<document::CertificateDocument>();
    for (_, certificate) in certificates() {
        let document = document::certificate(&certificate, &samples::environment());
        assert_eq!(document.passed, document.failures.is_empty() && document.open.is_empty());
        let value: Value = serde_json::from_str(&json::print(&document)).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}
