//! The folder of Criterion.rs, `target/criterion`: one benchmark in each folder that has a folder
//! `new` with `sample.json`, and its name in `benchmark.json`.

use super::criterion;
use super::model::{Results, shown};
use super::text::decode;
use serde::Deserialize;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Levels of folders that are looked at: group, function, parameter, `new`.
const DEPTH: usize = 8;
/// Folders that are looked at.
const MOST_FOLDERS: usize = 100_000;
/// Largest file of a benchmark, in bytes.
const MOST_BYTES: u64 = 64 << 20;
const FILE: &str = "folder of benchmarks";

/// `benchmark.json`.
#[derive(Deserialize)]
struct Name {
    full_id: Option<String>,
}

/// Reads the latest samples of all benchmarks in a folder of Criterion.rs.
///
/// # Errors
/// There is no benchmark in it, it has too many folders, or a file of it cannot be used.
pub fn read_folder(folder: &Path) -> Result<Results, String> {
    let mut found_folders = Vec::new();
    let mut folders_left = MOST_FOLDERS;
    find(folder, DEPTH, &mut folders_left, &mut found_folders)?;
    if found_folders.is_empty() {
        return Err(
            "is a folder without any `new/sample.json` of Criterion.rs: give target/criterion, or \
             a file"
                .into(),
        );
    }
    found_folders.sort();
    let mut results = criterion::results(FILE);
    for sample_folder in &found_folders {
        let file = sample_folder.join("sample.json");
        let text = read_text(&file).map_err(|reason| named(&file, &reason))?;
        let name = name(folder, sample_folder);
        match unit(sample_folder).filter(|unit| unit != "ns") {
            Some(unit) => results.left_out(&name, &other_unit(&unit)),
            None => criterion::add(&mut results, &name, &text)
                .map_err(|reason| named(&file, &reason))?,
        }
    }
    results.finish()
}

fn named(file: &Path, reason: &str) -> String {
    format!("{}: {reason}", shown(&file.display().to_string()))
}

/// Collects the folders `new` that have samples. Links are not followed.
fn find(
    folder: &Path,
    depth: usize,
    folders_left: &mut usize,
    found_folders: &mut Vec<PathBuf>,
) -> Result<(), String> {
    if depth == 0 {
        return Ok(());
    }
    let entries = fs::read_dir(folder).map_err(|error| named(folder, &error.to_string()))?;
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
    {
        *folders_left = folders_left.checked_sub(1).ok_or_else(|| {
            format!("has more than {MOST_FOLDERS} folders: give that of one group")
        })?;
        let path = entry.path();
        if entry.file_name() == "new" && path.join("sample.json").is_file() {
            found_folders.push(path);
        } else {
            find(&path, depth - 1, folders_left, found_folders)?;
        }
    }
    Ok(())
}

fn read_text(file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(|error| error.to_string())?;
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("is larger than {} MiB", MOST_BYTES >> 20));
    }
    decode(&bytes).map(std::borrow::Cow::into_owned)
}

/// The unit in `raw.csv`, which Criterion.rs writes beside the samples if it is asked to.
fn unit(new: &Path) -> Option<String> {
    let text = read_text(&new.join("raw.csv")).ok()?;
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let column = lines.headers().ok()?.iter().position(|name| name == "unit")?;
    let first = lines.records().next()?.ok()?;
    first.get(column).map(str::to_owned)
}

fn other_unit(unit: &str) -> String {
    format!("its unit is `{}`, not nanoseconds", shown(unit))
}

/// The name in `benchmark.json`; without one the path.
fn name(folder: &Path, new: &Path) -> String {
    let stated = || {
        let text = read_text(&new.join("benchmark.json")).ok()?;
        serde_json::from_str::<Name>(&text).ok()?.full_id
    };
    let own_folder = new.parent().unwrap_or(new);
    let path = || own_folder.strip_prefix(folder).unwrap_or(own_folder).display().to_string();
    stated().unwrap_or_else(path)
}
