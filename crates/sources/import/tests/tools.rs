//! Files of every tool in the form in which it writes them, and others that were sent in.

use hairspring_core::estimate::Options;
use hairspring_core::judge::{Assessment, Question, Severity, assess};
use hairspring_core::pipeline::solve;
use hairspring_import::{Imported, Tool, detect, has_only_times, read};
use serde_json::json;

/// A file of `tests/cases`.
fn case(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    std::fs::read_to_string(format!("{folder}/{name}")).unwrap()
}

fn imported(text: &str) -> Imported {
    let tool = detect(text.as_bytes()).expect("the tool is detected");
    read(text.as_bytes(), tool).unwrap()
}

fn refused(text: &str) -> String {
    let tool = detect(text.as_bytes()).expect("the tool is detected");
    read(text.as_bytes(), tool).unwrap_err().to_string()
}

/// The time of the body of a series.
fn body(imported: &Imported, series: &str) -> f64 {
    let id = imported.table.find_series(series);
    let id = id.unwrap_or_else(|| panic!("{series} in {:?}", imported.table.series_names()));
    solve(&imported.table, id, &Options::default()).unwrap().components[0].ticks.value
}

fn assessed(imported: &Imported) -> Assessment {
    assess(&imported.table, &Question::default()).unwrap()
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value / expected - 1.0).abs() < share, "{value} instead of {expected}");
}

#[test]
fn criterion_before_0_3_3_has_two_lists() {
    let imported = imported(&case("criterion_before_0.3.3_sample.json"));
    assert_eq!(imported.tool, Tool::Criterion);
    near(body(&imported, "main"), 99.7, 0.01);
}

#[test]
fn samples_that_follow_one_another_are_not_trusted() {
    let assessment = assessed(&imported(&case("criterion_drift.json")));
    let series = &assessment.series[0];
    let finding = series.findings.iter().find(|one| one.is("correlated")).unwrap();
    assert_eq!(finding.severity, Severity::Untrusted);
    assert!(series.components[0].time.ticks.half_width() > 40.0);
    assert!(series.findings.iter().any(|one| one.is("unit_assumed")));
}

#[test]
fn messages_of_cargo_criterion_are_read() {
    let imported_runs = imported(&case("cargo_criterion_messages.json"));
    near(body(&imported_runs, "fib"), 125.0, 0.02);
    let other_messages = "{\"reason\":\"compiler-artifact\"}\nfib  time: 1 ns\n".to_owned();
    let text = other_messages + &case("cargo_criterion_messages.json");
    assert_eq!(imported(&text).table.readings().len(), 4);
    let cut = &text[..text.len() / 2];
    assert!(refused(cut).contains("line 3: is not a JSON message"), "{}", refused(cut));
    let uneven = case("cargo_criterion_messages.json").replace("[10,20,30,40]", "[10,20]");
    assert!(refused(&uneven).contains("2 `iters` and 4 `times`"), "{}", refused(&uneven));
}

/// Lines of raw.csv with 12 units a copy.
fn raw(unit: &str) -> String {
    let lines = (1..=20).map(|n| {
        let k = 26 * n;
        format!("own,,,,,{},{unit},{k}\n", 12 * k + 30 + n % 2)
    });
    "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,\
     iteration_count\n"
        .to_owned()
        + &lines.collect::<String>()
}

#[test]
fn a_measurement_of_ones_own_is_in_its_unit() {
    let cycles = imported(&raw("cycles"));
    near(body(&cycles, "own"), 12.0, 0.01);
    assert_eq!(cycles.table.origin.ns_per_unit(), None);
    assert_eq!(cycles.table.origin.clock.as_deref(), Some("in cycles"));
    assert_eq!(imported(&raw("us")).table.origin.ns_per_unit(), Some(1.0));
    near(body(&imported(&raw("us")), "own"), 12_000.0, 0.01);
    let both_units = raw("ns")
        + &raw("cycles")
            .replace("own", "other")
            .lines()
            .skip(1)
            .fold(String::new(), |all, line| all + line + "\n");
    let imported_runs = imported(&both_units);
    assert_eq!(imported_runs.table.series_names(), ["own"]);
    assert!(imported_runs.remarks[0].contains("`other` are left out: they are in `cycles`"));
}

#[test]
fn old_aggregates_of_google_benchmark_are_left_out() {
    let imported = imported(&case("google_benchmark_old_bigo.json"));
    assert_eq!(imported.table.series_names(), ["BM_a/1"]);
    assert_eq!(imported.remarks.len(), 2);
    assert!(imported.remarks[0].contains("`BM_a_BigO` is left out"), "{:?}", imported.remarks);
}

/// Runs of 2.08 ms in each of four threads.
fn with_threads(context: &serde_json::Value, divided: bool, cpu: f64) -> String {
    let runs = [10.0, 20.0, 40.0, 80.0].map(|n: f64| {
        let wall = 2.08e6 * n + 500.0;
        let name = format!("BM_Sleep/iterations:{n}/repeats:5/real_time/threads:4");
        json!({ "name": name, "run_name": name, "run_type": "iteration", "repetitions": 5,
            "threads": 4, "iterations": 4.0 * n, "cpu_time": cpu, "time_unit": "ns",
            "real_time": if divided { wall / n / 4.0 } else { wall / n } })
    });
    json!({ "context": context, "benchmarks": runs }).to_string()
}

#[test]
fn the_time_of_threads_is_that_of_one() {
    let (old, new) =
        (json!({ "library_build_type": "release" }), json!({ "library_version": "v1.9.5" }));
    let between = json!({ "library_version": "v1.8.4-70-g123456" });
    for text in [
        with_threads(&old, true, 9e3),
        with_threads(&new, false, 9e3),
        with_threads(&between, true, 2e6),
    ] {
        let imported = imported(&text);
        near(body(&imported, "BM_Sleep/real_time/threads:4"), 2.08e6, 1e-3);
    }
    for context in [between, json!({})] {
        let error = refused(&with_threads(&context, true, 9e3));
        assert!(error.contains("the version of the library"), "{error}");
    }
}

#[test]
fn an_argument_may_be_called_iterations() {
    let mut runs = Vec::new();
    for (argument, time) in [(2, 10.0), (20, 100.0)] {
        for n in [100.0, 200.0, 400.0, 800.0] {
            let name = format!("BM_N/iterations:{argument}/iterations:{n}/manual_time");
            runs.push(json!({ "name": name, "run_name": name, "run_type": "iteration",
                "iterations": n, "real_time": time + 50.0 / n, "time_unit": "ns" }));
        }
    }
    let text = json!({ "context": {}, "benchmarks": runs }).to_string();
    let imported = imported(&text);
    near(body(&imported, "BM_N/iterations:2/manual_time"), 10.0, 1e-3);
    near(body(&imported, "BM_N/iterations:20/manual_time"), 100.0, 1e-3);
    // Without ->Iterations the name has only the argument.
    let chosen = text.replace("/iterations:100/", "/").replace("/iterations:200/", "/");
    assert_eq!(self::imported(&chosen).table.series_names().len(), 2);
}

#[test]
fn the_reason_of_a_skipped_run_is_told() {
    let text = json!({ "context": {}, "benchmarks": [{ "name": "A", "run_type": "iteration",
        "skipped": true, "skip_message": "needs a device", "iterations": 1, "real_time": 0.0 }] });
    assert!(refused(&text.to_string()).contains("(needs a device)"));
}

/// nanobench's JSON with 40 ns a call and a constant of 25 ns.
fn nanobench(titles: [&str; 2], batch: f64) -> String {
    let epochs: Vec<serde_json::Value> = (0..11)
        .map(|n| {
            let k = f64::from(1000 + 37 * n);
            json!({ "iterations": k, "elapsed": (40.0 * k + 25.0) / k / 1e9, "pagefaults": 0 })
        })
        .collect();
    let results = titles.map(|title| {
        json!({ "title": title, "name": "call", "unit": "op", "batch": batch, "epochs": 11,
            "clockResolution": 1.8e-8, "median(elapsed)": 4e-8, "measurements": epochs })
    });
    json!({ "results": results[..if titles[0] == titles[1] { 1 } else { 2 }] }).to_string()
}

#[test]
fn nanobench_has_seconds_of_one_iteration() {
    let imported_runs = imported(&nanobench(["benchmark"; 2], 1.0));
    assert_eq!(imported_runs.tool, Tool::Nanobench);
    near(body(&imported_runs, "call"), 40.0, 1e-6);
    let two = imported(&nanobench(["a", "b"], 8.0));
    assert_eq!(two.table.series_names(), ["a/call", "b/call"]);
    assert!(two.remarks[0].contains("of 8 op"), "{:?}", two.remarks);
    let bad = nanobench(["a"; 2], 1.0).replace("1037.0", "-1037.0");
    assert!(refused(&bad).contains("measurement 2: the number of iterations is -1037"));
}

/// BenchmarkDotNet's full JSON: 100 ns an operation, 2,000 ns an iteration.
fn dotnet(mode: &str, stage: Option<&str>) -> String {
    let benchmark = |count: u32| {
        let measurement = |mode: &str, stage: Option<&str>, operations: u32, ns: f64| {
            json!({ "IterationMode": mode, "IterationStage": stage, "LaunchIndex": 1,
                "IterationIndex": 1, "Operations": operations, "Nanoseconds": ns })
        };
        let time = f64::from(count) * 100.0 + 2_000.0;
        let actual = (0..5).map(|n| measurement(mode, stage, count, time + f64::from(n)));
        let other_measurements = [
            measurement("Workload", Some("Pilot"), 1, 9e9),
            measurement("Overhead", Some("Actual"), count, 400.0),
            measurement("Workload", Some("Result"), count, time - 400.0),
        ];
        let display = format!("Bench.Work: Job-ABC(InvocationCount={count}, UnrollFactor=1)");
        json!({ "DisplayInfo": display, "FullName": "Ns.Bench.Work",
            "Measurements": other_measurements.into_iter().chain(actual).collect::<Vec<_>>() })
    };
    json!({ "Title": "Bench", "HostEnvironmentInfo": { "BenchmarkDotNetVersion": "0.14.0" },
        "Benchmarks": [benchmark(16), benchmark(32), benchmark(64), benchmark(128)] })
    .to_string()
}

#[test]
fn only_the_actual_workload_of_benchmark_dot_net_counts() {
    for (mode, stage) in [("Workload", Some("Actual")), ("MainTarget", None)] {
        let imported = imported(&dotnet(mode, stage));
        assert_eq!((imported.tool, imported.table.readings().len()), (Tool::BenchmarkDotNet, 20));
        near(body(&imported, "Ns.Bench.Work"), 100.0, 1e-3);
    }
    let brief = json!({ "HostEnvironmentInfo": {}, "Benchmarks": [{ "FullName": "A" }] });
    assert!(refused(&brief.to_string()).contains("JsonExporter.Full"));
    let none = dotnet("Workload", Some("Warmup"));
    assert!(refused(&none).contains("contains no benchmark run"));
}

#[test]
fn named_jobs_of_benchmark_dot_net_that_differ_in_length_only_are_one_series() {
    let mut text = dotnet("Workload", Some("Actual"));
    for (name, count) in [("short", 16), ("mid", 32), ("long", 64), ("longest", 128)] {
        let count = format!("(InvocationCount={count},");
        text = text.replace(&format!("Job-ABC{count}"), &format!("{name}{count}"));
    }
    let imported = imported(&text);
    assert_eq!(imported.table.series_names(), ["Ns.Bench.Work"]);
    near(body(&imported, "Ns.Bench.Work"), 100.0, 1e-3);
    assert!(imported.remarks[0].contains("`short` of `Ns.Bench.Work` are one series"));
    let same = text.replace("InvocationCount=", "Runtime=");
    assert!(refused(&same).contains("there is no line to fit"));
}

/// Output of `go test -bench` with several numbers of iterations.
fn go(package: &str) -> String {
    let head = format!("goos: linux\ngoarch: amd64\npkg: {package}\ncpu: some processor\n");
    let lines = [100.0, 200.0, 400.0, 800.0].map(|n: f64| {
        format!(
            "BenchmarkWork/size=8-2   \t{n:8}\t{:13.4} ns/op\t 4919.29 MB/s\t 0 B/op\n\
             BenchmarkCount-2         \t{n:8}\t        5.000 things/op\n",
            (90.0 * n + 700.0) / n
        )
    });
    head + &lines.concat() + "PASS\nok  \tmini\t0.190s\n"
}

#[test]
fn go_has_nanoseconds_of_one_iteration() {
    let imported_runs = imported(&go("mini"));
    assert_eq!(imported_runs.tool, Tool::Go);
    near(body(&imported_runs, "BenchmarkWork/size=8-2"), 90.0, 1e-4);
    assert!(imported_runs.remarks[0].contains("`BenchmarkCount-2` is left out: it has no ns/op"));
    // Half of the last of four digits, in the longest run.
    assert_eq!(imported_runs.table.origin.reading_bound, Some(0.04));
    assert_eq!(imported_runs.table.origin.granularity, Some(0.08));
    let two = imported(&(go("a/b") + &go("a/c")));
    let names = ["a/b.BenchmarkWork/size=8-2", "a/c.BenchmarkWork/size=8-2"];
    assert_eq!(two.table.series_names(), names);
    let short = go("mini").lines().take(5).map(|line| line.to_owned() + "\n").collect::<String>();
    assert!(refused(&short).contains("-benchtime=100x"), "{}", refused(&short));
    let broken = go("mini").replace("     400", "    4oo");
    assert!(refused(&broken).contains("line 9: `4oo` is no number"), "{}", refused(&broken));
}

#[test]
fn a_spread_of_one_printed_digit_is_no_disturbance() {
    let mut text = String::from("pkg: a\n");
    for count in (1..=8).map(|n| n * 1000) {
        for shown in ["10.0", "10.0", "10.1", "10.0", "9.9"] {
            text += &format!("BenchmarkX-8\t{count}\t{shown} ns/op\n");
        }
    }
    let imported = imported(&text);
    assert_eq!(imported.table.origin.granularity, Some(800.0));
    let assessment = assessed(&imported);
    let codes: Vec<String> =
        assessment.series[0].findings.iter().map(|finding| finding.code.to_string()).collect();
    assert!(!codes.iter().any(|code| code == "disturbed"), "{codes:?}");
}

#[test]
fn events_of_go_have_lines_in_pieces() {
    // Of go 1.26.8, two runs with 100x and 300x; three numbers are needed.
    let text = case("go_test_bench.json");
    assert!(refused(&text).contains("three or more different numbers"));
    let third = text.replace(" 300\\t", " 900\\t");
    let imported = imported(&(text + &third));
    let names = ["BenchmarkWork-2", "BenchmarkSub/a-2"];
    assert_eq!(imported.table.series_names(), names);
    assert_eq!(imported.table.readings().len(), 8);
}

#[test]
fn files_with_times_only_are_named() {
    for (text, tool) in [
        (r#"{"results": [{"command": "ls", "mean": 0.1, "times": [0.1]}]}"#, "hyperfine"),
        ("command,mean,stddev,median,user,system,min,max\nls,1,2,3,4,5,6,7\n", "hyperfine"),
        (r#"{"machine_info": {}, "benchmarks": []}"#, "pytest-benchmark"),
        (r#"[{"jmhVersion": "1.37", "benchmark": "a", "primaryMetric": {}}]"#, "JMH"),
        (r#"{"benchmarks":[{"metadata":{},"runs":[]}],"version":"1.0"}"#, "pyperf"),
        ("<?xml version=\"1.0\"?>\n<Catch2TestRun name=\"x\">", "Catch2"),
    ] {
        assert_eq!(has_only_times(text.as_bytes()), Some(tool), "{text}");
        assert_eq!(detect(text.as_bytes()), None, "{text}");
    }
    for (file, tool) in [
        ("cyclictest.json", "cyclictest"),
        ("mitata.json", "mitata"),
        ("oslat.json", "oslat"),
        ("tinybench-results.json", "tinybench"),
        ("tinybench-table.json", "tinybench"),
        ("tinybench-tasks.json", "tinybench"),
        ("vitest.json", "vitest"),
    ] {
        assert_eq!(has_only_times(case(file).as_bytes()), Some(tool), "{file}");
    }
    let other_files = [nanobench(["a"; 2], 1.0), go("mini"), dotnet("Workload", None), raw("ns")];
    for text in other_files.iter().map(String::as_str).chain(["body,ticks\n1,2\n", ""]) {
        assert_eq!(has_only_times(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn every_encoding_is_read() {
    for text in [case("criterion_before_0.3.3_sample.json"), go("mini"), raw("ns")] {
        let expected = imported(&text);
        let pairs = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            format!("\u{feff}{text}").encode_utf16().flat_map(order).collect()
        };
        let marked = format!("\u{feff}{text}").replace('\n', "\r\n").into_bytes();
        for bytes in [pairs(u16::to_le_bytes), pairs(u16::to_be_bytes), marked] {
            let tool = detect(&bytes).expect("the tool is detected");
            assert_eq!(read(&bytes[..], tool).unwrap(), expected);
        }
    }
}

#[test]
fn damaged_files_are_refused_or_have_fewer_runs() {
    let files = [
        case("cargo_criterion_messages.json"),
        nanobench(["a"; 2], 1.0),
        dotnet("Workload", Some("Actual")),
        go("mini"),
        case("go_test_bench.json"),
    ];
    for text in files {
        let tool = detect(text.as_bytes()).unwrap();
        let whole = read(text.as_bytes(), tool).map_or(0, |all| all.table.readings().len());
        for end in (0..text.len()).step_by(7) {
            if let Ok(part) = read(&text.as_bytes()[..end], tool) {
                assert!(part.table.readings().len() <= whole, "{end} of {text}");
            }
        }
        for (number, other) in [("1", "1e999"), ("1", "-1"), ("0", "[[[["), ("1", "NaN")] {
            let _ = read(text.replace(number, other).as_bytes(), tool);
        }
        let deep = text.replacen('[', &"[".repeat(100_000), 1);
        let _ = read(deep.as_bytes(), tool);
    }
}
