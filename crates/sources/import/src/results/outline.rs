//! The outline of a file, by which its format is detected: the names of the keys of a JSON
//! document, of lists those of the first item. It takes little memory, however large the file is.

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de::DeserializeSeed};
use std::fmt;

/// Levels of a document that are looked at.
const DEPTH: usize = 5;
/// Keys of an object that are looked at.
const MOST_KEYS: usize = 100;
/// Longest text that is kept, in bytes.
const LONGEST_TEXT: usize = 200;

/// The outline of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Outline {
    /// An object: its keys and their values.
    Object(Vec<(String, Outline)>),
    /// A list: its first item.
    List(Option<Box<Outline>>),
    /// A short text.
    Text(String),
    /// Anything else.
    Other,
}

impl Outline {
    /// The value under a path of keys; `[]` is the first item of a list, `*` the first of an
    /// object.
    pub fn at(&self, path: &str) -> Option<&Outline> {
        path.split('.').try_fold(self, |value, step| match (value, step) {
            (Outline::List(first), "[]") => first.as_deref(),
            (Outline::Object(keys), "*") => keys.first().map(|(_, value)| value),
            (Outline::Object(keys), _) => {
                keys.iter().find(|(key, _)| key == step).map(|(_, value)| value)
            }
            _ => None,
        })
    }

    /// Whether there is a value under every path.
    pub fn has(&self, paths: &[&str]) -> bool {
        paths.iter().all(|path| self.at(path).is_some())
    }

    /// The text under a path.
    pub fn text(&self, path: &str) -> Option<&str> {
        match self.at(path)? {
            Outline::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Outline, D::Error> {
        Seed(DEPTH).deserialize(from)
    }
}

/// Reads so many levels.
struct Seed(usize);

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Outline;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Outline, D::Error> {
        if self.0 == 0 {
            return from.deserialize_ignored_any(IgnoredAny).map(|_| Outline::Other);
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Outline;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Outline, E> {
        Ok(Outline::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Outline, E> {
        Ok(Outline::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Outline, E> {
        Ok(Outline::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Outline, E> {
        Ok(Outline::Other)
    }

    fn visit_unit<E>(self) -> Result<Outline, E> {
        Ok(Outline::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Outline, E> {
        let is_short = text.len() <= LONGEST_TEXT;
        Ok(if is_short { Outline::Text(text.to_owned()) } else { Outline::Other })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Outline, A::Error> {
        let first = items.next_element_seed(Seed(self.0 - 1))?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Outline::List(first.map(Box::new)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Outline, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.len() < MOST_KEYS {
                keys.push((key, entries.next_value_seed(Seed(self.0 - 1))?));
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Outline::Object(keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_items_and_the_keys_are_kept() {
        let text = r#"{"a": [{"b": 1}, {"c": 2}], "d": {"e": "f"}, "n": null, "t": true}"#;
        let outline: Outline = serde_json::from_str(text).unwrap();
        assert!(outline.has(&["a.[].b", "d.*", "n", "t"]) && !outline.has(&["a.[].c"]));
        assert_eq!(outline.text("d.e"), Some("f"));
    }

    #[test]
    fn deep_nesting_is_refused_or_skipped() {
        let deep = "[".repeat(100_000);
        assert!(serde_json::from_str::<Outline>(&deep).is_err());
    }
}
