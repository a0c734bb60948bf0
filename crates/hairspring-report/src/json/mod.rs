//! The JSON documents (spec/result.md): typed structures, their schemas, and how they are made.

mod blocks;
mod build;
mod certificate;
mod clocks;
mod compare;
mod environment;
mod figure;
mod finding;
mod mhz;
pub mod period;
mod result;
mod runs;
mod words;

pub use blocks::{BlocksDocument, BlocksSchema, blocks, blocks_schema};
pub use build::{joined, result};
pub use certificate::{CertificateDocument, CertificateSchema, ChainJson, PairJson, PartJson, certificate};
pub use clocks::{
    ClockComparisonDocument, ClockLatencyDocument, ClocksDocument, StopwatchOverheadDocument, clock_comparison, clock_latency,
    clock_schemas, clock_survey, stopwatch_overhead,
};
pub use compare::{ChangeJson, CompareDocument, CompareSchema, LimitWord, SideJson, UnitWord, UnpairedJson, compare};
pub use environment::{ClockJson, CpuJson, EnvironmentJson, ReferenceJson, environment};
pub use figure::{E, Figure};
pub use finding::FindingJson;
pub use mhz::{ChainUnitsJson, CoreClockJson, LevelJson, MhzDocument, MhzSchema, mhz, mhz_schema};
pub use period::{period, responder};
pub use result::{
    BudgetJson, ComparisonJson, ComponentJson, FitJson, LackOfFitJson, MethodJson, MethodTableJson, ResultDocument, ResultSchema, RowJson,
    RunJson, RunValueJson, SeriesJson,
};
pub use runs::between;
pub use words::{LeftOutWord, SeverityWord, SourceWord, VerdictWord};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

/// The document as text, indented, with a newline at its end. Numbers that are not finite are `null`.
pub fn print<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document);
    harmless(text.unwrap_or_else(|error| format!("{{\"error\": {:?}}}", error.to_string())) + "\n")
}

/// JSON allows DEL and the C1 control characters in strings, and a terminal obeys them: they are escaped as the others are.
fn harmless(text: String) -> String {
    let steers = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    if !text.contains(steers) {
        return text;
    }
    // They can stand in strings only, and so an escape is always right.
    text.chars().map(|c| if steers(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// The document in one line, for verbs that print one after the other.
pub fn line<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string(document);
    text.unwrap_or_else(|error| format!("{{\"error\": {:?}}}", error.to_string())) + "\n"
}

/// JSON schema of [`ResultDocument`].
pub fn result_schema() -> Value {
    schema::<ResultDocument>()
}

/// JSON schema of [`CertificateDocument`].
pub fn certificate_schema() -> Value {
    schema::<CertificateDocument>()
}

/// JSON schema of [`CompareDocument`].
pub fn compare_schema() -> Value {
    schema::<CompareDocument>()
}

/// JSON schema of [`period::PeriodDocument`].
pub fn period_schema() -> Value {
    schema::<period::PeriodDocument>()
}

/// JSON schema of [`period::ResponderDocument`].
pub fn responder_schema() -> Value {
    schema::<period::ResponderDocument>()
}

fn schema<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_control_character_is_left_in_a_document() {
        let odd = "a\u{7f}b\u{9b}31m\u{85}c\u{a0}\u{1b}[0m";
        let text = super::print(&odd);
        assert!(text.trim_end().chars().all(|c| !c.is_control()), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), odd);
    }
}
