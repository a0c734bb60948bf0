//! The bench with small files and with hostile ones. That it says what the command says is tested
//! with the module itself (`tests/groups/25-wasm.sh`).

use super::*;

const LINE: &str = "# rate_hz: 1e9\nround,body,ticks\n0,1,109\n0,2,208\n0,3,308\n0,4,408\n\
                    1,1,108\n1,2,209\n1,3,308\n1,4,409\n2,1,108\n2,2,208\n2,3,309\n2,4,408\n";

fn opened(file: &str, how: &str) -> Result<Bench, String> {
    let mut bench = Bench::default();
    bench.open(Box::new(file.as_bytes().to_vec()), how).map(|_| bench)
}

fn value(document: &str) -> f64 {
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    document["results"][0]["components"]["body"]["time_ns"]["value"].as_f64().unwrap()
}

#[test]
fn rows_and_rounds_that_are_left_out_have_the_flag_of_a_file() {
    let mut bench = opened(LINE, "{}").unwrap();
    for asked in
        [r#"{"rows": [0]}"#, r#"{"rounds": [[1, 1]]}"#, r#"{"rows": [3], "rounds": [[0, 0]]}"#]
    {
        let found = value(&bench.solve(asked, None).unwrap());
        let file = bench.observations(asked).unwrap();
        assert!(file.contains(",x"), "{file}");
        let mut again = opened(&file, "{}").unwrap();
        assert_eq!(value(&again.solve("{}", None).unwrap()).to_bits(), found.to_bits(), "{asked}");
    }
}

#[test]
fn a_file_says_what_it_holds() {
    let contents = Bench::default().open(Box::new(LINE.as_bytes().to_vec()), "{}").unwrap();
    let contents: serde_json::Value = serde_json::from_str(&contents).unwrap();
    let table = &contents["table"];
    assert_eq!(contents["kind"], "observations");
    assert_eq!(
        (&table["rounds"], &table["readings"], &table["all_rows"]),
        (&3.into(), &12.into(), &4.into())
    );
    assert_eq!(table["rows"][3]["counts"][0], 4.0);
    assert!(table["stages"].as_array().unwrap().iter().any(|stage| stage["name"] == "spikes"));
}

#[test]
fn files_of_other_tools_become_documents() {
    let mut fitted = opened(
        r#"{"sampling_mode": "Linear", "iters": [1.0, 2.0, 3.0], "times": [108.0, 208.0, 308.0]}"#,
        "{}",
    )
    .unwrap();
    assert!(fitted.solve("{}", None).unwrap().contains(r#""command": "fit""#));
    let times =
        r#"{"results": [{"command": "<script>ls</script>", "times": [0.011, 0.012, 0.014]}]}"#;
    let mut shown = opened(times, "{}").unwrap();
    let document = shown.solve("{}", None).unwrap();
    assert!(document.contains(r#""tool": "hyperfine""#), "{document}");
    assert_eq!(shown.observations("{}"), Err(NO_READINGS.into()));
    let mut again = opened(&document, "{}").unwrap();
    assert_eq!(again.solve("{}", None).unwrap(), document);
    assert!(again.report().unwrap().contains("ls"));
}

#[test]
fn a_recording_is_read_with_its_list_of_counts() {
    let mut rows = String::from("Time [s],Channel 0\n0,0\n");
    let mut at = 1e-3;
    for k in (1..=4).cycle().take(24) {
        let length = 1e-5 * f64::from(k) + 2e-6;
        rows += &format!("{at:.9},1\n{:.9},0\n", at + length);
        at += 1e-3;
    }
    let mut bench = opened(&rows, r#"{"k": "1..4"}"#).unwrap();
    let document = bench.solve("{}", None).unwrap();
    assert!(document.contains(r#""command": "capture""#));
    let error = opened(&rows, r#"{"k": "4..1"}"#).unwrap_err();
    assert!(error.contains("`4..1` is not an ascending range"), "{error}");
    assert!(opened(&rows, r#"{"reference": 1e30}"#).unwrap_err().contains("1e-9 and 1e6"));
}

#[test]
fn damaged_files_are_named() {
    let many: String = (0..70_000).map(|n| format!("1,1,s{n}\n")).collect();
    for (file, reason) in [
        ("", "is not a JSON document"),
        ("body,ticks\n", "a header but no rows"),
        ("body,ticks\n1,NaN\n", "not a finite number"),
        ("body,ticks\n1,1e300\n", "between 1e-30 and 1e30"),
        ("body,ticks\n1,1\n1\n", "line 3"),
        ("body,ticks\n1,1\n", "1 usable row"),
        (&format!("body,ticks,series\n{many}"), "the limit is"),
        (r#"{"schema": "hairspring/result/2", "results": ["#, "EOF"),
        ("\u{1f}\u{8b}\u{8}", ""),
    ] {
        let error = opened(file, "{}").and_then(|mut bench| bench.solve("{}", None)).unwrap_err();
        assert!(error.to_lowercase().contains(&reason.to_lowercase()), "{reason}: {error}");
    }
}

#[test]
fn what_is_asked_too_early_or_of_nothing_is_said() {
    let mut bench = Bench::default();
    assert_eq!(bench.solve("{}", None), Err(NO_FILE.into()));
    assert_eq!(bench.report(), Err(NO_FILE.into()));
    let mut bench = opened(LINE, "{}").unwrap();
    let error = bench.solve(r#"{"rounds": [[0, 4294967295]]}"#, None).unwrap_err();
    assert!(error.contains("switch some of its rows or rounds on again"), "{error}");
    assert!(bench.open(Box::new(Vec::new()), "{}").is_err());
    assert_eq!(bench.solve("{}", None), Err(NO_FILE.into()), "the file before is forgotten");
}

#[test]
fn a_plot_gets_raw_readings_with_the_stage_that_left_each_out() {
    let mut bench = opened(LINE, "{}").unwrap();
    bench.solve("{}", None).unwrap();
    let asked = r#"{"rows": [1]}"#;
    let all = bench.points(asked, None, 0.0..f64::INFINITY).unwrap();
    assert_eq!((all.all, all.unit), (12, "ticks"));
    assert_eq!(all.ticks[..3], [109.0, 208.0, 308.0]);
    assert_eq!(all.left_out[..3], [0, 1, 0]);
    assert_eq!(all.stages, ["flags"]);
    let part = bench.points(asked, Some(2), 1.0..3.0).unwrap();
    assert_eq!((part.at, part.ticks), (vec![1.0, 2.0], vec![308.0, 309.0]));
    let on = bench.points("{}", None, 0.0..2.0).unwrap();
    assert_eq!(on.left_out, [0, 0]);
}

#[test]
fn a_page_gets_texts_of_the_last_solution() {
    let mut bench = opened(LINE, "{}").unwrap();
    bench.solve("{}", None).unwrap();
    assert!(bench.report().unwrap().contains("body"));
    assert!(bench.explain().unwrap().contains("spikes"));
    assert!(bench.times().unwrap().lines().count() == 2);
    assert_eq!(
        bench.readings("{}").unwrap().lines().filter(|line| !line.starts_with('#')).count(),
        13
    );
}
