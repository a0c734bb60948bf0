//! How a source tree is built: by the command that the user names, or by the files in it.

use std::path::{Path, PathBuf};

/// What builds a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The command, for the shell.
    pub command: String,
    /// Whether cargo names the programs that it builds.
    pub is_cargo: bool,
}

/// Files of build systems, and what builds with them. Cargo is asked for its benchmarks.
const KNOWN: [(&str, &str); 5] = [
    ("Cargo.toml", CARGO),
    (
        "CMakeLists.txt",
        "cmake -S . -B hairspring-build -DCMAKE_BUILD_TYPE=Release && cmake --build \
         hairspring-build",
    ),
    (
        "meson.build",
        "meson setup hairspring-build --buildtype=release && meson compile -C hairspring-build",
    ),
    ("go.mod", "go build ./..."),
    ("package.json", "npm install --no-audit --no-fund"),
];

const CARGO: &str = "cargo bench --no-run --message-format=json-render-diagnostics";

impl Recipe {
    /// The recipe of a tree.
    ///
    /// # Errors
    /// Nothing is known of it.
    pub fn of(tree: &Path, asked: Option<&str>) -> Result<Recipe, String> {
        if let Some(command) = asked {
            return Ok(Recipe { command: command.to_owned(), is_cargo: false });
        }
        let known = KNOWN.iter().find(|(file, _)| tree.join(file).exists());
        known
            .map(|(_, command)| Recipe {
                command: (*command).to_owned(),
                is_cargo: *command == CARGO,
            })
            .ok_or_else(|| {
                let files = KNOWN.map(|(file, _)| file).join(", ");
                format!("has none of {files}: name the command that builds it (--build)")
            })
    }
}

/// The benchmarks that cargo says it has built: names and files.
pub fn of_cargo(output: &str) -> Vec<(String, PathBuf)> {
    let program = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let target = message.get("target")?;
        let kinds = target.get("kind")?.as_array()?;
        let is_bench = kinds.iter().any(|kind| kind.as_str() == Some("bench"));
        let file = message.get("executable")?.as_str()?;
        let name = target.get("name")?.as_str()?;
        is_bench.then(|| (name.to_owned(), PathBuf::from(file)))
    };
    output.lines().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_benchmarks_are_those_that_cargo_names() {
        let output = "{\"reason\":\"build-finished\",\"success\":true}\nnot JSON\n\
            {\"target\":{\"kind\":[\"lib\"],\"name\":\"a\"},\"executable\":null}\n\
            {\"target\":{\"kind\":[\"bench\"],\"name\":\"b\"},\"executable\":\"/t/b-12\"}\n\
            {\"target\":{\"kind\":[\"bin\"],\"name\":\"c\"},\"executable\":\"/t/c\"}\n";
        assert_eq!(of_cargo(output), [("b".to_owned(), PathBuf::from("/t/b-12"))]);
    }

    #[test]
    fn an_unknown_tree_needs_a_command() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Recipe::of(folder.path(), None).unwrap_err().contains("--build"));
        assert_eq!(Recipe::of(folder.path(), Some("make")).unwrap().command, "make");
        std::fs::write(folder.path().join("meson.build"), "").unwrap();
        assert!(Recipe::of(folder.path(), None).unwrap().command.starts_with("meson"));
    }
}
