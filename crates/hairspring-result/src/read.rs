//! Reading a document of a measurement.
//!
//! Unknown keys are skipped, because later versions may add keys. Properties that other code relies on are checked here, such
//! as that no interval is inverted.

use crate::document::{ResultDocument, Series};
use serde::Deserialize;
use serde_json::error::Category;

/// The format that is read.
const SCHEMA: &str = "hairspring/result/1";

/// Reads a document.
///
/// # Errors
/// The text is not JSON (with line and column), is another kind of document, or has an inverted interval. The message says
/// what is expected.
pub fn read(text: &str) -> Result<ResultDocument, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: Option<String>,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| match error.classify() {
        // What the library says of JSON of another shape names types of this program.
        Category::Data => {
            format!("is not a JSON object with a text `schema`: expected {SCHEMA}, what `time --json` and `fit --json` print")
        }
        Category::Io | Category::Syntax | Category::Eof => format!("is not a JSON document of hairspring: {error}"),
    })?;
    match head.schema.as_deref() {
        Some(SCHEMA) => {
            let document = serde_json::from_str(text).map_err(|error| format!("is not a valid {SCHEMA} document: {error}"))?;
            Ok(judged(document))
        }
        Some(other) => {
            Err(format!("is a document of `{}`: expected {SCHEMA}, what `time --json` and `fit --json` print", other.escape_debug()))
        }
        None => Err(format!("has no key `schema`: expected {SCHEMA}, what `time --json` and `fit --json` print")),
    }
}

/// The document with its verdicts: one of an earlier version has none, and none may contradict the findings.
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
            ("{\"schema\": \"hairspring/mhz/1\"}", "is a document of `hairspring/mhz/1`"),
            ("{}", "has no key `schema`"),
            ("{\"schema\": \"hairspring/result/1\"}", "is not a valid hairspring/result/1 document: missing field"),
            ("[]", "is not a JSON object"),
            ("{\"schema\": 3}", "is not a JSON object"),
            ("[1, 2", "is not a JSON object"),
            ("{\"schema\": ", "is not a JSON document"),
        ] {
            assert!(read(text).is_err_and(|error| error.contains(reason)), "{text}: {:?}", read(text));
        }
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
