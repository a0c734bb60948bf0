//! Saved results, alone and in pairs.

use hairspring_result::compare::{CompareDocument, Places, compare};
use hairspring_result::document::joined;
use hairspring_result::runs::between;
use hairspring_result::{ResultDocument, json, read};
use hairspring_view::export::{FORMATS, export};
use hairspring_view::{Style, text};
use unicode_width::UnicodeWidthStr;

/// Text for a terminal fits 80 columns, and has no control characters.
pub fn harmless(text: &str) {
    for line in text.lines() {
        assert!(line.width() <= 80, "{} columns: {line:?}", line.width());
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
}

/// Two saved results with a zero byte between them, or one that is compared with itself: `compare`
/// and `report`.
pub fn saved(bytes: &[u8]) -> bool {
    let mut parts = bytes.splitn(2, |byte| *byte == 0).map(document);
    let Some(Some(old)) = parts.next() else { return false };
    let new = match parts.next() {
        None => old.clone(),
        Some(Some(new)) => new,
        Some(None) => return false,
    };
    let compared = compare(&old, &new, Some(0.05), Places::Same);
    harmless(&text::compare(&compared, "old.json", "new.json", &Style::default()));
    is_json(&json::print(&CompareDocument::new(&compared, (Some("old.json"), &old), (None, &new))));
    harmless(&text::table(&new, &Style::default()));
    for format in FORMATS {
        let made = export(&new, format);
        if format.is_json() {
            is_json(&made.text);
        }
    }
    true
}

/// Results of other tools: every time lies in its interval, and the document is compared with
/// itself, shown, and converted like a saved one.
pub fn of_tools(bytes: &[u8]) -> bool {
    let Ok(text) = hairspring_import::results::decode(bytes) else { return false };
    let Some(Ok(found)) = hairspring_import::results::read(&text) else { return false };
    let document = found.into_document();
    let printed = json::print(&document);
    assert_eq!(read::read(&printed).as_ref(), Ok(&document), "{printed}");
    harmless(&text::report(&document, &Style::default()));
    assert!(saved(printed.as_bytes()));
    true
}

fn document(bytes: &[u8]) -> Option<ResultDocument> {
    read::read(std::str::from_utf8(bytes).ok()?).ok()
}

fn is_json(text: &str) {
    serde_json::from_str::<serde_json::Value>(text)
        .unwrap_or_else(|error| panic!("{error}:\n{text}"));
}

/// Whole documents, which `run` reads from programs: joined, combined over processes, and shown as
/// a table.
pub fn documents(bytes: &[u8]) -> bool {
    let Some(document) = document(bytes) else { return false };
    let printed = json::print(&document);
    let again = || {
        read::read(&printed).unwrap_or_else(|error| panic!("what was printed {error}:\n{printed}"))
    };
    assert_eq!(json::print(&again()), printed);
    for document in
        [joined([again(), again()]), between(vec![document, again()], None)].into_iter().flatten()
    {
        harmless(&text::table(&document, &Style::default()));
        harmless(&text::report(&document, &Style::default()));
    }
    true
}
