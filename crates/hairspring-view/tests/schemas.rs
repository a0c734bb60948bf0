//! Every document keeps to its schema and has the keys that scripts rely on.

mod samples;

use hairspring_result::{ResultDocument, json};
use serde_json::Value;

fn keeps_to(schema: &Value, document: &str) {
    let document: Value = serde_json::from_str(document).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn every_result_keeps_to_the_schema() {
    let schema = json::schema::<ResultDocument>();
    for (_, document) in samples::all() {
        keeps_to(&schema, &json::print(&ResultDocument::new(&document)));
    }
}

#[test]
fn non_finite_numbers_are_null_and_valid() {
    let mut document = samples::line();
    let series = &mut document.assessment.series[0];
    series.components[0].time.ns.as_mut().unwrap().value = f64::NAN;
    series.components[0].row_influence = f64::INFINITY;
    series.solution.residual_sd = f64::NAN;
    series.solution.lack_of_fit.as_mut().unwrap().p = f64::NAN;
    document.run.as_mut().unwrap().elapsed_ms = None;
    let text = json::print(&ResultDocument::new(&document));
    keeps_to(&json::schema::<ResultDocument>(), &text);
    let json: Value = serde_json::from_str(&text).unwrap();
    let body = &json["results"][0]["components"]["body"];
    assert_eq!(body["time_ns"], Value::Null);
    assert!(body["time_reason"].is_string());
    hairspring_view::text::report(
        &ResultDocument::new(&document),
        &hairspring_view::Style::default(),
    );
}

#[test]
fn keys_that_scripts_rely_on_are_present() {
    let json = serde_json::to_value(ResultDocument::new(&samples::init_and_body())).unwrap();
    assert_eq!(json["schema"], "hairspring/result/2");
    let result = &json["results"][0];
    let names: Vec<&String> = result["components"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["body", "init"]);
    for path in [
        "/components/body/time_ns/low",
        "/components/init/cycles/value",
        "/overhead/time_ns/high",
        "/fit/lack_of_fit/f",
        "/fit/residual_ns",
    ] {
        assert!(result.pointer(path).is_some_and(Value::is_number), "{path}");
    }
    assert_eq!(result["components"]["body"]["mode"], "latency");
    assert!(json["environment"]["core_clock_hz"]["value"].as_f64().unwrap() > 3e9);
}

#[test]
fn ticks_replace_times_without_a_rate_and_combinations_keep_their_names() {
    let json = serde_json::to_value(ResultDocument::new(&samples::rank_deficient())).unwrap();
    let component = &json["results"][0]["components"]["B4 + B6"];
    assert!(component["ticks"]["value"].is_number());
    assert_eq!(component.get("time_ns"), None);
    assert_eq!(json["environment"]["core_clock_hz"], Value::Null);
    assert!(json["environment"]["core_clock_reason"].is_string());
}
