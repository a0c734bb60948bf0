//! `--markdown` and `--plot`: results for pull requests and for papers.

use crate::command::{Hairspring, fit};

const LINE: &str = include_str!("../../../../spec/vectors/line.csv");

/// The document of a fit as text.
fn saved() -> String {
    fit(LINE).with("--json").succeeds().output
}

fn report(document: &str) -> Hairspring {
    Hairspring::new().with("report").beside("saved.json", document).with("saved.json")
}

#[test]
fn a_result_is_the_same_from_its_verb_and_from_its_document() {
    let direct = fit(LINE).with("--markdown").succeeds().output;
    assert!(direct.starts_with("### hairspring fit: `"), "{direct}");
    assert!(direct.contains("\n| --- | --: | --: | --- | --: | --: | --- |\n"), "{direct}");
    assert!(direct.contains("<summary>Machine and compiler</summary>"), "{direct}");
    let later = report(&saved()).with("--markdown").succeeds().output;
    // The time at which the document was made differs.
    let without = |text: &str| {
        text.lines().filter(|line| !line.starts_with("- made: ")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without(&direct), without(&later));
}

#[test]
fn documents_of_every_verb_are_taken() {
    let text = r#"{"schema": "hairspring/mhz/2", "command": "mhz", "environment": {}, "results": [
        {"cpu": 3, "core_hz": {"value": 2.99e9, "low": 2.98e9, "high": 3e9, "level": 0.95}}]}"#;
    let shown = report(text).with("--markdown").succeeds().output;
    assert!(shown.contains("| `CPU 3`, core clock | 2.990 | 2.980 to 3.000 | GHz |"), "{shown}");
    report("{").with("--markdown").fails("saved.json: is not a JSON document of hairspring");
    report("{\"schema\": \"other/1\"}").with("--markdown").fails("is a document of `other/1`");
}

#[test]
fn a_comparison_is_a_table_of_pairs() {
    let command = Hairspring::new().with("compare").beside("old.json", saved());
    let shown = command
        .beside("new.json", saved())
        .with("old.json")
        .with("new.json")
        .with("--markdown")
        .succeeds()
        .output;
    assert!(shown.starts_with("### hairspring compare: new over old\n\n- old: `old.json`"));
    assert!(shown.contains("| no difference |"), "{shown}");
}

#[test]
fn one_form_is_printed() {
    fit(LINE).with("--markdown").with("--json").ends_with(2).complains("--json");
    report(&saved()).with("--markdown").option("--format", "csv").ends_with(2);
    Hairspring::new().with("mhz").with("-c").with("--markdown").ends_with(2);
}

#[cfg(feature = "plots")]
#[test]
fn a_plot_is_a_file_of_outlines() {
    let ended = report(&saved()).option("--plot", "line:line.svg").succeeds();
    let text = ended.file("line.svg");
    assert!(text.starts_with("<svg") && text.contains("<title>") && !text.contains("<text"));
    assert!(ended.output.is_empty());
    let beside = fit(LINE).option("--plot", "a.svg").option("--plot", "residuals:b.svg").succeeds();
    assert!(beside.output.starts_with("hairspring fit"));
    assert!(beside.file("a.svg") == text && beside.file("b.svg") != text);
}

#[cfg(feature = "plots")]
#[test]
fn a_plot_that_cannot_be_written_is_an_error_with_a_way_out() {
    let said = |plot: &str| report(&saved()).option("--plot", plot);
    said("pie:a.svg").ends_with(2).complains("this result has no plot `pie`; it has line, ");
    said("a.pdf").ends_with(2).complains("the name of the file ends in .svg or .png");
    said("missing/a.svg").ends_with(1).complains("--plot missing/a.svg: there is no folder");
    report("{\"schema\": \"hairspring/doctor/1\", \"command\": \"doctor\"}")
        .option("--plot", "a.svg")
        .ends_with(2)
        .complains("this result has no plot");
    report(&saved()).option("--table", "t.csv").with("--markdown").ends_with(2);
}
