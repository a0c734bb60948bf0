//! Files of other tools as results. The cases are of real runs, shortened, or in their form: the
//! versions stand in docs/results-of-tools.md.

use hairspring_import::results::{FORMATS, Results, decode, read, read_folder};
use hairspring_result::{ResultDocument, json};
use std::path::{Path, PathBuf};

fn case(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn results(text: &str) -> Results {
    read(text).expect("a known format").expect("a file that can be used")
}

/// The document of a case; what is printed can be read again as the same.
fn document(name: &str) -> ResultDocument {
    let document = results(&case(name)).into_document();
    let again = hairspring_result::read::read(&json::print(&document));
    assert_eq!(again.as_ref(), Ok(&document), "{name}");
    document
}

/// What a case must give: the tool, and for each benchmark its name, the time in nanoseconds, its
/// half-width (0 for none), and the beginning of what a value is.
type Expected = (&'static str, &'static str, &'static [(&'static str, f64, f64, &'static str)]);

const CASES: &[Expected] = &[
    (
        "hyperfine.json",
        "hyperfine",
        &[
            ("true", 1_685_665.45, 5_262_820.0, "one run of the command"),
            ("sleep 0.01", 23_844_867.7, 14_643_520.0, "one run of the command"),
        ],
    ),
    ("pyperf.json", "pyperf", &[("timeit", 5_313.9, 2_300.0, "one iteration")]),
    (
        "pytest-benchmark.json",
        "pytest-benchmark",
        &[
            ("test_b.py::test_sum", 13_269.8, 610.0, "one iteration"),
            ("test_b.py::test_sort", 93_295.0, 567_240.0, "one iteration"),
        ],
    ),
    (
        "google-benchmark-1.9.json",
        "Google Benchmark",
        &[("BM_x/real_time/threads:4", 2_084.0, 14.2, "one iteration in real time")],
    ),
    (
        "google-benchmark-1.8.json",
        "Google Benchmark",
        &[("BM_x/real_time/threads:4", 2_084.0, 14.2, "one iteration in real time")],
    ),
    (
        "google-benchmark-aggregates.json",
        "Google Benchmark",
        &[("BM_x", 2_084.0, 14.2, "one iteration in real time")],
    ),
    (
        "jmh.json",
        "JMH",
        &[
            ("org.B.average (size=10)", 1_041.7, 37.8, "one operation, averaged over an iteration"),
            ("org.B.rate", 91_414.1, 46_309.4, "one operation in 4 threads, by the throughput"),
            ("org.B.shot", 11e6, 3_227_000.0, "one batch of 100 calls, a single shot"),
            ("org.B.sampled", 41.625, 17.5, "one operation, averaged over the sampled calls"),
        ],
    ),
    (
        "go.txt",
        "go test",
        &[
            ("example.com/gob.BenchmarkMake-2", 166.47, 629.129, "one iteration"),
            ("example.com/gob.BenchmarkSub/a=1-2", 44.11, 30.9561, "one iteration"),
        ],
    ),
    (
        "go-events.txt",
        "go test",
        &[
            ("example.com/gob.BenchmarkMake-2", 116.0, 86.0, "one iteration"),
            ("example.com/gob.BenchmarkSub/a=1-2", 53.11, 170.14, "one iteration"),
        ],
    ),
    ("criterion-estimates.json", "Criterion.rs", &[("main", 101.0, 2.0, "one iteration")]),
    ("criterion-messages.json", "Criterion.rs", &[("fib", 100.5, 1.78695, "one iteration")]),
    (
        "asv.json",
        "asv",
        &[
            ("b.Suite.time_sum(10, 'a')", 580.96, 6_311.0, "one iteration"),
            ("b.Suite.time_sum(100, 'a')", 969.5, 14_600.0, "one iteration"),
            ("b.time_plain", 17_706.5, 228_265.0, "one iteration"),
        ],
    ),
    ("vitest.json", "vitest", &[("x.bench.ts > sums > plain", 2_727.0, 58_200.0, "one call")]),
    ("tinybench-tasks.json", "tinybench", &[("a", 1_998_201.2, 5_433_291.6, "one call")]),
    ("tinybench-results.json", "tinybench", &[("task 1", 1_998_201.2, 5_433_291.6, "one call")]),
    ("tinybench-table.json", "tinybench", &[("a", 1_998_201.0, 7_700_000.0, "one call")]),
    ("mitata.json", "mitata", &[("sum", 50.545, 0.001654, "one call, averaged over a sample")]),
    (
        "benchmark-dotnet.json",
        "BenchmarkDotNet",
        &[
            ("N.Intro.A", 10.175, 0.95, "one operation"),
            ("N.Intro.Brief", 20.0, 0.7153, "one operation"),
        ],
    ),
    (
        "nanobench.json",
        "nanobench",
        &[
            ("x += x", 1.0425, 0.07, "one iteration, averaged over an epoch"),
            ("copies: memcpy", 20.5, 6.35, "one iteration (a batch of 1024 byte)"),
        ],
    ),
    ("cyclictest.json", "cyclictest", &[("thread 0 on CPU 0", 31_250.0, 3_400.0, "one latency")]),
    (
        "cyclictest-overflows.json",
        "cyclictest",
        &[
            ("thread 0 on CPU 0", 74_200.0, 0.0, "one latency"),
            ("thread 1 on CPU 1", 73_050.0, 0.0, "one latency"),
        ],
    ),
    ("oslat.json", "oslat", &[("thread 0 on CPU 0", 1_014.171, 0.0, "one latency")]),
    (
        "catch2.xml",
        "Catch2",
        &[
            ("sums & <more>/plain \"q\"", 625.98, 30.8, "one iteration"),
            ("sums & <more>/sec/b2", 129.624, 0.1035, "one iteration"),
        ],
    ),
];

#[test]
fn each_format_has_its_unit_and_its_value() {
    let mut wrong = Vec::new();
    for (file, tool, expected) in CASES {
        let document = document(file);
        let origin = document.origin.as_ref().unwrap();
        assert_eq!(&origin.tool, tool, "{file}");
        assert!(!origin.lacks.is_empty() && !origin.file.is_empty(), "{file}");
        let names: Vec<&str> = document.results.iter().map(|series| &*series.name).collect();
        let wanted_names: Vec<&str> = expected.iter().map(|(name, ..)| *name).collect();
        assert_eq!(names, wanted_names, "{file}");
        for (series, (name, time, half, value)) in document.results.iter().zip(*expected) {
            let time_ns = series.components[0].figure.time_ns.flatten().unwrap();
            let measures = series.measures.as_ref().unwrap();
            let near = |a: f64, b: f64| (a - b).abs() <= 0.03 * b.abs();
            let is_right = match *half > 0.0 {
                true => near(time_ns.half_width(), *half),
                false => time_ns.high == f64::INFINITY,
            };
            if !near(time_ns.value, *time) || !is_right {
                wrong.push(format!("{file} {name}: {} +- {}", time_ns.value, time_ns.half_width()));
            }
            assert!(measures.value.starts_with(value), "{file} {name}: {}", measures.value);
            assert_eq!(
                series.trusted,
                time_ns.high.is_finite() && series.findings.is_empty(),
                "{file} {name}"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_format_has_a_case() {
    let tools: Vec<&str> = CASES.iter().map(|(_, tool, _)| *tool).collect();
    let missing: Vec<&str> =
        FORMATS.iter().map(|format| format.tool).filter(|tool| !tools.contains(tool)).collect();
    assert_eq!(missing, [""; 0]);
}

/// Cut anywhere, a file is refused, or has fewer benchmarks or rounds; nothing panics.
#[test]
fn files_that_are_cut_are_refused_or_smaller() {
    for (file, ..) in CASES {
        let whole = case(file);
        let number_of_all = results(&whole).benchmarks.len();
        for end in (0..whole.len()).step_by(5).filter(|end| whole.is_char_boundary(*end)) {
            let Some(Ok(results)) = read(&whole[..end]) else { continue };
            assert!(results.benchmarks.len() <= number_of_all, "{file} cut at {end}");
            results.into_document();
        }
    }
}

/// Every number of a file, replaced by one that cannot be, is refused or left out; the interval
/// that is left stays a valid one.
#[test]
fn numbers_that_cannot_be_are_refused_or_left_out() {
    let bad =
        ["1e999", "-1e300", "1e-300", "0", "-1", "null", "\"NaN\"", "NaN", "[]", "{}", "\"\""];
    for (file, ..) in CASES {
        let whole = case(file);
        for (start, end) in numbers(&whole).into_iter().take(30) {
            for word in bad {
                let text = format!("{}{word}{}", &whole[..start], &whole[end..]);
                let Some(Ok(results)) = read(&text) else { continue };
                let document = results.into_document();
                let printed = json::print(&document);
                assert!(
                    hairspring_result::read::read(&printed).is_ok(),
                    "{file} {word}: {printed}"
                );
            }
        }
    }
}

/// Where numbers stand in a text.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e');
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + offset;
        let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
        at = start + length;
        numbers.push((start, at));
    }
    numbers
}

#[test]
fn what_was_left_out_is_told() {
    let remarks = |file: &str| results(&case(file)).remarks.join("\n");
    for (file, told) in [
        ("asv.json", "`b.track_x` is left out: its name says that it is not a time"),
        ("asv.json", "`b.Suite.time_sum(100, 'b')` is left out: it failed (null) or was skipped"),
        ("jmh.json", "`org.B.counter` is left out: its unit is `B/op`"),
        ("google-benchmark-1.9.json", "`BM_fails` is left out: it failed or was skipped (no file)"),
        (
            "google-benchmark-1.9.json",
            "`BM_skips` is left out: it failed or was skipped (not here)",
        ),
        ("tinybench-table.json", "`fails` is left out"),
        ("criterion-messages.json", "`cycles` is left out: its unit is `cycles`, not a time"),
        ("benchmark-dotnet.json", "`N.Intro.Failed` is left out"),
    ] {
        assert!(remarks(file).contains(told), "{file}: {}", remarks(file));
    }
}

/// Zeros of hyperfine were below zero once; a failed command did less work.
#[test]
fn values_that_are_not_times_of_runs_are_not_trusted() {
    let told = |text: &str| {
        let document = results(text).into_document();
        let series = &document.results[0];
        assert!(!series.trusted, "{text}");
        series.findings[0].message.clone()
    };
    assert!(told(&case("hyperfine.json")).starts_with("6 of 8 values are in doubt"));
    let failed = r#"{"results": [{"command": "x", "times": [1.0, 1.1], "exit_codes": [0, 1]}]}"#;
    assert_eq!(told(failed), "1 of 2 values are in doubt: the command failed");
    let unclear = case("google-benchmark-1.9.json").replace("v1.9.5", "v0.0.0");
    assert!(told(&unclear).contains("divided by the 4 threads"));
}

/// Between the last 1.8 and 1.9.0, and without a `context`, the times themselves decide, or nothing
/// does.
#[test]
fn times_of_threads_have_a_factor_by_the_version_or_by_the_processor_time() {
    let told = |text: &str| {
        let series = results(text).into_document().results.remove(0);
        let time =
            series.components["time"].figure.time_ns.flatten().map_or(f64::NAN, |time| time.value);
        (time.round(), series.trusted)
    };
    let file = case("google-benchmark-1.9.json");
    let of = |version: &str| file.replace("v1.9.5", version);
    let short = |text: &str| text.replace("\"cpu_time\": 2.", "\"cpu_time\": 8.");
    let no_version = file.replace("library_version", "other");
    let no_context = no_version.replace("library_build_type", "another");
    let (once, four_times) = (2084.0, 8336.0);
    assert_eq!(told(&of("v1.9.0-3-gabc")), (once, true));
    assert_eq!(told(&of("v1.8.3")), (four_times, true));
    assert_eq!(told(&of("v1.8.4-70-gabc")), (once, false));
    assert_eq!(told(&short(&of("v1.8.4-70-gabc"))), (four_times, true));
    assert_eq!(told(&no_version), (four_times, true));
    assert_eq!(told(&no_context), (once, false));
    assert_eq!(told(&short(&no_context)), (four_times, true));
}

#[test]
fn values_without_their_order_count_as_ten() {
    let independent = |file: &str| {
        document(file).results[0].measures.as_ref().and_then(|measures| measures.independent)
    };
    assert_eq!([independent("mitata.json"), independent("vitest.json")], [Some(10); 2]);
    assert_eq!(independent("pytest-benchmark-saved.json"), Some(8));
    assert_eq!(independent("catch2.xml"), None);
}

#[test]
fn a_command_with_parameters_and_one_that_occurs_twice_have_names_of_their_own() {
    let entry = |parameters: &str| {
        format!(r#"{{"command": "sort", "times": [1.0, 1.1], "parameters": {parameters}}}"#)
    };
    let text = format!(
        r#"{{"results": [{}, {}, {}]}}"#,
        entry(r#"{"n": "10"}"#),
        entry(r#"{"n": "20"}"#),
        entry(r#"{"n": "20"}"#)
    );
    let results = results(&text);
    let names: Vec<&str> = results.benchmarks.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["sort (n=10)", "sort (n=20)", "sort (n=20) (2)"]);
    assert!(results.remarks[0].contains("occurs several times"), "{:?}", results.remarks);
}

#[test]
fn a_file_without_a_time_says_why() {
    for (text, reason) in [
        (r#"{"results": [{"command": "x"}]}"#, "one of its times is not a number"),
        (r#"{"benchmarks": [{"runs": [{"warmups": [[1, 2.0]]}]}]}"#, "calibrate only"),
        (r#"{"context": {"library_build_type": "release"}, "benchmarks": []}"#, "no time"),
        (
            r#"{"benchmarks": [{"runs": [{"values": [3, 4]}], "metadata": {"unit": "byte"}}]}"#,
            "its unit is `byte`, not a time",
        ),
        (r#"{"reason": "benchmark-complete", "id": "x"}"#, "`x` is left out: it has no value"),
        (r#"{"iters": [], "times": []}"#, "it has no value"),
        (r#"{"iters": [1, 2], "times": [1]}"#, "there must be one time for each"),
        (r#"{"iters": [1, 0], "times": [1, 2]}"#, "there must be more than 0"),
        (
            r#"{"benchmarks": [{"name": "a", "iterations": 1, "real_time": 1, "time_unit": "h"}]}"#,
            "the unit `h` is not supported",
        ),
        ("<a><BenchmarkResults></a>", "is not XML of -r xml of Catch2"),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]><a><BenchmarkResults/></a>", "is not XML"),
    ] {
        let found = read(text).unwrap_or_else(|| panic!("{text} is of no format"));
        assert!(found.as_ref().is_err_and(|found| found.contains(reason)), "{text}: {found:?}");
    }
}

#[test]
fn other_files_are_of_no_format() {
    for text in [
        "",
        "{}",
        "[]",
        "null",
        "[[1, 2], [3, 4]]",
        "a,b\n1,2\n",
        "<html></html>",
        r#"{"schema": "hairspring/result/2", "results": [{"command": "x", "times": [1, 2]}]}"#,
        r#"{"results": "#,
    ] {
        assert!(read(text).is_none(), "{text}");
    }
}

#[test]
fn utf16_is_read() {
    let wide: Vec<u8> = case("hyperfine.json").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [&b"\xff\xfe"[..], &wide].concat();
    for bytes in [wide, marked] {
        assert_eq!(results(&decode(&bytes).unwrap()), results(&case("hyperfine.json")));
    }
}

/// A folder as Criterion.rs leaves it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("hairspring-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn with(self, path: &str, text: &str) -> Folder {
        let file = self.0.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_of_criterion_has_all_its_benchmarks() {
    let sample = r#"{"sampling_mode": "Flat", "iters": [2, 2, 2], "times": [20, 22, 21]}"#;
    let folder = Folder::new("criterion")
        .with("g/f/10/new/sample.json", sample)
        .with("g/f/10/new/benchmark.json", r#"{"full_id": "g/f/10"}"#)
        .with("g/f/10/base/sample.json", sample)
        .with("g/report/index.html", "")
        .with("alone/new/sample.json", sample);
    let results = read_folder(&folder.0).unwrap();
    let names: Vec<&str> = results.benchmarks.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["alone", "g/f/10"]);
    let with_own_unit = Folder::new("unit")
        .with("a/new/sample.json", sample)
        .with("a/new/raw.csv", "group,unit,iteration_count\na,ns,2\n")
        .with("b/new/sample.json", sample)
        .with("b/new/raw.csv", "group,unit,iteration_count\nb,cycles,2\n");
    let results = read_folder(&with_own_unit.0).unwrap();
    assert_eq!(results.benchmarks.len(), 1);
    assert_eq!(results.remarks, ["`b` is left out: its unit is `cycles`, not nanoseconds"]);
    let empty = Folder::new("empty");
    assert!(read_folder(&empty.0).is_err_and(|reason| reason.contains("target/criterion")));
    let damaged = Folder::new("damaged").with("a/new/sample.json", "{\"iters\": [");
    assert!(read_folder(&damaged.0).is_err_and(|reason| reason.contains("sample.json")));
}

#[test]
fn text_forms_that_are_not_read_are_refused_with_the_option_for_json() {
    let markdown = "| Command | Mean [ms] | Min [ms] |\n|:---|---:|---:|\n| `ls` | 1.2 | 1.0 |\n";
    let refused = read(markdown).unwrap().unwrap_err();
    assert!(refused.contains("hyperfine") && refused.contains("--export-json"), "{refused}");
    assert!(read("body,ticks\n1,108\n").is_none());
}
