//! Small files in the real formats, and damaged files.

use super::*;
use hairspring_core::estimate::Options;
use hairspring_core::pipeline::solve;
use proptest::prelude::*;

/// Time of a run of `k` bodies of 40 ns with an overhead of 25 ns.
fn ns(k: f64) -> f64 {
    40.0 * k + 25.0
}

fn sample() -> String {
    let iters: Vec<f64> = (1..=20).map(|n| f64::from(n) * 3.0).collect();
    let times: Vec<f64> = iters.iter().map(|k| ns(*k)).collect();
    format!("{{\"sampling_mode\":\"Linear\",\"iters\":{iters:?},\"times\":{times:?}}}")
}

const RAW_HEADER: &str = "group,function,value,throughput_num,throughput_type,\
                          sample_measured_value,unit,iteration_count\n";

fn raw(name: &str) -> String {
    let lines = (1..=20).map(|n| format!("{name},,,{},ns,{n}\n", ns(f64::from(n))));
    RAW_HEADER.to_owned() + &lines.collect::<String>()
}

/// Entries as Google Benchmark writes them.
fn google(runs: &[(&str, f64)]) -> String {
    let entry = |(at, (name, k)): (usize, &(&str, f64))| {
        format!(
            r#"{{ "name": "{name}/iterations:{k}", "family_index": {at}, "per_family_instance_index": 0, "run_name": "{name}/iterations:{k}",
               "run_type": "iteration", "repetitions": 1, "repetition_index": 0, "threads": 1, "iterations": {k},
               "real_time": {:e}, "cpu_time": NaN, "time_unit": "us", "items_per_second": Infinity }}"#,
            ns(*k) / k / 1e3
        )
    };
    let context = r#"{ "date": "2026-01-01T00:00:00+00:00", "num_cpus": 2, "caches": [], "library_build_type": "release", "json_schema_version": 1 }"#;
    format!(
        "{{ \"context\": {context}, \"benchmarks\": [{}] }}",
        runs.iter().enumerate().map(entry).collect::<Vec<_>>().join(",")
    )
}

fn fits(text: &str, tool: Tool, series: &[&str]) -> Imported {
    assert_eq!(detect(text.as_bytes()), Some(tool));
    let imported = read(text.as_bytes(), tool).unwrap();
    assert_eq!(imported.table.series_names(), series);
    for name in series {
        let id = imported.table.find_series(name).unwrap();
        let line = solve(&imported.table, id, &Options::default()).unwrap();
        assert!((line.components[0].ticks.value - 40.0).abs() < 1e-6, "{line:?}");
        assert!((line.overhead.unwrap().value - 25.0).abs() < 1e-3, "{line:?}");
    }
    imported
}

fn refused(text: &[u8], tool: Tool, reason: &str) {
    let error = read(text, tool).expect_err(reason).to_string();
    assert!(error.contains(reason), "{error}");
}

#[test]
fn slope_and_overhead_are_found_in_every_format() {
    fits(&sample(), Tool::Criterion, &["main"]);
    fits(&raw("group,fib,20"), Tool::Criterion, &["group/fib/20"]);
    fits(&raw("alone,,"), Tool::Criterion, &["alone"]);
    let runs = [
        ("BM_x/8", 1.0),
        ("BM_x/8", 2.0),
        ("BM_y", 3.0),
        ("BM_x/8", 4.0),
        ("BM_y", 1.0),
        ("BM_y", 2.0),
    ];
    assert_eq!(
        fits(&google(&runs), Tool::GoogleBenchmark, &["BM_x/8", "BM_y"]).remarks,
        Vec::<String>::new()
    );
}

#[test]
fn repeats_become_rounds() {
    let runs: Vec<(&str, f64)> = (0..12).map(|n| ("BM_x", f64::from(n % 3 + 1))).collect();
    let table = fits(&google(&runs), Tool::GoogleBenchmark, &["BM_x"]).table;
    assert_eq!((table.rows().len(), table.rounds(), table.readings().len()), (3, 4, 12));
}

#[test]
fn unusable_runs_are_remarked() {
    let mut text =
        google(&[("BM_x", 1.0), ("BM_x", 2.0), ("BM_x", 3.0), ("BM_same", 5.0), ("BM_same", 5.0)]);
    text = text.replacen(
        "] }",
        r#", { "name": "BM_bad", "run_type": "iteration", "error_occurred": true, "error_message": "no file" },
        { "name": "BM_x", "run_type": "iteration", "iterations": 5, "real_time": NaN, "time_unit": "ns" },
        { "name": "BM_x_mean", "run_type": "aggregate", "real_time": 1.0, "time_unit": "ns" } ] }"#,
        1,
    );
    let imported = fits(&text, Tool::GoogleBenchmark, &["BM_x"]);
    for (remark, part) in imported.remarks.iter().zip([
        "(no file)",
        "`real_time` is not a number",
        "`BM_same` is left out",
    ]) {
        assert!(remark.contains(part), "{remark}");
    }
    assert_eq!(imported.remarks.len(), 3);
}

#[test]
fn runs_of_one_length_are_refused_with_advice() {
    let flat = r#"{"sampling_mode":"Flat","iters":[5.0,5.0,5.0],"times":[1.0,2.0,3.0]}"#;
    refused(flat.as_bytes(), Tool::Criterion, "SamplingMode::Linear");
    refused(
        google(&[("BM_x", 5.0), ("BM_x", 5.0)]).as_bytes(),
        Tool::GoogleBenchmark,
        "--benchmark_min_time=100x",
    );
}

#[test]
fn damaged_files_are_refused_with_the_reason() {
    let whole = [
        (sample(), Tool::Criterion),
        (google(&[("BM_x", 1.0), ("BM_x", 2.0), ("BM_x", 3.0)]), Tool::GoogleBenchmark),
    ];
    for (text, tool) in whole {
        for end in 1..text.len() {
            assert!(read(&text.as_bytes()[..end], tool).is_err(), "{end}");
        }
    }
    for (text, reason) in [
        (r#"{"iters":[1.0,2.0],"times":[1.0]}"#, "2 `iters` and 1 `times`"),
        (r#"{"iters":[1.0,0.0],"times":[1.0,2.0]}"#, "sample 2: the number of iterations is 0"),
        (r#"{"iters":[1.0,2.0],"times":[1.0,NaN]}"#, "sample 2: the time is NaN"),
        (r#"{"iters":[1.0,-2.0],"times":[1.0,1.0]}"#, "it must be above 0"),
        (r#"{"iters":[1.0,2.0],"times":[1.0,1e999]}"#, "number out of range"),
        (r#"{"iters":[],"times":[]}"#, "contains no benchmark run"),
        (r#"{"iters":"many"}"#, "is not sample.json"),
    ] {
        refused(text.as_bytes(), Tool::Criterion, reason);
    }
    for (line, reason) in [
        ("g,f,,,,nan,ns,5\n", "line 2: the time is NaN"),
        ("g,f,,,,inf,ns,5\n", "line 2: the time is inf"),
        ("g,f,,,,1.0,ns,0\n", "line 2: the number of iterations is 0"),
        ("g,f,,,,1.0,ns,many\n", "line 2: "),
        ("g,f,1.0,ns,5\n", "has 5 fields, the header has 8"),
        ("g,f,,,,1.0,ns,5\ng,f,,", "line 3: has 4 fields"),
        ("", "contains no benchmark run"),
    ] {
        refused((RAW_HEADER.to_owned() + line).as_bytes(), Tool::Criterion, reason);
    }
    refused(
        &[RAW_HEADER.as_bytes(), b"g\xff,,,,,1.0,ns,5\n"].concat(),
        Tool::Criterion,
        "line 2: is not UTF-8 text",
    );
    refused(
        b"{\"benchmarks\": [{\"name\": \"x\xff\"}]}",
        Tool::GoogleBenchmark,
        "line 1: is not UTF-8 text",
    );
}

#[test]
fn oversized_files_are_refused() {
    let deep = "[".repeat(1_000_000);
    refused(
        format!("{{\"benchmarks\": {deep}").as_bytes(),
        Tool::GoogleBenchmark,
        "is not JSON of Google Benchmark",
    );
    let many: String = (0..2_000).map(|n| format!("g{n},,,,,1.0,ns,5\n")).collect();
    refused(
        (RAW_HEADER.to_owned() + &many).as_bytes(),
        Tool::Criterion,
        "line 1002: there are more than 1000 benchmarks",
    );
    let large = RAW_HEADER.to_owned()
        + &(1..=200_000)
            .map(|n| format!("g,,,,,{},ns,{n}\n", ns(f64::from(n))))
            .collect::<String>();
    assert_eq!(read(large.as_bytes(), Tool::Criterion).unwrap().table.readings().len(), 200_000);
}

#[test]
fn observations_are_not_detected_as_another_tools_file() {
    for text in
        ["body,ticks\n1,2\n", "", "# rate_hz: 1e9\nbody,ticks\n", "group,value\n", "\u{0}\u{1}"]
    {
        assert_eq!(detect(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(detect("\u{feff} \n{\"benchmarks\": []}".as_bytes()), Some(Tool::GoogleBenchmark));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_file_panics(bytes in proptest::collection::vec(any::<u8>(), 0..400),
        text in "[\\[\\]{}\":,NaInfty0-9.e \\\\-]{0,200}") {
        for tool in Tool::ALL {
            let _ = (detect(&bytes), has_only_times(&bytes));
            let _ = (read(&bytes[..], tool), read(text.as_bytes(), tool));
            let _ = read((RAW_HEADER.to_owned() + &text).as_bytes(), tool);
        }
    }

    #[test]
    fn names_are_kept(name in "\\PC{1,40}|[\"\\\\\n\r\t/,\u{1b}]{1,10}") {
        let entry = |k: u32| serde_json::json!({ "name": name, "run_type": "iteration",
            "iterations": k, "real_time": ns(f64::from(k)) / f64::from(k), "time_unit": "ns" });
        let text = serde_json::json!({ "context": {},
            "benchmarks": [entry(1), entry(2), entry(3)] }).to_string();
        let imported = read(text.as_bytes(), Tool::GoogleBenchmark).unwrap();
        prop_assert_eq!(imported.table.series_names(), [name]);
    }
}
