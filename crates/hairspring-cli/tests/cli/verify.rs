//! `verify`: the certificate of this machine.

use crate::command::{Ended, Hairspring};
use crate::document::Document;

fn verify() -> Hairspring {
    Hairspring::new().with("verify").option("--runs", "2").option("--budget", "5ms")
}

/// A certificate, which on a busy machine may have failures; then its status says so. A machine
/// that is too busy for a certificate is tried again.
fn certified(command: impl Fn() -> Hairspring) -> Ended {
    const TRIES: u32 = 10;
    let attempt = || command().start().ends_with_any(&[0, 1]);
    let too_busy = |ended: &Ended| ended.error.contains("the machine is too busy");
    (1..TRIES).map(|_| attempt()).find(|ended| !too_busy(ended)).unwrap_or_else(attempt)
}

#[test]
fn the_certificate_keeps_to_its_schema() {
    let ended = certified(|| verify().with("--json"));
    let certificate = Document::certificate(&ended.output);
    assert_eq!(certificate["schema"], "hairspring/certificate/1");
    assert_eq!(certificate["passed"], ended.succeeded());
    let is_empty = |list: &str| certificate[list].as_array().unwrap().is_empty();
    assert_eq!(is_empty("failures") && is_empty("open"), ended.succeeded());
    assert!(
        !certificate["chains"].as_array().unwrap().is_empty()
            && !certificate["pairs"].as_array().unwrap().is_empty()
    );
}

#[test]
fn the_text_fits_80_columns() {
    let ended = certified(verify).says("imul");
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{ended}");
}

#[test]
fn other_clocks_and_cpus_can_be_verified() {
    let ended =
        certified(|| verify().option("--clock", "rdtscp").option("--cpu", "0").with("--json"));
    let certificate = Document::certificate(&ended.output);
    assert_eq!(
        (&certificate["clock"]["name"], &certificate["environment"]["pinned_cpu"]),
        (&"rdtscp".into(), &0.into())
    );
    Document::certificate(
        &certified(|| verify().option("--clock", "monotonic").with("--json")).output,
    );
}

#[test]
fn missing_clocks_and_cpus_are_refused() {
    verify()
        .option("--clock", "sundial")
        .ends_with(2)
        .complains("clock `sundial`")
        .complains("available here: ")
        .in_one_line();
    verify().option("--cpu", "4000").ends_with(2).complains("CPU 4000").in_one_line();
}
