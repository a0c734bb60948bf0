//! `report --interactive`: what the page contains, and what is said where there is no solver. Pages
//! with the real solver are tested in a browser (tests/browser).

use crate::command::{Ended, Hairspring, fit};
use std::fmt::Write;

const TABLE: &str = "# rate_hz: 1e9\nbody,ticks\n1,59\n2,99\n4,180\n8,341\n16,660\n\
                     1,60\n2,99\n4,181\n8,340\n16,661\n";

/// A solver of these parts, as tools/wasm.sh writes it.
fn solver(version: &str, module: &str) -> String {
    let part = |name: &str| format!("{name}();");
    serde_json::json!({
        "version": version, "module": module, "markup": "<p id=\"status\"></p>", "style": "p{}",
        "engine": part("engine"), "plot": part("plot"), "common": part("common"),
        "script": part("report"),
    })
    .to_string()
}

/// `report --interactive` of a table with a solver.
fn interactive(table: &str, arguments: &[&str], solver: &str) -> Hairspring {
    let fitted = arguments.iter().fold(fit(table).with("--json"), |all, one| all.with(one));
    let document = fitted.succeeds().output;
    Hairspring::new()
        .with("report")
        .beside("saved.json", document)
        .with("saved.json")
        .beside("table.csv", table)
        .beside("own.json", solver)
        .variable("HAIRSPRING_SOLVER", "own.json")
        .option("--table", "table.csv")
        .option("--html", "page.html")
        .with("--interactive")
}

/// A JSON block of a page.
fn data(ended: &Ended, id: &str) -> serde_json::Value {
    let page = ended.file("page.html");
    let (_, rest) =
        page.split_once(&format!("<script type=\"application/json\" id=\"{id}\">")).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn the_page_has_the_solver_its_scripts_and_the_observations() {
    let ended = interactive(TABLE, &[], &solver(VERSION, "TU9EVUxF")).succeeds();
    let page = ended.file("page.html");
    for text in
        ["<script>plot();</script>", "<script>common();</script>", "<script>report();</script>"]
    {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains("'wasm-unsafe-eval' blob:; worker-src blob:") && page.contains("p{}"));
    assert!(!page.contains("<script>engine();"), "a worker gets it as text");
    assert_eq!(data(&ended, "hairspring-module"), "TU9EVUxF");
    assert_eq!(data(&ended, "hairspring-engine"), "engine();");
    let own = data(&ended, "hairspring-data");
    assert_eq!(
        (own["name"].as_str(), own["asked"]["keep_all"].as_bool()),
        (Some("table.csv"), Some(false))
    );
    assert!(own["observations"].as_str().unwrap().starts_with("H4sI"), "gzip as base64");
}

#[test]
fn the_page_begins_with_what_its_document_left_out() {
    let mut bent = "# rate_hz: 1e9\nbody,ticks\n".to_owned();
    for round in 0..60 {
        for count in 1..10 {
            let ticks = if count == 1 { 400 } else { 100 * count } + round % 3;
            writeln!(bent, "{count},{ticks}").unwrap();
        }
    }
    let asked = |arguments: &[&str]| {
        let ended = interactive(&bent, arguments, &solver(VERSION, "")).succeeds();
        data(&ended, "hairspring-data")["asked"].clone()
    };
    assert_eq!(asked(&[]), serde_json::json!({"without": [], "keep_all": false}));
    let asked = asked(&["--keep-all", "--without", "spikes"]);
    assert_eq!(asked, serde_json::json!({"without": ["spikes"], "keep_all": true}));
}

#[test]
fn a_solver_that_is_missing_or_of_another_version_is_said() {
    let with = |solver: &str| interactive(TABLE, &[], solver);
    with("{").fails("--interactive: own.json: is not a solver of hairspring").in_one_line();
    with(&solver("0.0.0-other", ""))
        .fails("is the solver of version 0.0.0-other, and this is version");
    let gone = with("").variable("HAIRSPRING_SOLVER", "no/solver.json");
    gone.fails("--interactive: no/solver.json: No such file");
}

#[test]
fn a_page_that_is_too_large_is_refused_and_not_written() {
    let ended = interactive(TABLE, &[], &solver(VERSION, &"A".repeat(3_000_000)))
        .fails("--interactive: the page has");
    assert!(ended.files("").iter().all(|name| name != "page.html"), "{:?}", ended.files(""));
}

#[test]
fn it_needs_observations_and_a_page() {
    let document = fit(TABLE).with("--json").succeeds().output;
    let report = Hairspring::new().with("report").beside("saved.json", document).with("saved.json");
    report.option("--html", "page.html").with("--interactive").ends_with(2).complains("--table");
}
