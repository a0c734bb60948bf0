//! Reading a document of a measurement.
//!
//! Unknown keys are skipped, because later versions may add keys. Properties that other code relies
//! on are checked here, such as that no interval is inverted.

use crate::document::{ResultDocument, Series};
use hairspring_core::judge::code;
use serde::Deserialize;
use serde_json::error::Category;

/// The format that is written and read, and the one before it, which is read.
const SCHEMA: &str = "hairspring/result/2";
const EARLIER_SCHEMA: &str = "hairspring/result/1";

/// Reads a document.
///
/// # Errors
/// The text is not JSON (with line and column), is another kind of document, or has an inverted
/// interval. The message says what is expected.
pub fn read(text: &str) -> Result<ResultDocument, String> {
    read_any(text).map(|(document, _)| document)
}

/// The same, with whether the document is of the earlier format.
pub(crate) fn read_any(text: &str) -> Result<(ResultDocument, bool), String> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| match error.classify() {
        // What the library says of JSON of another shape names types of this program.
        Category::Data => {
            format!(
                "is not a JSON object with a text `schema`: expected {SCHEMA}, what `time --json` \
                 and `fit --json` print"
            )
        }
        Category::Io | Category::Syntax | Category::Eof => {
            format!("is not a JSON document of hairspring: {error}")
        }
    })?;
    match head.schema.as_deref() {
        Some(schema @ (SCHEMA | EARLIER_SCHEMA)) => {
            let document = serde_json::from_str(text)
                .map_err(|error| format!("is not a valid {schema} document: {error}"))?;
            let is_earlier = schema == EARLIER_SCHEMA;
            Ok((judged(if is_earlier { with_new_names(document) } else { document }), is_earlier))
        }
        Some(other) => Err(format!(
            "is a document of `{}`: expected {SCHEMA}, what `time --json` and `fit --json` print",
            other.escape_debug()
        )),
        None => Err(format!(
            "has no key `schema`: expected {SCHEMA}, what `time --json` and `fit --json` print"
        )),
    }
}

/// The document with the findings that have other names now. Sources of the budget have aliases.
fn with_new_names(mut document: ResultDocument) -> ResultDocument {
    for finding in document.results.iter_mut().flat_map(|series| &mut series.findings) {
        finding.code = code::of_before(&finding.code).to_owned().into();
    }
    document
}

/// The document with its verdicts: one of an earlier version has none, and none may contradict the
/// findings.
fn judged(mut document: ResultDocument) -> ResultDocument {
    document.results = document.results.into_iter().map(Series::judged).collect();
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use hairspring_core::Estimate;

    #[test]
    fn other_documents_are_refused() {
        for (text, reason) in [
            ("", "is not a JSON document"),
            ("{\"schema\": \"hairspring/mhz/2\"}", "is a document of `hairspring/mhz/2`"),
            ("{}", "has no key `schema`"),
            (
                "{\"schema\": \"hairspring/result/1\"}",
                "is not a valid hairspring/result/1 document: missing field",
            ),
            (
                "{\"schema\": \"hairspring/result/2\"}",
                "is not a valid hairspring/result/2 document: missing field",
            ),
            ("{\"schema\": \"hairspring/result/3\"}", "is a document of `hairspring/result/3`"),
            ("[]", "is not a JSON object"),
            ("{\"schema\": 3}", "is not a JSON object"),
            ("[1, 2", "is not a JSON object"),
            ("{\"schema\": ", "is not a JSON document"),
        ] {
            assert!(
                read(text).is_err_and(|error| error.contains(reason)),
                "{text}: {:?}",
                read(text)
            );
        }
    }

    #[test]
    fn a_document_of_the_first_version_gets_the_names_of_now() {
        let text = r#"{"schema": "hairspring/result/1", "command": "time", "run": null, "results": [{"name": "code", "code": null,
            "bytes_per_copy": null, "overhead": null, "components": {}, "budget": {"body": [{"source": "lack_of_fit", "half_width_ns": 0.5}]},
            "findings": [{"kind": "preempted", "severity": "note", "message": "m"}, {"kind": "seen_nowhere", "severity": "note", "message": "m"}]}]}"#;
        let found = read(text).unwrap();
        let codes: Vec<&str> =
            found.results[0].findings.iter().map(|finding| &*finding.code).collect();
        assert_eq!(codes, ["disturbed", "seen_nowhere"]);
        assert_eq!(
            found.results[0].budget["body"][0].source,
            hairspring_core::estimate::Source::Departure
        );
        let again = serde_json::to_string(&found).unwrap();
        assert!(
            again.contains("hairspring/result/2") && again.contains("\"departure\""),
            "{again}"
        );
        assert_eq!(read(&again).unwrap(), found);
    }

    #[test]
    fn inverted_intervals_are_refused() {
        let estimate = |text: &str| serde_json::from_str::<Estimate>(text);
        assert!(estimate(r#"{"value": 1.0, "low": 2.0, "high": 3.0, "level": 0.95}"#).is_err());
        assert!(estimate(r#"{"value": 1.0, "low": 0.0, "high": 3.0, "level": 95}"#).is_err());
        let open = estimate(r#"{"value": 1.0, "low": null, "high": 3.0, "level": 0.95}"#).unwrap();
        assert_eq!((open.low, open.high), (f64::NEG_INFINITY, 3.0));
    }
}
