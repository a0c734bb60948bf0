//! Compares what a machine can give with the texts in `golden/`, and checks the document against
//! its schema. Nothing is measured.

#[path = "../../hairspring-view/tests/samples/mod.rs"]
mod samples;

use expect_test::expect_file;
use hairspring_core::Estimate;
use hairspring_core::observations::{Pauses, Rate};
use hairspring_host::clock::Reading;
use hairspring_instruments::doctor::change::{Facts, changes};
use hairspring_instruments::doctor::smallest::Smallest;
use hairspring_instruments::doctor::{Diagnosis, Role, document, text};
use hairspring_instruments::verify::Standing;
use hairspring_result::json;
use hairspring_view::Style;
use serde_json::Value;
use std::path::Path;

fn e(value: f64, low: f64, high: f64) -> Estimate {
    Estimate { value, low, high, level: 0.95 }
}

fn role(
    name: &'static str,
    chain: &str,
    cycles: f64,
    integer: Option<u32>,
    standing: Standing,
) -> Role {
    let parts = (cycles - 0.1, cycles + 0.2);
    Role {
        name,
        chain: chain.into(),
        cycles: e(cycles, cycles - 0.01, cycles + 0.01),
        parts,
        integer,
        standing,
    }
}

fn quiet() -> Diagnosis {
    Diagnosis {
        clock: "tsc".into(),
        reading: Reading {
            quantum: 2,
            back_to_back_min: 60,
            back_to_back_mean: 62.3,
            steps: 2_000,
            backward: 0,
        },
        rate: Rate { hz: 2.6e9, uncertainty_ppm: 0.1, provenance: "measured".into() },
        core_hz: e(3.6941e9, 3.6939e9, 3.6943e9),
        smallest: Smallest {
            once_in_100_ms: e(1.4, 1.2, 1.7),
            once_in_1_s: e(0.6, 0.45, 1.2),
            copies: 480,
            copy_in_100_ms: e(0.0069, 0.0057, 0.0083),
            copy_in_1_s: e(0.0029, 0.0022, 0.0058),
            step_factor: 1.0,
        },
        roles: vec![
            role("multiply", "imul", 3.0, Some(3), Standing::Whole),
            role("simple", "xor", 1.0, Some(1), Standing::Whole),
            role("load", "load", 4.0, Some(4), Standing::Whole),
        ],
        quiet_share: Some(0.98),
        pauses: Pauses::default(),
        stolen_ms: Some(0.0),
        changes: Vec::new(),
    }
}

/// Beside a co-runner that loads, with a clock in steps of 10 ns, in a virtual machine.
fn shared() -> Diagnosis {
    let mut diagnosis = quiet();
    diagnosis.reading.quantum = 26;
    diagnosis.smallest.step_factor = 3.4;
    diagnosis.roles[2] = role("load", "load", 4.2, Some(4), Standing::Slowed);
    diagnosis.roles.push(role("float multiply", "mulsd", 3.4, None, Standing::Open));
    diagnosis.roles.push(role("float divide", "divsd", 13.36, None, Standing::None));
    diagnosis.quiet_share = Some(0.4);
    diagnosis.pauses = Pauses { watched: 1e8, lost: 1e6, number: 40, longer: None };
    diagnosis.stolen_ms = Some(30.0);
    let no_counters = Some(
        "this CPU offers no cycle counter to the system (perf_event_open: No such file)".into(),
    );
    let facts =
        Facts { governor: Some("powersave".into()), no_counters, hypervisor: true, cpus: 2 };
    diagnosis.changes = changes(&diagnosis, &facts);
    diagnosis
}

#[test]
fn reports_match_the_golden_files() {
    for (name, diagnosis) in [("doctor", quiet()), ("doctor-shared", shared())] {
        let text = text::doctor(&diagnosis, &Style::default());
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
fn a_quiet_machine_has_nothing_to_change_and_each_fault_is_one_change() {
    let about = |diagnosis: &Diagnosis, facts: &Facts| {
        changes(diagnosis, facts).iter().map(|change| change.about).collect::<Vec<_>>()
    };
    let good = Facts { governor: Some("performance".into()), cpus: 2, ..Facts::default() };
    assert!(about(&quiet(), &good).is_empty());
    assert_eq!(
        about(&quiet(), &Facts { governor: Some("powersave".into()), ..good.clone() }),
        ["governor"]
    );
    assert_eq!(
        about(&quiet(), &Facts { no_counters: Some("not allowed".into()), ..good.clone() }),
        ["counters"]
    );
    assert_eq!(about(&Diagnosis { quiet_share: Some(0.5), ..quiet() }, &good), ["cpu"]);
    assert_eq!(
        about(
            &Diagnosis { stolen_ms: Some(20.0), ..quiet() },
            &Facts { hypervisor: true, ..good.clone() }
        ),
        ["hypervisor"]
    );
    assert!(
        about(&Diagnosis { stolen_ms: Some(20.0), ..quiet() }, &good).is_empty(),
        "nobody to ask"
    );
    let all: Vec<&str> = shared().changes.iter().map(|change| change.about).collect();
    assert_eq!(all, ["cpu", "clock", "governor", "hypervisor", "counters"]);
}

#[test]
fn documents_match_the_schema_and_a_machine_that_gives_nothing_has_its_reason() {
    let schema = json::schema::<document::DoctorDocument>();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let reason = "no chains of known length are built for pdp11".to_owned();
    for diagnosis in [Ok(&quiet()), Ok(&shared()), Err(&reason)] {
        let document = document::doctor(diagnosis, &samples::environment());
        assert_eq!(
            (document.machine.is_some(), document.machine_reason.is_none()),
            (diagnosis.is_ok(), diagnosis.is_ok())
        );
        let value: Value = serde_json::from_str(&json::print(&document)).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}
