//! A JSON document as a tree that keeps the order of its keys, so that tables do.

use hairspring_core::Estimate;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt::{self, Formatter};

/// A value of the document.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Nothing, or a number that is not finite.
    Null,
    /// Yes or no.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Values with names.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Node::Map(entries) = self else { return None };
        entries.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// The text of a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number of a key.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            Node::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The entries of the list of a key; none where there is no such list.
    pub fn list(&self, key: &str) -> &[Node] {
        match self.get(key) {
            Some(Node::List(entries)) => entries,
            _ => &[],
        }
    }

    /// The value with its interval that this is, if it is one.
    pub fn estimate(&self) -> Option<Estimate> {
        let (value, level) = (self.number("value")?, self.number("level")?);
        let end = |key, open| match self.get(key)? {
            Node::Number(end) => Some(*end),
            Node::Null => Some(open),
            _ => None,
        };
        let (low, high) = (end("low", f64::NEG_INFINITY)?, end("high", f64::INFINITY)?);
        Some(Estimate { value, low, high, level })
    }

    /// The same as a value of `serde_json`, which may order keys otherwise.
    pub fn value(&self) -> Value {
        match self {
            Node::Null => Value::Null,
            Node::Flag(flag) => (*flag).into(),
            Node::Number(number) => (*number).into(),
            Node::Text(text) => text.as_str().into(),
            Node::List(all) => all.iter().map(Node::value).collect(),
            Node::Map(all) => {
                Value::Object(all.iter().map(|(key, node)| (key.clone(), node.value())).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Node;

    fn expecting(&self, to: &mut Formatter) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = entries.next_element()? {
            all.push(entry);
        }
        Ok(Node::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            all.push(entry);
        }
        Ok(Node::Map(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_intervals_may_be_open() {
        let text = r#"{"z": 1, "a": {"value": 2, "low": null, "high": 3.5, "level": 0.95}}"#;
        let node: Node = serde_json::from_str(text).unwrap();
        let Node::Map(entries) = &node else { panic!("{node:?}") };
        assert_eq!(entries[0].0, "z");
        let found = node.get("a").unwrap().estimate().unwrap();
        assert_eq!((found.low, found.high), (f64::NEG_INFINITY, 3.5));
        assert!(node.estimate().is_none());
    }
}
