//! A list of values with names, which keeps its order; in JSON it is an object.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// Values with names, in the order in which the names were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Named<T> {
    /// An empty list.
    pub const fn new() -> Named<T> {
        Named(Vec::new())
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the list has no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the value of a name. An existing name keeps its place, a new one is added at the end.
    pub fn insert(&mut self, name: impl Into<String>, value: T) {
        let name = name.into();
        match self.get_mut(&name) {
            Some(slot) => *slot = value,
            None => self.0.push((name, value)),
        }
    }

    /// Whether the list has this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// A mutable reference to the value of a name.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.0.iter_mut().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// A mutable reference to the value of a name; a new name is added at the end with the default
    /// value.
    pub fn entry(&mut self, name: &str) -> &mut T
    where
        T: Default,
    {
        let at = self.0.iter().position(|(own, _)| own == name).unwrap_or_else(|| {
            self.0.push((name.to_owned(), T::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// The first name and its value.
    pub fn first(&self) -> Option<(&String, &T)> {
        self.iter().next()
    }

    /// Names and values in order.
    pub fn iter(&self) -> Iter<'_, T> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// Names in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// Values in order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }
}

/// Names and values in order.
pub type Iter<'n, T> =
    std::iter::Map<std::slice::Iter<'n, (String, T)>, fn(&'n (String, T)) -> (&'n String, &'n T)>;
/// Names and mutable values in order.
pub type IterMut<'n, T> = std::iter::Map<
    std::slice::IterMut<'n, (String, T)>,
    fn(&'n mut (String, T)) -> (&'n String, &'n mut T),
>;

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named::new()
    }
}

impl<'n, T> IntoIterator for &'n Named<T> {
    type Item = (&'n String, &'n T);
    type IntoIter = Iter<'n, T>;

    fn into_iter(self) -> Iter<'n, T> {
        self.iter()
    }
}

impl<'n, T> IntoIterator for &'n mut Named<T> {
    type Item = (&'n String, &'n mut T);
    type IntoIter = IterMut<'n, T>;

    fn into_iter(self) -> IterMut<'n, T> {
        self.0.iter_mut().map(|(name, value)| (&*name, value))
    }
}

impl<T> IntoIterator for Named<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A name that occurs several times gets its last value, in the place of the first.
impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(values: I) -> Named<T> {
        let (mut named, mut names) = (Named::new(), HashSet::new());
        for (name, value) in values {
            // Searches the list only for repeated names, so that documents of thousands of
            // components are read in linear time.
            match names.insert(name.clone()) {
                true => named.0.push((name, value)),
                false => named.insert(name, value),
            }
        }
        named
    }
}

impl<T, K: Into<String>, const N: usize> From<[(K, T); N]> for Named<T> {
    fn from(values: [(K, T); N]) -> Named<T> {
        values.into_iter().map(|(name, value)| (name.into(), value)).collect()
    }
}

/// The value at a place in the order.
///
/// # Panics
/// If the list is shorter.
impl<T> Index<usize> for Named<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        &self.0[at].1
    }
}

/// The value of a name.
///
/// # Panics
/// If the list does not have the name.
impl<T> Index<&str> for Named<T> {
    type Output = T;

    fn index(&self, name: &str) -> &T {
        self.get(name).unwrap_or_else(|| panic!("no value is named `{name}`"))
    }
}

impl<T> IndexMut<&str> for Named<T> {
    fn index_mut(&mut self, name: &str) -> &mut T {
        self.get_mut(name).unwrap_or_else(|| panic!("no value is named `{name}`"))
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
    type Value = Named<T>;

    fn expecting(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        std::iter::from_fn(|| map.next_entry().transpose()).collect()
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Named_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <std::collections::BTreeMap<String, T>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_order() {
        let text = r#"{"z":1,"a":2,"m":3}"#;
        let named: Named<u32> = serde_json::from_str(text).unwrap();
        assert_eq!(named.keys().collect::<Vec<_>>(), ["z", "a", "m"]);
        assert_eq!(serde_json::to_string(&named).unwrap(), text);
        assert!(
            serde_json::from_str::<Named<u32>>("[1]")
                .unwrap_err()
                .to_string()
                .contains("expected an object")
        );
    }

    #[test]
    fn repeated_name_gets_its_last_value_in_the_first_place() {
        let named: Named<u32> = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(
            named.iter().collect::<Vec<_>>(),
            [(&"a".to_owned(), &3), (&"b".to_owned(), &2)]
        );
    }

    #[test]
    fn values_are_set_and_found_by_name() {
        let mut named = Named::new();
        named.insert("b", 1);
        named.insert("a", 2);
        named.insert("b", 3);
        named["a"] += 10;
        for (_, value) in &mut named {
            *value += 100;
        }
        assert_eq!((named.len(), named["b"], named[1], named.get("c")), (2, 103, 112, None));
        assert_eq!(named.first(), Some((&"b".to_owned(), &103)));
    }
}
