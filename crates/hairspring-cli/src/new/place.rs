//! What the new benchmark is called, and where Hairspring comes from.

use super::manifest::quoted;
use std::path::PathBuf;

/// A name, and the source of Hairspring.
pub struct Place {
    /// Of the benchmark's file and target.
    pub name: String,
    /// A clone of the project; `None` is the release.
    pub source: Option<PathBuf>,
}

impl Place {
    /// The line of the crate's dependency.
    pub fn crate_line(&self) -> String {
        match &self.source {
            Some(source) => format!("path = {}\n", quoted(&source.join("crates/hairspring"))),
            None => {
                let numbers: Vec<&str> = env!("CARGO_PKG_VERSION").splitn(3, '.').collect();
                format!("version = \"{}\"\n", numbers[..2.min(numbers.len())].join("."))
            }
        }
    }

    /// A text of a recipe with the name in its place.
    pub fn fill(&self, text: &str) -> String {
        text.replace("NAME", &self.name)
    }
}

/// A name that files, targets and programs of all kinds may have.
pub fn checked_name(name: &str) -> Result<String, String> {
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && name.len() <= 40;
    if is_name {
        Ok(name.to_owned())
    } else {
        Err("a name has up to 40 lower-case letters, digits and underscores, a letter first"
            .to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_that_every_language_takes() {
        for name in ["speed", "a", "fast_2"] {
            assert_eq!(checked_name(name).as_deref(), Ok(name));
        }
        for name in ["", "2fast", "../speed", "a b", "Speed", "sp-eed", &"a".repeat(41)] {
            assert!(checked_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_release_is_asked_for_by_two_numbers() {
        let place = Place { name: "speed".to_owned(), source: None };
        let line = place.crate_line();
        assert_eq!(line.matches('.').count(), 1, "{line}");
    }
}
