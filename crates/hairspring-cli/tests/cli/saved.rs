//! Raw observations that `time` saved, read back by `fit`.

use crate::command::{Hairspring, fit, time};
use crate::document::Document;
use serde_json::Value;

/// Runs `time` with `--save`, and `fit` of what it saved.
fn there_and_back(command: Hairspring) -> (Document, Document) {
    let ended = command.option("--save", "saved.csv").with("--json").succeeds();
    let saved = ended.file("saved.csv");
    (Document::result(&ended.output), fit(saved).document())
}

/// Why there are no core cycles: the file knows only that it has no reference chain.
const REASON: &str = "cycles_reason";

/// Equal except for the last digits of numbers, which may be lost in text.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-12
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    b.get(key).is_some_and(|other| key == REASON || same(value, other))
                })
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        _ => a == b,
    }
}

/// Keys that the file cannot know: properties of the code, and of the request.
const OF_THE_RUN: [&str; 4] = ["printed", "optimised_away", "wide_interval", "disturbed"];

fn agree(times: &Document, fits: &Document) {
    for (at, result) in times.0["results"].as_array().unwrap().iter().enumerate() {
        let again = fits.result_of(at);
        for (name, component) in result["components"].as_object().unwrap() {
            for figure in ["time_ns", "cycles", "below_resolution"] {
                let (a, b) = (&component[figure], &again["components"][name][figure]);
                assert!(same(a, b), "{name} {figure}: {a:#} is not {b:#}");
            }
        }
        assert!(
            same(&result["overhead"], &again["overhead"]) && same(&result["fit"], &again["fit"]),
            "{result:#}\n{again:#}"
        );
        let kinds = |document: &Document| -> Vec<String> {
            let kept = document.findings(at).into_iter().filter(|kind| !OF_THE_RUN.contains(kind));
            kept.map(str::to_owned).collect()
        };
        assert_eq!(kinds(times), kinds(fits));
    }
    assert!(same(&times.0["comparisons"], &fits.0["comparisons"]));
    assert!(same(
        &times.0["environment"]["core_clock_hz"],
        &fits.0["environment"]["core_clock_hz"]
    ));
}

#[test]
fn a_line_is_read_back_as_it_was() {
    let (times, fits) =
        there_and_back(time("x = x * c").given("uint64_t x = 3").given("uint64_t c = 5"));
    agree(&times, &fits);
    assert_eq!(fits.0["environment"]["clock"]["name"], "tsc");
}

#[test]
fn other_arrangements_of_init_and_body_are_saved_as_checks() {
    let ended = time("x = x * 3")
        .given("unsigned x = 3")
        .option("--init", "x = 5")
        .option("--save", "saved.csv")
        .succeeds();
    let saved = ended.file("saved.csv");
    let text = String::from_utf8_lossy(saved.as_ref()).into_owned();
    for line in [
        "# variant: code in place = in_place of code",
        "# variant: code fenced = fenced of code",
        "# shadow: shadow ",
    ] {
        assert!(text.contains(line), "{}", &text[..text.len().min(800)]);
    }
    // They are checks, without a result of their own.
    assert_eq!(fit(saved).document().0["results"].as_array().map(Vec::len), Some(1));
}

#[test]
fn several_components_are_read_back() {
    let (times, fits) =
        there_and_back(time("x = x / 3").given("unsigned x = 3").option("--init", "x = 1000"));
    agree(&times, &fits);
    assert_eq!(fits.components(), ["body", "init"]);
}

#[test]
fn several_series_are_read_back() {
    let (times, fits) = there_and_back(
        time("x = x * 3")
            .given("unsigned x = 3")
            .option("--vs", "x = x + 5")
            .option("--vs", "x / 7"),
    );
    agree(&times, &fits);
    assert_eq!(fits.0["comparisons"].as_array().unwrap().len(), 2);
}

#[test]
fn code_of_many_lines_and_odd_characters_is_saved_in_one() {
    let code = "x = x *\n 3 /* , \" # \u{1b} \u{e4} */\r\n;";
    let (times, fits) = there_and_back(time(code).given("unsigned x = 3"));
    agree(&times, &fits);
}

#[test]
fn a_file_that_cannot_be_written_is_known_before_the_measurement() {
    time("abort()")
        .option("--save", "nosuch/saved.csv")
        .fails("--save nosuch/saved.csv: No such file")
        .in_one_line();
    time("x = x * 3").given("int x = 3").option("--save", ".").fails("--save .: ").in_one_line();
}

#[test]
fn a_full_disk_is_an_error() {
    time("x = x * 3")
        .given("int x = 3")
        .option("--save", "/dev/full")
        .fails("--save")
        .in_one_line();
}
