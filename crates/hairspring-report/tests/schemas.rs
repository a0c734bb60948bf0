//! The published schemas are those of the code, and every document keeps to them.

mod samples;

use expect_test::expect_file;
use hairspring_report::json;
use serde_json::Value;
use std::path::Path;

fn published(name: &str, generated: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(name);
    expect_file![path].assert_eq(&json::print(generated));
}

fn keeps_to(schema: &Value, document: &str) {
    let document: Value = serde_json::from_str(document).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn the_published_schemas_are_the_generated_ones() {
    published("result.schema.json", &json::result_schema());
    published("certificate.schema.json", &json::certificate_schema());
    published("mhz.schema.json", &json::mhz_schema());
    published("blocks.schema.json", &json::blocks_schema());
    published("compare.schema.json", &json::compare_schema());
    json::clock_schemas().iter().for_each(|(name, schema)| published(name, schema));
}

#[test]
fn every_result_keeps_to_the_schema() {
    let schema = json::result_schema();
    for (_, document) in samples::all() {
        keeps_to(&schema, &json::print(&json::result(&document)));
    }
}

#[test]
fn numbers_that_are_none_are_null_and_still_keep_to_the_schema() {
    let mut document = samples::line();
    let series = &mut document.assessment.series[0];
    series.components[0].time.ns.as_mut().unwrap().value = f64::NAN;
    series.components[0].row_influence = f64::INFINITY;
    series.solution.residual_sd = f64::NAN;
    series.solution.lack_of_fit.as_mut().unwrap().p = f64::NAN;
    document.run.as_mut().unwrap().elapsed_ms = f64::NAN;
    let text = json::print(&json::result(&document));
    keeps_to(&json::result_schema(), &text);
    let json: Value = serde_json::from_str(&text).unwrap();
    let body = &json["results"][0]["components"]["body"];
    assert_eq!(body["time_ns"], Value::Null);
    assert!(body["time_reason"].is_string());
    hairspring_report::text::report(&document, &hairspring_report::Style::default());
}

#[test]
fn every_certificate_keeps_to_the_schema() {
    for (_, certificate) in samples::certificates() {
        let document = json::certificate(&certificate, &samples::environment());
        assert_eq!(document.passed, document.failures.is_empty());
        keeps_to(&json::certificate_schema(), &json::print(&document));
    }
}

#[test]
fn the_core_that_scripts_rely_on_is_there() {
    let json = serde_json::to_value(json::result(&samples::init_and_body())).unwrap();
    assert_eq!(json["schema"], "hairspring/result/1");
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
fn ticks_stand_in_for_an_unknown_rate_and_combinations_keep_their_names() {
    let json = serde_json::to_value(json::result(&samples::rank_deficient())).unwrap();
    let component = &json["results"][0]["components"]["B4 + B6"];
    assert!(component["ticks"]["value"].is_number());
    assert_eq!(component.get("time_ns"), None);
    assert_eq!(json["environment"]["core_clock_hz"], Value::Null);
    assert!(json["environment"]["core_clock_reason"].is_string());
}
