//! Documents as JSON text.

use serde::Serialize;

/// The document as text, indented, with a newline at its end. Numbers that are not finite are
/// `null`.
pub fn print<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string_pretty(document);
    escape_controls(
        text.unwrap_or_else(|error| format!("{{\"error\": {:?}}}", error.to_string())) + "\n",
    )
}

/// Escapes DEL and the C1 control characters: JSON allows them in strings, but they have effects on
/// a terminal.
fn escape_controls(text: String) -> String {
    let is_control = |c: char| matches!(c, '\u{7f}'..='\u{9f}');
    if !text.contains(is_control) {
        return text;
    }
    // They occur in strings only, so an escape is always valid.
    text.chars()
        .map(|c| if is_control(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() })
        .collect()
}

/// The document in one line, for verbs that print several documents.
pub fn line<T: Serialize>(document: &T) -> String {
    let text = serde_json::to_string(document);
    text.unwrap_or_else(|error| format!("{{\"error\": {:?}}}", error.to_string())) + "\n"
}

/// JSON schema of a document.
#[cfg(feature = "schema")]
pub fn schema<T: schemars::JsonSchema>() -> serde_json::Value {
    schemars::generate::SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
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
