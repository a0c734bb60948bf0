//! `fit`: observations from anywhere.

use crate::command::{Hairspring, fit};

/// Readings of a line with a little noise, always the same.
fn line(components: &str, row: impl Fn(u32) -> (String, f64)) -> String {
    let noise = |n: u32| f64::from(n.wrapping_mul(2_654_435_761) >> 16 & 0xff) / 64.0;
    let readings = (0..200u32).map(|n| {
        let (counts, ticks) = row(n % 10);
        format!("{counts},{}\n", ticks + noise(n))
    });
    format!("{components}\n{}", readings.collect::<String>())
}

fn body(n: u32) -> (String, f64) {
    (format!("{}", n + 1), 100.0 * f64::from(n + 1) + 8.0)
}

fn value(figure: &serde_json::Value) -> f64 {
    figure["value"].as_f64().unwrap_or_else(|| panic!("{figure:#}"))
}

#[test]
fn a_plain_file_is_solved_in_ticks() {
    let document = fit(line("body,ticks", body)).document();
    assert!((value(&document.body()["ticks"]) - 100.0).abs() < 1.0);
    assert_eq!(document.body().get("time_ns"), None);
    assert!(document.0["environment"]["cpu"].is_null() && document.0["run"].is_null());
    fit(line("body,ticks", body)).succeeds().says("body").says("ticks");
}

#[test]
fn standard_input_is_a_file_too() {
    let command = Hairspring::new().with("fit").with("-").input(line("body,ticks", body));
    assert!((value(&command.document().body()["ticks"]) - 100.0).abs() < 1.0);
}

#[test]
fn a_rate_turns_ticks_into_nanoseconds_and_time_ns_needs_none() {
    let document =
        fit(format!("# clock: timer1\n# rate_hz: 50000000\n{}", line("body,ticks", body)))
            .document();
    assert!((value(&document.body()["time_ns"]) - 2000.0).abs() < 20.0);
    assert_eq!(document.0["environment"]["clock"]["name"], "timer1");
    let document = fit(line("body,time_ns", body)).document();
    assert!((value(&document.body()["time_ns"]) - 100.0).abs() < 1.0);
}

#[test]
fn a_stated_clock_gives_the_core_cycles_in_nanoseconds() {
    let document = fit(include_str!("../../../../spec/vectors/cycles.csv"))
        .option("--at-clock", "2GHz")
        .document();
    assert!(
        (2.0 * value(&document.body()["stated_clock_ns"]) - value(&document.body()["cycles"]))
            .abs()
            < 1e-9
    );
    fit(line("body,ticks", body))
        .option("--at-clock", "2GHz")
        .succeeds()
        .says("at 2 GHz: body no core cycles");
}

#[test]
fn a_row_that_the_author_excluded_is_no_outlier() {
    let document = fit(
        "body,flags,ticks\n1,,108\n1,,109\n2,,208\n2,,209\n4,,408\n4,,409\n8,x,9999\n8,x,9998\n",
    )
    .document();
    assert!((value(&document.body()["ticks"]) - 100.0).abs() < 1.0);
    let findings = document.result_of(0)["findings"].to_string();
    assert!(
        !findings.contains("rows_left_out")
            && document.result_of(0).to_string().contains("\"excluded\""),
        "{findings}"
    );
}

#[test]
fn several_components_are_separated() {
    let rows = |n: u32| {
        (format!("{},{}", n % 4 + 1, n % 3), f64::from(30 * (n % 4 + 1) + 120 * (n % 3) + 50))
    };
    let document = fit(line("body,init,ticks", rows)).document();
    assert!((value(&document.body()["ticks"]) - 30.0).abs() < 2.0);
    assert!((value(&document.result_of(0)["components"]["init"]["ticks"]) - 120.0).abs() < 2.0);
}

#[test]
fn inseparable_components_are_named() {
    let command = || fit(line("a,b,ticks", |n| (format!("{0},{0}", n + 1), f64::from(100 * n))));
    let document = command().document();
    assert_eq!(document.components(), ["a + b"]);
    assert!(
        document.finding("rank_deficient")["dependent"][0]
            .as_str()
            .is_some_and(|text| text.contains("b runs as often as a"))
    );
    command().succeeds().says("a + b").says("b runs as often as a");
    let document = fit(line("a,b,c,ticks", |n| {
        (format!("{},{},{}", n, n % 3, n + n % 3), f64::from(100 * n))
    }))
    .document();
    assert_eq!(document.finding("rank_deficient")["rank"], 3);
}

#[test]
fn a_reference_series_gives_cycles() {
    let rows = |series: &str, factor: f64| -> String {
        let one = |round: u32, n: u32| {
            format!(
                "{series},{n},{round},{}\n",
                factor * f64::from(n) + 7.0 + f64::from((round * 7 + n * 3) % 5) / 10.0
            )
        };
        (0..20)
            .flat_map(|round| (1..9).map(move |n| (round, n)))
            .map(|(round, n)| one(round, n))
            .collect()
    };
    let text = format!(
        "# reference: chain 3\nseries,body,round,ticks\n{}{}{}",
        rows("mine", 20.0),
        rows("chain", 6.0),
        rows("other", 40.0)
    );
    let document = fit(text).document();
    assert!((value(&document.body()["cycles"]) - 10.0).abs() < 0.5);
    assert_eq!(document.0["results"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&document.0["comparisons"][0]["a"], &document.0["comparisons"][0]["verdict"]),
        (&"other".into(), &"slower".into())
    );
}

#[test]
fn comments_flags_rounds_blank_lines_and_any_order_are_understood() {
    let rows: String = (0..80u32)
        .map(|n| format!("{},{},{},\n# in between\n\n", 100 * (n % 8) + 8 + n % 3, n % 8, n / 8))
        .collect();
    let text =
        format!("# made: by hand\n# no key\n#\n\nticks,body,round,flags\n{rows}99999,3,0,g\n");
    let document = fit(text).document();
    assert!((value(&document.body()["ticks"]) - 100.0).abs() < 2.0);
    assert_eq!(document.result_of(0)["fit"]["readings"], 81);
    assert_eq!(document.result_of(0)["fit"]["readings_used"], 80);
}

#[test]
fn windows_spreadsheets_are_understood() {
    let text = line("\"body\",\"ticks\"", body).replace('\n', "\r\n");
    let document = fit(format!("\u{feff}{text}")).document();
    assert_eq!(document.components(), ["body"]);
    let quoted: String = (1..9).map(|n| format!("\"{n}\",\"{}\"\n", 100 * n)).collect();
    fit(format!("body,ticks\n{quoted}")).succeeds();
}

#[test]
fn a_higher_level_is_a_wider_interval() {
    let width = |level: &str| {
        let document = fit(line("body,ticks", body)).option("--confidence-level", level).document();
        document.body()["ticks"]["high"].as_f64().unwrap()
            - document.body()["ticks"]["low"].as_f64().unwrap()
    };
    let (half, usual, most) = (width("50%"), width("95%"), width("99.9%"));
    assert!(0.0 < half && half < usual && usual < most, "{half} {usual} {most}");
}

#[test]
fn rows_off_the_line_are_left_out_or_kept() {
    let bent =
        |n: u32| (format!("{}", n + 1), if n == 0 { 400.0 } else { 100.0 * f64::from(n + 1) });
    let left_out =
        |command: Hairspring| command.document().result_of(0)["fit"]["left_out"].as_u64().unwrap();
    assert!(left_out(fit(line("body,ticks", bent))) > 0);
    assert_eq!(left_out(fit(line("body,ticks", bent)).with("--keep-all")), 0);
}

#[test]
fn a_million_rows_are_solved() {
    let rows: String = (0..1_000_000u32)
        .map(|n| format!("{},{}\n", n % 9 + 1, 100 * (n % 9 + 1) + n % 5))
        .collect();
    let document = fit(format!("body,ticks\n{rows}")).document();
    assert_eq!(document.result_of(0)["fit"]["readings"], 1_000_000);
    assert!((value(&document.body()["ticks"]) - 100.0).abs() < 1.0);
}

#[test]
fn thousands_of_components_are_solved() {
    let names: String = (0..9_999).map(|n| format!("c{n},")).collect();
    let rows: String = (0..40)
        .map(|row| {
            (0..9_999).map(|n| format!("{},", (row * 7 + n * 3) % 5)).collect::<String>()
                + &format!("{}\n", 100 * row)
        })
        .collect();
    let ended = fit(format!("{names}ticks\n{rows}")).start().ends_with_any(&[0, 1]);
    assert!(ended.error.lines().count() <= 1, "{ended}");
}

/// A body behind a small init; the rows depart from their plane in a pattern that follows neither
/// count.
fn behind_a_small_init(head: &str) -> String {
    let rows =
        [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16), (16, 32)];
    let off = [1.0, -1.0, -1.0, 1.0, 0.5, -0.5, -1.0, 1.0, 1.0, -1.0];
    let reading = |round: u32, at: usize| {
        let (bodies, inits) = rows[at];
        let wobble = f64::from((round * 7 + at as u32 * 13) % 11) / 10.0;
        let ticks =
            500.0 * f64::from(bodies) + 6.0 * f64::from(inits) + 90.0 + 12.0 * off[at] + wobble;
        format!("{bodies},{inits},{round},{ticks}\n")
    };
    let readings = (0..64).flat_map(|round| (0..rows.len()).map(move |at| reading(round, at)));
    format!("{head}body,init,round,ticks\n{}", readings.collect::<String>())
}

#[test]
fn an_init_that_serves_has_a_verdict_of_its_own() {
    let document = fit(behind_a_small_init("# serves: init\n")).document();
    let (result, init) = (document.result_of(0), &document.result_of(0)["components"]["init"]);
    assert!(result["trusted"] == true && document.body()["trusted"] == true, "{result:#}");
    assert!(init["trusted"] == false && init["serves"] == true, "{init:#}");
    assert_eq!(document.finding("non_linear")["component"], "init");
    let text = fit(behind_a_small_init("# serves: init\n")).succeeds();
    text.says("! init").says("distrust").does_not_say("NOT TO BE TRUSTED");
}

#[test]
fn a_component_that_is_asked_for_decides_on_the_verdict() {
    let document = fit(behind_a_small_init("")).document();
    assert!(document.result_of(0)["trusted"] == false && document.body()["trusted"] == true);
    fit(behind_a_small_init("")).succeeds().says("NOT TO BE TRUSTED: init");
}

/// A line with a reading far above the others.
fn with_a_spike() -> String {
    line("body,ticks", |n| (format!("{}", n + 1), 100.0 * f64::from(n + 1) + 8.0)) + "3,9000\n"
}

/// What a stage did, in the document.
fn stage(command: Hairspring, name: &str) -> serde_json::Value {
    let document = command.document();
    let stages =
        document.result_of(0)["stages"].as_array().unwrap_or_else(|| panic!("no stages")).clone();
    stages
        .into_iter()
        .find(|stage| stage["stage"] == name)
        .unwrap_or_else(|| panic!("no stage {name}"))
}

#[test]
fn a_file_is_solved_without_stages() {
    let spikes = stage(fit(with_a_spike()), "spikes");
    assert!(spikes["acted"] == true && spikes["left_out"] == 1, "{spikes}");
    for command in [
        fit(with_a_spike()).option("--without", "flags,spikes"),
        fit(with_a_spike()).with("--without=spikes").with("--without=flags"),
    ] {
        let spikes = stage(command, "spikes");
        assert!(
            spikes["acted"] == false
                && spikes["left_out"] == 0
                && spikes["did"] == "left out by request",
            "{spikes}"
        );
    }
    fit(with_a_spike())
        .option("--without", "spikes")
        .succeeds()
        .says("without")
        .says("spikes, by request");
    fit(with_a_spike()).succeeds().does_not_say("by request");
}

#[test]
fn stages_are_explained_in_80_columns() {
    let ended = fit(with_a_spike()).with("--explain").succeeds();
    assert!(ended.output.lines().all(|line| line.chars().count() <= 80), "{ended}");
    let words = ended.output.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "stages what each asked, and what it did with 201 readings; effects are those on body",
        "left out 1 of 201 readings (0.5 %)",
        "did not run: needs a reference chain among the series",
        "201, 0.5 % left out: spikes 0.5 %",
    ] {
        assert!(words.contains(part), "{part}: {ended}");
    }
    fit(with_a_spike()).succeeds().does_not_say("did not run");
}

#[test]
fn the_document_has_the_stages_with_and_without_an_explanation() {
    let of = |command: Hairspring| stage(command, "spikes");
    assert_eq!(of(fit(with_a_spike())), of(fit(with_a_spike()).with("--explain")));
}

#[test]
fn readings_are_written_with_their_weights_and_reasons() {
    let ended = fit(with_a_spike()).option("--readings", "readings.csv").succeeds();
    let text = ended.file("readings.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        (lines.len(), lines[0]),
        (202, "series,body,round,ticks,at_mean_clock,weight,left_out_by")
    );
    assert!(
        lines[201].ends_with(",9000,9000,0,spikes") && lines[1].ends_with(",1,"),
        "{} {}",
        lines[1],
        lines[201]
    );
    assert_eq!(lines.iter().filter(|line| line.ends_with(",1,")).count(), 200);
    let without = fit(with_a_spike())
        .option("--without", "spikes")
        .with("--keep-all")
        .option("--readings", "all.csv")
        .with("--json")
        .succeeds();
    // The last reading is the only one of its round, in a block without the other rows.
    let all = without.file("all.csv");
    let all: Vec<&str> = all.lines().skip(1).collect();
    let (last, others) = all.split_last().unwrap();
    assert!(
        last.ends_with(",9000,9000,0,rows") && others.iter().all(|line| line.ends_with(",1,")),
        "{last}"
    );
}

#[test]
fn readings_of_standard_input_are_written_too() {
    let command = Hairspring::new()
        .with("fit")
        .with("-")
        .input(with_a_spike())
        .option("--readings", "readings.csv");
    assert_eq!(command.succeeds().file("readings.csv").lines().count(), 202);
}
