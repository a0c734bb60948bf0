//! `clocks`: what a user sees of the machine's clocks and of the stopwatch, and how it refuses.

use crate::command::Hairspring;
use crate::document::Document;
use serde_json::Value;
use std::process::Command;

fn clocks() -> Hairspring {
    Hairspring::new().with("clocks")
}

fn quick() -> Hairspring {
    clocks().option("--budget", "60ms")
}

fn document(command: Hairspring, schema: &str) -> Value {
    Document::of(&command.with("--json").succeeds().output, schema)
}

fn fits_80_columns(text: &str) {
    assert!(text.lines().all(|line| line.chars().count() <= 80 && !line.contains("...")), "{text}");
}

fn clock<'a>(survey: &'a Value, name: &str) -> &'a Value {
    let all = survey["clocks"].as_array().unwrap();
    all.iter().find(|clock| clock["name"] == name).unwrap_or_else(|| panic!("no clock {name}"))
}

#[test]
fn every_clock_is_listed_with_its_order_or_the_reason_why_it_is_not_there() {
    let survey = document(quick(), "clocks.schema.json");
    for clock in survey["clocks"].as_array().unwrap() {
        assert_eq!(clock["available"], clock["measured"].is_object(), "{clock:#}");
        assert_eq!(clock["available"], clock.get("available_reason").is_none(), "{clock:#}");
    }
    assert_eq!(clock(&survey, "rdtsc")["ordered_before"], Value::Null);
    assert_eq!(clock(&survey, "tsc")["ordered_after"], "lfence");
    assert_eq!(clock(&survey, "qpc")["available"], false);
    for name in ["tsc", "monotonic", "gettimeofday", "times", "process_cputime"] {
        let measured = &clock(&survey, name)["measured"];
        assert!(measured["granularity_ns"].as_f64().unwrap() > 0.0, "{measured:#}");
        assert!(measured["read_cost_ns"]["value"].is_number(), "{measured:#}");
    }
    let thread = &clock(&survey, "thread_cputime")["measured"];
    assert!(
        thread["rate_hz"].is_null()
            && thread["across_cpus_reason"].as_str().unwrap().contains("thread"),
        "{thread:#}"
    );
}

#[test]
fn the_text_of_every_form_fits_80_columns() {
    fits_80_columns(&quick().succeeds().says("monotonic_coarse").says("lfence").says("NO").output);
    fits_80_columns(
        &quick().with("--verbose").succeeds().says("counts while this thread runs").output,
    );
    let latency = clocks().with("--latency").option("--scale", "0.00001").option("--count", "20");
    fits_80_columns(&latency.succeeds().says("consecutive reads").says("--scale 1").output);
    fits_80_columns(
        &quick()
            .with("--compare")
            .with("monotonic")
            .with("realtime")
            .succeeds()
            .says("difference in percent")
            .output,
    );
    fits_80_columns(
        &clocks()
            .with("--overhead")
            .option("--runs", "200")
            .succeeds()
            .says("mean calibrator")
            .output,
    );
}

#[test]
fn a_named_clock_is_shown_in_full() {
    let survey = document(quick().with("monotonic").with("perf"), "clocks.schema.json");
    assert_eq!(survey["clocks"].as_array().unwrap().len(), 2);
    quick()
        .with("gettimeofday")
        .succeeds()
        .says("later instructions may begin before it is read")
        .does_not_say("CLOCK_REALTIME");
    quick().with("qpc").succeeds().says("this system is");
}

#[test]
fn the_latency_experiments_are_those_of_the_paper() {
    let short = clocks()
        .with("--latency")
        .option("--scale", "0.00001")
        .option("--count", "50")
        .with("times")
        .with("monotonic");
    let latency = document(short, "clock-latency.schema.json");
    let experiments = latency["experiments"].as_array().unwrap();
    let names: Vec<&str> =
        experiments.iter().map(|experiment| experiment["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["consecutive", "every_second", "every_1_and_5_seconds"]);
    assert_eq!(experiments[2]["pauses_ms"], serde_json::json!([0.01, 0.05]));
    for clock in experiments.iter().flat_map(|experiment| experiment["clocks"].as_array().unwrap())
    {
        let counted: u64 = clock["histogram"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bin| bin["count"].as_u64().unwrap())
            .sum();
        assert_eq!(counted, 50);
        assert!(clock["mean_ns"]["high"].as_f64() > clock["mean_ns"]["low"].as_f64(), "{clock:#}");
    }
}

#[test]
fn a_comparison_has_every_span_and_its_interval() {
    let compared = document(
        quick().with("--compare").with("gettimeofday").with("tsc"),
        "clock-comparison.schema.json",
    );
    let spans = compared["spans"].as_array().unwrap();
    let too_short = compared["too_short_ns"].as_array().unwrap();
    assert_eq!(
        (spans.len() + too_short.len(), spans.last().unwrap()["aimed_ns"].as_f64()),
        (13, Some(1e6))
    );
    let told = |span: &Value| {
        span["difference_percent"]["low"].is_number() != span["difference_reason"].is_string()
    };
    assert!(
        spans.iter().all(told) && spans.last().unwrap()["difference_percent"].is_object(),
        "{compared:#}"
    );
    // By a clock that cannot have moved there is no percentage, and it says so; against one
    // neither.
    let coarse = document(
        quick().with("--compare").with("tsc").with("times"),
        "clock-comparison.schema.json",
    );
    assert!(
        coarse["spans"][0]["difference_percent"].is_null()
            && coarse["spans"][0]["difference_reason"].is_string()
    );
    let coarse = document(
        quick().with("--compare").with("times").with("tsc"),
        "clock-comparison.schema.json",
    );
    let first = &coarse["spans"][0];
    assert!(
        first["difference_percent"].is_null() && first["bound_percent"].as_f64().unwrap() > 100.0,
        "{first:#}"
    );
    quick()
        .with("--compare")
        .with("times")
        .with("tsc")
        .succeeds()
        .says("too coarse for spans of")
        .says("unknown: up to");
    quick()
        .with("--compare")
        .with("thread_cputime")
        .with("tsc")
        .succeeds()
        .says("counts only while this thread runs");
}

#[test]
fn the_overhead_is_repeated_five_times() {
    let overhead = document(
        clocks().with("--overhead").with("monotonic").option("--runs", "300"),
        "stopwatch-overhead.schema.json",
    );
    let clock = &overhead["clocks"][0];
    assert_eq!(clock["repetitions"].as_array().unwrap().len(), 5);
    assert!(
        clock["repetitions"][0]["total"]["runs"] == 300 && clock["steadiest"].as_u64().unwrap() < 5
    );
}

#[test]
fn impossible_requests_are_refused_with_a_suggestion() {
    quick()
        .with("sundial")
        .ends_with(2)
        .complains("no clock is called `sundial`")
        .complains("known are tsc")
        .in_one_line();
    quick()
        .option("--cpu", "4000")
        .ends_with(2)
        .complains("CPU 4000 is not available")
        .complains("may use the CPUs")
        .in_one_line();
    clocks()
        .with("--latency")
        .with("sundial")
        .ends_with(2)
        .complains("clock `sundial` is not available")
        .complains("available here")
        .in_one_line();
    clocks()
        .with("--latency")
        .with("qpc")
        .ends_with(2)
        .complains("clock `qpc` is not available")
        .complains("this system is")
        .in_one_line();
    clocks()
        .with("--latency")
        .with("tsc")
        .with("tsc")
        .ends_with(2)
        .complains("named twice")
        .in_one_line();
    clocks()
        .with("--latency")
        .with("tsc")
        .with("times")
        .with("monotonic")
        .ends_with(2)
        .complains("at most 2")
        .in_one_line();
    clocks()
        .with("--compare")
        .with("tsc")
        .with("tsc")
        .ends_with(2)
        .complains("the same clock twice")
        .in_one_line();
    clocks()
        .with("--compare")
        .with("tsc")
        .with("moon")
        .ends_with(2)
        .complains("clock `moon`")
        .in_one_line();
}

#[test]
fn wrong_usage_ends_with_2() {
    let misused = |command: Hairspring, message: &str| {
        command.ends_with(2).complains(message).complains("--help")
    };
    misused(
        clocks().with("--latency").option("--scale", "0"),
        "it multiplies pauses of 1 s and 5 s",
    );
    misused(clocks().with("--latency").option("--scale", "slow"), "expected a number");
    misused(clocks().option("--scale", "1"), "--latency");
    misused(clocks().with("--latency").option("--count", "1"), "is not in 2..");
    misused(clocks().with("--compare").with("tsc"), "2 values required");
    misused(clocks().with("--latency").with("--overhead"), "cannot be used with");
    misused(clocks().with("--priority"), "--overhead");
    misused(quick().with("--budget").with("0"), "--budget");
}

#[test]
fn without_the_right_to_raise_the_priority_it_says_what_to_do() {
    let binary = env!("CARGO_BIN_EXE_hairspring");
    let arguments = ["clocks", "--overhead", "monotonic", "--runs", "100", "--priority"];
    // Root keeps every right but those taken away; anybody else has none to begin with.
    let mut command = if nix::unistd::getuid().is_root() {
        crate::command::needs("setpriv");
        let mut command = Command::new("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", binary]);
        command
    } else {
        Command::new(binary)
    };
    let ended = command.args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&ended.stderr);
    let refused = ended.status.code() == Some(1)
        && error.contains("cannot raise the priority")
        && error.contains("cap_sys_nice");
    // A user whose limit of nice values is raised may do it all the same.
    assert!(refused || (!nix::unistd::getuid().is_root() && ended.status.success()), "{ended:?}");
}

#[test]
fn on_one_cpu_nothing_is_compared_between_cpus() {
    let ended = Command::new("taskset")
        .args([
            "-c",
            "0",
            env!("CARGO_BIN_EXE_hairspring"),
            "clocks",
            "--budget",
            "60ms",
            "--json",
            "tsc",
        ])
        .output();
    let text = String::from_utf8(
        ended.expect("taskset is needed here: apt-get install util-linux").stdout,
    )
    .unwrap();
    let survey = Document::of(&text, "clocks.schema.json");
    let reason = survey["clocks"][0]["measured"]["across_cpus_reason"].as_str().unwrap();
    assert!(reason.contains("one CPU only, number 0"), "{reason}");
}
