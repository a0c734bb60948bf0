//! Pages of documents: their structure against golden files, hostile documents, sizes.

use expect_test::expect_file;
use hairspring_core::judge::{Question, assess};
use hairspring_core::observations::{Observations, read_csv};
use hairspring_page::{Extras, Interactive, page, plots};
use hairspring_result::{Environment, Measurement, ResultDocument, json};
use std::path::Path;

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn table(name: &str) -> Observations {
    read_csv(file(&format!("../../spec/vectors/{name}.csv")).as_bytes()).unwrap()
}

fn solved(table: &Observations) -> ResultDocument {
    ResultDocument::new(&Measurement {
        command: "fit".into(),
        environment: Environment::unknown("the file holds no reference chain"),
        assessment: assess(table, &Question::default()).unwrap(),
        ns_per_unit: table.origin.ns_per_unit(),
        subjects: Vec::new(),
        methods: Vec::new(),
        run: None,
    })
}

/// The elements of a page that make its structure, a line each, with their texts.
fn structure(html: &str) -> String {
    const SHOWN: [&str; 9] =
        ["<h1", "<h2", "<h3", "<h4", "<caption", "<figcaption", "<summary", "<title", "<li class"];
    let body = html.split_once("<title>").map_or(html, |(_, rest)| rest);
    let mut lines = Vec::new();
    for (at, _) in body.match_indices('<') {
        let rest = &body[at..];
        let Some(tag) = SHOWN.iter().find(|tag| rest.starts_with(**tag)) else { continue };
        let text = rest.split_once('>').map_or("", |(_, text)| text);
        let text: String = text.chars().take_while(|c| *c != '<').collect();
        lines.push(format!("{} {}", &tag[1..], text.trim()));
    }
    lines.join("\n") + "\n"
}

/// What holds of every page: one start, a policy, no script that was not given, headings in order.
fn is_sound(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">") && html.ends_with("</html>"));
    assert!(html.contains("content=\"default-src 'none'; style-src"), "{}", &html[..600]);
    assert!(!html.contains("<script") && !html.contains("onerror=\"") && !html.contains("<img"));
    assert!(!html.contains("NaN"), "a number is not one");
    let levels: Vec<u32> = html
        .match_indices("<h")
        .filter_map(|(at, _)| html[at + 2..].chars().next()?.to_digit(10))
        .collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{levels:?}");
    assert!(levels.windows(2).all(|two| two[1] <= two[0] + 1), "{levels:?}");
    assert_eq!(html.matches("<table").count(), html.matches("</table>").count());
    assert_eq!(html.matches("<section").count(), html.matches("</section>").count());
}

fn ids_differ(html: &str) {
    let ids = || html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let distinct: std::collections::HashSet<&str> = ids().collect();
    assert_eq!(distinct.len(), ids().count());
}

#[test]
fn pages_have_the_structure_of_the_golden_files() {
    for name in ["line", "plane", "two", "disturbed", "nothing"] {
        let table = table(name);
        let text = json::print(&solved(&table));
        let extras = Extras { table: Some(&table), ..Extras::default() };
        let html = page(&text, &extras).unwrap();
        is_sound(&html);
        ids_differ(&html);
        assert!(html.len() < 300_000, "{name}: {}", html.len());
        let golden = format!("golden/{name}.txt");
        expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(golden)]
            .assert_eq(&structure(&html));
    }
}

#[test]
fn documents_of_other_verbs_have_pages() {
    const NAMES: [&str; 12] = [
        "mhz",
        "period",
        "blocks",
        "clock-latency",
        "pulses",
        "compare",
        "certificate",
        "doctor",
        "instructions",
        "experiment",
        "merge",
        "clocks",
    ];
    for name in NAMES {
        let text = file(&format!("tests/documents/{name}.json"));
        let html = page(&text, &Extras::default()).unwrap();
        is_sound(&html);
        ids_differ(&html);
        let golden = format!("golden/{name}.txt");
        expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(golden)]
            .assert_eq(&structure(&html));
    }
}

#[test]
fn an_experiment_has_its_seven_steps_and_its_file() {
    let html = page(&file("tests/documents/experiment.json"), &Extras::default()).unwrap();
    for text in [
        "<h1>hairspring experiment: a body</h1>",
        "Passed: measurement against expectation agrees (a factor of 1.0102, 0.1 sigmas); the \
         required accuracy was reached.",
        "<strong>40.409 ns \u{b1}\u{a0}0.083</strong>",
        "5 %: \u{b1}\u{a0}2.02 ns at 95 % confidence. Reached: \u{b1}\u{a0}0.083 ns, which is",
        "32.033 to 48.175 ns, which agrees",
        "<td class=\"number\">0 ns</td><td class=\"number\">0 %</td><td class=\"words\">not known:",
        "<pre tabindex=\"0\"><code>name = &#34;a body&#34;\nneed = &#34;To know.&#34;\n",
        "<code>cat line.csv &#62; observations.csv\nhairspring fit",
    ] {
        assert!(html.contains(text), "{text}\n{html}");
    }
}

#[test]
fn thousands_of_forms_are_lines_of_a_table() {
    let mut document: serde_json::Value =
        serde_json::from_str(&file("tests/documents/instructions.json")).unwrap();
    let forms = document["forms"].as_array().unwrap().clone();
    let many = (0..4000).map(|at| forms[at % forms.len()].clone());
    document["forms"] = many.collect();
    let html = page(&document.to_string(), &Extras::default()).unwrap();
    is_sound(&html);
    assert!(html.len() < 4_000_000, "{}", html.len());
    assert!(html.contains("Integer: 3000 forms"), "{}", &html[..9000]);
    assert!(html.matches("<h2").count() < 12 && html.contains("in doubt (?)"));
    assert!(html.contains("(and 499 more of this kind)"));
}

/// The value with each text, number and list made hostile, but for what names its kind.
fn hostile(value: &serde_json::Value, key: &str, number: f64) -> serde_json::Value {
    use serde_json::Value;
    match value {
        // The environment and the levels are refused otherwise, with a reason.
        kept if matches!(key, "schema" | "command" | "environment" | "level") => kept.clone(),
        Value::String(text) => {
            format!("{text}</code></title><script>alert(1)</script>\u{7}").into()
        }
        Value::Number(_) => number.into(),
        Value::Array(list) => {
            let own = list.iter().map(|one| hostile(one, key, number));
            own.chain([Value::Null, true.into(), "<img>".into(), Value::Array(Vec::new())])
                .collect()
        }
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), hostile(value, key, number)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

#[test]
fn hostile_documents_of_verbs_are_pages() {
    for name in ["certificate", "doctor", "instructions", "experiment", "merge", "clocks"] {
        let document: serde_json::Value =
            serde_json::from_str(&file(&format!("tests/documents/{name}.json"))).unwrap();
        for number in [1e30, -1e308, 0.0, 5e-324, -0.5] {
            let html = page(&hostile(&document, "", number).to_string(), &Extras::default());
            is_sound(&html.unwrap());
        }
        for key in document.as_object().unwrap().keys().filter(|key| *key != "schema") {
            for wrong in [serde_json::Value::Null, "text".into(), 7.into(), true.into()] {
                let mut damaged = document.clone();
                damaged[key] = wrong;
                if let Ok(html) = page(&damaged.to_string(), &Extras::default()) {
                    is_sound(&html);
                }
            }
        }
    }
}

#[test]
fn a_document_of_another_version_has_the_general_page() {
    for command in ["experiment", "instructions", "verify", "doctor", "merge"] {
        let text = format!(
            "{{\"schema\": \"hairspring/{command}/9\", \"command\": \"{command}\", \"news_ns\": \
             {{\"value\": 3, \"low\": 2, \"high\": 4}}}}"
        );
        let html = page(&text, &Extras::default()).unwrap();
        is_sound(&html);
        assert!(html.contains("3.0 ns \u{b1}\u{a0}1.0"), "{command}: {html}");
    }
}

#[test]
fn the_example_of_the_specification_has_a_page() {
    let html = page(&file("../../spec/result.example.json"), &Extras::default()).unwrap();
    is_sound(&html);
    assert!(html.contains("made from the document alone") && html.contains("--table OBSERVATIONS"));
}

#[test]
fn plots_have_names_of_their_own() {
    let table = table("two");
    let extras = Extras { table: Some(&table), ..Extras::default() };
    let all = plots(&json::print(&solved(&table)), &extras).unwrap();
    let names: Vec<&str> = all.iter().map(|plot| plot.name.as_str()).collect();
    let expected = [
        "ratios",
        "line",
        "residuals",
        "budget",
        "readings",
        "line-2",
        "residuals-2",
        "budget-2",
        "readings-2",
    ];
    assert_eq!(names, expected);
}

#[test]
fn hostile_texts_stay_texts() {
    let evil =
        "</title></style><script>alert(1)</script><img src=x onerror=\\\"alert(1)\\\">\\u0007";
    let estimate = |value: &str| {
        format!("{{\"value\": {value}, \"low\": -1e308, \"high\": 1e308, \"level\": 0.95}}")
    };
    let finding = format!(
        "{{\"kind\": \"{evil}\", \"severity\": \"untrusted\", \"message\": \"{evil}\", \
         \"remedy\": \"{evil}\"}}"
    );
    let result = format!(
        "{{\"schema\": \"hairspring/result/2\", \"command\": \"{evil}\", \"results\": [{{\"name\": \
         \"{evil}\", \"code\": \"{evil}\", \"components\": {{\"{evil}\": {{\"time_ns\": {}}}}}, \
         \"disassembly\": [\"{evil}\"], \"findings\": [{finding}]}}]}}",
        estimate("1e30")
    );
    let mhz = format!(
        "{{\"schema\": \"hairspring/mhz/2\", \"command\": \"{evil}\", \"{evil}\": \"{evil}\", \
         \"results\": [{{\"cpu\": \"{evil}\", \"core_hz\": {}, \"levels\": [{{\"core_hz\": {}, \
         \"share\": 1e300}}], \"{evil}\": [{{\"{evil}\": \"{evil}\"}}], \"findings\": [{finding}], \
         \"core_hz_budget\": [{{\"source\": \"{evil}\", \"half_width\": 1e300}}], \"histogram\": \
         [{{\"low_ns\": -1e300, \"high_ns\": 1e300, \"count\": 1e300}}]}}]}}",
        estimate("1e30"),
        estimate("-1e-300")
    );
    let blocks = format!(
        "{{\"schema\": \"hairspring/blocks/2\", \"command\": \"blocks\", \"function\": {{\"name\": \
         \"{evil}\"}}, \"blocks\": [{{\"name\": \"{evil}\", \"runs\": 1e300}}], \"edges\": \
         [{{\"from\": \"{evil}\", \"to\": \"{evil}\"}}], \"lines\": [{{\"line\": -1e300, \"text\": \
         \"{evil}\", \"share\": 1e300}}]}}"
    );
    for text in [result, mhz, blocks] {
        let html = page(&text, &Extras::default()).unwrap();
        is_sound(&html);
        assert!(html.contains("&#60;script&#62;") && !html.contains('\u{7}'));
    }
}

#[test]
fn any_shape_of_a_document_has_a_page_or_an_error() {
    let parts = [
        "null",
        "1e308",
        "-0.0",
        "\"x\"",
        "[]",
        "{}",
        "[[[1]]]",
        "{\"a\": {\"b\": [{}]}}",
        "[{\"findings\": 3}]",
        "{\"value\": 1, \"low\": null, \"high\": 2}",
        "true",
    ];
    let keys = [
        "results",
        "findings",
        "blocks",
        "lines",
        "histogram",
        "x_budget",
        "levels",
        "stages",
        "function",
        "environment",
        "command",
        "edges",
        "components",
    ];
    for verb in ["mhz", "blocks", "result"] {
        for key in keys {
            for part in parts {
                let text = format!(
                    "{{\"schema\": \"hairspring/{verb}/2\", \"command\": \"{verb}\", \
                     \"{key}\": {part}}}"
                );
                if let Ok(html) = page(&text, &Extras::default()) {
                    is_sound(&html);
                }
            }
        }
    }
}

#[test]
fn damaged_documents_are_named() {
    let said = |text: &str| page(text, &Extras::default()).unwrap_err();
    let whole = file("../../spec/result.example.json");
    for end in (0..whole.len()).step_by(997).filter(|end| whole.is_char_boundary(*end)) {
        assert!(said(&whole[..end]).contains("is not a JSON document of hairspring"), "{end}");
    }
    assert!(said("{}").contains("has no key `schema`"));
    assert!(said("{\"schema\": \"other\"}").contains("is a document of `other`"));
    let nested = "[".repeat(1000) + &"]".repeat(1000);
    let deep = format!("{{\"schema\": \"hairspring/mhz/2\", \"a\": {nested}}}");
    assert!(said(&deep).contains("recursion limit"), "{}", said(&deep));
}

#[test]
fn a_table_of_another_measurement_is_refused() {
    let (table, other) = (table("two"), table("line"));
    let extras = Extras { table: Some(&other), ..Extras::default() };
    let said = page(&json::print(&solved(&table)), &extras).unwrap_err();
    assert!(said.contains("none of the series of the document (new, old), but main"), "{said}");
}

#[test]
fn ten_thousand_series_stay_small() {
    let series = |at: u32| {
        format!(
            "{{\"name\": \"series {at}\", \"components\": {{\"body\": {{\"time_ns\": {{\"value\": \
             {at}.5, \"low\": {at}, \"high\": {}, \"level\": 0.95}}}}}}}}",
            at + 1
        )
    };
    let all: Vec<String> = (1..=10_000).map(series).collect();
    let text = format!(
        "{{\"schema\": \"hairspring/result/2\", \"command\": \"run\", \"results\": [{}]}}",
        all.join(",")
    );
    let html = page(&text, &Extras::default()).unwrap();
    is_sound(&html);
    assert!(html.contains("Details of the first 16 of 10,000 results are shown"));
    assert!(html.contains("series 10000") && html.len() < 1_500_000, "{}", html.len());
}

#[test]
fn scripts_are_those_that_were_given() {
    let more = Interactive::default().with_data("data", "{}").with_script("1").with_style("a{}");
    let extras = Extras { interactive: Some(more), ..Extras::default() };
    let html = page(&file("../../spec/result.example.json"), &extras).unwrap();
    assert_eq!(html.matches("<script").count(), 2);
    assert!(html.contains("<script type=\"application/json\" id=\"data\">{}</script>"));
    assert!(html.contains("script-src 'sha256-") && html.contains("hairspring-interactive"));
}
