//! Texts that many documents have, kept once.

use std::collections::HashMap;
use std::sync::Arc;

/// The number of a text.
pub type Name = u32;

/// Texts with their numbers.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<Arc<str>, Name>,
    texts: Vec<Arc<str>>,
}

impl Names {
    /// The number of a text, which is kept if it is new.
    pub fn number(&mut self, text: &str) -> Name {
        if let Some(known) = self.numbers.get(text) {
            return *known;
        }
        let (text, number) = (Arc::<str>::from(text), self.texts.len() as Name);
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The same for a text that may be missing.
    pub fn number_of(&mut self, text: Option<&str>) -> Option<Name> {
        text.map(|text| self.number(text))
    }

    /// The text of a number.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name as usize]
    }

    /// The text of a number, as one of its own.
    pub fn owned(&self, name: Name) -> String {
        self.text(name).to_owned()
    }
}

/// What a series and a component of it are known by: times of other code are never averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Name of the series.
    pub series: Name,
    /// Hash of the code.
    pub hash: Option<Name>,
    /// Name of the component.
    pub component: Name,
}

/// All keys, in the order in which they came, with the code of each.
#[derive(Debug, Default)]
pub struct Keys {
    numbers: HashMap<Key, u32>,
    /// The keys with their code.
    pub all: Vec<(Key, Option<Name>)>,
}

impl Keys {
    /// The number of a key, which is kept if it is new.
    pub fn number(&mut self, key: Key, code: Option<Name>) -> u32 {
        let Keys { numbers, all } = self;
        *numbers.entry(key).or_insert_with(|| {
            all.push((key, code));
            all.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let mut names = Names::default();
        let found = ["a", "b", "a", ""].map(|text| names.number(text));
        assert_eq!(found, [0, 1, 0, 2]);
        assert_eq!((names.number_of(None), names.text(1)), (None, "b"));
        let mut keys = Keys::default();
        let key = |hash| Key { series: 0, hash, component: 1 };
        let found = [None, Some(1), None].map(|hash| keys.number(key(hash), None));
        assert_eq!((found, keys.all.len()), ([0, 1, 0], 2));
    }
}
