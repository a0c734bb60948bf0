//! `compare`, `report` and baselines: saved results against each other, and in the formats of other
//! tools.

use crate::command::{Hairspring, fit, time};
use crate::document::Document;
use serde_json::Value;

/// A saved result of readings whose body takes so many ticks.
fn saved(body: f64) -> String {
    let noise = |n: u32| f64::from(n.wrapping_mul(2_654_435_761) >> 16 & 0xff) / 64.0;
    let reading =
        |n: u32| format!("{},{}\n", n % 10 + 1, body * f64::from(n % 10 + 1) + 8.0 + noise(n));
    let table = format!(
        "# clock: timer1\n# rate_hz: 1000000000\nbody,ticks\n{}",
        (0..200).map(reading).collect::<String>()
    );
    fit(table).with("--json").succeeds().output
}

/// A saved result with a change.
fn edited(saved: &str, edit: impl Fn(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(saved).unwrap();
    edit(&mut document);
    document.to_string()
}

/// A saved result with its first series again, under this name.
fn with_another(saved: &str, name: &str) -> String {
    edited(saved, |document| {
        let mut copy = document["results"][0].clone();
        copy["name"] = name.into();
        document["results"].as_array_mut().unwrap().push(copy);
    })
}

fn compare(old: &str, new: &str) -> Hairspring {
    Hairspring::new()
        .with("compare")
        .beside("old.json", old)
        .beside("new.json", new)
        .with("old.json")
        .with("new.json")
}

fn report(result: &str, format: &str) -> Hairspring {
    Hairspring::new()
        .with("report")
        .beside("result.json", result)
        .with("result.json")
        .option("--format", format)
}

#[test]
fn only_an_interval_past_the_threshold_ends_with_3() {
    let (old, slower) = (saved(100.0), saved(120.0));
    compare(&old, &slower).succeeds().says("new is slower");
    compare(&old, &slower)
        .option("--threshold", "5%")
        .ends_with(3)
        .says("past the threshold of 5 %")
        .says("1 past the threshold");
    compare(&old, &slower).option("--threshold", "30%").succeeds().says("0 past the threshold");
    compare(&slower, &old).option("--threshold", "5%").succeeds().says("new is faster");
    compare(&old, &old)
        .option("--threshold", "1%")
        .succeeds()
        .says("no difference")
        .does_not_say("warning");
}

#[test]
fn strict_ends_with_3_if_something_is_undecided_or_missing() {
    let old = saved(100.0);
    let both = with_another(&old, "second");
    let strict =
        |old: &str, new: &str| compare(old, new).option("--threshold", "5%").with("--strict");
    strict(&old, &old).succeeds();
    strict(&old, &both).succeeds().says("only in the new result");
    compare(&both, &old).option("--threshold", "5%").succeeds().says("only in the old result");
    strict(&both, &old).ends_with(3);
    compare(&both, &old).with("--strict").ends_with(3);
    compare(&old, &saved(104.9))
        .option("--threshold", "5%")
        .succeeds()
        .says("lies inside the interval");
    strict(&old, &saved(104.9)).ends_with(3);
    compare(&old, &saved(104.9)).with("--strict").succeeds().says("new is slower");
}

#[test]
fn different_builds_of_a_program_are_told() {
    let of = |program: &str, body: f64| {
        edited(&saved(body), |document| document["environment"]["program"] = program.into())
    };
    compare(&of("a1", 100.0), &of("a1", 103.0)).succeeds().does_not_say("different builds");
    compare(&saved(100.0), &of("a1", 103.0)).succeeds().does_not_say("different builds");
    compare(&of("a1", 100.0), &of("b2", 100.0))
        .succeeds()
        .says("no difference")
        .does_not_say("different builds");
    compare(&of("a1", 100.0), &of("b2", 103.0))
        .succeeds()
        .says("new is slower")
        .says("different builds of the program");
}

#[test]
fn the_document_keeps_to_its_schema() {
    let ended = compare(&saved(100.0), &saved(120.0))
        .option("--threshold", "5%")
        .with("--json")
        .ends_with(3);
    let document = Document::of(&ended.output, "compare.schema.json");
    let pair = &document["comparisons"][0];
    assert_eq!(
        (&pair["verdict"], &pair["limit"], &pair["unit"]),
        (&"slower".into(), &"past".into(), &"ns".into())
    );
    let ratio = pair["ratio"]["value"].as_f64().unwrap();
    assert!((ratio - 1.2).abs() < 0.05, "{ratio}");
    assert_eq!(
        (&document["past_threshold"], &document["old"]["source"]),
        (&1.into(), &"old.json".into())
    );
}

#[test]
fn circumstances_missing_and_new_series_are_reported() {
    let old = saved(100.0);
    compare(&old, &edited(&old, |new| new["environment"]["clock"]["name"] = "timer2".into()))
        .succeeds()
        .says("different clock: `timer1` in the old result, `timer2` in the new one");
    let another = with_another(&old, "other\u{1b}[2J");
    compare(&old, &another).succeeds().says("new other?[2J");
    compare(&another, &old).succeeds().says("missing other?[2J");
    let renamed = edited(&old, |new| new["results"][0]["name"] = "renamed".into());
    compare(&old, &renamed).ends_with(1).says("0 compared").complains("nothing to compare");
}

#[test]
fn other_files_are_refused() {
    let good = saved(100.0);
    compare(&good, "").fails("new.json: is not a JSON document of hairspring").in_one_line();
    compare("{\"schema\": \"hairspring/mhz/2\"}", &good)
        .fails("old.json: is a document of `hairspring/mhz/2`")
        .in_one_line();
    compare(&good, &good[..good.len() / 2]).fails("new.json: is not a JSON document").in_one_line();
    compare(&good, &good.replace("\"level\": 0.95", "\"level\": 95"))
        .fails("the level 95 is not between 0 and 1")
        .in_one_line();
    Hairspring::new()
        .with("compare")
        .with("nosuch.json")
        .with("other.json")
        .fails("nosuch.json: No such file")
        .in_one_line();
    Hairspring::new()
        .with("compare")
        .with("-")
        .with("-")
        .ends_with(2)
        .complains("only one of the two can be standard input");
    compare(&good, &good)
        .option("--threshold", "much")
        .ends_with(2)
        .complains("expected a percentage");
    Hairspring::new()
        .with("compare")
        .beside("old.json", &good)
        .with("old.json")
        .with("-")
        .input(&good)
        .succeeds()
        .says("no difference");
}

#[test]
fn a_baseline_is_saved_and_compared_with() {
    let ended =
        time("x ^= x * 3").given("unsigned x = 3").option("--save-baseline", "main").succeeds();
    let baseline = ended.file(".hairspring/baselines/main.json");
    Document::result(&baseline);
    let again = || {
        time("x ^= x * 3")
            .given("unsigned x = 3")
            .beside_baseline("main", &baseline)
            .option("--baseline", "main")
    };
    again().succeeds().says("against the baseline main: new over old").says("1 compared");
    let document = again().document();
    assert_eq!(document.0["baseline"]["old"]["source"], "main");
    assert!(document.0["baseline"]["comparisons"][0]["ratio"]["low"].is_number());
    // Ten links of a chain that no compiler shortens take no less than twice the time of one,
    // whatever the noise.
    let slow = "x ^= x * 3; ".repeat(10);
    let same_code = serde_json::from_str::<Value>(&baseline).map(|mut document| {
        document["results"][0]["code"] = slow.clone().into();
        document.to_string()
    });
    let slower = time(&slow).given("unsigned x = 3").beside_baseline("main", &same_code.unwrap());
    let ended = slower
        .option("--baseline", "main")
        .option("--threshold", "50%")
        .start()
        .ends_with_any(&[0, 3]);
    // A co-runner on the core takes the trust away, and the verdict with it.
    let doubted = ended.output.contains("  distrust  ");
    assert!(doubted == ended.succeeded(), "{ended}");
    ended.says(if doubted {
        "undecided: one of the results is not to be trusted"
    } else {
        "past the threshold of 50 %"
    });
}

#[test]
fn baselines_have_plain_names_and_are_looked_for_before_the_measurement() {
    for bad in ["../x", "a/b", "/tmp/x", "", "a b", ".hidden"] {
        time("abort()").option("--save-baseline", bad).ends_with(2).complains("no slashes");
        time("abort()").option("--baseline", bad).ends_with(2).complains("no slashes");
    }
    time("abort()")
        .option("--baseline", "nosuch")
        .fails("--save-baseline nosuch saves one")
        .in_one_line();
    time("abort()")
        .beside_baseline("bad", "{")
        .option("--baseline", "bad")
        .fails("--baseline: .hairspring/baselines/bad.json: ")
        .in_one_line();
    time("abort()")
        .beside(".hairspring", "a file")
        .option("--save-baseline", "x")
        .fails("--save-baseline x: .hairspring/baselines")
        .in_one_line();
    time("1").option("--threshold", "5%").ends_with(2).complains("--baseline");
}

#[test]
fn a_result_is_reported_in_the_formats_of_other_tools() {
    let result = saved(100.0);
    let parsed = |format: &str| {
        serde_json::from_str::<Value>(&report(&result, format).succeeds().output).unwrap()
    };
    let metric = parsed("bmf")["main"]["latency"].clone();
    assert!(
        metric["lower_value"].as_f64() < metric["value"].as_f64()
            && metric["value"].as_f64() < metric["upper_value"].as_f64()
    );
    assert_eq!(parsed("google-benchmark")["benchmarks"][0]["name"], "main");
    assert_eq!(parsed("hyperfine")["results"][0]["command"], "main");
    report(&result, "benchstat").succeeds().says("Benchmark_main ").says(" ns/op");
    report(&result, "csv").succeeds().says("benchmark,series,component,mode,time_ns,");
    Hairspring::new()
        .with("report")
        .with("-")
        .option("--format", "csv")
        .input(&result)
        .succeeds()
        .says("main,main,body,");
}

#[test]
fn components_left_out_are_reported() {
    let ticks = fit("body,ticks\n1,108\n2,208\n3,309\n4,408\n").with("--json").succeeds().output;
    report(&ticks, "bencher")
        .fails("the clock's rate is unknown")
        .complains("no benchmark can be reported");
    report(&ticks, "csv").succeeds();
    report(&ticks, "xml").ends_with(2).complains("invalid value 'xml'");
    Hairspring::new().with("report").with("x.json").ends_with(2).complains("--format");
    Hairspring::new()
        .with("report")
        .with("nosuch.json")
        .option("--format", "csv")
        .fails("nosuch.json: No such file")
        .in_one_line();
}
