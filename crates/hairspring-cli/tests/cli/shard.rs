//! Parts of what a command line asks for, and the documents that are left behind.

use crate::command::{Ended, Hairspring, needs, time};
use crate::document::Document;
use crate::experiment::{FILE, experiment};
use nix::sys::signal::Signal;
use serde_json::Value;

/// The verbs that have parts, each with a word that it takes.
fn verbs() -> [Hairspring; 4] {
    let words = [
        ["run", "./none"],
        ["time", "x = x * 3"],
        ["instructions", "imul"],
        ["experiment", "none.toml"],
    ];
    words.map(|[verb, word]| Hairspring::new().with(verb).with(word))
}

/// The only document in the folder `out`, and its name.
fn left(ended: &Ended) -> (String, String) {
    let files = ended.files("out");
    assert_eq!(files.len(), 1, "{files:?}");
    (files[0].clone(), ended.file(&format!("out/{}", files[0])))
}

#[test]
fn parts_that_are_none_are_refused_by_every_verb() {
    for part in ["", "0/3", "4/3", "a/b", "-1/2", "1/0", "1", "1/2/3", "18446744073709551616/2"] {
        for verb in verbs() {
            verb.with(format!("--shard={part}")).ends_with(2).complains("expected I/N with I from");
        }
    }
    for verb in verbs() {
        verb.option("--shard", "1/2").with("--replicate").ends_with(2).complains("--replicate");
    }
}

#[test]
fn variables_of_a_scheduler_that_are_no_part_are_told_by_every_verb() {
    let wrong = [
        ("SLURM_ARRAY_TASK_ID", "x", "SLURM_ARRAY_TASK_ID is `x`, which is no number: give I/N"),
        ("SLURM_ARRAY_TASK_ID", "3", "SLURM_ARRAY_TASK_COUNT is not: give I/N"),
        ("PMI_RANK", "-1", "PMI_RANK is `-1`"),
        ("PMIX_RANK", "1", "PMIX_RANK is set, and the number of ranks"),
    ];
    for (name, value, told) in wrong {
        for verb in verbs() {
            verb.option("--shard", "auto").variable(name, value).ends_with(2).complains(told);
        }
    }
}

#[test]
fn auto_outside_of_a_scheduler_leaves_nothing_out_and_says_so() {
    let list = || Hairspring::new().with("instructions").with("imul").with("--list");
    let all = list().succeeds();
    let auto = list().option("--shard", "auto").succeeds();
    assert_eq!(auto.output, all.output);
    auto.complains("no scheduler names a part").complains("nothing is left out");
    let both = experiment(FILE).beside("f.toml", FILE).with("f.toml").with("--check");
    let both = both.option("--shard", "auto").succeeds().complains("nothing is left out");
    assert_eq!(both.output.matches("a body: expected").count(), 2, "{both}");
}

/// Code with two alternatives.
fn compared() -> Hairspring {
    needs("cc");
    let code = time("x = x * 3").given("unsigned long x = 3").option("--budget", "100ms");
    code.option("--vs", "x = x + 3").option("--vs", "x = x ^ 3").with("--json")
}

#[test]
fn parts_of_time_are_other_comparisons_with_the_same_code() {
    let part = |part| compared().option("--shard", part).option("--document", "out").succeeds();
    let parts = [part("1/2"), part("2/2")];
    for (ended, (name, end)) in parts.iter().zip([("b", "-1of2.json"), ("c", "-2of2.json")]) {
        let (file, text) = left(ended);
        assert!(file.ends_with(end), "{file}");
        assert_eq!(text, ended.output);
        Document::result(&text);
        let document: Value = serde_json::from_str(&text).unwrap();
        let names: Vec<&str> = document["results"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|series| series["name"].as_str())
            .collect();
        assert_eq!(names, ["a", name]);
        assert_eq!(document["comparisons"][0]["a"], name);
    }
    let merged = Hairspring::new()
        .with("merge")
        .with("--json")
        .beside("1.json", &parts[0].output)
        .beside("2.json", &parts[1].output)
        .with("1.json")
        .with("2.json")
        .succeeds();
    let merged: Value = serde_json::from_str(&merged.output).unwrap();
    let codes: Vec<&str> = merged["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["kind"].as_str())
        .filter(|kind| ["series_missing", "code_differs"].contains(kind))
        .collect();
    assert_eq!(codes, [] as [&str; 0]);
}

#[test]
fn a_part_of_time_without_a_comparison_says_so() {
    compared()
        .option("--shard", "3/3")
        .succeeds()
        .complains("part 3 of 3 has no alternative: there are only 2")
        .does_not_say("{");
    time("x = x * 3")
        .option("--shard", "2/2")
        .succeeds()
        .complains("part 2 of 2 has no code: there is only 1");
}

#[test]
fn several_processes_of_time_leave_one_document() {
    needs("cc");
    let ended = time("x = x * 3")
        .given("unsigned long x = 3")
        .option("--budget", "100ms")
        .option("--processes", "2")
        .with("--replicate")
        .with("--json")
        .option("--document", "out")
        .succeeds();
    let (file, text) = left(&ended);
    assert!(!file.contains("of"), "{file}");
    assert_eq!(text, ended.output);
}

#[test]
fn a_measurement_that_is_ended_leaves_what_it_has() {
    needs("cc");
    let running = time("x = x * 3")
        .given("unsigned long x = 3")
        .option("--budget", "100ms")
        .option("--processes", "1000")
        .option("--document", "out")
        .start();
    running.until_there_is("out", ".json").signal(Signal::SIGTERM);
    let (_, text) = left(&running.ends_with(143));
    Document::result(&text);
}

#[test]
fn a_folder_that_cannot_be_written_is_told_before_the_measurement() {
    time("this does not compile")
        .beside("file", "")
        .option("--document", "file/here")
        .fails("--document file/here");
    experiment(FILE).beside("file", "").option("--document", "file/here").fails("--document");
}

/// Two experiments, of which the second one has another name.
fn two_experiments() -> Hairspring {
    experiment(FILE).beside("f.toml", FILE.replace("a body", "another")).with("f.toml")
}

#[test]
fn parts_of_experiments_leave_a_document_of_each() {
    let both = two_experiments().option("--document", "out").succeeds();
    let mut files = both.files("out");
    files.sort_by_key(|name| name.ends_with("-2-f.json"));
    assert!(files.len() == 2 && files[0].ends_with("-1-e.json"), "{files:?}");
    assert!(files[1].ends_with("-2-f.json"), "{files:?}");
    for file in &files {
        Document::of(&both.file(&format!("out/{file}")), "experiment.schema.json");
    }
    let both = both.says("# Experiment: a body").says("# Experiment: another");
    drop(both);
    let second = two_experiments().option("--shard", "2/2").option("--document", "out").succeeds();
    let (file, _) = left(&second);
    assert!(file.ends_with("-2-f-2of2.json"), "{file}");
    second.says("# Experiment: another").does_not_say("# Experiment: a body");
    two_experiments()
        .option("--shard", "3/3")
        .succeeds()
        .complains("part 3 of 3 has no experiment: there are only 2");
}

#[test]
fn one_experiment_is_replicated() {
    let ended = experiment(FILE).with("--replicate").option("--document", "out").with("--json");
    let ended = ended.succeeds();
    let (file, text) = left(&ended);
    assert!(file.ends_with("-e.json"), "{file}");
    assert_eq!(text, ended.output);
}

#[test]
fn an_experiment_that_fails_does_not_stop_the_others() {
    let broken = FILE.replace("\"./observe\"", "\"./none\"");
    let ended = experiment(&broken)
        .beside("f.toml", FILE)
        .with("f.toml")
        .option("--document", "out")
        .ends_with(1)
        .complains("e.toml: ");
    assert!(left(&ended).0.ends_with("-2-f.json"));
    let wrong = experiment(FILE).beside("f.toml", "name =").with("f.toml");
    wrong.ends_with(2).complains("f.toml: ").does_not_say("# Experiment: a body");
}

#[test]
fn options_of_one_experiment_are_refused_for_several() {
    for [option, value] in
        [["--save", "r"], ["--html", "r.html"], ["--plot", "r.svg"], ["--shard", "1/2"]]
    {
        let both = two_experiments().option(option, value);
        let both = if option == "--shard" { both.with("--json") } else { both };
        both.ends_with(2).complains("2 are named: name one file").complains("--document FOLDER");
    }
    Hairspring::new()
        .with("experiment")
        .with("new")
        .option("--document", "out")
        .ends_with(2)
        .complains("takes no options");
}
