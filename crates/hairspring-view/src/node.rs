//! JSON of any shape with the order of its keys, for views of documents of any kind.

use hairspring_core::Estimate;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt::{self, Formatter};

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// The value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The entries of an object; none of other values.
    pub fn entries(&self) -> &[(String, Node)] {
        if let Node::Map(entries) = self { entries } else { &[] }
    }

    /// The values of a list; none of other values.
    pub fn list(&self) -> &[Node] {
        if let Node::List(list) = self { list } else { &[] }
    }

    /// A number.
    pub fn number(&self) -> Option<f64> {
        if let Node::Number(number) = self { Some(*number) } else { None }
    }

    /// A text.
    pub fn text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }

    /// The number of a key.
    pub fn number_of(&self, key: &str) -> Option<f64> {
        self.get(key).and_then(Node::number)
    }

    /// The text of a key.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Node::text)
    }

    /// Whether there is a flag of this key, and it is set.
    pub fn is_set(&self, key: &str) -> bool {
        self.get(key) == Some(&Node::Flag(true))
    }

    /// The values of a list of a key.
    pub fn list_of(&self, key: &str) -> &[Node] {
        self.get(key).map_or(&[], Node::list)
    }

    /// A value with both ends of its interval; its level is 95 % where the object has none.
    pub fn estimate(&self) -> Option<Estimate> {
        let end = |key| self.number_of(key);
        Some(Estimate {
            value: end("value")?,
            low: end("low")?,
            high: end("high")?,
            level: end("level").unwrap_or(0.95),
        })
    }

    /// A value with an interval that states its level; an end that is `null` is open.
    pub fn interval(&self) -> Option<Estimate> {
        let (value, level) = (self.number_of("value")?, self.number_of("level")?);
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
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Node, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = from.next_element()? {
            list.push(value);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = from.next_entry()? {
            map.push(entry);
        }
        Ok(Node::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order() {
        let node: Node =
            serde_json::from_str("{\"b\": 1, \"a\": [null, true, \"x\"], \"c\": -2.5e3}").unwrap();
        let keys: Vec<&str> = node.entries().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert_eq!((node.number_of("c"), node.list_of("a").len()), (Some(-2500.0), 3));
    }

    #[test]
    fn intervals_may_be_open() {
        let text = r#"{"z": 1, "a": {"value": 2, "low": null, "high": 3.5, "level": 0.95}}"#;
        let node: Node = serde_json::from_str(text).unwrap();
        assert_eq!(node.entries()[0].0, "z");
        let open = node.get("a").unwrap();
        let found = open.interval().unwrap();
        assert_eq!((found.low, found.high), (f64::NEG_INFINITY, 3.5));
        assert!(node.interval().is_none() && open.estimate().is_none());
    }
}
