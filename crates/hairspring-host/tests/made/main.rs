//! Checks that generated files agree with the tables of rows, fences and counters; UPDATE_EXPECT=1
//! regenerates them.
//!
//! Rust programs, the C ABI, Fortran and Python use the tables themselves, or `each.rs`. C and C++
//! have a marked part of `probe/hairspring.h`, the attribute of the Rust crate a copy of the table
//! (a macro should not bring the engine along when it is compiled), and tests in other languages
//! `spec/rows.json`.

mod c;
mod json;
mod rust;

use std::path::Path;

const BEGIN_MARK: &str =
    "/* ---- made from the tables of rows, fences and counters: do not change it here ---- */\n";
const END: &str = "/* ---- end of what is made from the tables ---- */\n";

/// Longest line of a generated file, in columns.
const WIDTH: usize = 100;

/// A generated file and its expected text.
struct Made {
    path: &'static str,
    text: String,
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The header with its generated part replaced.
fn header(path: &'static str) -> Made {
    let there = read(path);
    let (before, rest) = there
        .split_once(BEGIN_MARK)
        .unwrap_or_else(|| panic!("{path} has lost the line {BEGIN_MARK}"));
    let (_, behind) =
        rest.split_once(END).unwrap_or_else(|| panic!("{path} has lost the line {END}"));
    Made { path, text: [before, BEGIN_MARK, &c::part(), END, behind].concat() }
}

#[test]
fn generated_files_agree_with_the_tables() {
    let table = read("crates/hairspring-core/src/design/table.rs");
    let made_files = [
        Made { path: "crates/hairspring-core/src/design/each.rs", text: rust::each() },
        Made { path: "crates/hairspring-macros/src/design.rs", text: rust::copy(&table) },
        Made { path: "spec/rows.json", text: json::rows() },
        header("probe/hairspring.h"),
    ];
    let mut outdated = Vec::new();
    for made in &made_files {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(root().join(made.path), &made.text).unwrap();
        }
        if std::fs::read_to_string(root().join(made.path)).is_ok_and(|there| there == made.text) {
            continue;
        }
        outdated.push(made.path);
    }
    let how = "UPDATE_EXPECT=1 cargo test -p hairspring-host --test made";
    assert!(
        outdated.is_empty(),
        "these files do not agree with the tables: {}; change the tables, and run {how}",
        outdated.join(", ")
    );
}
