//! Documents as JSON text.

use serde::Serialize;

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

/// JSON schema of a document.
#[cfg(feature = "schema")]
pub fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
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
