//! Exports: read back by readers of each format, whatever the names hold.

mod samples;

use hairspring_result::ResultDocument;
use hairspring_view::export::{Export, Format, LONGEST_LABEL, export};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::HashSet;

const ALL: [Format; 5] = [Format::GoogleBenchmark, Format::Hyperfine, Format::Bencher, Format::Csv, Format::Benchstat];

fn line() -> ResultDocument {
    ResultDocument::new(&samples::line())
}

/// The same with a series for each of these names.
fn named(names: &[String], as_code: bool) -> ResultDocument {
    let mut result = line();
    let one = result.results[0].clone();
    result.results = names
        .iter()
        .map(|name| {
            let mut series = one.clone();
            (series.name, series.code) = if as_code { ("code".into(), Some(name.clone())) } else { (name.clone(), None) };
            series
        })
        .collect();
    result
}

fn document(result: &ResultDocument, format: Format) -> Value {
    serde_json::from_str(&export(result, format).text).unwrap()
}

#[test]
fn bencher_gets_the_interval() {
    let (result, found) = (line(), document(&line(), Format::Bencher));
    let metric = &found[result.results[0].title()]["latency"];
    let time = result.results[0].components[0].figure.time_ns.unwrap().unwrap();
    let bits = |key: &str| metric[key].as_f64().unwrap();
    assert_eq!((bits("value"), bits("lower_value"), bits("upper_value")), (time.value, time.low, time.high));
    assert!(found[result.results[0].title()]["cycles"]["lower_value"].is_number());
}

#[test]
fn google_benchmark_has_what_its_readers_look_for() {
    let found = document(&line(), Format::GoogleBenchmark);
    assert!(found["context"]["caches"].is_array());
    let one = &found["benchmarks"][0];
    assert_eq!((&one["time_unit"], &one["run_type"]), (&"ns".into(), &"iteration".into()));
    assert!(one["real_time"].is_f64() && one["cpu_time"] == one["real_time"] && one["iterations"].as_u64().unwrap() > 1);
    assert!(one["low_ns"].as_f64() < one["real_time"].as_f64() && one["real_time"].as_f64() < one["high_ns"].as_f64());
}

#[test]
fn hyperfine_gets_seconds_and_the_rows_own_times() {
    let (result, found) = (line(), document(&line(), Format::Hyperfine));
    let one = &found["results"][0];
    let mean = one["mean"].as_f64().unwrap();
    assert!((mean * 1e9 / result.results[0].components[0].figure.time_ns.unwrap().unwrap().value - 1.0).abs() < 1e-12);
    let times: Vec<f64> = one["times"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
    assert!(times.len() > 3 && times.iter().all(|time| (time / mean - 1.0).abs() < 0.2), "{times:?}");
    assert_eq!(one["exit_codes"].as_array().unwrap().len(), times.len());
    assert!(one["min"].as_f64() <= one["median"].as_f64() && one["median"].as_f64() <= one["max"].as_f64());
    // Two components: no row gives the time of one of them.
    let two = ResultDocument::new(&samples::init_and_body());
    let found = document(&two, Format::Hyperfine);
    assert_eq!((found["results"][1]["times"].as_array().map(Vec::len), &found["results"][1]["stddev"]), (Some(1), &Value::Null));
}

#[test]
fn benchstat_gets_lines_and_csv_columns() {
    let found = export(&line(), Format::Benchstat).text;
    let last = found.lines().last().unwrap();
    let fields: Vec<&str> = last.split_whitespace().collect();
    assert!(last.starts_with("Benchmark") && fields.len() == 6, "{last}");
    assert_eq!((fields[3], fields[5]), ("ns/op", "cycles/op"));
    assert!(fields[1].parse::<i64>().is_ok() && fields[2].parse::<f64>().is_ok() && fields[4].parse::<f64>().is_ok());
    let table = export(&line(), Format::Csv).text;
    let counts: Vec<usize> = table.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(counts, [15, 15]);
}

#[test]
fn unsupported_values_are_left_out_and_reported() {
    let ticks = ResultDocument::new(&samples::rank_deficient());
    for format in [Format::GoogleBenchmark, Format::Hyperfine, Format::Bencher, Format::Benchstat] {
        let Export { benchmarks, left_out, .. } = export(&ticks, format);
        assert!(benchmarks == 0 && left_out.iter().all(|reason| reason.contains("rate is unknown")), "{left_out:?}");
    }
    assert!(export(&ticks, Format::Csv).left_out.is_empty());
    let below = ResultDocument::new(&samples::below_resolution());
    let Export { text, left_out, .. } = export(&below, Format::Benchstat);
    assert!(!text.contains("ns/op") && left_out[0].contains("below resolution"), "{text} {left_out:?}");
    assert!(export(&below, Format::Csv).text.trim_end().ends_with("true"));
}

#[test]
fn long_names_are_cut_and_stay_distinct() {
    let names = [format!("{}a", "\u{4f60}".repeat(70_000)), format!("{}b", "\u{4f60}".repeat(70_000))];
    let found = document(&named(&names, true), Format::Bencher);
    let keys: Vec<&String> = found.as_object().unwrap().keys().collect();
    assert!(keys.len() == 2 && keys.iter().all(|key| key.chars().count() == LONGEST_LABEL + 17), "{keys:?}");
}

/// Fields of one line of CSV (RFC 4180), as a spreadsheet reads them.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted, mut chars) = (vec![String::new()], false, line.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => fields.last_mut().unwrap().push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted, "a quote is open: {line}");
    fields
}

fn odd() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("a,\"b\"\r\n/c/d \\ 'e' % = - # \u{1b}[2J \u{2028} \u{85} \u{202e} \u{0}".to_owned()),
        Just("Unit ns/op better=higher\nBenchmarkX 1 1 ns/op".to_owned()),
        proptest::collection::vec(any::<char>(), 0..60).prop_map(|chars| chars.into_iter().collect::<String>()),
        "[a-c,\"\\\\/\n\r\t ]{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_name_breaks_an_export(names in proptest::collection::vec(odd(), 1..6), as_code in any::<bool>()) {
        let result = named(&names, as_code);
        for format in ALL {
            let Export { text, benchmarks, left_out } = export(&result, format);
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            prop_assert!(benchmarks == names.len() && left_out.is_empty());
            let labels: Vec<String> = match format {
                Format::Bencher => serde_json::from_str::<Value>(&text).unwrap().as_object().unwrap().keys().cloned().collect(),
                Format::GoogleBenchmark | Format::Hyperfine => {
                    let (list, key) = if format == Format::Hyperfine { ("results", "command") } else { ("benchmarks", "name") };
                    let found: Value = serde_json::from_str(&text).unwrap();
                    found[list].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
                }
                Format::Csv => text.lines().skip(1).map(|line| {
                    let fields = fields(line);
                    assert_eq!(fields.len(), 15, "{line}");
                    fields[0].clone()
                }).collect(),
                Format::Benchstat => {
                    let lines = text.lines().filter(|line| !line.starts_with(|c: char| c.is_ascii_lowercase()));
                    lines.map(|line| {
                        let fields: Vec<&str> = line.split_whitespace().collect();
                        assert!(fields.len() == 6 && fields[0].starts_with("Benchmark") && fields[1].parse::<i64>().is_ok(), "{line}");
                        fields[0].to_owned()
                    }).collect()
                }
            };
            prop_assert_eq!(labels.len(), names.len());
            prop_assert_eq!(labels.iter().collect::<HashSet<_>>().len(), names.len(), "{:?}", labels);
        }
    }
}
