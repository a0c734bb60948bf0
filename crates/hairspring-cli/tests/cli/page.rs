//! Pages: `--html` of verbs, and `report --html`.

use crate::command::{Hairspring, fit, time, verbs};

const TABLE: &str = "# rate_hz: 1e9\nbody,ticks\n1,59\n2,99\n4,180\n8,341\n16,660\n\
                     1,60\n2,99\n4,181\n8,340\n16,661\n";

/// Verbs without a result of their own, and those that have `--html` in their own way.
const WITHOUT: [&str; 5] = ["completions", "history", "man", "new", "report"];

fn report() -> Hairspring {
    let document = fit(TABLE).with("--json").succeeds().output;
    Hairspring::new().with("report").beside("saved.json", document).with("saved.json")
}

#[test]
fn every_verb_with_a_result_writes_a_page() {
    for verb in verbs().iter().filter(|verb| !WITHOUT.contains(&verb.as_str())) {
        Hairspring::new().with(verb).with("--help-all").succeeds().says("--html <FILE>");
    }
}

#[test]
fn a_page_is_written_beside_the_usual_output() {
    let plain = fit(TABLE).succeeds().output;
    let ended = fit(TABLE).option("--html", "page.html").succeeds();
    assert_eq!(ended.output, plain);
    let page = ended.file("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Readings of main over time"));
    assert!(!page.contains("<script"));
}

#[test]
fn the_page_of_a_measurement_has_its_readings() {
    let timed = time("x * x").given("int x = 3").option("--budget", "20ms");
    let page = timed.option("--html", "page.html").succeeds().file("page.html");
    assert!(page.contains("Readings of x * x over time") && !page.contains("document alone"));
    assert!(page.len() < 300_000, "{}", page.len());
}

#[test]
fn a_saved_document_has_a_page() {
    let ended = report().option("--html", "page.html").succeeds();
    assert_eq!(ended.output, "");
    let page = ended.file("page.html");
    assert!(
        page.contains("made from the document alone") && !page.contains("over time</figcaption")
    );
    let table = report().beside("table.csv", TABLE).option("--table", "table.csv");
    let page = table.option("--html", "page.html").succeeds().file("page.html");
    assert!(page.contains("Readings of main over time") && !page.contains("document alone"));
    report().option("--html", "-").succeeds().says("<h1>hairspring fit: main</h1>");
}

#[test]
fn a_page_and_a_format_go_together() {
    let ended = report().option("--html", "page.html").option("--format", "csv").succeeds();
    assert!(ended.output.starts_with("benchmark,") && ended.file("page.html").contains("<h1>"));
    report().ends_with(2).complains("--format <FORMAT>");
}

#[test]
fn files_that_cannot_be_written_are_named_before_anything_runs() {
    let said =
        "--html no/page.html: there is no folder no; create it, or give a file in another one";
    fit("nonsense").option("--html", "no/page.html").fails(said).in_one_line();
    fit(TABLE).option("--html", ".").fails("is a folder; give a file in it");
    fit(TABLE)
        .option("--html", "-")
        .ends_with(2)
        .complains("--html -: the report goes to standard");
    report().option("--html", "saved.json").ends_with(2).complains("it is the document");
    let table = report().beside("table.csv", TABLE).option("--table", "table.csv");
    table.option("--html", "table.csv").ends_with(2).complains("it is the file of --table");
}

#[test]
fn what_cannot_be_read_is_named() {
    let of = |content: &str| {
        let command = Hairspring::new().with("report").beside("saved.json", content);
        command.with("saved.json").option("--html", "page.html")
    };
    of("").fails("saved.json: is not a JSON document of hairspring");
    of("{\"schema\": \"hairspring/result/2\"").fails("saved.json: is not a JSON document");
    of("{}").fails("saved.json: has no key `schema`");
    let other = report().beside("table.csv", "body,ticks\n1,x\n").option("--table", "table.csv");
    other.option("--html", "page.html").fails("table.csv:");
    report()
        .option("--table", "none.csv")
        .option("--html", "a.html")
        .fails("none.csv: No such file");
}
