//! Lines for the ends of manifests in TOML. A table at the end of a file is valid wherever the file
//! has not written the same key inline; the whole is parsed before anything is written.

use super::place::Place;
use std::fmt::Write;
use toml::{Table, Value};

/// Of `Cargo.toml`: the dependency, unless it is there, and the bench target.
pub fn cargo(text: &str, place: &Place) -> Result<String, String> {
    let manifest = parsed(text)?;
    if !manifest.contains_key("package") {
        return Err("it is a workspace without a package: give the folder of one of its packages"
            .to_owned());
    }
    let mut lines = String::new();
    if !has_dependency(&manifest, &["dev-dependencies", "dependencies"]) {
        let _ = write!(lines, "[dev-dependencies.hairspring]\n{}\n", place.crate_line());
    }
    let Place { name, .. } = place;
    // The program has a `main` of its own.
    let _ = write!(lines, "[[bench]]\nname = \"{name}\"\nharness = false\n");
    fitting(text, lines)
}

/// Of `fpm.toml`: the dependency, unless it is there, and the program.
pub fn fpm(text: &str, place: &Place) -> Result<String, String> {
    let manifest = parsed(text)?;
    let mut lines = String::new();
    if !has_dependency(&manifest, &["dependencies", "dev-dependencies"]) {
        let source = place.source.as_ref().ok_or(
            "fpm takes Hairspring from a folder: give --source with a clone or the unpacked \
             package of the project",
        )?;
        let _ = write!(lines, "[dependencies.hairspring]\npath = {}\n\n", quoted(source));
    }
    let Place { name, .. } = place;
    let _ = write!(
        lines,
        "[[executable]]\nname = \"{name}\"\nsource-dir = \"bench\"\nmain = \"{name}.f90\"\n"
    );
    fitting(text, lines)
}

fn parsed(text: &str) -> Result<Table, String> {
    text.parse().map_err(|error: toml::de::Error| format!("it is not valid: {}", error.message()))
}

fn has_dependency(manifest: &Table, tables: &[&str]) -> bool {
    let has = |table: &&str| {
        manifest.get(*table).and_then(Value::as_table).is_some_and(|t| t.contains_key("hairspring"))
    };
    tables.iter().any(has)
}

/// The lines, if the file stays valid with them at its end.
fn fitting(text: &str, lines: String) -> Result<String, String> {
    format!("{text}\n{lines}").parse::<Table>().map_err(|error| {
        format!(
            "these lines do not fit at its end ({}), so add what they say yourself:\n{lines}",
            error.message()
        )
    })?;
    Ok(lines)
}

/// A path as a string of TOML, which has the escapes of JSON.
pub fn quoted(path: &std::path::Path) -> String {
    serde_json::Value::from(path.to_string_lossy()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { name: "speed".to_owned(), source: None }
    }

    #[test]
    fn a_package_gets_the_dependency_and_the_target() {
        let text = "[package]\nname = \"a\"\n[dev-dependencies]\nserde = \"1\"\n";
        let lines = cargo(text, &place()).unwrap();
        let whole: Table = format!("{text}\n{lines}").parse().unwrap();
        assert!(whole["dev-dependencies"]["hairspring"]["version"].is_str());
        assert_eq!(whole["bench"][0]["name"].as_str(), Some("speed"));
        assert_eq!(whole["bench"][0]["harness"].as_bool(), Some(false));
    }

    #[test]
    fn a_dependency_that_is_there_stays() {
        let text = "[package]\nname = \"a\"\n[dev-dependencies]\nhairspring = \"0.1\"\n";
        assert!(!cargo(text, &place()).unwrap().contains("dependencies"));
    }

    #[test]
    fn a_file_in_which_the_lines_have_no_place_is_said() {
        let inline = "bench = []\n[package]\nname = \"a\"\n";
        assert!(cargo(inline, &place()).unwrap_err().contains("add what they say yourself"));
        assert!(cargo("[workspace]\n", &place()).unwrap_err().contains("workspace without"));
        assert!(cargo("[package\n", &place()).unwrap_err().contains("not valid"));
    }

    #[test]
    fn fpm_needs_a_folder() {
        let text = "name = \"a\"\n";
        assert!(fpm(text, &place()).unwrap_err().contains("--source"));
        let with = Place { source: Some("a \"b\"".into()), ..place() };
        let whole: Table = format!("{text}\n{}", fpm(text, &with).unwrap()).parse().unwrap();
        assert_eq!(whole["dependencies"]["hairspring"]["path"].as_str(), Some("a \"b\""));
        assert_eq!(whole["executable"][0]["main"].as_str(), Some("speed.f90"));
    }
}
