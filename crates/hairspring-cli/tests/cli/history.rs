//! `history`: results of many commits.

use crate::command::Hairspring;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A folder with a history, and a series in each run.
pub struct Place {
    folder: tempfile::TempDir,
}

/// A document of a run whose series have these times.
pub fn document(at: usize, times: &[(&str, f64)]) -> String {
    let e = |value: f64| {
        let [low, high] = [0.995, 1.005].map(|share| share * value);
        json!({ "value": value, "low": low, "high": high, "level": 0.95 })
    };
    let results: Vec<Value> = times
        .iter()
        .map(|(name, time)| {
            json!({ "name": name, "code": null, "bytes_per_copy": null, "overhead": null,
                "components": { "body": { "time_ns": e(*time), "below_resolution": false,
                    "mode": null } } })
        })
        .collect();
    json!({ "schema": "hairspring/result/2", "command": "run", "run": null,
        "environment": {
            "identity": { "created": format!("2026-11-30T12:{:02}:{:02}Z", at / 60, at % 60),
                "host": "h", "version": "0.1.0", "commit": format!("{at:040x}") },
            "cpu": { "model": "Invented 9000", "family": "6-207", "cpus": 2,
                "architecture": "x86_64", "hypervisor": false } },
        "results": results })
    .to_string()
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// Twenty runs: `sort` steps up by 20 % at the sixteenth, `sum` down by 10 % at the eighth.
    fn stepped() -> Place {
        let place = Place::new();
        let wave = |at: usize| 1.0 + 0.001 * [0.0, 1.0, -1.0, 0.5][at % 4];
        for at in 0..20 {
            let sort = if at < 15 { 50.0 } else { 60.0 };
            let sum = if at < 7 { 10.0 } else { 9.0 };
            let times = [
                ("sort", sort * wave(at)),
                ("sum", sum * wave(at + 1)),
                ("<script>", 7.0 * wave(at)),
            ];
            place.write(&format!("{at:02}.json"), document(at, &times));
        }
        let files: Vec<String> = (0..20).map(|at| format!("{at:02}.json")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        place.history("add", &files).succeeds().says("20 added with 60 figures");
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// The verb with files of the folder and options.
    pub fn history(&self, verb: &str, words: &[&str]) -> Hairspring {
        let with = |command: Hairspring, word: &&str| {
            let is_name = self.path(word).exists() || word.ends_with(".db") || *word == "out";
            if is_name { command.with(self.path(word)) } else { command.with(word) }
        };
        let command = Hairspring::new().with("history").with(verb);
        words.iter().fold(command, with).option("--db", self.path("history.db"))
    }
}

#[test]
fn a_new_step_for_the_worse_ends_with_3() {
    let place = Place::stepped();
    place
        .history("check", &[])
        .ends_with(3)
        .says("+20")
        .says("past the")
        .says("1 new step for the worse past 2 %; 2 steps in all of 3 series");
    place.history("check", &["--threshold", "30%"]).succeeds().says("not past the threshold");
    place.history("check", &["--new", "2"]).succeeds();
    place.history("check", &["sum"]).succeeds();
    let text = place.history("check", &["--json"]).ends_with(3).output;
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["schema"], json!("hairspring/history/1"));
    let step = &found["series"][0]["steps"][0];
    assert_eq!((&step["at"], &step["past"]), (&json!(15), &json!(true)));
    assert_eq!(step["at_commit"], json!(format!("{:040x}", 15)));
    assert_eq!(found["findings"][0]["kind"], json!("commits_unknown"));
}

#[test]
fn show_draws_series_in_80_columns_and_in_a_page() {
    let place = Place::stepped();
    let output = place.history("show", &[]).succeeds().says("-10").output;
    assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
    assert!(output.contains('o') && output.contains("<script>"));
    let page = place.path("page.html");
    place.history("show", &["sort"]).option("--html", &page).succeeds();
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains("History of sort") && html.contains("<svg"));
    place.history("show", &["--markdown"]).succeeds().says("`sort`");
    place.history("show", &["sotr"]).ends_with(2).complains("no series has `sotr`");
}

#[test]
fn adding_twice_changes_nothing() {
    let place = Place::stepped();
    place
        .history("add", &["03.json", "04.json"])
        .succeeds()
        .says("0 added")
        .says("2 known already");
    place.history("export", &["out"]).succeeds().says("20 documents");
    let first = std::fs::read_to_string(place.path("out/000001-000000000000.json")).unwrap();
    assert_eq!(first, std::fs::read_to_string(place.path("00.json")).unwrap());
    place.history("prune", &["--keep", "12"]).succeeds().says("8 runs removed, 12 left");
    place
        .history("prune", &["--commit", &format!("{:040x}", 19)])
        .succeeds()
        .says("1 runs removed");
    place.history("prune", &["--commit", "ffffff"]).ends_with(2).complains("no run is of such");
    place.history("prune", &[]).ends_with(2);
    let copy = place.path("other.db");
    let import = || Hairspring::new().with("history").with("import").with(place.path("history.db"));
    import().option("--db", &copy).succeeds().says("11 of 11 runs were new");
    import().option("--db", &copy).succeeds().says("0 of 11 runs were new");
}

#[test]
fn results_of_other_tools_are_added() {
    let place = Place::new();
    place.write(
        "hyperfine.json",
        r#"{"results": [{"command": "sleep 0", "mean": 0.1, "stddev": 0.01, "median": 0.1,
        "user": 0.1, "system": 0.1, "min": 0.09, "max": 0.11, "times": [0.1, 0.11, 0.09, 0.1],
        "exit_codes": [0, 0, 0, 0]}]}"#,
    );
    let commit = "0123456789abcdef0123456789abcdef01234567";
    place.history("add", &["hyperfine.json", "--commit", commit]).succeeds().says("1 added");
    place.history("show", &[]).succeeds().says("sleep 0");
    place.history("add", &["hyperfine.json", "--commit", "nothing"]).ends_with(2);
}

#[test]
fn bad_files_are_told_and_the_others_are_added() {
    let place = Place::new();
    let good = document(1, &[("sort", 5.0)]);
    place.write("good.json", &good);
    place.write("cut.json", &good[..good.len() / 2]);
    place.write("empty.json", "");
    place
        .history("add", &["cut.json", "good.json", "empty.json", "missing.json"])
        .ends_with(1)
        .says("1 added")
        .says("3 refused")
        .complains("cut.json: ")
        .complains("missing.json: ");
}

#[test]
fn what_is_no_history_is_told() {
    let place = Place::new();
    place.history("check", &[]).fails("is not there: `history add FILE` makes it");
    place.write("history.db", "no database ".repeat(999));
    place.history("check", &[]).fails("is no database");
    place.write("good.json", document(1, &[("sort", 5.0)]));
    place.history("add", &["good.json"]).fails("is no database");
    place.history("import", &["history.db"]).fails("is no database");
    let add = |db: &Path| {
        let command = Hairspring::new().with("history").with("add").with(place.path("good.json"));
        command.option("--db", db)
    };
    add(&place.path("no/history.db")).fails("its folder is missing");
    add(place.folder.path()).fails("is a folder");
    add(Path::new("/dev/full")).ends_with(1);
}

#[test]
fn ten_thousand_series_are_checked() {
    let place = Place::new();
    let names: Vec<String> = (0..10_000).map(|at| format!("series {at}")).collect();
    let times: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 5.0)).collect();
    place.write("a.json", document(1, &times));
    place.history("add", &["a.json"]).succeeds().says("10000 figures");
    place.history("check", &[]).succeeds().says("10,000 series");
}
