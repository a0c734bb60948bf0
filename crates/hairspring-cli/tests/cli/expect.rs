//! `--expect`: a measurement beside what is expected of it. Files with known times stand for real
//! ones.

use crate::command::{Hairspring, needs, time};
use crate::document::Document;
use crate::experiment::observations;

fn chain() -> Hairspring {
    time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5")
}

/// A program that prints observations of a body of 100 ns.
fn body_of_100_ns() -> Hairspring {
    let verb = Hairspring::new().with("run").beside("table.csv", observations());
    verb.with_script("observe", "cat table.csv\n").with("./observe")
}

#[test]
fn expectation_that_is_far_off_ends_with_3() {
    let ended = body_of_100_ns().option("--expect", "(10+50+20) * 1 ns +- 10 %").ends_with(3);
    ended
        .says("expected    80.0 ns +- 8.0 by `(10+50+20) * 1 ns +- 10 %`")
        .says("deviates: a factor of 1.250")
        .says(" sigmas");
    let ended = body_of_100_ns().option("--expect", "20 ns").with("--json").ends_with(3);
    let expectation = &Document::result(&ended.output).0["expectation"];
    assert_eq!(
        (&expectation["verdict"], &expectation["unit"], &expectation["is_stated"]),
        (&"deviates".into(), &"ns".into(), &false.into())
    );
    assert!(
        expectation["factor"].as_f64().is_some_and(|factor| (factor - 5.0).abs() < 0.01),
        "{expectation:#}"
    );
    assert!(expectation["sigmas"].as_f64().is_some_and(|sigmas| sigmas > 3.0), "{expectation:#}");
}

#[test]
fn expectation_that_is_met_agrees() {
    body_of_100_ns()
        .option("--expect", "100 ns")
        .succeeds()
        .says("2 % are assumed")
        .says("agrees: ");
    body_of_100_ns().option("--expect", "0.1 +- 0.001 us systematic").succeeds().says("agrees: ");
    let ended = body_of_100_ns().option("--expect", "300 cycles").with("--json").succeeds();
    let found = &Document::result(&ended.output).0["expectation"];
    assert_eq!(
        (&found["verdict"], &found["verdict_reason"]),
        (&"undecided".into(), &"there is no time in cycles".into())
    );
}

#[test]
fn bent_model_is_judged_against_its_ends_by_monte_carlo() {
    // The interval is 530 to some 5000 ns. Mirrored, its wide side would reach below 100 ns.
    let bent = || body_of_100_ns().option("--expect", "1000 ns / (1 +- 0.8)");
    bent()
        .ends_with(3)
        .says("expected    1000, from 5")
        .says("by Monte Carlo")
        .says("deviates: a factor of 0.1");
    let found =
        Document::result(&bent().with("--json").ends_with(3).output).0["expectation"].clone();
    let low = found["expected"]["low"].as_f64().unwrap();
    assert!((450.0..650.0).contains(&low) && found["propagations_agree"] == false, "{found:#}");
}

#[test]
fn expectation_is_about_one_benchmark_that_is_run() {
    let two = observations()
        .replace("body,", "series,body,")
        .lines()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let rows =
        |name: &str| two[1..].iter().map(|line| format!("{name},{line}\n")).collect::<String>();
    let table = format!("{}\n{}{}", two[0], rows("a"), rows("b"));
    let run = || {
        let verb = Hairspring::new()
            .with("run")
            .beside("table.csv", &table)
            .with_script("observe", "cat table.csv\n");
        verb.with("./observe").option("--expect", "100 ns")
    };
    run().ends_with(2).complains("2 are chosen: add a filter");
    run().with("a").succeeds().says("agrees: ");
    body_of_100_ns().option("--expect", "llvm").ends_with(2).complains("compiled copy");
    for misspelt in ["llvn", "LLVM", "llvm-mca"] {
        body_of_100_ns().option("--expect", misspelt).ends_with(2).complains("is called `llvm`");
    }
    body_of_100_ns().option("--expect", "1 m").ends_with(2).complains("did you mean `ms`?");
}

#[test]
fn verdict_about_code_follows_from_its_trust() {
    let ended =
        chain().option("--expect", "30 us +- 10 %").with("--json").start().ends_with_any(&[0, 3]);
    let document = Document::result(&ended.output);
    let trusted = document.body()["trusted"] == true;
    let wanted = if trusted { "deviates" } else { "undecided" };
    assert_eq!(
        (&document.0["expectation"]["verdict"], ended.succeeded()),
        (&wanted.into(), !trusted)
    );
}

#[test]
fn model_of_llvm_stands_beside_the_copy() {
    needs("llvm-mca");
    let ended = chain().option("--expect", "llvm").with("--json").start().ends_with_any(&[0, 3]);
    let document = Document::result(&ended.output);
    let found = &document.0["expectation"];
    assert!(
        found["expected"]["value"].as_f64().is_some_and(|cycles| (2.0..=5.0).contains(&cycles)),
        "{found:#}"
    );
    assert!(
        found["scheduling"]["model"].as_str().is_some_and(|model| model.contains("-mcpu=")),
        "{found:#}"
    );
    assert!(document.result_of(0)["disassembly"].is_null(), "it was not asked for");
    chain()
        .option("--expect", "llvm")
        .variable("PATH", "/nowhere")
        .fails("llvm-mca is not installed: apt-get install llvm");
}

#[test]
fn wrong_expectations_are_pointed_at_before_anything_runs() {
    for (wrong, part) in [
        ("3 ns + 2 m", "           ^"),
        ("3 ns + 2 m", "unknown unit `m`"),
        ("5 bytes", "the expectation is bytes: expected a time"),
        ("5", "the expectation is a plain number"),
        ("", "is empty"),
        ("1 ns / (1 +- 2)", "contains zero"),
        ("(3 cycles", "never closed"),
        ("-3 cycles", "the expectation is -3 cycles: no time is below zero"),
        ("LLVM", "is called `llvm`"),
        ("3 ns systematic", "stands behind a half-width"),
    ] {
        chain().option("--expect", wrong).ends_with(2).complains("--expect").complains(part);
    }
    let huge = "(".repeat(100_000);
    chain().option("--expect", huge).ends_with(2).complains("at most 4096");
}
