//! `experiment`: files, runs and records. Programs that print fixed observations stand for real
//! measurements.

use crate::command::Hairspring;
use crate::document::Document;
use std::path::Path;

/// Observations of a body of 100 ns behind an overhead of 30 ns, with a little noise.
pub fn observations() -> String {
    let noise = |n: u32| f64::from(n.wrapping_mul(2_654_435_761) >> 16 & 0xff) / 256.0;
    let reading =
        |n: u32| format!("{},{}\n", n % 10 + 1, 100.0 * f64::from(n % 10 + 1) + 30.0 + noise(n));
    format!("body,time_ns\n{}", (0..400).map(reading).collect::<String>())
}

/// An experiment of a program that prints [`observations`].
pub const FILE: &str = r#"
name = "a body"
need = "To know."
quantity = "The time of a body."

[accuracy]
required = "1 %"

[circumstances]
load = "none | at *all*"

[expectation]
model = "n * 10 ns +- 2 %"
with = { n = "10" }

[setup]
program = ["./observe", "an argument"]

[[error]]
source = "oscillator"
kind = "systematic"
half_width = "0.1 %"
because = "its data sheet"
"#;

/// The verb with a file and the program that it names.
pub fn experiment(file: &str) -> Hairspring {
    let verb = Hairspring::new()
        .with("experiment")
        .beside("e.toml", file)
        .beside("table.csv", observations());
    verb.with_script("observe", "test \"$1\" = 'an argument' && cat table.csv\n").with("e.toml")
}

#[test]
fn template_is_an_experiment() {
    let template = Hairspring::new().with("experiment").with("new").succeeds().output;
    Hairspring::new()
        .with("experiment")
        .with("new")
        .with("--json")
        .ends_with(2)
        .complains("takes no options");
    experiment(&template)
        .with("--check")
        .succeeds()
        .says("expected 3 cycles +- 0.05 cycles systematic");
}

#[test]
fn example_of_the_context_switch_is_an_experiment() {
    let example = include_str!("../../../../examples/experiments/context-switch.toml");
    // The core clock is that of the machine at hand.
    experiment(example)
        .with("--check")
        .succeeds()
        .says("expected a time, from `clock`, which is measured before the run");
    // The model by hand: 2 * 200 + 2500 / 2.5 + 60 * 6 ns.
    let clock = example.lines().find(|line| line.starts_with("clock = ")).unwrap();
    experiment(&example.replace(clock, "clock = \"2.5 GHz\""))
        .with("--check")
        .succeeds()
        .says("expected 1760 ns");
}

#[test]
fn every_example_is_an_experiment() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/experiments");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut checked = 0;
    for file in files.filter(|file| file.extension().is_some_and(|ending| ending == "toml")) {
        let text = std::fs::read_to_string(&file).unwrap();
        experiment(&text).with("--check").succeeds().says(": expected ");
        // The sources that it names are there.
        for line in text.lines().filter(|line| line.starts_with("verb = [\"run\", ")) {
            let source = line.split('"').nth(3).unwrap();
            assert!(folder.join(source).is_file(), "{}: {source}", file.display());
        }
        checked += 1;
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn experiment_runs_and_its_record_runs_again() {
    let ended = experiment(FILE).option("--save", "record").succeeds();
    let record = ended.file("record.json");
    let markdown = ended.file("record.md");
    assert_eq!(markdown, ended.output);
    for part in [
        "## 1. What do we need?",
        "agrees",
        "| oscillator | systematic |",
        "hairspring fit",
        "load: none \\| at \\*all\\*",
        "1 %: +- ",
    ] {
        assert!(markdown.contains(part), "{part}\n{markdown}");
    }
    let document = Document::of(&record, "experiment.schema.json");
    assert_eq!(
        (&document["passed"], &document["sanity"]["verdict"], &document["unit"]),
        (&true.into(), &"agrees".into(), &"ns".into())
    );
    assert!(
        (document["measurement"]["value"]["value"].as_f64().unwrap() - 100.0).abs() < 0.5,
        "{document:#}"
    );
    let shares: f64 = document["measurement"]["budget"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["share"].as_f64().unwrap())
        .sum();
    assert!((shares - 1.0).abs() < 1e-9, "{document:#}");
    for source in
        ["clock resolution", "clock rate", "overhead", "noise", "lack of fit", "control chains"]
    {
        assert!(markdown.contains(&format!("| {source} | s")), "{source}\n{markdown}");
    }
    // Elsewhere, it runs in the folder that has its program, also if its record was saved in yet
    // another one.
    let elsewhere =
        || Hairspring::new().with("experiment").beside("record.json", &record).with("record.json");
    elsewhere().succeeds().says("agrees");
    let folder = document["folder"].as_str().unwrap().to_owned();
    drop(ended);
    assert!(!Path::new(&folder).exists(), "{folder}");
    let ended =
        elsewhere().ends_with(1).complains(&format!("was made in {folder}, which is not here"));
    ended.complains("--folder names another one").complains("./observe cannot be started");
    let moved =
        elsewhere().beside("table.csv", observations()).with_script("observe", "cat table.csv\n");
    moved.option("--folder", ".").succeeds().says("agrees").does_not_complain("not here");
}

#[test]
fn missed_accuracy_and_missed_expectation_end_with_3() {
    experiment(&FILE.replace("\"1 %\"", "\"1 ps\"")).ends_with(3).says("which is not enough");
    experiment(&FILE.replace("n = \"10\"", "n = \"2\""))
        .ends_with(3)
        .says("deviates (a factor of 5");
}

#[test]
fn expectation_is_checked_in_few_digits() {
    let third = FILE.replace("n * 10 ns +- 2 %", "4096 / 3 * 1 ns");
    experiment(&third).with("--check").succeeds().says("expected 1365.33 ns; Monte Carlo agrees");
    let bent = FILE.replace("n * 10 ns +- 2 %", "1000 ns / (1 +- 0.8)");
    experiment(&bent)
        .with("--check")
        .succeeds()
        .says("+- 800 ns stochastic; Monte Carlo gives 5")
        .says(" ns, which counts");
    experiment(&bent).ends_with(3).says("so these ends count").says("deviates (a factor of 0.1");
}

#[test]
fn second_method_is_compared_with_the_first() {
    let with =
        |program: &str| format!("{FILE}\n[check]\nprogram = [\"{program}\", \"an argument\"]\n");
    experiment(&with("./observe"))
        .ends_with(2)
        .complains("[check] is the same number of the same command as [setup]");
    let again = with("./observe") + "repeat = 2\n";
    experiment(&again)
        .succeeds()
        .says("The second method gives")
        .says("The first method against it: **agrees");
    let table = observations();
    let slower = table.lines().map(|line| match line.split_once(',') {
        Some((count, time)) if time != "time_ns" => {
            format!("{count},{}\n", 2.0 * time.parse::<f64>().unwrap())
        }
        _ => format!("{line}\n"),
    });
    let slower: String = slower.collect();
    let other = experiment(&with("./other"))
        .beside("slower.csv", slower)
        .with_script("other", "cat slower.csv\n");
    let ended = other.ends_with(3).says("The first method against it: **deviates (a factor of 0.5");
    let headline = ended.output.lines().nth(2).unwrap();
    assert!(
        headline.contains(": agrees")
            && headline.contains("the first one against it: deviates (a factor of 0.5"),
        "{headline}"
    );
}

/// Observations of two series, the second of which takes as long again.
fn two_series() -> String {
    let table = observations();
    let row = |line: &str| {
        let (count, time) = line.split_once(',').unwrap();
        let twice = 2.0 * time.parse::<f64>().unwrap();
        format!("a,{line}\nb,{count},{twice}\n")
    };
    format!("series,body,time_ns\n{}", table.lines().skip(1).map(row).collect::<String>())
}

#[test]
fn methods_of_one_command_take_their_figures_from_the_same_runs() {
    let file = FILE.replace(
        "program = [\"./observe\", \"an argument\"]",
        "program = [\"./once\"]\nseries = \"a\"",
    );
    let file = format!("{file}\n[check]\nprogram = [\"./once\"]\nseries = \"b\"\n");
    let once = experiment(&file)
        .beside("two.csv", two_series())
        .with_script("once", "mkdir ran && cat two.csv\n");
    let record = once.with("--json").ends_with(3);
    let document = Document::of(&record.output, "experiment.schema.json");
    assert_eq!(
        (&document["check"]["same_runs"], &document["check"]["comparison"]["verdict"]),
        (&true.into(), &"deviates".into())
    );
}

#[test]
fn inputs_of_the_model_can_be_measured() {
    let measured =
        "n = { verb = [\"fit\", \"table.csv\"], figure = \"/results/0/components/body/time_ns\" }";
    let file = FILE.replace("n * 10 ns +- 2 %", "n / 2 * 2").replace("n = \"10\"", measured);
    experiment(&file)
        .with("--check")
        .succeeds()
        .says("expected a time, from `n`, which is measured before the run");
    let ended = experiment(&file).with("--json").succeeds();
    let document = Document::of(&ended.output, "experiment.schema.json");
    let expectation = &document["expectation"];
    assert!(
        expectation["inputs"]["n"]
            .as_str()
            .is_some_and(|n| n.starts_with("100.") && n.contains(" ns +- ")),
        "{expectation:#}"
    );
    assert!(
        expectation["measured_by"]["n"]
            .as_str()
            .is_some_and(|line| line.starts_with("hairspring fit ")),
        "{expectation:#}"
    );
    assert_eq!(document["sanity"]["verdict"], "agrees");
    experiment(&file).succeeds().says("measured by `hairspring fit");
    experiment(&file.replace("\"fit\", \"table.csv\"", "\"fit\", \"none.csv\""))
        .fails("expectation.with.n: fit ended with status 1");
    experiment(&file.replace("body/time_ns", "elephant/time_ns"))
        .fails("expectation.with.n: the document has nothing at");
    experiment(&file.replace("\"fit\", \"table.csv\"", "\"ift\""))
        .ends_with(2)
        .complains("expectation.with.n: there is no verb `ift`");
}

#[test]
fn every_source_of_the_budget_is_named() {
    let place = "verb = [\"fit\", \"table.csv\"]\nfigure = \"/results/0/components/body/time_ns\"";
    let text = experiment(&FILE.replace("program = [\"./observe\", \"an argument\"]", place))
        .succeeds()
        .output;
    for source in
        ["clock resolution", "clock rate", "overhead", "noise", "lack of fit", "control chains"]
    {
        assert!(text.contains(&format!("| {source} | s")), "{source}\n{text}");
    }
    assert!(
        text.contains("not known: the measurement does not state the step of its clock")
            && !text.contains("-0"),
        "{text}"
    );
    assert!(!text.contains("interval of the document"), "{text}");
}

#[test]
fn verbs_and_figures_of_their_documents_can_be_set_up() {
    let fit = FILE.replace(
        "program = [\"./observe\", \"an argument\"]",
        "verb = [\"fit\", \"table.csv\"]\nrepeat = 2",
    );
    experiment(&fit)
        .succeeds()
        .says("Run 2 times")
        .says("hairspring fit --json --confidence-level 0.95 table.csv");
    let place = "verb = [\"fit\", \"table.csv\"]\nfigure = \"/results/0/components/body/time_ns\"";
    experiment(&FILE.replace("program = [\"./observe\", \"an argument\"]", place))
        .succeeds()
        .says("100.0");
    let nothing = place.replace("/body/", "/elephant/");
    experiment(&FILE.replace("program = [\"./observe\", \"an argument\"]", &nothing))
        .fails("the document has nothing at /results/0/components/elephant");
}

#[test]
fn wrong_files_are_refused_with_a_reason() {
    let long = format!("name = \"{}\"", "x".repeat(300_000));
    let deep = format!("name = {}", "[".repeat(100_000));
    for (file, part) in [
        ("", "is empty"),
        ("name", "line 1"),
        (&FILE[..FILE.find("[setup]").unwrap()], "missing field `setup`"),
        (&FILE[..FILE.len() / 2], "line 13"),
        (&FILE.replace("quantity", "quantitiy"), "did you mean `quantity`?"),
        (&FILE.replace("10 ns +- 2 %", "10 ns + 2 m"), "n * 10 ns + 2 m\n                ^"),
        (
            &FILE.replace("program = [\"./observe\", \"an argument\"]", "verb = [\"tiem\", \"x\"]"),
            "did you mean `time`?",
        ),
        (
            &FILE.replace(
                "program = [\"./observe\", \"an argument\"]",
                "verb = [\"experiment\", \"e.toml\"]",
            ),
            "no verb `experiment`",
        ),
        (
            &FILE.replace("program = [\"./observe\", \"an argument\"]", "verb = [\"switch\"]"),
            "of `switch` has no series of times: name the number",
        ),
        (
            &FILE.replace("required = \"1 %\"", "required = \"1 +- 1 ns\""),
            "accuracy.required: 1 +- 1 ns has an uncertainty of its own",
        ),
        (
            &FILE.replace("half_width = \"0.1 %\"", "half_width = \"0.1 cycles\""),
            "half_width of the error `oscillator`",
        ),
        (&long, "at most 262144"),
        (&deep, "e.toml: "),
        ("{\"schema\": \"hairspring/result/2\"}", "none of hairspring/experiment/2"),
        ("{", "neither TOML nor a record"),
    ] {
        experiment(file).ends_with(2).complains(part);
    }
    Hairspring::new().with("experiment").with("none.toml").fails("none.toml: No such file");
    Hairspring::new()
        .with("experiment")
        .beside("e.toml", [0xff, 0xfe])
        .with("e.toml")
        .fails("is not UTF-8 text");
    experiment(FILE).option("--save", "no/such/folder").fails("--save no/such/folder.md");
}

#[test]
fn programs_that_fail_are_named() {
    let run = |script: &str| {
        let verb = Hairspring::new()
            .with("experiment")
            .beside("e.toml", FILE.replace("[setup]", "[setup]\ntimeout = \"2 s\""));
        verb.with_script("observe", script).with("e.toml")
    };
    run("exit 7\n").fails("[setup] ./observe ended with status 7");
    let ended = run("echo nonsense\n")
        .ends_with(1)
        .complains("fit of what ./observe printed (observations.csv) ended with status 1");
    ended.complains("observations.csv: ").does_not_complain("/observations.csv");
    run("sleep 1000\n").fails("did not end within 2 s (key `timeout`)");
    Hairspring::new()
        .with("experiment")
        .beside("e.toml", FILE)
        .with("e.toml")
        .fails("./observe cannot be started");
}
