//! `hairspring switch`: what it measures, how it ends, and what it refuses. No time is asserted:
//! machines differ.

use crate::command::{Ended, Hairspring, Running};
use crate::document::Document;
use nix::sys::signal::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};

const ALL: [&str; 5] = ["futex", "pipe", "eventfd", "signal", "yield"];

fn switch() -> Hairspring {
    Hairspring::new().with("switch")
}

fn short() -> Hairspring {
    switch().option("--budget", "300ms")
}

fn document(command: Hairspring) -> Value {
    Document::of(&command.with("--json").succeeds().output, "switch.schema.json")
}

fn value(estimate: &Value) -> f64 {
    estimate["value"].as_f64().unwrap_or(f64::NAN)
}

fn component<'d>(result: &'d Value, name: &str) -> &'d Value {
    let all = result["components"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {result:#}"))
}

#[test]
fn every_mechanism_works_between_processes_and_between_threads() {
    for sides in ["processes", "threads"] {
        let ended = || {
            let command = if sides == "threads" { short().with("--threads") } else { short() };
            command.with("--all").with("--json").start().ends_with_any(&[0, 1])
        };
        // While others use the CPU all the time, a mechanism may have no result in one run.
        let ended = (0..4)
            .map(|_| ended())
            .find(Ended::succeeded)
            .expect("four runs without a result of one mechanism");
        let document = Document::of(&ended.output, "switch.schema.json");
        assert_eq!(
            (&document["sides"], &document["working_set_bytes"]),
            (&sides.into(), &Value::Null)
        );
        let results = document["results"].as_array().unwrap();
        assert_eq!(
            results.iter().map(|one| one["mechanism"].as_str().unwrap()).collect::<Vec<_>>(),
            ALL
        );
        for result in results {
            assert_eq!(result["costs"].as_array().unwrap().len(), 1, "{result:#}");
            assert!(value(&result["costs"][0]["time_ns"]) > 0.0, "{result:#}");
            // On a CPU that others use, the calls alone may not be known: `switch + calls`.
            let mut components = result["components"].as_array().unwrap().iter();
            let with_calls = components
                .find(|one| one["name"].as_str().is_some_and(|name| name.contains("calls")));
            assert!(with_calls.is_some_and(|one| value(&one["time_ns"]) > 0.0), "{result:#}");
            assert_eq!(result["overhead"].as_array().unwrap().len(), 3, "{result:#}");
            let has_reason = result["findings"]
                .as_array()
                .unwrap()
                .iter()
                .any(|finding| finding["kind"] == "no_second_method");
            assert_eq!(result["check"].is_null(), has_reason, "{result:#}");
        }
    }
}

#[test]
fn a_working_set_splits_the_cost_by_the_caches() {
    let document = document(short().option("--working-set", "16K").option("--rate", "100,200"));
    assert_eq!(document["working_set_bytes"], 16_384);
    let result = &document["results"][0];
    let costs: Vec<&str> = result["costs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cost| cost["cache"].as_str().unwrap())
        .collect();
    assert_eq!(costs, ["warm", "refilled", "flushed"]);
    for name in ["switch", "calls", "touch", "refill", "flush", "refill after flush"] {
        assert!(value(&component(result, name)["time_ns"]).is_finite(), "{name}");
    }
    assert!(
        value(&component(result, "touch")["time_ns"]) > 0.0
            && value(&component(result, "flush")["time_ns"]) > 0.0,
        "{result:#}"
    );
    assert_eq!(result["overhead"].as_array().unwrap().len(), 6);
}

#[test]
fn the_report_fits_the_page_and_names_what_it_shows() {
    let ended =
        short().option("--working-set", "8K").option("--by", "pipe,eventfd,pipe").succeeds();
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{ended}");
    for part in [
        "from warm caches",
        "the nearest to a disabled cache",
        "8 KiB that each side flushed from all caches",
        "switches/s",
        "rounds in",
        "check",
        "write, read",
    ] {
        assert!(
            ended.output.split_whitespace().collect::<Vec<_>>().join(" ").contains(part),
            "{part}: {ended}"
        );
    }
    assert_eq!(ended.output.matches("  pipe (write, read)").count(), 1, "{ended}");
}

#[test]
fn wrong_requests_say_what_there_is() {
    for (option, wrong, message) in [
        ("--by", "smoke", "known are futex, pipe, eventfd, signal, yield"),
        ("--working-set", "0", "from 1 to 64M"),
        ("--working-set", "-4096", "expected a number of bytes"),
        ("--working-set", "99999999999999999999999", "expected a number of bytes"),
        ("--working-set", "65M", "from 1 to 64M"),
        ("--rate", "0", "above 0"),
        ("--budget", "0", "above 0"),
        ("--cpu", "9999", "may use the CPUs "),
    ] {
        switch().with(format!("{option}={wrong}")).ends_with(2).complains(message);
    }
    switch().with("--all").option("--by", "pipe").ends_with(2).complains("cannot be used with");
}

#[test]
fn the_hidden_role_refuses_everybody_else() {
    Hairspring::new().with("__switch").fails("for hairspring itself");
    ["pipe", "0", "0", "1", "1"]
        .into_iter()
        .fold(Hairspring::new().with("__switch"), Hairspring::with)
        .fails("has ended");
}

fn long(mechanism: &str) -> Running {
    let running = switch().option("--budget", "100s").option("--by", mechanism).start();
    running.until_it_runs("__switch");
    running
}

#[test]
fn ctrl_c_leaves_no_partner() {
    for mechanism in ALL {
        let running = long(mechanism);
        running.until_it_catches_signals();
        running.signal(Signal::SIGINT);
        running.ends_with(130);
    }
}

#[test]
fn a_killed_partner_is_a_named_error() {
    for mechanism in ALL {
        let mut running = long(mechanism);
        // More than once: a partner that is just replaced by the next one may be killed without
        // notice.
        while !running.has_ended() {
            running.kill_those("__switch");
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
        // On a steady machine the windows may be precise before the first kill, and only the second
        // method lacks its partner.
        running.ends_with_any(&[0, 1]).says("partner process ended (signal: 9 (SIGKILL))");
    }
}

#[test]
fn a_killed_background_counter_is_named() {
    // The second method begins after 60 % of the budget.
    let running = switch().option("--budget", "8s").with("--json").start();
    running.until_it_runs("__switch count");
    running.kill_those("__switch count");
    let document = Document::of(&running.ends_with(0).output, "switch.schema.json");
    let result = &document["results"][0];
    assert_eq!(result["check"], Value::Null);
    let findings = result["findings"].as_array().unwrap();
    let reason = findings
        .iter()
        .find(|finding| finding["kind"] == "no_second_method")
        .map(|finding| &finding["message"]);
    let reason = reason.and_then(Value::as_str).unwrap_or_else(|| panic!("{result:#}"));
    // On a CPU that is never idle it does not run, not even to end.
    let ended = reason.contains("the background counter ended (signal: 9 (SIGKILL))");
    assert!(ended || reason.contains("the CPU is never idle"), "{reason}");
}

/// The command as another user, who may have so many processes and threads: root has no such limit.
fn with_most_processes(most: u32, arguments: &[&str]) -> std::process::Output {
    let nproc = format!("--nproc={most}");
    let mut command =
        Command::new(if nix::unistd::geteuid().is_root() { "setpriv" } else { "prlimit" });
    if nix::unistd::geteuid().is_root() {
        // A user with no other process, who may read the command wherever it is.
        let able = [
            "--inh-caps=-all,+dac_override",
            "--ambient-caps=-all,+dac_override",
            "--bounding-set=-all,+dac_override",
        ];
        command
            .args(["--reuid=61613", "--regid=61613", "--clear-groups"])
            .args(able)
            .arg("prlimit");
    }
    command.arg(nproc).arg(env!("CARGO_BIN_EXE_hairspring")).args(arguments);
    command.stdin(Stdio::null()).output().expect("setpriv and prlimit are part of util-linux")
}

#[test]
fn refused_threads_and_processes_are_named_errors() {
    // Other users' limits count their other processes, so only the first limits are certain to be
    // too low.
    for most in 1..=8 {
        for sides in
            [&["switch", "--budget", "200ms"][..], &["switch", "--budget", "200ms", "--threads"]]
        {
            let ended = with_most_processes(most, sides);
            let errors = String::from_utf8_lossy(&ended.stderr);
            assert!(!errors.contains("panicked"), "{most}: {errors}");
            assert!(
                most > 2
                    || ended.status.code() == Some(1)
                        && errors.contains("Resource temporarily unavailable"),
                "{most}: {ended:?}"
            );
        }
    }
}
