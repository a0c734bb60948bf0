//! A JSON document that the command printed, valid by its published schema.

use jsonschema::Validator;
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;

/// A document of the schema `hairspring/result/2`.
#[derive(Debug)]
pub struct Document(pub Value);

impl Document {
    /// Parses and validates what `time` or `fit` printed.
    pub fn result(text: &str) -> Document {
        static SCHEMA: OnceLock<Validator> = OnceLock::new();
        Document(valid(text, SCHEMA.get_or_init(|| schema("result.schema.json"))))
    }

    /// Parses and validates what `verify` printed.
    pub fn certificate(text: &str) -> Value {
        static SCHEMA: OnceLock<Validator> = OnceLock::new();
        valid(text, SCHEMA.get_or_init(|| schema("certificate.schema.json")))
    }

    /// Parses and validates a document by the schema in this file of the specification.
    pub fn of(text: &str, file: &str) -> Value {
        valid(text, &schema(file))
    }

    /// Parses and validates what `period` printed.
    pub fn period(text: &str) -> Value {
        valid(text, &schema("period.schema.json"))
    }

    /// Parses and validates what `period --respond` printed.
    pub fn responder(text: &str) -> Value {
        valid(text, &schema("responder.schema.json"))
    }

    /// The result with this number.
    pub fn result_of(&self, number: usize) -> &Value {
        &self.0["results"][number]
    }

    /// The first result's component `body`.
    pub fn body(&self) -> &Value {
        &self.result_of(0)["components"]["body"]
    }

    /// Names of the first result's components.
    pub fn components(&self) -> Vec<&str> {
        self.result_of(0)["components"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    /// `latency` or `throughput`, with the reason.
    pub fn mode(&self) -> (&str, &str) {
        (self.body()["mode"].as_str().unwrap(), self.body()["mode_reason"].as_str().unwrap())
    }

    /// Kinds of the findings on a result.
    pub fn findings(&self, number: usize) -> Vec<&str> {
        self.result_of(number)["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["kind"].as_str().unwrap())
            .collect()
    }

    /// The finding of that kind on the first result.
    pub fn finding(&self, kind: &str) -> &Value {
        let all = self.result_of(0)["findings"].as_array().unwrap();
        all.iter()
            .find(|finding| finding["kind"] == kind)
            .unwrap_or_else(|| panic!("no finding `{kind}` in {all:#?}"))
    }

    /// The body takes between 1 and 20 core cycles, as any chain of single multiplications does, or
    /// none could be counted.
    pub fn takes_a_few_cycles(&self) -> &Self {
        let cycles = &self.body()["cycles"];
        let counted = cycles["value"].as_f64().is_some_and(|value| (1.0..20.0).contains(&value));
        assert!(
            counted || cycles.is_null() && self.body()["cycles_reason"].is_string(),
            "{:#}",
            self.result_of(0)
        );
        self
    }
}

fn schema(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

fn valid(text: &str, schema: &Validator) -> Value {
    let document: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let errors: Vec<String> = schema
        .iter_errors(&document)
        .map(|error| format!("{}: {error}", error.instance_path))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
    document
}
