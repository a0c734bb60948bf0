//! What the values at the end of a copy are made of: the places (variables or registers) at its start.

use std::collections::BTreeMap;

/// Places that a value depends on, and whether it does so on every path.
pub type Origins = BTreeMap<String, bool>;

/// The places written so far with the origins of their values. A place that is not in it holds what it held.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State(BTreeMap<String, Origins>);

impl State {
    /// Origins of what a place holds now.
    pub fn of(&self, place: &str) -> Origins {
        self.0.get(place).cloned().unwrap_or_else(|| Origins::from([(place.to_owned(), true)]))
    }

    /// Gives a place a new value.
    pub fn set(&mut self, place: &str, value: Origins) {
        self.0.insert(place.to_owned(), value);
    }

    /// Number of places written.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What holds where either this state or another one is reached.
    pub fn or(&self, other: &State) -> State {
        let places = self.0.keys().chain(other.0.keys());
        State(places.map(|place| (place.clone(), either(&self.of(place), &other.of(place)))).collect())
    }

    /// A place of those given whose value comes round to itself from copy to copy: on every path, or on some path.
    pub fn cycle<'a>(&self, places: impl Iterator<Item = &'a str>, on_every_path: bool) -> Option<&'a str> {
        places.into_iter().find(|place| self.0.contains_key(*place) && self.comes_round(place, on_every_path))
    }

    fn comes_round(&self, place: &str, on_every_path: bool) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        let mut open = vec![place];
        while let Some(next) = open.pop() {
            let Some(origins) = self.0.get(next) else { continue };
            for (origin, _) in origins.iter().filter(|(_, sure)| **sure || !on_every_path) {
                if origin == place {
                    return true;
                }
                if !seen.contains(&origin.as_str()) {
                    seen.push(origin);
                    open.push(origin);
                }
            }
        }
        false
    }
}

/// Origins of a value made of two others.
pub fn both(mut a: Origins, b: &Origins) -> Origins {
    b.iter().for_each(|(origin, sure)| *a.entry(origin.clone()).or_default() |= sure);
    a
}

/// Origins of a value that is one of two others: sure is only what both depend on.
pub fn either(a: &Origins, b: &Origins) -> Origins {
    let sure = |origin: &String| a.get(origin) == Some(&true) && b.get(origin) == Some(&true);
    a.keys().chain(b.keys()).map(|origin| (origin.clone(), sure(origin))).collect()
}

/// The same origins, none of them sure.
pub fn unsure(origins: &Origins) -> Origins {
    origins.keys().map(|origin| (origin.clone(), false)).collect()
}
