//! `fit` of files that other tools wrote.

use crate::command::{Hairspring, fit};

/// A sample of Criterion: a body of 40 ns behind a constant of 2,500 ns.
fn sample() -> String {
    let iters: Vec<f64> = (1..=50).map(|n| f64::from(n) * 2.0).collect();
    let noise = |k: &f64| (k * 7.0) % 11.0 / 10.0;
    let times: Vec<f64> = iters.iter().map(|k| 40.0 * k + 2_500.0 + noise(k)).collect();
    format!("{{\"sampling_mode\":\"Linear\",\"iters\":{iters:?},\"times\":{times:?}}}")
}

#[test]
fn the_constant_that_was_hidden_is_shown() {
    let document = fit(sample()).document();
    let body = document.body()["time_ns"]["value"].as_f64().unwrap();
    let overhead = document.0["results"][0]["overhead"]["time_ns"]["value"].as_f64().unwrap();
    assert!((body - 40.0).abs() < 0.05 && (overhead - 2_500.5).abs() < 3.0, "{body} {overhead}");
    let origin = &document.0["methods"][0]["rows"][1];
    assert!(
        origin["technique"] == "direct, through origin"
            && origin["distance_percent"].as_f64().unwrap() > 50.0,
        "{origin:#}"
    );
    fit(sample())
        .succeeds()
        .says("direct, through origin")
        .says("a direct measurement includes the overhead");
}

#[test]
fn formats_are_detected_or_named() {
    fit(sample()).option("--format", "criterion").succeeds();
    fit(sample())
        .option("--format", "google-benchmark")
        .fails("is not JSON of Google Benchmark")
        .in_one_line();
    fit(sample()).option("--format", "observations").fails("observations.csv: ").in_one_line();
    fit("body,ticks\n1,108\n2,208\n3,309\n4,408\n")
        .option("--format", "criterion")
        .fails("missing field")
        .in_one_line();
    Hairspring::new().with("fit").with("-").input(sample()).succeeds().says("hairspring fit: main");
}

#[test]
fn runs_that_are_left_out_are_reported() {
    let entry = |name: &str, k: u32| {
        let mean = 40.0 + 25.0 / f64::from(k);
        format!(
            "{{\"name\": \"{name}\", \"run_type\": \"iteration\", \"iterations\": {k}, \
             \"real_time\": {mean}, \"time_unit\": \"ns\"}}"
        )
    };
    let entries: Vec<String> =
        [1, 2, 4, 8].map(|k| entry("BM_x", k)).into_iter().chain([entry("BM_once", 5)]).collect();
    let text = format!("{{\"context\": {{}}, \"benchmarks\": [{}]}}", entries.join(","));
    fit(text).succeeds().says("body").complains("`BM_once` is left out");
    fit("{\"context\": {}, \"benchmarks\": []}").fails("contains no benchmark run").in_one_line();
}

#[test]
fn the_unit_of_a_sample_is_assumed_and_said_to_be() {
    fit(sample()).succeeds().says("does not name its unit");
}

#[test]
fn output_of_go_is_read_from_a_pipe() {
    let line = |n: u32| format!("BenchmarkX-2\t{n}\t{} ns/op\n", 40.0 + 2_500.0 / f64::from(n));
    let text: String = [100, 200, 400, 800].map(line).concat();
    let body = fit(&text).document().body()["time_ns"]["value"].as_f64().unwrap();
    assert!((body - 40.0).abs() < 0.01, "{body}");
    fit(text).option("--format", "go").succeeds().says("readings");
}

#[test]
fn files_with_times_only_are_refused_with_the_verbs_that_take_them() {
    fit("{\"results\": [{\"command\": \"ls\", \"mean\": 0.1, \"times\": [0.1]}]}")
        .fails("is a result of hyperfine")
        .in_one_line();
}

#[test]
fn samples_that_follow_one_another_are_not_trusted() {
    let slow = |n: f64| 5.0 * (n / 7.0).sin();
    let times: Vec<f64> = (1..=60).map(f64::from).map(|n| 40.0 * n + 2_500.0 + slow(n)).collect();
    let iters: Vec<f64> = (1..=60).map(f64::from).collect();
    fit(format!("{{\"iters\":{iters:?},\"times\":{times:?}}}"))
        .succeeds()
        .says("NOT TO BE TRUSTED")
        .says("in the order of their counts");
}
