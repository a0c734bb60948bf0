//! Findings in JSON: kind, weight, numbers, words.

use super::words::SeverityWord;
use hairspring_core::judge::Finding;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A doubt about the measurement. Its numbers stand beside the fields named here; spec/result.md lists them by kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingJson {
    /// What was found, as `non_linear`; readers must expect kinds that they do not know.
    pub kind: String,
    /// How much it weighs.
    pub severity: SeverityWord,
    /// The finding in words, with its numbers.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// The numbers of this kind.
    #[serde(flatten)]
    pub numbers: Map<String, Value>,
}

impl From<&Finding> for FindingJson {
    fn from(finding: &Finding) -> Self {
        let numbers = match serde_json::to_value(&finding.numbers) {
            Ok(Value::Object(numbers)) => numbers,
            _ => Map::new(),
        };
        FindingJson {
            kind: finding.code.to_string(),
            severity: finding.severity.into(),
            message: finding.message.clone(),
            remedy: finding.remedy.to_string(),
            numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::judge::{FindingKind, Severity};

    #[test]
    fn keys_end_in_their_unit() {
        let kind = FindingKind::BelowResolution { component: "body".into(), bound: 0.5, unit: "ns".into() };
        let json = serde_json::to_value(FindingJson::from(&Finding::new(Severity::Warning, kind))).unwrap();
        assert_eq!(json["kind"], "below_resolution");
        assert_eq!(json["severity"], "warning");
        assert_eq!(json["bound_ns"], 0.5);
        assert_eq!(json.get("unit"), None);
    }

    #[test]
    fn a_number_that_is_none_becomes_null() {
        let kind = FindingKind::NonLinear { lack_of_fit_f: f64::NAN, departure_percent: 1.0 };
        let json = serde_json::to_value(FindingJson::from(&Finding::new(Severity::Untrusted, kind))).unwrap();
        assert_eq!(json["lack_of_fit_f"], Value::Null);
    }
}
