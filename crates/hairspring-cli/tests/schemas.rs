//! The published schemas are those of the code.

use hairspring_blocks::document::BlocksDocument;
use hairspring_instruments::clocks::document::clock_schemas;
use hairspring_instruments::mhz::document::MhzDocument;
use hairspring_instruments::period::document::{PeriodDocument, ResponderDocument};
use hairspring_instruments::verify::document::CertificateDocument;
use hairspring_result::ResultDocument;
use hairspring_result::compare::CompareDocument;
use hairspring_result::json::{print, schema};
use serde_json::Value;
use std::path::PathBuf;

fn published(name: &str, generated: &Value) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(name);
    let text = print(generated);
    if std::env::var_os("HAIRSPRING_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(known == text, "spec/{name} is not the generated schema; HAIRSPRING_BLESS=1 writes it anew");
}

#[test]
fn the_published_schemas_are_the_generated_ones() {
    published("result.schema.json", &schema::<ResultDocument>());
    published("certificate.schema.json", &schema::<CertificateDocument>());
    published("mhz.schema.json", &schema::<MhzDocument>());
    published("blocks.schema.json", &schema::<BlocksDocument>());
    published("compare.schema.json", &schema::<CompareDocument>());
    published("period.schema.json", &schema::<PeriodDocument>());
    published("responder.schema.json", &schema::<ResponderDocument>());
    clock_schemas().iter().for_each(|(name, schema)| published(name, schema));
}
