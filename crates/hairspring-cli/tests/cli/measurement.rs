//! Options of the measurement: CPU, budget, precision, methods, alternatives, hanging.

use crate::command::{Hairspring, time};

fn chain() -> Hairspring {
    time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5")
}

#[test]
fn the_cpu_can_be_chosen() {
    let document = chain().option("--cpu", "0").document();
    assert_eq!(document.0["environment"]["pinned_cpu"], 0);
}

#[test]
fn times_at_a_stated_clock_follow_from_the_core_cycles() {
    let document = chain().option("--at-clock", "2GHz").document();
    assert_eq!(document.0["environment"]["stated_clock_hz"], 2e9);
    let number = |key: &str| document.body()[key]["value"].as_f64();
    let apart = number("stated_clock_ns")
        .zip(number("cycles"))
        .map(|(ns, cycles)| (2.0 * ns - cycles).abs());
    assert!(
        apart.map_or(number("cycles").is_none(), |apart| apart < 1e-9),
        "{:#}",
        document.body()
    );
    chain().option("--at-clock", "2GHz").succeeds().says("at 2 GHz: body ");
    for wrong in ["3", "0GHz", "fast"] {
        chain().option("--at-clock", wrong).ends_with(2).complains("--at-clock");
    }
}

#[test]
fn a_cpu_that_is_not_there_is_refused_with_those_that_are() {
    chain()
        .option("--cpu", "4000")
        .ends_with(2)
        .complains("CPU 4000")
        .complains("may use the CPUs 0")
        .in_one_line();
}

#[test]
fn any_budget_gives_a_result_in_the_end() {
    for budget in ["1ns", "100ms", "0.5s"] {
        let document = chain().option("--budget", budget).document();
        assert!(document.0["run"]["rounds"].as_u64().is_some_and(|rounds| rounds > 0), "{budget}");
    }
}

#[test]
fn a_budget_longer_than_the_timeout_is_allowed() {
    chain()
        .option("--timeout", "4s")
        .option("--budget", "6s")
        .option("--precision", "0.0001%")
        .ends_with(3);
}

#[test]
fn a_precision_that_is_missed_ends_with_3() {
    let ended = chain().option("--precision", "0.0001%").with("--json").ends_with(3);
    let document = crate::document::Document::result(&ended.output);
    assert!(
        document.finding("wide_interval")["half_width_percent"]
            .as_f64()
            .is_some_and(|reached| reached > 0.0001)
    );
    assert!(
        document.0["run"]["stop"].as_str().is_some_and(|stop| stop.starts_with("budget ")),
        "{document:?}"
    );
}

#[test]
fn a_precision_that_is_reached_ends_with_0() {
    chain().option("--precision", "50%").succeeds();
}

#[test]
fn the_level_is_that_of_every_interval() {
    let document = chain().option("--confidence-level", "99%").document();
    assert_eq!(document.body()["time_ns"]["level"], 0.99);
    assert_eq!(document.result_of(0)["overhead"]["time_ns"]["level"], 0.99);
}

#[test]
fn methods_are_side_by_side() {
    for (method, wanted) in [
        ("direct", vec!["direct"]),
        ("differential", vec!["differential"]),
        ("all", vec!["direct", "differential"]),
    ] {
        let document = chain().option("--method", method).document();
        let rows = document.0["methods"][0]["rows"].as_array().unwrap().clone();
        let techniques: Vec<&str> =
            rows.iter().map(|row| row["technique"].as_str().unwrap()).collect();
        for technique in ["line", "direct", "differential"] {
            let expected = technique == "line" || wanted.contains(&technique);
            assert_eq!(
                techniques.iter().any(|name| name.starts_with(technique)),
                expected,
                "{method}: {techniques:?}"
            );
        }
    }
}

#[test]
fn methods_are_in_the_text() {
    chain()
        .option("--method", "all")
        .succeeds()
        .says("direct 1x")
        .says("differential 2x - 1x")
        .says("line fit");
    chain().succeeds().does_not_say("differential");
}

#[test]
fn only_the_line_can_separate_an_init() {
    chain()
        .option("--method", "all")
        .option("--init", "x = 3")
        .ends_with(2)
        .complains("--method")
        .in_one_line();
}

#[test]
fn alternatives_are_compared_with_the_first() {
    let document = chain().option("--vs", "x = x + c").option("--vs", "x = x * c").document();
    let comparisons = document.0["comparisons"].as_array().unwrap();
    let pairs: Vec<_> = comparisons
        .iter()
        .map(|one| (one["a"].as_str().unwrap(), one["b"].as_str().unwrap()))
        .collect();
    assert_eq!(pairs, [("b", "a"), ("c", "a")]);
    for comparison in comparisons {
        assert!(
            comparison["ratio"]["value"].as_f64().is_none_or(|ratio| (0.02..50.0).contains(&ratio)),
            "{comparison:#}"
        );
    }
    assert_eq!(document.result_of(1)["code"], "x = x + c");
}

#[test]
fn the_same_code_twice_is_the_same_machine_code() {
    for (language, code) in [("c", "x = x * c"), ("asm", "imul %[c], %[x]")] {
        let twice = time(code)
            .given("uint64_t x = 3")
            .given("uint64_t c = 5")
            .option("--lang", language)
            .option("--vs", code);
        let document = twice.document();
        assert_eq!(
            document.result_of(0)["bytes_per_copy"],
            document.result_of(1)["bytes_per_copy"]
        );
        assert!(!document.findings(1).contains(&"optimised_away"), "{:#}", document.result_of(1));
    }
}

#[test]
fn a_call_that_the_compiler_makes_once_for_all_copies_is_named() {
    const PURE_FUNCTION: &str = "__attribute__((noinline)) int pure(int n) { int s = 0; for (int \
                                 i = 0; i < n; i++) s = s * 31 + i; return s; }\n";
    let optimised = |code: &str| {
        let document =
            time(code).given("int n = 100").with_file("pure.c", PURE_FUNCTION).document();
        document.findings(0).contains(&"optimised_away")
    };
    assert!(optimised("pure(100)"), "the compiler calls it once");
    assert!(!optimised("pure(n)"), "each copy calls it");
    // Compilers expand these into loads and stores, which each copy runs.
    for code in ["__builtin_memcpy(to, from, 64)", "__builtin_memset(to, 7, 64)"] {
        let document = time(code).given("char to[64]").given("char from[64]").document();
        assert!(
            !document.findings(0).contains(&"optimised_away"),
            "{code}: {:#}",
            document.result_of(0)
        );
    }
}

#[test]
fn code_that_is_optimised_away_is_never_a_time() {
    for code in ["int y = 3;", "(void)0", "x;y"] {
        let document = time(code).given("int x = 3").given("int y = 3").document();
        assert!(
            document.findings(0).contains(&"optimised_away"),
            "{code}: {:?}",
            document.findings(0)
        );
        let body = document.body();
        if body["below_resolution"] == true {
            assert!(body["bound_ns"].as_f64().is_some_and(|bound| bound > 0.0), "{body:#}");
        }
    }
    time("int y = 3;")
        .succeeds()
        .says("optimised away")
        .does_not_say("body 0 ns")
        .does_not_say("body -0");
}

#[test]
fn code_that_does_not_return_is_stopped() {
    let endless = time("for (;;) __asm__ volatile(\"\")").option("--timeout", "300ms");
    endless.fails("did not return within 0.3 s").complains("--timeout");
    time("x")
        .given("int x")
        .option("--setup", "for (;;) x++")
        .option("--timeout", "300ms")
        .fails("did not return");
}

#[test]
fn work_in_a_second_has_the_interval_of_the_time() {
    let code = chain;
    code().option("--throughput", "4 B").succeeds().says("B/s").says("B a cycle");
    let ended = code().option("--throughput", "4 B").with("--json").succeeds();
    let document: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    let (rate, time) = (
        &document["throughput"][0]["per_second"],
        &document["results"][0]["components"]["body"]["time_ns"],
    );
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert!((number(&rate["value"]) * number(&time["value"]) / 4e9 - 1.0).abs() < 1e-9);
    assert!((number(&rate["low"]) * number(&time["high"]) / 4e9 - 1.0).abs() < 1e-9);
}
