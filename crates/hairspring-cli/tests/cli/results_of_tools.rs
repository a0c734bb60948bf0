//! `compare` and `report` of results that other tools wrote.

use crate::command::Hairspring;
use expect_test::expect;
use serde_json::{Value, json};

/// A file of hyperfine with these times of one command, in milliseconds.
fn hyperfine(command: &str, times: &[f64]) -> String {
    let times: Vec<f64> = times.iter().map(|time| time / 1e3).collect();
    json!({ "results": [{ "command": command, "mean": 1.0, "times": times }] }).to_string()
}

/// Ten times around a middle.
fn around(middle: f64) -> Vec<f64> {
    [0.3, -0.4, 0.1, 0.5, -0.2, -0.5, 0.4, -0.1, 0.2, -0.3]
        .iter()
        .map(|off| middle * (1.0 + 0.01 * off))
        .collect()
}

fn compare(old: &str, new: &str) -> Hairspring {
    Hairspring::new().with("compare").beside("old", old).beside("new", new).with("old").with("new")
}

#[test]
fn the_page_names_tool_value_interval_and_what_it_lacks() {
    let ended = compare(&hyperfine("./a", &around(20.0)), &hyperfine("./a", &around(24.0)))
        .succeeds()
        .output;
    expect![[r#"
        hairspring compare: new over old
          old       old (of hyperfine)
          new       new (of hyperfine)
          times     mean of values, each of one run of the command

          ./a
          time      20,000,000 +- 50,000 ns -> 24,000,000 +- 60,000 ns
          ratio     1.2000 +- 0.0060: new is slower

          note      hyperfine: the intervals of both results do not contain the error of
                    the time of a shell that is subtracted (none with -N), nor what all
                    runs have in common: the state of caches and files, the machine's
                    load
                    -> do not put a small difference down to a change: what is not in
                       the interval can make it

          result    1 compared: 1 slower
                    not measured in the same rounds, so disturbances do not cancel: a
                    ratio's interval covers the worst case of all that may differ
                    between the two, and the verdict comes from it
    "#]]
    .assert_eq(&ended);
}

#[test]
fn the_document_has_the_origin() {
    let ended = compare(&hyperfine("./a", &around(20.0)), &hyperfine("./a", &around(24.0)))
        .with("--json")
        .succeeds()
        .output;
    let document: Value = serde_json::from_str(&ended).unwrap();
    assert_eq!(document["old"]["origin"]["tool"], "hyperfine");
    let change = &document["comparisons"][0];
    assert_eq!(change["measures"]["value"], "one run of the command");
    assert_eq!((&change["unit"], &change["verdict"]), (&json!("ns"), &json!("slower")));
    let ratio = |end: &str| change["ratio"][end].as_f64().unwrap();
    assert!(ratio("low") < 1.2 && 1.2 < ratio("high") && ratio("low") > 1.15, "{change:#}");
}

#[test]
fn a_threshold_is_kept_as_of_own_results() {
    let (old, new) = (hyperfine("./a", &around(20.0)), hyperfine("./a", &around(24.0)));
    compare(&old, &new).option("--threshold", "5%").ends_with(3).says("past the threshold");
    compare(&old, &old).option("--threshold", "5%").with("--strict").succeeds();
}

#[test]
fn what_is_not_of_the_same_is_refused() {
    let own = "{\"schema\": \"hairspring/result/2\", \"command\": \"fit\", \"results\": [], \
               \"run\": null}";
    let go = "BenchmarkA-2 100 20.0 ns/op\nBenchmarkA-2 100 20.4 ns/op\n";
    let file = hyperfine("./a", &around(20.0));
    compare(&file, go)
        .fails("the old result is of hyperfine and the new one of go test")
        .in_one_line();
    compare(own, &file).fails("the old result is of Hairspring and the new one of hyperfine");
    let jmh = |mode: &str| {
        json!([{ "benchmark": "a.b", "mode": mode, "primaryMetric": {
            "scoreUnit": "us/op", "rawData": [[1.0, 1.1, 1.05, 1.02]] } }])
        .to_string()
    };
    compare(&jmh("avgt"), &jmh("ss"))
        .succeeds()
        .says("none, undecided: the old time is the mean of values, each of one operation")
        .says("1 undecided");
}

#[test]
fn without_an_interval_there_is_no_ratio() {
    let once = "BenchmarkA-2 100 20.0 ns/op\n";
    compare(once, once)
        .succeeds()
        .says("none, undecided: the old result has no interval: it has one line")
        .does_not_say("20");
    compare(once, once).with("--strict").ends_with(3);
    report(once, "bencher").fails("no benchmark can be reported in this format");
    report(once, "csv").succeeds().says("BenchmarkA-2,BenchmarkA-2,time,\"\",20,,,");
}

#[test]
fn another_machine_is_no_verdict() {
    let go = |cpu: &str, ns: u32| {
        let line = |off: u32| format!("BenchmarkA-2 100 {ns}.{off} ns/op\n");
        format!("cpu: {cpu}\n{}{}{}{}", line(1), line(3), line(2), line(4))
    };
    let (old, new) = (go("one", 20), go("another", 40));
    compare(&old, &new).succeeds().says("the two ran on different machines").says("`another`");
    compare(&old, &new).with("--across").succeeds().says("new is slower");
}

fn report(result: &str, format: &str) -> Hairspring {
    Hairspring::new()
        .with("report")
        .beside("result", result)
        .with("result")
        .option("--format", format)
}

#[test]
fn a_report_says_what_its_format_has_no_place_for() {
    let clamped = hyperfine("./a", &[0.0, 0.2, 0.0, 0.3]);
    report(&clamped, "bencher")
        .succeeds()
        .complains("hyperfine: the intervals do not contain the error of the time of a shell")
        .complains("`./a` is not to be trusted: 2 of 4 values are in doubt");
}

#[test]
fn a_report_has_the_interval() {
    let ended = report(&hyperfine("./a", &around(20.0)), "bencher").succeeds().output;
    let found: Value = serde_json::from_str(&ended).unwrap();
    let of = |key: &str| found["./a"]["latency"][key].as_f64().unwrap();
    assert!(
        (of("value") - 20e6).abs() < 1.0 && of("lower_value") < 20e6 && of("upper_value") > 20e6
    );
}

/// What `report --format hyperfine` writes keeps its interval.
#[test]
fn an_export_is_read_again_with_its_interval() {
    let first = report(&hyperfine("./a", &around(20.0)), "hyperfine").succeeds().output;
    let ends = |file: &str| {
        let text = report(file, "bencher").succeeds().output;
        let found: Value = serde_json::from_str(&text).unwrap();
        ["lower_value", "upper_value"].map(|key| found["./a"]["latency"][key].as_f64().unwrap())
    };
    let (again, before) = (ends(&first), ends(&hyperfine("./a", &around(20.0))));
    assert!(again.iter().zip(before).all(|(again, before)| (again / before - 1.0).abs() < 1e-9));
}

#[test]
fn hostile_names_are_harmless() {
    let name = "<script>alert(1)</script>\u{1b}[31m\u{202e}\n\"&";
    let file = hyperfine(name, &around(20.0));
    let ended = compare(&file, &file).succeeds();
    assert!(ended.output.chars().all(|c| c == '\n' || !c.is_control()), "{:?}", ended.output);
    assert!(!ended.output.contains('\u{202e}'));
    for format in [
        "bencher",
        "csv",
        "benchstat",
        "hyperfine",
        "google-benchmark",
        "custom-smaller-is-better",
        "openmetrics",
    ] {
        let ended = report(&file, format).succeeds();
        assert!(ended.output.chars().all(|c| c == '\n' || !c.is_control()), "{format}");
    }
}

#[test]
fn other_encodings_are_read_or_named() {
    let file = hyperfine("./a", &around(20.0));
    let wide: Vec<u8> = file.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&b"\xff\xfe"[..], &wide].concat();
    let compared =
        |bytes: &[u8]| Hairspring::new().with("compare").beside("a", bytes).with("a").with("a");
    compared(&marked).succeeds().says("no difference");
    compared(format!("\u{feff}{file}").as_bytes()).succeeds().says("no difference");
    compared(b"{\"results\": \"\xe4\"}").fails("is not UTF-8 text").in_one_line();
}

#[test]
fn a_file_of_no_format_says_what_is_read() {
    compare("{}", "{}").fails("docs/results-of-tools.md").in_one_line();
}

/// A folder of Criterion.rs, as it is.
#[test]
fn a_folder_of_criterion_is_read() {
    let sample = json!({ "iters": [2, 2, 2, 2, 2, 2], "times": [40, 41, 40.5, 40.2, 40.9, 40.6] });
    Hairspring::new()
        .with("compare")
        .beside("criterion/f/new/sample.json", sample.to_string())
        .with("criterion")
        .with("criterion")
        .succeeds()
        .says("criterion (of Criterion.rs)")
        .says("1 compared: 1 no difference");
}

/// Google Benchmark's result of a function of several sizes, with these times in nanoseconds.
fn of_sizes(time: impl Fn(f64) -> f64) -> String {
    let one = |n: u32| {
        let time = time(f64::from(n));
        format!(
            r#"{{"name": "BM_sort/{n}", "run_name": "BM_sort/{n}", "run_type": "iteration",
                "iterations": 100, "real_time": {time}, "cpu_time": {time}, "time_unit": "ns"}}"#
        )
    };
    let all = [8, 64, 512, 4096, 32768].map(one).join(",");
    format!(r#"{{"context": {{"library_build_type": "release"}}, "benchmarks": [{all}]}}"#)
}

#[test]
fn the_growth_of_saved_times_is_told() {
    let growth = |file: &str| {
        let report = Hairspring::new().with("report").beside("saved.json", file);
        report.with("saved.json").with("--complexity")
    };
    let file = of_sizes(|n| 40.0 + 0.75 * n * n.log2());
    let text = growth(&file).succeeds().says("growth").output;
    assert!(text.contains("BM_sort in argument 1, 5 values from 8 to 32768: O(n log n)"), "{text}");
    growth(&hyperfine("./a", &around(20.0))).succeeds().says("unknown: it takes benchmarks");
    growth(&file).option("--format", "csv").ends_with(2).complains("--complexity");
}

#[test]
fn work_in_a_second_is_told() {
    let rates = |work: &str| {
        let report = Hairspring::new().with("report").beside("saved.json", of_sizes(|n| n / 4.0));
        report.with("saved.json").option("--throughput", work)
    };
    let text = rates("8 items").succeeds().output;
    assert!(text.starts_with("  throughput\n") && text.contains("items/s"), "{text}");
    rates("8*#1 B").succeeds().says("32 +- unknown GB/s");
    rates("size B").succeeds().says("unknown: it has no argument `size`");
    rates("8").ends_with(2).complains("has no unit: write AMOUNT UNIT");
    rates("8 B").option("--format", "csv").ends_with(2).complains("--throughput");
}
