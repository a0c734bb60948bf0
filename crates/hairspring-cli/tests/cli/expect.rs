//! `--expect`: a measurement beside what is expected of it. Files with known times stand for real ones.

use crate::command::{Hairspring, time};
use crate::document::Document;

fn chain() -> Hairspring {
    time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5")
}

#[test]
fn expectation_that_is_far_off_ends_with_3() {
    let ended = chain().option("--expect", "30 us +- 10 %").ends_with(3);
    ended.says("against the expectation 30 us +- 10 %").says("deviates: ").says("sigmas");
    let ended = chain().option("--expect", "(10+50+20) * 5 ms").with("--json").ends_with(3);
    let document = Document::result(&ended.output);
    let found = &document.0["expectation"];
    assert_eq!((&found["verdict"], &found["unit"], &found["is_stated"]), (&"deviates".into(), &"ns".into(), &false.into()));
    assert!(found["factor"].as_f64().is_some_and(|factor| factor < 0.01), "{found:#}");
    assert!(found["sigmas"].as_f64().is_some_and(|sigmas| sigmas > 3.0), "{found:#}");
}

#[test]
fn wide_expectation_agrees_or_is_undecided() {
    let ended = chain().option("--expect", "50 us +- 50 us systematic").with("--json").succeeds();
    let document = Document::result(&ended.output);
    let found = &document.0["expectation"];
    let trusted = document.result_of(0)["trusted"] == true;
    let wanted = if trusted { "agrees" } else { "undecided" };
    assert_eq!(found["verdict"], wanted, "{found:#}");
    assert_eq!(found["expected"]["value"], 50_000.0);
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
    ] {
        chain().option("--expect", wrong).ends_with(2).complains("--expect").complains(part);
    }
    let huge = "(".repeat(100_000);
    chain().option("--expect", huge).ends_with(2).complains("at most 4096");
}
