//! `verify`: the certificate of this machine.

use crate::command::Hairspring;
use crate::document::Document;

fn verify() -> Hairspring {
    Hairspring::new().with("verify").option("--runs", "2").option("--budget", "5ms")
}

#[test]
fn the_certificate_keeps_to_its_schema() {
    // On a busy machine a certificate may have failures; then it says so in its status.
    let ended = verify().with("--json").start().ends_with_any(&[0, 1]);
    let certificate = Document::certificate(&ended.output);
    assert_eq!(certificate["schema"], "hairspring/certificate/1");
    assert_eq!(certificate["passed"], ended.succeeded());
    assert_eq!(certificate["failures"].as_array().unwrap().is_empty(), ended.succeeded());
    assert!(!certificate["chains"].as_array().unwrap().is_empty() && !certificate["pairs"].as_array().unwrap().is_empty());
}

#[test]
fn the_text_fits_80_columns() {
    let ended = verify().start().ends_with_any(&[0, 1]).says("imul");
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{ended}");
}

#[test]
fn other_clocks_and_cpus_can_be_verified() {
    let ended = verify().option("--clock", "rdtscp").option("--cpu", "0").with("--json").start().ends_with_any(&[0, 1]);
    let certificate = Document::certificate(&ended.output);
    assert_eq!((&certificate["clock"]["name"], &certificate["environment"]["pinned_cpu"]), (&"rdtscp".into(), &0.into()));
    Document::certificate(&verify().option("--clock", "monotonic").with("--json").start().ends_with_any(&[0, 1]).output);
}

#[test]
fn missing_clocks_and_cpus_are_refused() {
    verify().option("--clock", "sundial").ends_with(2).complains("clock `sundial`").complains("available here: ").in_one_line();
    verify().option("--cpu", "4000").ends_with(2).complains("CPU 4000").in_one_line();
}
