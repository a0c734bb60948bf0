//! The published schemas are those of the code.

use expect_test::expect_file;
use hairspring_blocks::document::BlocksDocument;
use hairspring_capture::waveform::document::PulsesDocument;
use hairspring_experiment::record::Record;
use hairspring_history::document::HistoryDocument;
use hairspring_instructions::document::InstructionsDocument;
use hairspring_instruments::clocks::document::clock_schemas;
use hairspring_instruments::doctor::document::DoctorDocument;
use hairspring_instruments::mhz::document::MhzDocument;
use hairspring_instruments::period::document::{PeriodDocument, ResponderDocument};
use hairspring_instruments::switch::document::SwitchDocument;
use hairspring_instruments::verify::document::CertificateDocument;
use hairspring_result::ResultDocument;
use hairspring_result::ab::AbDocument;
use hairspring_result::compare::CompareDocument;
use hairspring_result::fleet::MergeDocument;
use hairspring_result::json::{print, schema};
use serde_json::Value;
use std::path::Path;

fn published(name: &str, generated: &Value) {
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec").join(name)]
        .assert_eq(&print(generated));
}

#[test]
fn the_published_schemas_are_the_generated_ones() {
    published("pulses.schema.json", &schema::<PulsesDocument>());
    published("result.schema.json", &schema::<ResultDocument>());
    published("certificate.schema.json", &schema::<CertificateDocument>());
    published("doctor.schema.json", &schema::<DoctorDocument>());
    published("mhz.schema.json", &schema::<MhzDocument>());
    published("blocks.schema.json", &schema::<BlocksDocument>());
    published("instructions.schema.json", &schema::<InstructionsDocument>());
    published("experiment.schema.json", &schema::<Record>());
    published("compare.schema.json", &schema::<CompareDocument>());
    published("ab.schema.json", &schema::<AbDocument>());
    published("history.schema.json", &schema::<HistoryDocument>());
    published("merge.schema.json", &schema::<MergeDocument>());
    published("switch.schema.json", &schema::<SwitchDocument>());
    published("period.schema.json", &schema::<PeriodDocument>());
    published("responder.schema.json", &schema::<ResponderDocument>());
    clock_schemas().iter().for_each(|(name, schema)| published(name, schema));
}
