//! What was compiled before is taken from the cache folder, unless that cannot be or is not wanted.

use crate::command::{Hairspring, needs, time};
use crate::place::Place;
use std::fs::{create_dir, read_dir, write};
use std::path::{Path, PathBuf};

fn measured(cache: &Path) -> Hairspring {
    needs("gcc");
    time("x = x * c")
        .given("uint64_t x = 3")
        .given("uint64_t c = 5")
        .option("--cc", "gcc")
        .variable("XDG_CACHE_HOME", cache)
}

/// The entries, by name.
fn entries(cache: &Path) -> Vec<PathBuf> {
    let files = read_dir(cache.join("hairspring/compiled")).into_iter().flatten();
    let mut all: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    all.sort();
    all
}

#[test]
fn a_second_run_finds_what_the_first_one_compiled() {
    let place = Place::new();
    measured(place.work().as_path()).succeeds();
    let first = entries(&place.work());
    assert!(!first.is_empty());
    let other = |entry: &PathBuf| write(entry, "garbage").unwrap();
    // The entries of the pilot are the same in each run; the design may be another one.
    measured(&place.work()).succeeds();
    assert!(first.iter().all(|entry| entries(&place.work()).contains(entry)));
    first.iter().for_each(other);
    measured(&place.work()).succeeds();
    assert!(
        first.iter().any(|entry| std::fs::read(entry).unwrap() != b"garbage"),
        "a damaged entry is written anew"
    );
}

#[test]
fn nothing_is_kept_where_it_is_not_wanted_or_cannot_be() {
    let place = Place::new();
    measured(&place.work()).with("--no-cache").succeeds();
    assert_eq!(entries(&place.work()), [] as [PathBuf; 0]);
    let file = place.work().join("file");
    write(&file, "").unwrap();
    measured(&file).succeeds();
    measured(Path::new("/proc")).succeeds();
    let folder = place.work().join("folder");
    create_dir(&folder).unwrap();
    write(folder.join("hairspring"), "").unwrap();
    measured(&folder).succeeds();
}
