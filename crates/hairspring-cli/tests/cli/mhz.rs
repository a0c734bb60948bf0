//! `hairspring mhz`: the forms of its output, and what it refuses. No speed is asserted: machines
//! differ.

use crate::command::Hairspring;
use crate::document::Document;
use crate::place::Place;
use serde_json::Value;
use std::fs::{read_dir, read_to_string, write};

fn mhz() -> Hairspring {
    Hairspring::new().with("mhz")
}

fn document(text: &str) -> Value {
    Document::of(text, "mhz.schema.json")
}

/// A machine that is too busy gives status 1 and a message; any other failure is an error.
fn found_or_too_busy(command: Hairspring) -> Option<String> {
    let ended = command.start().ends_with_any(&[0, 1]);
    let busy = ended.error.contains("too busy") || ended.output.contains("too busy");
    assert!(ended.succeeded() || busy, "{ended}");
    ended.succeeded().then_some(ended.output)
}

#[test]
fn a_speed_comes_with_its_proof() {
    if let Some(output) = found_or_too_busy(mhz()) {
        for part in
            ["core MHz", "chains", "core cycles", "tick rate of a clock is not the core's clock"]
        {
            assert!(
                output.split_whitespace().collect::<Vec<_>>().join(" ").contains(part),
                "{output}"
            );
        }
        assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
    }
}

#[test]
fn bare_numbers_are_numbers() {
    for (options, whole) in
        [(vec!["-c"], false), (vec!["-t"], false), (vec!["-i"], true), (vec!["-t", "-i"], true)]
    {
        if let Some(output) =
            found_or_too_busy(options.iter().fold(mhz(), |command, option| command.with(option)))
        {
            let number = output.trim_end();
            assert!(number.parse::<f64>().is_ok_and(|mhz| mhz > 1.0), "{output:?}");
            assert_eq!(number.parse::<u64>().is_ok(), whole, "{output:?}");
        }
    }
}

#[test]
fn every_cpu_has_an_entry_in_a_valid_document() {
    if let Some(output) = found_or_too_busy(mhz().with("--all").with("--json")) {
        let document = document(&output);
        let results = document["results"].as_array().unwrap();
        assert!(!results.is_empty());
        for result in results {
            let (core, tick) = (&result["core_hz"], &result["tick_hz"]);
            assert!(
                core["low"].as_f64() <= core["value"].as_f64()
                    && tick["value"].as_f64() > Some(0.0),
                "{result:#}"
            );
            assert!(
                result["levels"].as_array().is_some_and(|levels| !levels.is_empty()),
                "{result:#}"
            );
        }
    }
}

#[test]
fn watching_prints_a_line_or_a_document_for_each_measurement() {
    if let Some(output) = found_or_too_busy(mhz().with("--watch").with("10ms").with("-n").with("3"))
    {
        assert_eq!(output.lines().count(), 4, "{output}");
    }
    if let Some(output) = found_or_too_busy(mhz().with("--watch=10ms").with("-n2").with("--json")) {
        assert_eq!(output.lines().map(document).count(), 2, "{output}");
    }
}

#[test]
fn the_method_of_the_paper_is_shown_too() {
    if let Some(output) = found_or_too_busy(mhz().with("--classic").with("--budget").with("1s")) {
        for part in ["Staelin and McVoy", "a^=a+a", "guard"] {
            assert!(output.contains(part), "{output}");
        }
    }
}

#[test]
fn impossible_requests_are_refused() {
    for (options, message) in [
        (vec!["--cpu", "100000"], "CPU 100000 is not available"),
        (vec!["--cpu", "0", "--all"], "cannot be used with"),
        (vec!["-c", "-t"], "cannot be used with"),
        (vec!["-c", "--json"], "cannot be used with"),
        (vec!["--watch", "soon"], "expected a time"),
        (vec!["-n", "3"], "--watch"),
        (vec!["--watch", "1ms", "-n", "0"], "0 is not in"),
        (vec!["--classic", "--budget", "1ms"], "too short for nine expressions"),
        (vec!["--budget", "1s"], "--classic"),
        (vec!["--time", "1ns"], "from 5ms to 10s"),
    ] {
        let ended = options.iter().fold(mhz(), |command, option| command.with(option)).ends_with(2);
        assert!(ended.output.is_empty(), "{options:?} {ended}");
        ended.complains(message);
    }
}

#[test]
fn watching_ends_with_its_reader() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ended = mhz()
        .with("--watch=1ms")
        .with("-c")
        .output_to(std::fs::File::from(std::os::fd::OwnedFd::from(writer)))
        .start();
    let _ = ended.ends_with_any(&[0, 1]);
}

#[test]
fn core_clock_of_other_runs_is_beside_that_of_this_one() {
    let place = Place::new();
    let folder = place.work().join("history");
    let with = |option: &str| {
        found_or_too_busy(mhz().with(option).variable("HAIRSPRING_HISTORY", &folder))
    };
    let Some(first) = with("--json") else { return };
    let first = &document(&first)["results"][0];
    assert!(first["any_run_core_hz"].is_null(), "{first:#}");
    assert!(
        first["any_run_core_hz_reason"].as_str().unwrap().contains("fewer than four runs"),
        "{first:#}"
    );
    let file = read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = read_to_string(&file).unwrap();
    let words: Vec<f64> = text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let factor = |at: u32| if at % 2 == 0 { 0.8 } else { 1.2 };
    // Lines of the same moment would be one run.
    let runs: String = (1..9)
        .rev()
        .map(|at| format!("{} {}\n", words[0] - 60.0 * f64::from(at), words[1] * factor(at)))
        .collect();
    write(&file, runs).unwrap();
    let Some(second) = with("--json") else { return };
    let second = &document(&second)["results"][0];
    let half = |figure: &str| {
        let at = |end: &str| second[figure][end].as_f64().unwrap();
        (at("high") - at("low")) / 2.0 / at("value")
    };
    assert!(half("any_run_core_hz") > 0.3 && half("core_hz") < 0.2, "{second:#}");
    let Some(all) = found_or_too_busy(mhz().with("--all").with("--json")) else { return };
    let all = &document(&all)["results"];
    assert!(all.as_array().unwrap().len() == 1 || all[0]["any_run_core_hz"].is_null(), "{all:#}");
}
