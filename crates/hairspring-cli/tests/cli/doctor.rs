//! `doctor`: what this machine can give. On a machine that is too busy for the lattice it says so,
//! and its status with it.

use crate::command::Hairspring;
use crate::document::Document;

fn doctor() -> Hairspring {
    Hairspring::new().with("doctor")
}

#[test]
fn the_document_keeps_to_its_schema_and_its_status() {
    let ended = doctor().with("--json").start().ends_with_any(&[0, 1]);
    let found = Document::of(&ended.output, "doctor.schema.json");
    assert_eq!(found["schema"], "hairspring/doctor/1");
    assert_eq!(found["machine"].is_object(), ended.succeeded());
    assert_eq!(found["machine_reason"].is_string(), !ended.succeeded());
}

#[test]
fn the_text_fits_80_columns() {
    let ended = doctor().start().ends_with_any(&[0, 1]);
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{ended}");
    assert!(ended.output.contains("in 0.1 s") == ended.succeeded(), "{ended}");
}

#[test]
fn wrong_arguments_are_refused() {
    doctor().option("--clock", "sundial").ends_with(2).complains("clock `sundial`").in_one_line();
    doctor().option("--clock", "times").ends_with(2).complains("moves in steps of").in_one_line();
    doctor().option("--cpu", "4000").ends_with(2).complains("CPU 4000").in_one_line();
}
